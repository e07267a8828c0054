import type { OutcomeKind } from '../../core/model/attempt.ts';
import type { AccountId, ContentHash, SnapshotId } from '../../core/model/ids.ts';
import type { Page } from '../../core/model/page.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { Snapshot, SnapshotStore } from '../../core/ports/snapshot-store.ts';
import { decodeAs } from '../../extract/charset/charset.ts';
import type { PageView } from '../../extract/diff/compare-pages.ts';
import type { PageFields } from '../../extract/diff/json-diff.ts';
import { NO_OFFER, offerOfPage } from '../../extract/types/product/offer-of-page.ts';
import { readRecord } from '../jobs/results/page-result.ts';
import { historyUrlOf, isRealPage } from '../snapshots/snapshot-key.ts';
import type { ChangeSide } from './site-change.ts';

/** Where bodies and pictures are. */
export type StoredBytes = Pick<Blobs, 'get'>;

/** One version of a page, by what is stored of it: of a job, or a snapshot. */
export interface PageVersion {
  readonly url: string;
  readonly contentType: string | null;
  readonly charset: string | null;
  /** Null when there is no body, or it is not kept any more. */
  readonly contentHash: ContentHash | null;
  readonly textHash: string | null;
  readonly fields: PageFields;
  /** PNG; null without one. */
  readonly screenshot: ContentHash | null;
}

const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i;
const TEXTUAL =
  /^\s*(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:xml|json|javascript|ecmascript|x-ndjson)\b)/i;

export const isHtmlType = (contentType: string | null): boolean =>
  contentType === null || HTML.test(contentType);

/** The version with its bytes; null when a part that is wanted is not kept any more. */
export async function loadView(
  version: PageVersion,
  blobs: StoredBytes,
  parts: { readonly body: boolean; readonly screenshot: boolean },
): Promise<PageView | null> {
  const { url, contentType, charset, contentHash, textHash, fields } = version;
  const bytes = parts.body && contentHash !== null ? await blobs.get(contentHash) : null;
  if (parts.body && bytes === null) return null;
  const isHtml = isHtmlType(contentType);
  const isText = isHtml || TEXTUAL.test(contentType ?? '');
  const picture = parts.screenshot ? version.screenshot : null;
  const screenshot = picture === null ? null : await blobs.get(picture);
  if (picture !== null && screenshot === null) return null;
  return {
    url,
    body: bytes === null || !isText ? null : decodeAs(bytes, charset),
    isHtml,
    textHash,
    fields,
    screenshot,
  };
}

/** A stored page with its record, read once. */
export interface ReadPage {
  readonly page: Page;
  readonly outcome: OutcomeKind | undefined;
  readonly version: PageVersion;
}

export function readPage(page: Page): ReadPage {
  const { metadata, extracted, rendered, outcome } = readRecord(page.record);
  const has = (part: 'bodies' | 'artifacts'): boolean => page.expired?.includes(part) !== true;
  const offer =
    page.errorCode === null
      ? offerOfPage({ url: page.finalUrl, fetchedAt: page.fetchedAt, metadata, extracted: extracted ?? null })
      : NO_OFFER;
  const picture = rendered?.screenshot;
  return {
    page,
    outcome,
    version: {
      url: page.finalUrl,
      contentType: page.contentType,
      charset: page.charset,
      contentHash: has('bodies') ? page.contentHash : null,
      textHash: page.textHash,
      fields: { ...extracted, ...offer, title: page.title ?? extracted?.title ?? null },
      screenshot: picture?.contentType === 'image/png' && has('artifacts') ? picture.contentHash : null,
    },
  };
}

/** Only pages that show what is at their URL are compared, by the rule of snapshots. */
export const isComparable = ({ page, outcome }: ReadPage): boolean =>
  isRealPage({ ...page, outcome: outcome ?? null });

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
