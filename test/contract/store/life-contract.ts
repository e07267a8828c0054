import { expect } from 'vitest';
import type { HostKey, JobId } from '../../../src/core/model/ids.ts';
import type { Claim } from '../contract.ts';
import {
  ATTEMPT,
  at,
  claim,
  completion,
  createJob,
  done,
  drain,
  expectExact,
  FAILED,
  foundOn,
  job,
  LEASE_MS,
  ledger,
  newPage,
  newTask,
  own,
  pages,
  states,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const UNKNOWN = '00000000-0000-7000-8000-000000000000' as JobId;

/** Cancel, stop, resume and retry. */
export function lifeContract(holds: Claim<TimedStore>): void {
  holds('cancels a job that nothing is claimed of at once', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const cancelled = await store.cancelJob(id, T0 + 5);
    expect(cancelled).toMatchObject({ status: 'cancelled', finishedAt: T0 + 5 });
    expect(cancelled?.counters).toMatchObject({ open: 0, cancelled: 3, known: 3 });
    await expectExact(store, id);
    expect((await ledger(store, id, 'cancelled')).map((entry) => entry.decision)).toEqual(
      Array.from({ length: 3 }, () => 'cancelled'),
    );
    expect(await store.acquireHost('a.test' as HostKey, 'one', T0 + 6, LEASE_MS)).toBeNull();
    expect(await store.offerHosts(T0 + 6, 10)).toEqual([]);
  });

  holds('stops a job for a reason, and resumes what the reason has skipped', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 5));
    const { lease, tasks } = await take(store, 'a.test', 2);
    const stopped = await store.stopJob(id, 'login-walls');
    expect(stopped).toMatchObject({ stopReason: 'login-walls', finishedAt: null });
    expect(stopped?.counters).toMatchObject({ open: 2, claimed: 2, skipped: 3 });
    expect((await ledger(store, id, 'skipped')).map(({ rule }) => rule)).toEqual(
      Array.from({ length: 3 }, () => 'login-walls'),
    );
    const walled = { ...FAILED, errorCode: 'LOGIN_REQUIRED' } as const;
    await store.commit(
      [completion(lease, at(tasks, 0), walled), completion(lease, at(tasks, 1), FAILED)],
      T0 + 6,
    );
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ stopReason: 'login-walls', status: 'failed' });
    expect(await store.stopJob(id, 'login-walls')).toEqual(ended);
    expect(await store.stopJob(UNKNOWN, 'login-walls')).toBeNull();
    // Only the failures that the caller names are tried again.
    await store.resumeJob(id, T0 + 7);
    await store.plain.retryJob(id, 'LOGIN_REQUIRED');
    const resumed = await expectExact(store, id);
    expect(resumed).toMatchObject({ stopReason: null, status: 'running', finishedAt: null });
    expect(resumed.counters).toMatchObject({ open: 4, skipped: 0, failed: 1 });
  });

  holds('lets tasks under way finish after a cancel and keeps what they bring', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 5));
    const { lease, tasks } = await take(store, 'a.test', 2);
    const cancelled = await store.cancelJob(id, T0 + 5);
    expect(cancelled).toMatchObject({ status: 'cancelled', finishedAt: null });
    expect(cancelled?.counters).toMatchObject({ open: 2, claimed: 2, cancelled: 3 });
    expect(await claim(store, lease)).toEqual([]);
    await store.commit([done(lease, at(tasks, 0))], T0 + 6);
    expect(await job(store, id)).toMatchObject({ status: 'cancelled', finishedAt: null });
    const receipt = await store.commit([completion(lease, at(tasks, 1), FAILED)], T0 + 7);
    expect(receipt.finishedJobs).toEqual([id]);
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'cancelled', finishedAt: T0 + 7 });
    expect(ended.counters).toMatchObject({ open: 0, done: 1, failed: 1, cancelled: 3 });
    expect(await pages(store, id)).toHaveLength(1);
  });

  holds('drops what a task of a cancelled job would go on with', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 5));
    const { lease, tasks } = await take(store, 'a.test', 5);
    await store.cancelJob(id, T0 + 5);
    const readyAt = T0 + 9;
    const moved = {
      state: 'moved',
      atUrl: 'https://b.test/',
      hostKey: 'b.test' as HostKey,
      hops: 1,
    } as const;
    const found = foundOn(at(tasks, 3), 'https://c.test/found');
    await store.commit(
      [
        completion(lease, at(tasks, 0), { state: 'waiting', readyAt, rule: 'retry:CONNECT_FAILED' }),
        completion(lease, at(tasks, 1), { state: 'ready' }),
        completion(lease, at(tasks, 2), moved),
        done(lease, at(tasks, 3), [found]),
      ],
      T0 + 6,
    );
    await expectExact(store, id);
    await store.releaseHost(lease, lease.state, T0 + 7, T0 + 7);
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'cancelled', finishedAt: T0 + 7 });
    expect(ended.counters).toMatchObject({ open: 0, done: 1, cancelled: 5 });
    expect(await drain(store, T0 + 10)).toEqual([]);
  });

  holds('ends a cancelled job when the owner of its last task is found dead', async (store) => {
    const { id } = await createJob(store, ['https://a.test/']);
    await take(store, 'a.test');
    await store.cancelJob(id, T0 + 5);
    const later = T0 + LEASE_MS + 1;
    expect(await store.acquireHost('a.test' as HostKey, 'two', later, LEASE_MS)).toBeNull();
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'cancelled', finishedAt: later, counters: { cancelled: 1 } });
  });

  holds('returns a job that has ended as it is when it is cancelled', async (store) => {
    const { id } = await createJob(store, ['https://a.test/']);
    await drain(store);
    const ended = await job(store, id);
    expect(await store.cancelJob(id, T0 + 50)).toEqual(ended);
    const other = await createJob(store, urlsOn('a.test', 2));
    const cancelled = await store.cancelJob(other.id, T0 + 60);
    expect(await store.cancelJob(other.id, T0 + 70)).toEqual(cancelled);
  });

  holds('resumes a cancelled job to the result of an undisturbed run', async (store) => {
    const links = (url: string) => (url.length < 18 ? [`${url}a`, `${url}b`, 'https://b.test/'] : []);
    const discover = (task: Parameters<typeof foundOn>[0]) =>
      links(task.url).map((url) => foundOn(task, url));
    const calm = await createJob(store, ['https://a.test/']);
    await drain(store, T0, discover);

    const disturbed = await createJob(store, ['https://a.test/']);
    for (let turn = 0; turn < 100 && (await job(store, disturbed.id)).counters.open > 0; turn += 1) {
      const now = T0 + turn;
      const offer = at(await store.offerHosts(now, 1), 0);
      const lease = await own(store, offer.key, now);
      const tasks = await claim(store, lease, 2, now);
      await store.cancelJob(disturbed.id, now);
      await store.commit(
        tasks.slice(0, 1).map((task) => done(lease, task, discover(task))),
        now,
      );
      if (turn % 2 === 0) await store.releaseHost(lease, lease.state, now, now);
      await store.resumeJob(disturbed.id, now);
      if (turn % 2 === 1) await store.releaseHost(lease, lease.state, now, now);
      await expectExact(store, disturbed.id);
    }
    expect(await states(store, disturbed.id)).toEqual(await states(store, calm.id));
    expect((await pages(store, disturbed.id)).map((page) => page.url).sort()).toEqual(
      (await pages(store, calm.id)).map((page) => page.url).sort(),
    );
    expect((await expectExact(store, disturbed.id)).status).toBe('completed');
  });

  holds('a resumed job runs again and says since when it did first', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    await store.cancelJob(id, T0 + 5);
    const resumed = await store.resumeJob(id, T0 + 10);
    expect(resumed).toMatchObject({ finishedAt: null, stopReason: null });
    expect(['queued', 'running']).toContain(resumed?.status);
    expect(resumed?.counters).toMatchObject({ open: 2, cancelled: 0 });
    await take(store, 'a.test', 1, T0 + 20);
    expect(await job(store, id)).toMatchObject({ status: 'running', startedAt: T0 + 20 });
  });

  holds('resumes while tasks from before the cancel are still under way', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test', 1);
    await store.cancelJob(id, T0 + 5);
    await store.resumeJob(id, T0 + 6);
    expect((await expectExact(store, id)).counters).toMatchObject({ open: 3, claimed: 1, cancelled: 0 });
    await store.commit([done(lease, at(tasks, 0))], T0 + 7);
    await store.releaseHost(lease, lease.state, T0 + 7, T0 + 7);
    expect(await drain(store, T0 + 8)).toHaveLength(2);
    expect(await expectExact(store, id)).toMatchObject({ status: 'completed' });
  });

  holds('returns a job as it is when there is nothing to resume or to retry', async (store) => {
    const { id } = await createJob(store, ['https://a.test/', newTask('https://a.test/x', SKIPPED)]);
    await drain(store);
    const ended = await job(store, id);
    expect(await store.resumeJob(id, T0 + 50)).toEqual(ended);
    expect(await store.retryJob(id, T0 + 50)).toEqual(ended);
    expect(await store.offerHosts(T0 + 60, 10)).toEqual([]);
  });

  holds('retries failed tasks with fresh attempts and replaces their pages', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test');
    const failing = at(tasks, 1);
    const page = newPage(failing, { statusCode: 500, errorCode: 'HTTP_ERROR', errorMessage: 'Oops' });
    await store.commit(
      [
        done(lease, at(tasks, 0)),
        completion(lease, failing, FAILED, { page, trace: [ATTEMPT, ATTEMPT] }),
        completion(lease, at(tasks, 2), { state: 'denied', rule: 'robots: disallow: /' }),
      ],
      T0,
    );
    await store.releaseHost(lease, lease.state, T0, T0);
    expect(await job(store, id)).toMatchObject({ status: 'partially_completed' });

    const retried = await store.retryJob(id, T0 + 10);
    expect(retried).toMatchObject({ finishedAt: null, counters: { failed: 0, open: 1, done: 1, denied: 1 } });
    await expectExact(store, id);
    const again = await take(store, 'a.test', 10, T0 + 20);
    expect(again.tasks).toEqual([{ ...failing, attempts: 0, trace: [] }]);
    await store.commit([done(again.lease, at(again.tasks, 0))], T0 + 30);
    expect(await expectExact(store, id)).toMatchObject({ status: 'completed', finishedAt: T0 + 30 });
    expect(await store.getPage(id, failing.id)).toMatchObject({ statusCode: 200, errorCode: null });
    expect((await pages(store, id)).map((each) => each.url).sort()).toEqual([at(tasks, 0).url, failing.url]);
    expect(await pages(store, id, 'failed')).toEqual([]);
  });

  holds('retries a task that had moved from where it began', async (store) => {
    const { id } = await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const moved = {
      state: 'moved',
      atUrl: 'https://b.test/',
      hostKey: 'b.test' as HostKey,
      hops: 1,
    } as const;
    await store.commit([completion(lease, at(tasks, 0), moved)], T0);
    await store.releaseHost(lease, lease.state, T0, T0);
    const there = await take(store, 'b.test');
    await store.commit([completion(there.lease, at(there.tasks, 0), FAILED)], T0);
    await store.releaseHost(there.lease, there.lease.state, T0, T0);
    await store.retryJob(id, T0 + 1);
    const again = await take(store, 'a.test', 10, T0 + 2);
    expect(again.tasks).toEqual([at(tasks, 0)]);
  });

  holds('retries what failed while the rest of the job still runs', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test', 2);
    await store.commit([completion(lease, at(tasks, 0), FAILED)], T0);
    await store.retryJob(id, T0 + 1);
    expect((await expectExact(store, id)).counters).toMatchObject({ open: 3, claimed: 1, failed: 0 });
    await store.commit([done(lease, at(tasks, 1))], T0 + 2);
    await store.releaseHost(lease, lease.state, T0 + 2, T0 + 2);
    expect(await drain(store, T0 + 3)).toHaveLength(2);
    expect(await expectExact(store, id)).toMatchObject({ status: 'completed' });
  });

  holds('derives the status from what became of the tasks', async (store) => {
    const cases = [
      [['done', 'done'], 'completed'],
      [['done', 'failed'], 'partially_completed'],
      [['done', 'denied', 'skipped'], 'completed'],
      [['failed', 'failed'], 'failed'],
      [['failed', 'skipped'], 'failed'],
      [['denied', 'skipped'], 'failed'],
      [['skipped', 'skipped'], 'completed'],
      [['done', 'failed', 'denied'], 'partially_completed'],
    ] as const;
    for (const [index, [ends, status]] of cases.entries()) {
      const host = `h${index}.test`;
      const { id } = await createJob(store, urlsOn(host, ends.length));
      const { lease, tasks } = await take(store, host);
      await store.commit(
        tasks.map((task, n) => {
          const state = at(ends, n);
          return completion(lease, task, state === 'failed' ? FAILED : { state, rule: null });
        }),
        T0,
      );
      expect({ ends, status: (await expectExact(store, id)).status }).toEqual({ ends, status });
    }
  });

  holds('counts a sitemap that was read as something done', async (store) => {
    const { id } = await createJob(
      store,
      ['https://a.test/1.xml', 'https://a.test/2.xml'].map((url) => newTask(url, { kind: 'sitemap' })),
      { kind: 'map' },
    );
    const { lease, tasks } = await take(store, 'a.test');
    const read = completion(lease, at(tasks, 0), { state: 'done', rule: null }, { page: null });
    await store.commit([read, completion(lease, at(tasks, 1), FAILED)], T0);
    const ended = await expectExact(store, id);
    expect(ended.counters).toMatchObject({ done: 1, pages: 0, failed: 1 });
    expect(ended.status).toBe('partially_completed');
  });
}

const SKIPPED = { state: 'skipped', rule: 'scope.depth' } as const;
