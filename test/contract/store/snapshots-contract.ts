import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type {
  AccountId,
  ContentHash,
  JobId,
  SnapshotId,
  TaskId,
  UrlKey,
} from '../../../src/core/model/ids.ts';
import type { NewPage } from '../../../src/core/model/page.ts';
import type { EventCursor, ReaderRange, StoredEvent } from '../../../src/core/ports/event-store.ts';
import type { NewSighting, NewSnapshot } from '../../../src/core/ports/snapshot-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import {
  ATTEMPT,
  all,
  at,
  completion,
  DONE,
  newPage,
  newTask,
  OPTIONS,
  pages,
  T0,
  take,
} from './fixtures.ts';
import type { TimedStore, TimelessStore } from './timed-store.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex') as ContentHash;
const idOf = (text: string) => `snap_${hashOf(text).slice(0, 32)}` as SnapshotId;
const KEY = 'k'.repeat(22) as UrlKey;

interface StoredPage {
  readonly jobId: JobId;
  readonly taskId: TaskId;
  readonly accountId: AccountId;
  readonly contentHash: ContentHash;
}

let hosts = 0;

/** A job with snapshots that has stored one page. */
async function store(
  on: TimedStore,
  changes: Partial<NewPage> = {},
  outcome: 'ok' | 'soft-404' = 'ok',
): Promise<StoredPage> {
  hosts += 1;
  const host = `h${hosts}.test`;
  const accountId = await on.defaultAccount();
  const id = randomUUID() as string as JobId;
  const job = { id, accountId, kind: 'crawl', seeds: [], createdAt: T0 } as const;
  await on.createJob({ ...job, options: { ...OPTIONS, snapshots: true } }, [newTask(`https://${host}/`)]);
  const { lease, tasks } = await take(on, host);
  const task = at(tasks, 0);
  const page = newPage(task, changes);
  const { errorCode: _, ...attempt } = ATTEMPT;
  const trace = [ATTEMPT, { ...attempt, outcome }];
  await on.commit([completion(lease, task, DONE, { page, trace })], T0 + 1);
  return { jobId: id, taskId: task.id, accountId, contentHash: page.contentHash as ContentHash };
}

/** From where the cursor of the reader is to nowhere in particular: only the move counts. */
async function range(on: TimelessStore): Promise<ReaderRange> {
  const after = (await on.readerCursor('snapshots')) as EventCursor;
  const [era, tx, seq = '0'] = after.split('-');
  return { after, next: `${era}-${tx}-${(Number.parseInt(seq, 36) + 1).toString(36)}` as EventCursor };
}

const snapshot = (page: StoredPage, text: string, changes: Partial<NewSnapshot> = {}): NewSnapshot => ({
  id: idOf(text),
  accountId: page.accountId,
  url: 'https://shop.test/hat',
  urlKey: KEY,
  hash: text,
  textHash: text,
  factsHash: null,
  finalUrl: 'https://shop.test/hat',
  statusCode: 200,
  contentType: 'text/html',
  charset: 'utf-8',
  contentHash: page.contentHash,
  bytes: 100,
  etag: null,
  lastModified: null,
  title: 'A hat \u0000',
  price: 19.5,
  currency: 'EUR',
  availability: 'InStock',
  record: { sku: 'h1' },
  screenshot: { contentHash: hashOf(`picture of ${text}`), contentType: 'image/png', bytes: 5 },
  jobId: page.jobId,
  taskId: page.taskId,
  isPrivate: false,
  ...changes,
});

const sighting = (page: StoredPage, text: string, seenAt: number): NewSighting => ({
  accountId: page.accountId,
  urlKey: KEY,
  url: 'https://shop.test/hat',
  snapshotId: idOf(text),
  jobId: page.jobId,
  taskId: page.taskId,
  seenAt,
  etag: `"${seenAt}"`,
  lastModified: null,
  contentHash: page.contentHash,
});

const history = (on: TimelessStore, accountId: AccountId, hasPrivate = true) =>
  all((cursor) => on.listSnapshots({ accountId, urlKey: KEY, hasPrivate, cursor, limit: 1 }));
const sightings = (on: TimelessStore, accountId: AccountId) =>
  all((cursor) => on.listSightings({ accountId, urlKey: KEY, hasPrivate: true, cursor, limit: 2 }));

/** The numbers of so many pages that events tell of, when all of these events can be read. */
async function pagesOfEvents(on: TimelessStore, count: number): Promise<number[]> {
  const pagesIn = (events: readonly StoredEvent[]) =>
    events.flatMap(({ data }) => (data.pages as number[] | undefined) ?? []);
  return pagesIn(await eventsUntil(on, (events) => pagesIn(events).length === count));
}

