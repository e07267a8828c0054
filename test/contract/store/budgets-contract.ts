import { expect } from 'vitest';
import type { StoredEvent } from '../../../src/core/ports/event-store.ts';
import type { Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import {
  at,
  claim,
  completion,
  createJob,
  DONE,
  done,
  drain,
  entryOf,
  expectExact,
  FAILED,
  foundOn,
  job,
  ledger,
  NO_LIMITS,
  newTask,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** Pages, bytes and time that a job may spend. */
export function budgetsContract(holds: Claim<TimedStore>): void {
  holds('never has more pages claimed and ended than its budget', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 10), { budgets: { maxPages: 3 } });
    const { lease, tasks } = await take(store, 'a.test');
    expect(tasks).toHaveLength(3);
    expect(await claim(store, lease)).toEqual([]);
    await store.commit([done(lease, at(tasks, 0)), completion(lease, at(tasks, 1), FAILED)], T0);
    expect(await claim(store, lease)).toEqual([]);
    expect(await job(store, id)).toMatchObject({
      status: 'running',
      stopReason: null,
      counters: { open: 8 },
    });

    const receipt = await store.commit([done(lease, at(tasks, 2))], T0 + 9);
    expect(receipt).toMatchObject({ stoppedJobs: [id], finishedJobs: [id] });
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({
      status: 'partially_completed',
      stopReason: 'budget.pages',
      finishedAt: T0 + 9,
    });
    expect(ended.counters).toMatchObject({ open: 0, done: 2, failed: 1, skipped: 7 });
    expect(new Set((await ledger(store, id, 'skipped')).map((entry) => entry.rule))).toEqual(
      new Set(['budget.pages']),
    );
  });

  holds('shares a page budget among the hosts of a job', async (store) => {
    await createJob(store, [...urlsOn('a.test', 5), ...urlsOn('b.test', 5)], { budgets: { maxPages: 4 } });
    const a = await take(store, 'a.test', 3);
    const b = await take(store, 'b.test', 3);
    expect([a.tasks.length, b.tasks.length]).toEqual([3, 1]);
  });

  holds('gives back the budget of a page that was not fetched after all', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 6), { budgets: { maxPages: 2 } });
    const { lease, tasks } = await take(store, 'a.test');
    expect(tasks).toHaveLength(2);
    const denied = completion(lease, at(tasks, 0), { state: 'denied', rule: 'robots: disallow: /' });
    const skipped = completion(lease, at(tasks, 1), { state: 'skipped', rule: 'duplicate.redirect' });
    await store.commit([denied, skipped], T0);
    expect(await job(store, id)).toMatchObject({ status: 'running', stopReason: null });
    expect(await claim(store, lease)).toHaveLength(2);
  });

  holds('is not stopped by a budget that its last page just fills', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2), { budgets: { maxPages: 2 } });
    await drain(store);
    expect(await expectExact(store, id)).toMatchObject({ status: 'completed', stopReason: null });
  });

  holds('lets other jobs on the host go on when one is at its budget', async (store) => {
    const small = await createJob(store, urlsOn('a.test', 20), { budgets: { maxPages: 1 } });
    const other = await createJob(store, urlsOn('a.test', 20));
    const { tasks } = await take(store, 'a.test');
    const of = (id: string) => tasks.filter((task) => task.jobId === id).length;
    expect([of(small.id), of(other.id)]).toEqual([1, 20]);
  });

  holds('skips what pages of a stopped job still find', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3), { budgets: { maxBytes: 50 } });
    const { lease, tasks } = await take(store, 'a.test', 2);
    await store.commit([done(lease, at(tasks, 0), [foundOn(at(tasks, 0), 'https://a.test/x')])], T0);
    await store.commit([done(lease, at(tasks, 1), [foundOn(at(tasks, 1), 'https://b.test/y')])], T0);
    for (const url of ['https://a.test/x', 'https://b.test/y']) {
      expect(await entryOf(store, id, url)).toMatchObject({ state: 'skipped', rule: 'budget.bytes' });
    }
    expect(await expectExact(store, id)).toMatchObject({ status: 'completed', stopReason: 'budget.bytes' });
  });

  holds(
    'counts browser time and bytes through proxies, and stops the job when one of them is spent',
    async (store) => {
      for (const [budgets, reason] of [
        [{ maxBrowserMs: 5_000 }, 'budget.browser'],
        [{ maxProxyBytes: 150 }, 'budget.proxy'],
      ] as const) {
        const host = `${reason}.test`;
        const { id } = await createJob(store, urlsOn(host, 4), { budgets });
        const { lease, tasks } = await take(store, host, 2);
        const spent = { browserMs: 2_500, proxyBytes: 100 };
        const first = completion(lease, at(tasks, 0), DONE, { spent });
        expect(await store.commit([first], T0)).toMatchObject({ stoppedJobs: [] });
        expect((await job(store, id)).counters).toMatchObject(spent);
        const receipt = await store.commit([completion(lease, at(tasks, 1), DONE, { spent })], T0 + 5);
        expect(receipt).toMatchObject({ stoppedJobs: [id], finishedJobs: [id] });
        const ended = await expectExact(store, id);
        expect(ended).toMatchObject({ stopReason: reason, finishedAt: T0 + 5 });
        expect(ended.counters).toMatchObject({ browserMs: 5_000, proxyBytes: 200, pages: 2, skipped: 2 });
        expect((await ledger(store, id, 'skipped')).map(({ rule }) => rule)).toEqual([reason, reason]);
        const same = await store.resumeJob(id, T0 + 6);
        expect(same).toMatchObject({ stopReason: reason, counters: { open: 0 } });
        const lifted = { ...NO_LIMITS, maxBrowserMs: null, maxProxyBytes: null };
        expect(await store.resumeJob(id, T0 + 7, lifted)).toMatchObject({
          stopReason: null,
          counters: { open: 2 },
        });
      }
    },
  );

  holds('counts nothing of a completion whose lease is lost', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test', 1);
    const spent = { browserMs: 2_500, proxyBytes: 100 };
    const lost = { ...lease, epoch: lease.epoch + 1 };
    await store.commit([completion(lost, at(tasks, 0), DONE, { spent })], T0);
    expect((await job(store, id)).counters).toMatchObject({ browserMs: 0, proxyBytes: 0 });
  });

  holds('does not count sitemaps as pages', async (store) => {
    const sitemap = newTask('https://a.test/sitemap.xml', { kind: 'sitemap', foundBy: 'robots' });
    const { id } = await createJob(store, [sitemap, ...urlsOn('a.test', 2)], { budgets: { maxPages: 2 } });
    const { lease, tasks } = await take(store, 'a.test');
    expect(tasks).toHaveLength(3);
    await store.commit(
      tasks.map((task) => completion(lease, task, DONE, task.kind === 'page' ? {} : { page: null })),
      T0,
    );
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'completed', stopReason: null, counters: { done: 3, pages: 2 } });
  });

  holds('stops at a byte budget and lets what is under way finish', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 5), { budgets: { maxBytes: 150 } });
    const { lease, tasks } = await take(store, 'a.test', 3);
    const [one, two, three] = [at(tasks, 0), at(tasks, 1), at(tasks, 2)];
    expect((await store.commit([done(lease, one)], T0)).stoppedJobs).toEqual([]);
    const receipt = await store.commit([completion(lease, two, FAILED, { bytes: 60 })], T0);
    expect(receipt).toMatchObject({ stoppedJobs: [id], finishedJobs: [] });
    expect(await job(store, id)).toMatchObject({ stopReason: 'budget.bytes', finishedAt: null });
    expect((await job(store, id)).counters).toMatchObject({ open: 1, claimed: 1, skipped: 2 });
    expect((await store.commit([done(lease, three)], T0 + 3)).finishedJobs).toEqual([id]);
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'partially_completed', finishedAt: T0 + 3 });
    expect(ended.counters).toMatchObject({ done: 2, failed: 1, skipped: 2, bytes: 260 });
  });

  holds('stops a job once, for the first budget that was spent', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 9), {
      budgets: { maxBytes: 50, maxDurationMs: 10 },
    });
    const { lease, tasks } = await take(store, 'a.test', 4);
    const stops: (readonly string[])[] = [];
    for (const task of tasks) stops.push((await store.commit([done(lease, task)], T0)).stoppedJobs);
    expect(stops).toEqual([[id], [], [], []]);
    const late = await createJob(store, urlsOn('b.test', 9), {
      budgets: { maxBytes: 50, maxDurationMs: 10 },
    });
    const b = await take(store, 'b.test', 2);
    expect(await store.expireJobs(T0 + 11)).toEqual([late.id]);
    for (const task of b.tasks) {
      expect((await store.commit([done(b.lease, task)], T0 + 12)).stoppedJobs).toEqual([]);
      expect(await expectExact(store, late.id)).toMatchObject({ stopReason: 'budget.duration' });
    }
    expect(await expectExact(store, id)).toMatchObject({ stopReason: 'budget.bytes' });
  });

  holds('skips a task of a stopped job that would go on', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4), { budgets: { maxBytes: 50 } });
    const { lease, tasks } = await take(store, 'a.test', 3);
    await store.commit([done(lease, at(tasks, 0))], T0);
    const waiting = { state: 'waiting', readyAt: T0 + 9, rule: 'retry:CONNECT_FAILED' } as const;
    await store.commit([completion(lease, at(tasks, 1), waiting)], T0 + 1);
    await expectExact(store, id);
    await store.releaseHost(lease, lease.state, T0 + 2, T0 + 2);
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'completed', counters: { open: 0, done: 1, skipped: 3 } });
    expect((await ledger(store, id, 'skipped')).map((entry) => entry.rule)).toEqual([
      'budget.bytes',
      'budget.bytes',
      'budget.bytes',
    ]);
  });

  holds('ends jobs whose time is up', async (store) => {
    const limited = { budgets: { maxDurationMs: 10_000 } };
    const idle = await createJob(store, urlsOn('a.test', 3), limited);
    const busy = await createJob(store, urlsOn('b.test', 3), limited);
    const endless = await createJob(store, urlsOn('c.test', 3));
    const { lease, tasks } = await take(store, 'b.test', 1);
    expect(await store.expireJobs(T0 + 9_999)).toEqual([]);
    expect([...(await store.expireJobs(T0 + 10_001))].sort()).toEqual([idle.id, busy.id].sort());
    expect(await store.expireJobs(T0 + 10_002)).toEqual([]);

    expect(await expectExact(store, idle.id)).toMatchObject({
      stopReason: 'budget.duration',
      finishedAt: T0 + 10_001,
      counters: { open: 0, skipped: 3 },
    });
    expect((await ledger(store, idle.id)).map((entry) => entry.rule)).toEqual([
      'budget.duration',
      'budget.duration',
      'budget.duration',
    ]);
    expect(await job(store, busy.id)).toMatchObject({
      finishedAt: null,
      counters: { claimed: 1, skipped: 2 },
    });
    const receipt = await store.commit([done(lease, at(tasks, 0))], T0 + 10_003);
    expect(receipt.finishedJobs).toEqual([busy.id]);
    expect(await expectExact(store, busy.id)).toMatchObject({ status: 'completed' });
    expect((await job(store, endless.id)).counters.open).toBe(3);
  });

  holds('resumes what a spent budget skipped under a raised one', async (store) => {
    const skipped = newTask('https://a.test/no', { state: 'skipped', rule: 'scope.exclude:/no' });
    const { id } = await createJob(store, [...urlsOn('a.test', 6), skipped], { budgets: { maxPages: 2 } });
    await drain(store);
    expect(await job(store, id)).toMatchObject({ stopReason: 'budget.pages', counters: { skipped: 5 } });

    const budgets = { ...NO_LIMITS, maxPages: 5 };
    const pace = { hostRatePerSecond: 5, concurrency: 3 };
    const resumed = await store.resumeJob(id, T0 + 10, budgets, pace);
    expect(resumed).toMatchObject({ stopReason: null, finishedAt: null, options: { budgets, ...pace } });
    expect(resumed?.counters).toMatchObject({ open: 4, done: 2, skipped: 1 });
    await expectExact(store, id);
    expect(await drain(store, T0 + 20)).toHaveLength(3);
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'completed', stopReason: 'budget.pages' });
    expect(ended.counters).toMatchObject({ done: 5, skipped: 2 });
    expect(ended.options.budgets).toEqual(budgets);
  });

  holds(
    'resumes what a limit or log-in walls left out also after failed pages were tried again',
    async (store) => {
      for (const [host, reason] of [
        ['a.test', 'budget.duration'],
        ['b.test', 'login-walls'],
      ] as const) {
        const { id } = await createJob(store, urlsOn(host, 5));
        const { lease, tasks } = await take(store, host, 1);
        await store.stopJob(id, reason);
        await store.commit([completion(lease, at(tasks, 0), FAILED)], T0);
        await store.releaseHost(lease, lease.state, T0, T0);
        await store.retryJob(id, T0 + 1);
        expect(await drain(store, T0 + 2)).toEqual([at(tasks, 0).url]);
        expect(await expectExact(store, id)).toMatchObject({ counters: { done: 1, skipped: 4 } });
        const resumed = await store.resumeJob(id, T0 + 3);
        expect(resumed).toMatchObject({ finishedAt: null, counters: { open: 4, skipped: 0 } });
        expect(await drain(store, T0 + 4)).toHaveLength(4);
      }
    },
  );

  holds(
    'changes nothing of a job that has ended and is resumed under a budget still spent',
    async (store) => {
      const { id } = await createJob(store, urlsOn('a.test', 6), { budgets: { maxPages: 2 } });
      await drain(store);
      const before = await job(store, id);
      expect(await store.resumeJob(id, T0 + 10)).toEqual(before);
      expect(await store.resumeJob(id, T0 + 10, { ...NO_LIMITS, maxPages: 1 })).toEqual(before);
      const ended = await expectExact(store, id);
      expect(ended).toEqual(before);
      const hasEnded = (events: readonly StoredEvent[]) =>
        events.some(({ type }) => type === 'job.completed');
      const events = await eventsUntil(store, hasEnded, { jobId: id });
      expect(events.map(({ type }) => type)).not.toContain('job.resumed');
      expect(ended).toMatchObject({ status: 'completed', stopReason: 'budget.pages' });
      expect(ended.counters).toMatchObject({ open: 0, done: 2, skipped: 4 });
      expect(ended.finishedAt).not.toBeNull();
      expect(await drain(store, T0 + 20)).toEqual([]);
    },
  );

  holds('frees the budget of failed pages for their retry', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4), { budgets: { maxPages: 2 } });
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([done(lease, at(tasks, 0)), completion(lease, at(tasks, 1), FAILED)], T0);
    await store.releaseHost(lease, lease.state, T0, T0);
    await store.retryJob(id, T0 + 1);
    expect(await drain(store, T0 + 2)).toEqual([at(tasks, 1).url]);
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'completed', counters: { done: 2, failed: 0, skipped: 2 } });
  });
}
