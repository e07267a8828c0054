import { setImmediate as turn } from 'node:timers/promises';
import type { JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { PagesEventData, ReaderRange, StoredEvent } from '../../core/ports/event-store.ts';
import {
  type KnownContent,
  type NewSighting,
  type NewSnapshot,
  NO_OFFER,
  type SightedPage,
  type SightingBatch,
} from '../../core/ports/snapshot-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { offerOfPage } from '../../extract/types/product/offer-of-page.ts';
import { readRecord } from '../jobs/results/page-result.ts';
import { firstEvents } from '../readers/event-reader.ts';
import { hiddenFactsOf } from './hidden-facts.ts';
import { contentHashOf, type HistoryUrl, historyUrlOf, isRealPage, snapshotIdOf } from './snapshot-key.ts';

export interface SnapshotReaderDeps {
  readonly store: Pick<
    Store,
    'getJob' | 'listSightedPages' | 'listSnapshotRecords' | 'findContents' | 'addSightings'
  >;
  readonly blobs: Pick<Blobs, 'get'>;
  readonly logger: Logger;
}

/** A page with the URL of its history. */
interface PlacedPage extends HistoryUrl {
  readonly page: SightedPage;
  /** Its text, or all its bytes where it has none. */
  readonly textHash: string;
}

type Content = Pick<
  KnownContent,
  'id' | 'title' | 'contentHash' | 'factsHash' | 'contentType' | 'charset' | 'finalUrl'
>;

interface FreshSnapshot {
  readonly snapshot: NewSnapshot;
  readonly fetchedAt: number;
}

/** What a batch of events came to so far. */
interface Draft {
  readonly snapshots: NewSnapshot[];
  readonly sightings: NewSighting[];
  readonly facts: Map<KnownContent['id'], string>;
  /** Contents by URL and text, those of this batch included. */
  readonly known: Map<string, Content[]>;
  /** Snapshots of this batch whose page may have more to tell, by the number of the page. */
  readonly fresh: Map<number, FreshSnapshot>;
}

const keyOf = (isPrivate: boolean, { urlKey, textHash }: Pick<PlacedPage, 'urlKey' | 'textHash'>) =>
  `${isPrivate ? 'private' : 'public'} ${urlKey} ${textHash}`;

/**
 * Turns the pages of jobs with `snapshots` into the history of their URLs. A body that is known costs a sighting; so does
 * one with the same text, unless the page says something else for machines. Bodies are only read for that.
 */
export function createSnapshotReader({ store, blobs, logger }: SnapshotReaderDeps) {
  async function factsOf(content: Omit<Content, 'id'>): Promise<string | null> {
    const body = await blobs.get(content.contentHash);
    if (body === null) return null;
    // Reading a page takes about a millisecond of the thread.
    await turn();
    return hiddenFactsOf(body, content);
  }

  /** The content that the page repeats; `factsHash` of a page that repeats none tells it from those with its text. */
  async function repeated(
    page: SightedPage & { readonly contentHash: Content['contentHash'] },
    candidates: readonly Content[],
    facts: Draft['facts'],
  ): Promise<{ readonly content: Content | null; readonly factsHash: string | null }> {
    const alike = candidates.filter(({ title }) => title === page.title);
    const same = alike.find(({ contentHash }) => contentHash === page.contentHash);
    if (same !== undefined || alike.length === 0) return { content: same ?? null, factsHash: null };
    const own = await factsOf({ ...page, factsHash: null });
    for (const content of alike) {
      const theirs = facts.get(content.id) ?? content.factsHash ?? (await factsOf(content));
      // A body that is gone, or is no web page, has its text alone.
      if (theirs === null || own === null) return { content, factsHash: null };
      if (content.factsHash === null) facts.set(content.id, theirs);
      if (theirs === own) return { content, factsHash: null };
    }
    return { content: null, factsHash: own };
  }

  async function sight({ page, url, urlKey, textHash }: PlacedPage, job: Job, draft: Draft): Promise<void> {
    const { contentHash } = page;
    if (contentHash === null) return;
    const isPrivate = isPrivateJob(job);
    const { accountId, id: jobId } = job;
    const key = keyOf(isPrivate, { urlKey, textHash });
    const candidates = draft.known.get(key) ?? [];
    const { content, factsHash } = await repeated({ ...page, contentHash }, candidates, draft.facts);
    const { taskId, fetchedAt: seenAt, etag, lastModified } = page;
    const sighting = { accountId, urlKey, url, jobId, taskId, seenAt, etag, lastModified, contentHash };
    if (content !== null) {
      draft.sightings.push({ ...sighting, snapshotId: content.id });
      return;
    }
    const hash = contentHashOf(page, factsHash);
    const id = snapshotIdOf(accountId, urlKey, hash, isPrivate);
    const { finalUrl, statusCode, contentType, charset, bytes, title } = page;
    const snapshot: NewSnapshot = {
      ...NO_OFFER,
      ...{
        id,
        accountId,
        url,
        urlKey,
        hash,
        textHash,
        factsHash,
        finalUrl,
        statusCode,
        contentType,
        charset,
      },
      ...{ contentHash, bytes, etag, lastModified, title, jobId, taskId, isPrivate },
      record: null,
      screenshot: null,
    };
    draft.fresh.set(page.seq, { snapshot, fetchedAt: seenAt });
    draft.known.set(key, [...candidates, snapshot]);
    draft.sightings.push({ ...sighting, snapshotId: id });
  }

  function factsOfRecord(
    packed: Uint8Array,
    { id, finalUrl }: NewSnapshot,
    fetchedAt: number,
  ): Partial<NewSnapshot> {
    try {
      const record = readRecord(packed);
      return {
        ...offerOfPage({
          url: finalUrl,
          fetchedAt,
          metadata: record.metadata,
          extracted: record.extracted ?? null,
        }),
        record: record.extracted ?? null,
        screenshot: record.rendered?.screenshot ?? null,
      };
    } catch (error) {
      // The content is worth keeping without it.
      logger.warn({ err: error, snapshotId: id }, 'snapshots: the record of a page could not be read');
      return {};
    }
  }

  /** Adds what the records of new pages tell: offers, extracted fields, pictures. */
  async function complete({ fresh, snapshots }: Draft): Promise<void> {
    const rows = fresh.size === 0 ? [] : await store.listSnapshotRecords([...fresh.keys()]);
    const told = new Map(rows.map(({ seq, record }) => [seq, record]));
    for (const [seq, { snapshot, fetchedAt }] of fresh) {
      const packed = told.get(seq);
      snapshots.push(
        packed === undefined ? snapshot : { ...snapshot, ...factsOfRecord(packed, snapshot, fetchedAt) },
      );
    }
  }

  async function sightPages(job: Job, pageSeqs: readonly number[], draft: Draft): Promise<void> {
    const { keepFragment } = job.options.scope;
    const pages = await store.listSightedPages(job.id, pageSeqs);
    const placed = pages.filter(isRealPage).flatMap((page): PlacedPage[] => {
      const at = historyUrlOf(page.url, keepFragment);
      return at === null ? [] : [{ ...at, page, textHash: page.textHash ?? `body:${page.contentHash}` }];
    });
    if (placed.length === 0) return;
    const found = await store.findContents({ accountId: job.accountId, contents: placed });
    for (const content of found) {
      const key = keyOf(content.isPrivate, content);
      const others = draft.known.get(key) ?? [];
      if (others.some(({ id }) => id === content.id)) continue;
      draft.known.set(key, [...others, content]);
    }
    for (const each of placed) await sight(each, job, draft);
  }

  return {
    async apply(events: readonly StoredEvent[], range: ReaderRange): Promise<boolean> {
      const some = firstEvents(events);
      const draft: Draft = {
        snapshots: [],
        sightings: [],
        facts: new Map(),
        known: new Map(),
        fresh: new Map(),
      };
      const seqs = new Map<JobId, number[]>();
      for (const { type, jobId, data } of some) {
        if (type !== 'pages.committed' || jobId === null) continue;
        const { pages } = data as unknown as PagesEventData;
        seqs.set(jobId, [...(seqs.get(jobId) ?? []), ...pages]);
      }
      for (const [jobId, pageSeqs] of seqs) {
        const job = await store.getJob(jobId);
        for (let at = 0; job !== null && at < pageSeqs.length; at += PAGES_AT_ONCE) {
          await sightPages(job, pageSeqs.slice(at, at + PAGES_AT_ONCE), draft);
        }
      }
      await complete(draft);
      const { snapshots, sightings, facts } = draft;
      const batch: SightingBatch = {
        after: range.after,
        next: some.length === events.length ? range.next : (some.at(-1)?.cursor ?? range.next),
        snapshots,
        sightings,
        facts: [...facts].map(([id, factsHash]) => ({ id, factsHash })),
      };
      return store.addSightings(batch);
    },
  };
}

const PAGES_AT_ONCE = 500;

/** Its pages may show what stored credentials give access to. */
const isPrivateJob = ({ options }: Job): boolean =>
  options.credentials === 'read' && options.page.session !== null;
