import { expect } from 'vitest';
import type { HostKey, JobSeq } from '../../../src/core/model/ids.ts';
import type { Claim } from '../contract.ts';
import {
  ATTEMPT,
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

/** The one write of the crawl. */
export function ledgerContract(holds: Claim<TimedStore>): void {
  holds('ends the last task and its job in one commit', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test');
    const first = await store.commit([done(lease, at(tasks, 0))], T0 + 10);
    expect(first).toMatchObject({ rejected: [], changedJobs: [id], finishedJobs: [], stoppedJobs: [] });
    expect(await job(store, id)).toMatchObject({ status: 'running', finishedAt: null });
    const second = await store.commit([done(lease, at(tasks, 1))], T0 + 20);
    expect(second).toMatchObject({ rejected: [], changedJobs: [id], finishedJobs: [id], stoppedJobs: [] });
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'completed', stopReason: null, finishedAt: T0 + 20 });
    expect(ended.counters).toMatchObject({ open: 0, done: 2, pages: 2, bytes: 200 });
  });

  holds('keeps rule, error and trace of every end', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4));
    const { lease, tasks } = await take(store, 'a.test');
    const trace = [ATTEMPT, { ...ATTEMPT, reason: 'plan.remembered', outcome: 'ok' } as const];
    await store.commit(
      [
        completion(lease, at(tasks, 0), DONE, { trace }),
        completion(lease, at(tasks, 1), { state: 'skipped', rule: 'scope.noindex' }, { trace }),
        completion(lease, at(tasks, 2), { state: 'denied', rule: 'robots: disallow: /private' }),
        completion(lease, at(tasks, 3), FAILED, { trace: [ATTEMPT] }),
      ],
      T0 + 7,
    );
    const finishedAt = new Date(T0 + 7).toISOString();
    expect(await ledger(store, id)).toMatchObject([
      { decision: 'fetched', rule: null, errorCode: null, attempts: trace, finishedAt },
      { decision: 'skipped', rule: 'scope.noindex', errorCode: null, attempts: trace, finishedAt },
      { decision: 'denied', rule: 'robots: disallow: /private', errorCode: null, attempts: [], finishedAt },
      {
        decision: 'failed',
        rule: 'attempt.error',
        errorCode: 'CONNECT_FAILED',
        attempts: [ATTEMPT],
        finishedAt,
      },
    ]);
    expect(await expectExact(store, id)).toMatchObject({ status: 'partially_completed' });
  });

  holds('counts bytes whatever the end', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit(
      [
        completion(lease, at(tasks, 0), FAILED, { bytes: 7 }),
        completion(lease, at(tasks, 1), { state: 'ready' }, { bytes: 5 }),
        completion(lease, at(tasks, 2), { state: 'skipped', rule: 'scope.noindex' }, { bytes: 11 }),
      ],
      T0,
    );
    expect((await expectExact(store, id)).counters.bytes).toBe(23);
  });

  holds('lets a task wait and hands it over with its trace', async (store) => {
    const { id } = await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const end = { state: 'waiting', readyAt: T0 + 500, rule: 'retry:CONNECT_FAILED' } as const;
    await store.commit([completion(lease, at(tasks, 0), end, { trace: [ATTEMPT] })], T0);
    expect((await expectExact(store, id)).counters).toMatchObject({ open: 1, claimed: 0 });
    const url = at(tasks, 0).url;
    expect(await entryOf(store, id, url)).toMatchObject({ state: 'waiting', decision: 'pending' });
    expect(await claim(store, lease, 10, T0 + 499)).toEqual([]);
    const again = at(await claim(store, lease, 10, T0 + 500), 0);
    expect(again).toMatchObject({ id: at(tasks, 0).id, attempts: 1, trace: [ATTEMPT] });
    const trace = [ATTEMPT, ATTEMPT];
    await store.commit([completion(lease, again, DONE, { trace })], T0 + 600);
    expect((await entryOf(store, id, url)).attempts).toEqual(trace);
  });

  holds('takes a task back unattempted', async (store) => {
    const { id } = await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([completion(lease, at(tasks, 0), { state: 'ready' })], T0);
    expect((await expectExact(store, id)).counters).toMatchObject({ open: 1, claimed: 0 });
    expect(await claim(store, lease)).toEqual(tasks);
  });

  holds('moves a task to the host where a redirect led', async (store) => {
    const { id } = await createJob(store, ['https://a.test/', 'https://a.test/2']);
    const { lease, tasks } = await take(store, 'a.test', 1);
    const task = at(tasks, 0);
    const moved = {
      state: 'moved',
      atUrl: 'https://b.test/there',
      hostKey: 'b.test' as HostKey,
      hops: 2,
    } as const;
    const receipt = await store.commit([completion(lease, task, moved, { trace: [ATTEMPT] })], T0);
    expect(receipt.readyHosts.map((offer) => offer.key)).toEqual(['b.test']);
    expect((await expectExact(store, id)).counters).toMatchObject({ known: 2, open: 2, claimed: 0 });
    expect((await claim(store, lease)).map((each) => each.url)).toEqual(['https://a.test/2']);
    const there = await take(store, 'b.test');
    expect(there.tasks).toEqual([{ ...task, atUrl: moved.atUrl, hops: 2, attempts: 1, trace: [ATTEMPT] }]);
    await store.commit([done(there.lease, at(there.tasks, 0))], T0);
    expect(await states(store, id)).toMatchObject({ 'https://a.test/': 'done' });
    // The first host has no say in it any more.
    expect((await store.commit([done(lease, task)], T0)).rejected).toEqual([task.id]);
  });

  holds('adds what a page found, once, and says which hosts have work now', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test');
    const [one, two] = [at(tasks, 0), at(tasks, 1)];
    const receipt = await store.commit(
      [
        done(lease, one, [
          foundOn(one, 'https://a.test/1'),
          foundOn(one, 'https://b.test/new'),
          foundOn(one, 'https://b.test/new', { depth: 9 }),
          foundOn(one, 'https://c.test/no', { state: 'skipped', rule: 'scope.domain' }),
          foundOn(one, 'https://d.test/no', { state: 'denied', rule: 'policy.allow-list' }),
        ]),
        done(lease, two, [foundOn(two, 'https://b.test/new'), foundOn(two, 'https://c.test/no')]),
      ],
      T0,
    );
    expect(receipt.readyHosts.map((offer) => offer.key)).toEqual(['b.test']);
    expect(receipt.finishedJobs).toEqual([]);
    expect((await expectExact(store, id)).counters).toMatchObject({
      known: 5,
      open: 1,
      skipped: 1,
      denied: 1,
    });
    expect(await entryOf(store, id, 'https://b.test/new')).toMatchObject({ depth: 1, foundOn: one.url });
    expect(await entryOf(store, id, 'https://c.test/no')).toMatchObject({ state: 'skipped' });
    expect(await drain(store)).toEqual(['https://b.test/new']);
  });

  holds('never brings back a URL that has ended', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([done(lease, at(tasks, 0)), completion(lease, at(tasks, 1), FAILED)], T0);
    const last = at(tasks, 2);
    await store.commit(
      [
        done(
          lease,
          last,
          tasks.map((task) => foundOn(last, task.url)),
        ),
      ],
      T0,
    );
    expect(await expectExact(store, id)).toMatchObject({ status: 'partially_completed' });
    expect((await job(store, id)).counters).toMatchObject({ known: 3, open: 0, done: 2, failed: 1 });
  });

  holds('keeps the jobs’ URLs apart', async (store) => {
    const first = await createJob(store, ['https://a.test/']);
    const second = await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    expect(tasks.map((task) => task.jobId).sort()).toEqual([first.id, second.id].sort());
    const mine = tasks.find((task) => task.jobId === first.id);
    if (mine === undefined) throw new Error('The first job’s task was not claimed.');
    await store.commit([done(lease, mine, [foundOn(mine, 'https://a.test/more')])], T0);
    expect((await expectExact(store, first.id)).counters.known).toBe(2);
    expect((await expectExact(store, second.id)).counters).toMatchObject({ known: 1, claimed: 1 });
  });

  holds('counts a completion once, however often it is sent', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test');
    const sent = done(lease, at(tasks, 0), [foundOn(at(tasks, 0), 'https://a.test/more')]);
    await store.commit([sent], T0);
    const before = await job(store, id);
    const again = await store.commit([sent, { ...sent, end: FAILED }], T0 + 1);
    expect(again.rejected).toEqual([sent.taskId, sent.taskId]);
    expect(await job(store, id)).toEqual(before);
    expect(await pages(store, id)).toHaveLength(1);
  });

  holds('keeps the others when one completion of a commit is void', async (store) => {
    const { id } = await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 1)]);
    const a = await take(store, 'a.test');
    const b = await take(store, 'b.test');
    await store.releaseHost(b.lease, b.lease.state, T0, T0);
    const all = [done(a.lease, at(a.tasks, 0)), done(b.lease, at(b.tasks, 0)), done(a.lease, at(a.tasks, 1))];
    const receipt = await store.commit(all, T0);
    expect(receipt.rejected).toEqual([at(b.tasks, 0).id]);
    expect((await expectExact(store, id)).counters).toMatchObject({ done: 2, open: 1, bytes: 200 });
    expect((await pages(store, id)).map((page) => page.url)).toEqual(urlsOn('a.test', 2));
  });

  holds('rejects a task that its sender never claimed', async (store) => {
    const { id } = await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 1)]);
    const a = await take(store, 'a.test', 1);
    const b = await take(store, 'b.test', 1);
    const forged = [
      { ...done(a.lease, at(b.tasks, 0)) },
      { ...done(a.lease, at(a.tasks, 0)), jobSeq: (at(a.tasks, 0).jobSeq + 1) as JobSeq },
    ];
    expect((await store.commit(forged, T0)).rejected).toEqual([at(b.tasks, 0).id, at(a.tasks, 0).id]);
    expect((await expectExact(store, id)).counters).toMatchObject({ claimed: 2, done: 0 });
  });

  holds('does nothing in an empty commit', async (store) => {
    expect(await store.commit([], T0)).toEqual({
      rejected: [],
      readyHosts: [],
      changedJobs: [],
      finishedJobs: [],
      stoppedJobs: [],
      duplicates: [],
    });
  });

  holds('stores what a host answered to a task that failed', async (store) => {
    const { id } = await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const task = at(tasks, 0);
    const page = newPage(task, { statusCode: 404, errorCode: 'HTTP_ERROR', errorMessage: 'Not Found' });
    await store.commit([completion(lease, task, FAILED, { page })], T0);
    expect(await store.getPage(id, task.id)).toMatchObject({ statusCode: 404, errorCode: 'HTTP_ERROR' });
    expect(await expectExact(store, id)).toMatchObject({
      status: 'failed',
      counters: { pages: 0, failed: 1 },
    });
  });

  holds('reserves a redirect’s target for the task that was led there', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const other = await createJob(store, ['https://z.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const [one, two] = [at(tasks, 0), at(tasks, 1)];
    const target = newTask('https://a.test/target', {
      foundBy: 'redirect',
      foundOn: one.id,
      state: 'skipped',
      rule: 'duplicate.redirect',
    });
    expect(await store.reserveUrl(lease, one.id, target, T0)).toBe(true);
    expect(await store.reserveUrl(lease, one.id, target, T0)).toBe(true);
    expect(await store.reserveUrl(lease, two.id, { ...target, foundOn: two.id }, T0)).toBe(false);
    // A URL that is known already belongs to another task, but a task's own URL is its own.
    const known = newTask(two.url, { foundBy: 'redirect', state: 'skipped', rule: 'duplicate.redirect' });
    expect(await store.reserveUrl(lease, one.id, known, T0)).toBe(false);
    expect(await store.reserveUrl(lease, two.id, known, T0)).toBe(true);
    await store.commit([done(lease, two, [foundOn(two, target.url)])], T0);
    await expectExact(store, id);
    expect(await claim(store, lease)).toEqual([]);
    expect((await expectExact(store, other.id)).counters.known).toBe(1);
  });

  holds('keeps a reservation for the same task under its next owner', async (store) => {
    await createJob(store, ['https://a.test/']);
    const first = await take(store, 'a.test');
    const task = at(first.tasks, 0);
    const target = newTask('https://a.test/target', {
      foundBy: 'redirect',
      foundOn: task.id,
      state: 'skipped',
      rule: 'duplicate.redirect',
    });
    expect(await store.reserveUrl(first.lease, task.id, target, T0)).toBe(true);
    await store.releaseHost(first.lease, first.lease.state, T0, T0);
    const lease = await own(store, 'a.test', T0, 'two');
    await claim(store, lease);
    expect(await store.reserveUrl(lease, task.id, target, T0)).toBe(true);
  });
}
