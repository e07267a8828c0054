import { expect } from 'vitest';
import type { AccountId, ContentHash, JobId, JobSeq } from '../../../src/core/model/ids.ts';
import { packRecord } from '../../../src/core/model/page-record.ts';
import type { PagePart } from '../../../src/core/model/retention.ts';
import type { RetainedJob } from '../../../src/core/ports/retention-store.ts';
import type { Claim } from '../contract.ts';
import {
  all,
  at,
  completion,
  createJob,
  DONE,
  done,
  FAILED,
  job,
  ledger,
  newPage,
  pages,
  T0,
  take,
  urlKeyOf,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const hashOf = (n: number) => n.toString(16).padStart(64, '0') as ContentHash;
const ALL = Number.MAX_SAFE_INTEGER;
const DEFAULT = 'default' as AccountId;
const DAY_MS = 86_400_000;

/** Deleting what need not be kept, a bounded number of rows at a time. */
export function retentionContract(holds: Claim<TimedStore>): void {
  /** An ended job with a page for each hash, fetched a second after the other. */
  async function crawled(store: TimedStore, host: string, hashes: readonly ContentHash[]): Promise<JobId> {
    const { id } = await createJob(store, urlsOn(host, hashes.length));
    const { lease, tasks } = await take(store, host);
    await store.commit(
      tasks.map((task, n) => ({
        ...done(lease, task),
        page: newPage(task, { contentHash: hashes[n] ?? null, fetchedAt: T0 + n * 1_000 }),
      })),
      T0,
    );
    return id;
  }
  const references = async (store: TimedStore) =>
    new Set(await all((cursor) => store.listReferences({ cursor, limit: 2 })));
  async function retained(store: TimedStore, id: JobId): Promise<RetainedJob> {
    const jobs = await all((cursor) => store.listRetained({ accountId: DEFAULT, cursor, limit: 2 }));
    return jobs.find((each) => each.id === id) ?? expect.fail(`no job ${id}`);
  }
  async function expire(store: TimedStore, jobSeq: JobSeq, part: PagePart, fetchedBefore = ALL, limit = 2) {
    const told = { pages: 0, bytes: 0, calls: 0 };
    for (let next: number | null = 0; next !== null; told.calls += 1) {
      const expired = await store.expirePages({ jobSeq, part, fetchedBefore, limit });
      told.pages += expired.pages;
      told.bytes += expired.bytes;
      next = expired.next;
    }
    return told;
  }
  const purgeAll = async (store: TimedStore, limit: number) => {
    const steps: number[] = [];
    for (;;) {
      const rows = await store.purge(limit);
      if (rows === 0) return steps;
      steps.push(rows);
    }
  };

  holds('lists the jobs of an account for retention, newest first', async (store) => {
    const first = await crawled(store, 'a.test', [hashOf(1)]);
    const second = await createJob(store, urlsOn('b.test', 3));
    const jobs = await all((cursor) => store.listRetained({ accountId: DEFAULT, cursor, limit: 1 }));
    expect(jobs.map(({ id }) => id)).toEqual([second.id, first]);
    expect(jobs.map(({ urls, finishedAt }) => [urls, finishedAt])).toEqual([
      [3, null],
      [1, T0],
    ]);
    expect(at(jobs, 0)).toMatchObject({ pagesEnd: 0, isLedgerExpired: false, ages: {} });
    expect(at(jobs, 1).pagesEnd).toBeGreaterThan(0);
    expect(await store.listRetained({ accountId: 'none' as AccountId, limit: 9 })).toEqual({
      items: [],
      nextCursor: null,
    });
  });

  holds('lists every account but the one of deleted jobs', async (store) => {
    expect(await store.listAccountIds({ after: null, limit: 10 })).toContain(DEFAULT);
    expect(await store.listAccountIds({ after: null, limit: 10 })).not.toContain('(deleted)');
    expect(await store.listAccountIds({ after: DEFAULT, limit: 10 })).not.toContain(DEFAULT);
  });

  holds('expires bodies up to the first page that is too young, and never more than asked', async (store) => {
    const id = await crawled(store, 'a.test', [1, 2, 3, 4, 5].map(hashOf));
    const { seq } = await job(store, id);
    expect(await expire(store, seq, 'bodies', T0 + 3_000)).toEqual({ pages: 3, bytes: 300, calls: 2 });
    expect(await references(store)).toEqual(new Set([4, 5].map(hashOf)));
    const read = await pages(store, id);
    expect(read.map(({ expired }) => expired)).toEqual([
      ['bodies'],
      ['bodies'],
      ['bodies'],
      undefined,
      undefined,
    ]);
    // The record, and the hash, stay.
    expect(read.every(({ record, contentHash }) => record !== null && contentHash !== null)).toBe(true);
    expect((await job(store, id)).expired).toEqual(['bodies']);
    expect(await store.getPage(id, at(read, 0).taskId)).toMatchObject({ expired: ['bodies'] });
    // A second time, nothing.
    expect(await expire(store, seq, 'bodies', T0 + 3_000)).toMatchObject({ pages: 0, calls: 1 });
    expect(await expire(store, seq, 'bodies')).toMatchObject({ pages: 2 });
    expect(await references(store)).toEqual(new Set());
    const { expired, pagesEnd } = await retained(store, id);
    expect(expired).toEqual({ bodies: pagesEnd, artifacts: 0, records: 0 });
  });

  holds('keeps a body that a page of another job refers to', async (store) => {
    const first = await crawled(store, 'a.test', [hashOf(1), hashOf(2)]);
    await crawled(store, 'b.test', [hashOf(2), hashOf(3)]);
    await expire(store, (await job(store, first)).seq, 'bodies');
    expect(await references(store)).toEqual(new Set([hashOf(2), hashOf(3)]));
  });

  holds('tells what would expire, and changes nothing', async (store) => {
    const id = await crawled(store, 'a.test', [1, 2, 3].map(hashOf));
    const { seq } = await job(store, id);
    const dry = { jobSeq: seq, part: 'bodies', fetchedBefore: ALL, limit: 2 } as const;
    const first = await store.expirePages({ ...dry, dryFrom: 0 });
    expect(first).toMatchObject({ pages: 2, bytes: 200 });
    expect(await store.expirePages({ ...dry, dryFrom: first.next ?? -1 })).toEqual({
      pages: 1,
      bytes: 100,
      next: null,
    });
    expect((await references(store)).size).toBe(3);
    expect((await job(store, id)).expired).toBeUndefined();
  });

  for (const [size, links] of [
    ['short', 0],
    ['compressed', 2_000],
  ] as const) {
    holds(`expires artifacts and documents of ${size} records apart from each other`, async (store) => {
      const { id } = await createJob(store, urlsOn('a.test', 1));
      const { lease, tasks } = await take(store, 'a.test');
      const record = packRecord({
        rendered: {
          screenshot: { contentHash: hashOf(1), contentType: 'image/png', bytes: 70 },
          actions: [
            {
              type: 'screenshot',
              ms: 1,
              picture: { contentHash: hashOf(2), contentType: 'image/png', bytes: 7 },
            },
          ],
          raw: { contentHash: hashOf(3), charset: 'utf-8' },
        },
        metadata: null,
        links: Array.from({ length: links }, (_, n) => ({
          url: `http://a.test/${n}/${urlKeyOf(String(n))}`,
          text: `link ${n}`,
          rel: '',
          from: 'a',
        })),
      });
      const page = newPage(at(tasks, 0), { contentHash: hashOf(4), record });
      await store.commit([{ ...done(lease, at(tasks, 0)), page }], T0);
      const { seq } = await job(store, id);
      expect(await expire(store, seq, 'artifacts')).toMatchObject({ pages: 1, bytes: 77 });
      expect(await references(store)).toEqual(new Set([hashOf(3), hashOf(4)]));
      expect(await expire(store, seq, 'bodies')).toMatchObject({ pages: 1 });
      expect(await references(store)).toEqual(new Set());
      expect(at(await pages(store, id), 0).record?.length).toBe(record.length);
      expect(await expire(store, seq, 'records')).toMatchObject({ pages: 1, bytes: record.length });
      expect(at(await pages(store, id), 0)).toMatchObject({
        record: null,
        title: page.title,
        expired: ['bodies', 'artifacts', 'records'],
      });
    });
  }

  holds('a page that replaces an expired one has all its parts', async (store) => {
    const { id, seq } = await createJob(store, ['http://a.test/']);
    const first = await take(store, 'a.test');
    const failed = completion(first.lease, at(first.tasks, 0), FAILED);
    await store.commit([{ ...failed, page: newPage(at(first.tasks, 0), { contentHash: hashOf(1) }) }], T0);
    for (const part of ['bodies', 'artifacts', 'records'] as const) await expire(store, seq, part);
    await store.releaseHost(first.lease, first.lease.state, 0, T0);
    await store.retryJob(id, T0);
    const second = await take(store, 'a.test');
    const ended = completion(second.lease, at(second.tasks, 0), DONE);
    await store.commit([{ ...ended, page: newPage(at(second.tasks, 0), { contentHash: hashOf(2) }) }], T0);
    const [page] = await pages(store, id);
    expect(page?.expired).toBeUndefined();
    expect(page?.record).not.toBeNull();
    expect(await references(store)).toEqual(new Set([hashOf(2)]));
  });

  holds('finds no stored page whose body has expired', async (store) => {
    const { id, seq } = await createJob(store, ['http://a.test/'], { kind: 'scrape' });
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([done(lease, at(tasks, 0))], T0);
    const { urlKey } = at(tasks, 0);
    const recent = () => store.recentPages({ accountId: DEFAULT, urlKey, since: 0, limit: 5 });
    expect([await recent(), await store.pagesOf(id, [urlKey])].map((found) => found.length)).toEqual([1, 1]);
    await expire(store, seq, 'bodies');
    expect([await recent(), await store.pagesOf(id, [urlKey])].map((found) => found.length)).toEqual([0, 0]);
  });

  holds('deletes the URLs and pages of an ended job in steps, and keeps its summary', async (store) => {
    const id = await crawled(store, 'a.test', [1, 2, 3, 4, 5].map(hashOf));
    const other = await crawled(store, 'b.test', [hashOf(6)]);
    const before = await job(store, id);
    expect(await store.expireLedger(before.seq)).toBe(true);
    expect(await store.expireLedger(before.seq)).toBe(false);
    expect((await retained(store, id)).isLedgerExpired).toBe(true);
    const steps = await purgeAll(store, 3);
    expect(Math.max(...steps)).toBeLessThanOrEqual(3);
    expect([await ledger(store, id), await pages(store, id)]).toEqual([[], []]);
    const after = await job(store, id);
    expect(after).toEqual({ ...before, expired: ['ledger'] });
    expect(await references(store)).toEqual(new Set([hashOf(6)]));
    expect((await ledger(store, other)).length).toBe(1);
    for (const again of [() => store.retryJob(id, T0), () => store.resumeJob(id, T0)]) {
      await expect(again()).rejects.toMatchObject({ code: 'EXPIRED' });
    }
    expect(await store.deleteJob(id)).toBe(true);
    expect(await store.getJob(id)).toBeNull();
  });

  holds('never deletes the ledger of a job that is going on', async (store) => {
    const { id, seq } = await createJob(store, urlsOn('a.test', 2));
    expect(await store.expireLedger(seq)).toBe(false);
    expect(await store.expireLedger(999_999 as JobSeq)).toBe(false);
    expect((await ledger(store, id)).length).toBe(2);
  });

  holds('a large job is gone at once for every reader, and its rows later', async (store) => {
    const size = 1_100;
    const { id } = await createJob(store, urlsOn('a.test', size));
    const { lease, tasks } = await take(store, 'a.test', 10);
    await store.commit(
      tasks.map((task, n) => ({ ...done(lease, task), page: newPage(task, { contentHash: hashOf(n) }) })),
      T0,
    );
    await expect(store.deleteJob(id)).rejects.toMatchObject({ code: 'CONFLICT' });
    await store.cancelJob(id, T0);
    expect(await store.deleteJob(id)).toBe(true);
    expect(await store.deleteJob(id)).toBe(false);
    expect(await store.getJob(id)).toBeNull();
    expect((await store.listJobs({ accountId: DEFAULT, limit: 10 })).items).toEqual([]);
    expect([await ledger(store, id), await pages(store, id)]).toEqual([[], []]);
    const steps = await purgeAll(store, 400);
    expect(Math.max(...steps)).toBeLessThanOrEqual(400);
    expect(steps.reduce((sum, rows) => sum + rows, 0)).toBe(size + 10 + 1);
    expect(await references(store)).toEqual(new Set());
  });

  holds('deletes robots.txt files that were valid until long ago, as many as asked', async (store) => {
    const entry = {
      status: 'ok',
      body: '',
      fetchedAt: T0,
      reason: '',
      interruptions: 0,
      failures: 0,
    } as const;
    for (const n of [1, 2, 3]) {
      await store.putRobots({ ...entry, origin: `http://${n}.test`, expiresAt: T0 + n * DAY_MS });
    }
    expect(await store.deleteOldRobots(T0 + 3 * DAY_MS, 1)).toBe(1);
    expect(await store.deleteOldRobots(T0 + 3 * DAY_MS, 9)).toBe(1);
    expect(await store.getRobots('http://3.test')).not.toBeNull();
  });
}
