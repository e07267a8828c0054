import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AccountId, JobId } from '../../../src/core/model/ids.ts';
import type { NewJob } from '../../../src/core/model/job.ts';
import type { Claim } from '../contract.ts';
import {
  at,
  claim,
  completion,
  createJob,
  done,
  drain,
  entryOf,
  expectExact,
  FAILED,
  foundOn,
  job,
  ledger,
  newPage,
  newTask,
  OPTIONS,
  own,
  pages,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const UNKNOWN = '00000000-0000-7000-8000-000000000000' as JobId;

/** Making, finding, listing and deleting jobs, their pages and their ledgers. */
export function jobsContract(holds: Claim<TimedStore>): void {
  holds('returns a new job as it is stored', async (store) => {
    const accountId = await store.defaultAccount();
    const wanted = {
      id: randomUUID() as string as JobId,
      accountId,
      kind: 'batch',
      options: { ...OPTIONS, concurrency: 3, hostRatePerSecond: 'unlimited' },
      seeds: ['https://a.test/ü', 'https://a.test/"quoted"'],
      createdAt: T0,
    } satisfies NewJob & { createdAt: number };
    const created = await store.createJob(wanted, [newTask('https://a.test/1'), newTask('https://a.test/2')]);
    expect(created).toMatchObject(wanted);
    expect(created).toMatchObject({ status: 'queued', stopReason: null, startedAt: null, finishedAt: null });
    expect(created.counters).toEqual({
      known: 2,
      open: 2,
      claimed: 0,
      pages: 0,
      done: 0,
      failed: 0,
      skipped: 0,
      denied: 0,
      cancelled: 0,
      bytes: 0,
      browserMs: 0,
      proxyBytes: 0,
    });
    expect(await store.getJob(wanted.id)).toEqual(created);
  });

  holds('knows no job that was never made', async (store) => {
    expect(await store.getJob(UNKNOWN)).toBeNull();
    expect(await store.cancelJob(UNKNOWN, T0)).toBeNull();
    expect(await store.resumeJob(UNKNOWN, T0)).toBeNull();
    expect(await store.retryJob(UNKNOWN, T0)).toBeNull();
    expect(await store.deleteJob(UNKNOWN)).toBe(false);
    expect(await ledger(store, UNKNOWN)).toEqual([]);
    expect(await pages(store, UNKNOWN)).toEqual([]);
  });

  holds('keeps a repeated URL once, the first one', async (store) => {
    const twice = [
      newTask('https://a.test/1', { depth: 1 }),
      newTask('https://a.test/2'),
      newTask('https://a.test/1', { depth: 9, state: 'skipped', rule: 'scope.depth' }),
    ];
    const { id } = await createJob(store, twice);
    expect((await expectExact(store, id)).counters).toMatchObject({ known: 2, open: 2, skipped: 0 });
    expect(await entryOf(store, id, 'https://a.test/1')).toMatchObject({
      depth: 1,
      state: 'ready',
      rule: null,
    });
  });

  holds('keeps URLs that will not be fetched with their rule, and counts them', async (store) => {
    const { id } = await createJob(store, [
      'https://a.test/1',
      newTask('https://a.test/2', { state: 'skipped', rule: 'scope.exclude:/2' }),
      newTask('https://b.test/3', { state: 'denied', rule: 'policy.allow-list' }),
    ]);
    expect((await expectExact(store, id)).counters).toMatchObject({
      known: 3,
      open: 1,
      skipped: 1,
      denied: 1,
    });
    expect(await entryOf(store, id, 'https://a.test/2')).toMatchObject({
      decision: 'skipped',
      rule: 'scope.exclude:/2',
    });
    expect(await entryOf(store, id, 'https://b.test/3')).toMatchObject({
      decision: 'denied',
      rule: 'policy.allow-list',
    });
    expect((await store.offerHosts(T0, 10)).map((offer) => offer.key)).toEqual(['a.test']);
  });

  holds('finishes a job without a ready task at once', async (store) => {
    const skipped = newTask('https://a.test/1', { state: 'skipped', rule: 'scope.depth' });
    const denied = newTask('https://a.test/2', { state: 'denied', rule: 'policy.allow-list' });
    const endings = [
      [[], 'completed'],
      [[skipped], 'completed'],
      [[denied], 'failed'],
      [[skipped, denied], 'failed'],
    ] as const;
    for (const [tasks, status] of endings) {
      const created = await createJob(store, tasks);
      expect(created).toMatchObject({ status, finishedAt: T0 });
      expect(await store.getJob(created.id)).toEqual(created);
    }
    expect(await store.offerHosts(T0, 10)).toEqual([]);
    expect(await store.countOpenTasks()).toBe(0);
  });

  holds('takes 10,000 tasks in one call', async (store) => {
    const urls = Array.from({ length: 10_000 }, (_, index) => `https://h${index % 50}.test/${index}`);
    const { id, counters } = await createJob(store, urls, { kind: 'batch' });
    expect(counters).toMatchObject({ known: 10_000, open: 10_000 });
    expect((await ledger(store, id)).map((entry) => entry.url)).toEqual(urls);
    expect(await store.countOpenTasks()).toBe(10_000);
    expect(await store.offerHosts(T0, 1_000)).toHaveLength(50);
  });

  holds('refuses a second job with the same id and changes nothing', async (store) => {
    const first = await createJob(store, ['https://a.test/1']);
    const { seq: _seq, counters: _counters, ...again } = first;
    await expect(store.createJob(again, [newTask('https://a.test/2')])).rejects.toThrow();
    expect(await store.getJob(first.id)).toEqual(first);
    expect(await store.countOpenTasks()).toBe(1);
  });

  holds('is queued until its first task is claimed, then running', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const lease = await own(store, 'a.test', T0 + 5);
    expect((await job(store, id)).status).toBe('queued');
    await claim(store, lease, 1, T0 + 10);
    expect(await job(store, id)).toMatchObject({ status: 'running', startedAt: T0 + 10 });
    await claim(store, lease, 1, T0 + 20);
    expect(await job(store, id)).toMatchObject({ status: 'running', startedAt: T0 + 10 });
  });

  holds('lists jobs newest first, by status, kind and account', async (store) => {
    const accountId = await store.defaultAccount();
    const ended = await createJob(store, [], { kind: 'scrape', at: T0 });
    const batch = await createJob(store, ['https://a.test/'], { kind: 'batch', at: T0 + 1 });
    const crawl = await createJob(store, ['https://b.test/'], { kind: 'crawl', at: T0 + 2 });
    const ids = async (query: Partial<Parameters<TimedStore['listJobs']>[0]>) =>
      (await store.listJobs({ accountId, limit: 10, ...query })).items.map((each) => each.id);
    expect(await ids({})).toEqual([crawl.id, batch.id, ended.id]);
    expect(await ids({ status: 'queued' })).toEqual([crawl.id, batch.id]);
    expect(await ids({ status: 'completed' })).toEqual([ended.id]);
    expect(await ids({ kind: 'batch' })).toEqual([batch.id]);
    expect(await ids({ kind: 'batch', status: 'failed' })).toEqual([]);
    expect(await ids({ accountId: 'somebody-else' as AccountId })).toEqual([]);
    expect(await store.listJobs({ accountId, limit: 10 })).toMatchObject({ nextCursor: null });
  });

  holds('deletes an ended job with all that belongs to it', async (store) => {
    const gone = await createJob(store, urlsOn('a.test', 3));
    const kept = await createJob(store, urlsOn('a.test', 3));
    await drain(store);
    expect(await store.deleteJob(gone.id)).toBe(true);
    expect(await store.getJob(gone.id)).toBeNull();
    expect(await ledger(store, gone.id)).toEqual([]);
    expect(await pages(store, gone.id)).toEqual([]);
    expect(await store.deleteJob(gone.id)).toBe(false);
    expect(await pages(store, kept.id)).toHaveLength(3);
    expect((await expectExact(store, kept.id)).status).toBe('completed');
  });

  holds('does not delete a job that is not over', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    await expect(store.deleteJob(id)).rejects.toMatchObject({ code: 'CONFLICT' });
    const { lease, tasks } = await take(store, 'a.test', 1);
    await store.cancelJob(id, T0);
    // Cancelled, but a fetch is still under way.
    await expect(store.deleteJob(id)).rejects.toMatchObject({ code: 'CONFLICT' });
    await store.commit([done(lease, at(tasks, 0))], T0);
    expect(await store.deleteJob(id)).toBe(true);
  });

  holds('counts open tasks over all jobs', async (store) => {
    await createJob(store, urlsOn('a.test', 3));
    const second = await createJob(store, urlsOn('a.test', 2));
    expect(await store.countOpenTasks()).toBe(5);
    const { lease, tasks } = await take(store, 'a.test', 2);
    expect(await store.countOpenTasks()).toBe(5);
    await store.commit([done(lease, at(tasks, 0))], T0);
    expect(await store.countOpenTasks()).toBe(4);
    await store.releaseHost(lease, lease.state, T0, T0);
    await store.cancelJob(second.id, T0);
    expect(await store.countOpenTasks()).toBe(
      (await store.listJobs(await mine(store))).items.reduce(sumOpen, 0),
    );
    await drain(store);
    expect(await store.countOpenTasks()).toBe(0);
  });

  holds('keeps a page exactly as it was given', async (store) => {
    const { id, seq } = await createJob(store, ['https://a.test/ü?q=1']);
    const { lease, tasks } = await take(store, 'a.test');
    const task = at(tasks, 0);
    const page = newPage(task, {
      title: 'Grüße – "quoted" 🎈',
      bytes: 3_000_000_000,
      lastModified: 'Thu, 01 Jan 2026 00:00:00 GMT',
      duplicateOf: 'https://a.test/other',
      record: new Uint8Array(70_000).map((_, index) => index % 251),
    });
    await store.commit([{ ...done(lease, task), page }], T0);
    const stored = await store.getPage(id, task.id);
    expect(stored?.record && Buffer.compare(stored.record, page.record as Uint8Array)).toBe(0);
    expect({ ...stored, record: null }).toEqual({ ...page, record: null, taskId: task.id, jobSeq: seq });
    expect((await pages(store, id)).map((each) => each.taskId)).toEqual([task.id]);
  });

  holds('keeps a page that has next to nothing', async (store) => {
    const { id, seq } = await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const task = at(tasks, 0);
    const page = newPage(task, {
      statusCode: null,
      contentType: null,
      charset: null,
      contentHash: null,
      textHash: null,
      title: null,
      etag: null,
      bytes: 0,
      record: null,
    });
    await store.commit([{ ...done(lease, task), page }], T0);
    expect(await store.getPage(id, task.id)).toEqual({ ...page, taskId: task.id, jobSeq: seq });
  });

  holds('lists pages in the order they were stored, fetched well or failed', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4));
    const other = await createJob(store, ['https://b.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const [a, b, c, d] = [at(tasks, 0), at(tasks, 1), at(tasks, 2), at(tasks, 3)];
    const gone = newPage(b, { statusCode: 410, errorCode: 'HTTP_ERROR', errorMessage: 'Gone' });
    await store.commit([done(lease, c)], T0);
    await store.commit([completion(lease, b, FAILED, { page: gone }), done(lease, a)], T0);
    await store.commit([completion(lease, d, FAILED)], T0);
    const urls = async (state?: 'done' | 'failed') => (await pages(store, id, state)).map((page) => page.url);
    expect(await urls()).toEqual([c.url, b.url, a.url]);
    expect(await urls('done')).toEqual([c.url, a.url]);
    expect(await urls('failed')).toEqual([b.url]);
    expect(await store.getPage(id, d.id)).toBeNull();
    expect(await store.getPage(other.id, a.id)).toBeNull();
  });

  holds('the ledger says where, when and why, in order of discovery', async (store) => {
    const { id } = await createJob(store, ['https://a.test/'], { at: T0 });
    const { lease, tasks } = await take(store, 'a.test');
    const seed = at(tasks, 0);
    const excluded = foundOn(seed, 'https://a.test/admin/', {
      state: 'skipped',
      rule: 'scope.exclude:/admin/',
    });
    await store.commit([done(lease, seed, [foundOn(seed, 'https://a.test/next'), excluded])], T0 + 50);
    expect(await ledger(store, id)).toMatchObject([
      {
        url: 'https://a.test/',
        kind: 'page',
        state: 'done',
        decision: 'fetched',
        depth: 0,
        foundBy: 'seed',
        foundOn: null,
        discoveredAt: new Date(T0).toISOString(),
        finishedAt: new Date(T0 + 50).toISOString(),
      },
      {
        url: 'https://a.test/next',
        state: 'ready',
        decision: 'pending',
        depth: 1,
        foundBy: 'link',
        foundOn: 'https://a.test/',
        discoveredAt: new Date(T0 + 50).toISOString(),
        finishedAt: null,
      },
      { url: 'https://a.test/admin/', decision: 'skipped', rule: 'scope.exclude:/admin/' },
    ]);
    expect((await ledger(store, id, 'skipped')).map((entry) => entry.url)).toEqual(['https://a.test/admin/']);
    expect(await ledger(store, id, 'failed')).toEqual([]);
  });
}

const mine = async (store: TimedStore) => ({ accountId: await store.defaultAccount(), limit: 100 });
const sumOpen = (sum: number, each: { counters: { open: number } }) => sum + each.counters.open;