/** What pages looked like over time. */
export function snapshotsContract(holds: Claim<TimedStore>): void {
  holds('tells what snapshots need of the pages of a job', async (on) => {
    const record = new TextEncoder().encode('{"metadata":null,"links":[]}');
    const page = await store(on, { record, textHash: 't1' }, 'soft-404');
    const seqs = await pagesOfEvents(on, 1);
    const [sighted] = await on.listSightedPages(page.jobId, seqs);
    expect(sighted).toMatchObject({
      outcome: 'soft-404',
      textHash: 't1',
      taskId: page.taskId,
      errorCode: null,
    });
    expect(await on.listSightedPages(randomUUID() as string as JobId, seqs)).toEqual([]);
    // Nothing in it is worth reading.
    expect(await on.listSnapshotRecords(seqs)).toEqual([]);
  });

  holds('finds the records that tell of an offer, extracted fields or a picture', async (on) => {
    const told = [
      '{"rendered":{},"links":[]}',
      '{"links":[],"extracted":{}}',
      '{"metadata":{"jsonLd":[{"price":1}]}}',
    ];
    const texts = [...told, '{"links":[]}', '(zstd)'];
    for (const text of texts) await store(on, { record: new TextEncoder().encode(text) });
    const seqs = await pagesOfEvents(on, texts.length);
    const found = await on.listSnapshotRecords(seqs);
    expect(found.map(({ record }) => Buffer.from(record).toString())).toEqual([...told, '(zstd)']);
  });

  holds('keeps each content once, and knows when it was seen', async (on) => {
    const page = await store(on);
    const first = await range(on);
    const texts = ['a', 'b', 'a'];
    const added = {
      snapshots: [snapshot(page, 'a'), snapshot(page, 'b', { price: null, record: null, screenshot: null })],
      sightings: texts.map((text, index) => sighting(page, text, T0 + index)),
      facts: [],
    };
    expect(await on.addSightings({ ...first, ...added })).toBe(true);
    expect(await on.addSightings({ ...first, ...added })).toBe(false);
    const { accountId } = page;
    expect(await history(on, accountId)).toMatchObject([
      { id: idOf('a'), firstSeenAt: T0, lastSeenAt: T0 + 2, timesSeen: 2, etag: `"${T0 + 2}"`, price: 19.5 },
      { id: idOf('b'), firstSeenAt: T0 + 1, lastSeenAt: T0 + 1, timesSeen: 1, price: null, screenshot: null },
    ]);
    const seen = await sightings(on, accountId);
    expect(seen.map(({ hash, seenAt }) => [hash, seenAt - T0])).toEqual([
      ['a', 2],
      ['b', 1],
      ['a', 0],
    ]);
    const ofJob = await on.listSightings({ accountId, jobId: page.jobId, hasPrivate: true, limit: 10 });
    expect(ofJob.items).toEqual(seen.toReversed());
    // Again in a later batch, as a snapshot that is there already.
    const later = await range(on);
    await on.addSightings({
      ...later,
      snapshots: [snapshot(page, 'a')],
      sightings: [sighting(page, 'a', T0 + 9)],
      facts: [],
    });
    expect(await on.getSnapshot(accountId, idOf('a'))).toMatchObject({
      timesSeen: 3,
      firstSeenAt: T0,
      lastSeenAt: T0 + 9,
      record: { sku: 'h1' },
      screenshot: { contentType: 'image/png' },
    });
    expect(await on.getSnapshot('other' as AccountId, idOf('a'))).toBeNull();
  });

  holds(
    'lists contents by their last sighting, page by page, and refuses a cursor of another kind',
    async (on) => {
      const page = await store(on);
      const { accountId } = page;
      const texts = ['a', 'b', 'c', 'b', 'a'];
      await on.addSightings({
        ...(await range(on)),
        snapshots: ['a', 'b', 'c'].map((text) => snapshot(page, text)),
        // The last two at the same time.
        sightings: texts.map((text, index) => sighting(page, text, T0 + Math.min(index, 3))),
        facts: [],
      });
      expect((await history(on, accountId)).map(({ hash }) => hash)).toEqual(['b', 'a', 'c']);
      for (const cursor of ['7', 'x-7', '7-', '1-2-3']) {
        const query = { accountId, urlKey: KEY, hasPrivate: true, cursor, limit: 1 };
        await expect(async () => on.listSnapshots(query)).rejects.toThrow('cursor');
      }
    },
  );

  holds('finds contents by URL and text, with the facts that were added later', async (on) => {
    const page = await store(on);
    const { accountId } = page;
    const texts = ['a', 'b'];
    await on.addSightings({
      ...(await range(on)),
      snapshots: texts.map((text) => snapshot(page, text)),
      sightings: texts.map((text) => sighting(page, text, T0)),
      facts: [],
    });
    const contents = [
      { urlKey: KEY, textHash: 'a' },
      { urlKey: 'x'.repeat(22) as UrlKey, textHash: 'b' },
      { urlKey: KEY, textHash: 'c' },
    ];
    expect(await on.findContents({ accountId, contents })).toMatchObject([
      { id: idOf('a'), factsHash: null },
    ]);
    await on.addSightings({
      ...(await range(on)),
      snapshots: [],
      sightings: [],
      facts: [{ id: idOf('a'), factsHash: 'f' }],
    });
    expect(await on.findContents({ accountId, contents })).toMatchObject([{ factsHash: 'f', textHash: 'a' }]);
    expect(await on.findContents({ accountId: 'other' as AccountId, contents })).toEqual([]);
  });

  holds('leaves private contents out where they are not wanted', async (on) => {
    const page = await store(on);
    await on.addSightings({
      ...(await range(on)),
      snapshots: [snapshot(page, 'a'), snapshot(page, 'b', { isPrivate: true })],
      sightings: ['a', 'b'].map((text) => sighting(page, text, T0)),
      facts: [],
    });
    const { accountId } = page;
    expect((await history(on, accountId, false)).map(({ hash }) => hash)).toEqual(['a']);
    const query = { accountId, hasPrivate: false, limit: 10 };
    expect((await on.listSightings({ ...query, urlKey: KEY })).items.map(({ hash }) => hash)).toEqual(['a']);
    expect((await on.listSightings({ ...query, jobId: page.jobId })).items.map(({ hash }) => hash)).toEqual([
      'a',
    ]);
  });

  holds('keeps snapshots and their blobs when the job is deleted', async (on, opened) => {
    const page = await store(on);
    await on.addSightings({
      ...(await range(on)),
      snapshots: [snapshot(page, 'a')],
      sightings: [sighting(page, 'a', T0)],
      facts: [],
    });
    await on.deleteJob(page.jobId);
    while ((await on.purge(100)) > 0);
    expect(await pages(on, page.jobId)).toEqual([]);
    await afterKill(opened, async (again) => {
      const found = await all((cursor) => again.listReferences({ cursor, limit: 1 }));
      expect(new Set(found)).toEqual(new Set([page.contentHash, hashOf('picture of a')]));
      expect(await again.getSnapshot(page.accountId, idOf('a'))).toMatchObject({ jobId: page.jobId });
    });
  });

  holds('makes no snapshot of a page that is gone', async (on) => {
    const page = await store(on);
    await on.deleteJob(page.jobId);
    while ((await on.purge(100)) > 0);
    const batch = { snapshots: [snapshot(page, 'a')], sightings: [sighting(page, 'a', T0)], facts: [] };
    expect(await on.addSightings({ ...(await range(on)), ...batch })).toBe(true);
    expect(await on.getSnapshot(page.accountId, idOf('a'))).toBeNull();
    expect(await sightings(on, page.accountId)).toEqual([]);
  });

  holds('deletes what was not seen for long, in steps', async (on) => {
    const page = await store(on);
    const texts = ['a', 'b', 'c', 'd'];
    await on.addSightings({
      ...(await range(on)),
      snapshots: texts.map((text) => snapshot(page, text)),
      sightings: [
        ...texts.map((text, index) => sighting(page, text, T0 + index)),
        sighting(page, 'a', T0 + 9),
      ],
      facts: [],
    });
    const { accountId } = page;
    const stored = async () => (await on.accountUse(accountId)).storedBytes;
    const before = await stored();
    const old = { accountId, lastSeenBefore: T0 + 3, limit: 1 };
    expect(await on.expireSnapshots({ ...old, isDryRun: true })).toMatchObject({ snapshots: 2, bytes: 200 });
    expect(await history(on, accountId)).toHaveLength(4);
    let [snapshots, bytes] = [0, 0];
    for (let isMore = true; isMore; ) {
      const expired = await on.expireSnapshots(old);
      snapshots += expired.snapshots;
      bytes += expired.bytes;
      isMore = expired.isMore;
    }
    expect([snapshots, bytes]).toEqual([2, 200]);
    // The page of the job, and four contents of which two are left.
    expect([before, await stored()]).toEqual([500, 300]);
    expect((await history(on, accountId)).map(({ hash }) => hash)).toEqual(['a', 'd']);
    expect((await sightings(on, accountId)).map(({ hash }) => hash)).toEqual(['a', 'd']);
  });

  holds('stores nothing for an account that is being deleted', async (on) => {
    const page = await store(on);
    const gone = 'tenant' as AccountId;
    const batch = {
      snapshots: [snapshot({ ...page, accountId: gone }, 'a'), snapshot(page, 'b')],
      sightings: [sighting({ ...page, accountId: gone }, 'a', T0), sighting(page, 'b', T0)],
      facts: [],
    };
    expect(await on.addSightings({ ...(await range(on)), ...batch })).toBe(true);
    expect((await history(on, page.accountId)).map(({ hash }) => hash)).toEqual(['b']);
  });
}
