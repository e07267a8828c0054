import type { AccountId, SnapshotId } from '../../core/model/ids.ts';
import type { Snapshot, SnapshotStore } from '../../core/ports/snapshot-store.ts';
import { historyUrlOf } from '../snapshots/snapshot-key.ts';
import type { PageVersion, ReadPage } from './page-version.ts';
import type { ChangeSide } from './site-change.ts';

export type EarlierStore = Pick<SnapshotStore, 'listSightings' | 'getSnapshot'>;

/** Versions of a page from before a time, the one that was seen last first; empty where no job kept snapshots. */
export type EarlierVersions = (
  account: AccountId,
  url: string,
  before: number,
) => Promise<readonly KnownPage[]>;

const SIGHTINGS = 50;
const MOST_VERSIONS = 10;

export function createEarlierVersions(store: EarlierStore): EarlierVersions {
  return async (accountId, url, before) => {
    const page = historyUrlOf(url);
    if (page === null) return [];
    // The answer is only whether a page is one of them, so those behind a log-in count as well.
    const query = { accountId, urlKey: page.urlKey, hasPrivate: true, limit: SIGHTINGS };
    const { items } = await store.listSightings(query);
    const lastSeen = new Map<SnapshotId, number>();
    for (const { snapshotId, seenAt } of items) {
      if (seenAt < before && !lastSeen.has(snapshotId)) lastSeen.set(snapshotId, seenAt);
    }
    const found = [...lastSeen].slice(0, MOST_VERSIONS).map(async ([id, seenAt]) => {
      const snapshot = await store.getSnapshot(accountId, id);
      return snapshot === null ? [] : [knownSnapshot(snapshot, seenAt)];
    });
    return (await Promise.all(found)).flat();
  };
}

/** A snapshot as it was seen at a time. */
export function knownSnapshot(snapshot: Snapshot, seenAt: number): KnownPage {
  const { url, finalUrl, statusCode, title, price, currency, availability, record, screenshot } = snapshot;
  return {
    url,
    side: {
      taskId: snapshot.taskId,
      finalUrl,
      statusCode,
      fetchedAt: seenAt,
      title,
      price,
      currency,
      availability,
    },
    version: {
      url: finalUrl,
      contentType: snapshot.contentType,
      charset: snapshot.charset,
      contentHash: snapshot.contentHash,
      // A snapshot may stand for bodies with other markup, but never for another text.
      textHash: null,
      fields: { ...record, price, currency, availability, title: title ?? record?.title ?? null },
      screenshot: screenshot?.contentType === 'image/png' ? screenshot.contentHash : null,
    },
  };
}

/** One version of a page with what a list of changes shows of it. */
export interface KnownPage {
  readonly url: string;
  readonly side: ChangeSide;
  readonly version: PageVersion;
}

/** A page of a job. */
export function knownPage({ page, version }: ReadPage): KnownPage {
  const { fields } = version;
  const text = (name: string): string | null => {
    const value = fields[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    url: page.url,
    side: {
      taskId: page.taskId,
      finalUrl: page.finalUrl,
      statusCode: page.statusCode,
      fetchedAt: page.fetchedAt,
      title: text('title'),
      price: typeof fields.price === 'number' ? fields.price : null,
      currency: text('currency'),
      availability: text('availability'),
    },
    version,
  };
}
