import { expect } from 'vitest';
import type { HostKey } from '../../../src/core/model/ids.ts';
import type { HostState } from '../../../src/core/ports/host-store.ts';
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
  expectExact,
  foundOn,
  HOST_STATE,
  job,
  LEASE_MS,
  newTask,
  own,
  states,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const offered = async (store: TimedStore, now = T0) =>
  (await store.offerHosts(now, 100)).map((offer) => offer.key).sort();
const acquire = (store: TimedStore, host: string, owner: string, now: number) =>
  store.acquireHost(host as HostKey, owner, now, LEASE_MS);

/** Who may work on a host: offers, leases and epochs. */
export function hostsContract(holds: Claim<TimedStore>): void {
  holds('offers hosts with work, best first, as many as asked for', async (store) => {
    await createJob(store, urlsOn('crawled.test', 500), { kind: 'crawl' });
    await createJob(store, ['https://scraped.test/'], { kind: 'scrape' });
    await createJob(store, urlsOn('listed.test', 3), { kind: 'batch' });
    const keys = (await store.offerHosts(T0, 10)).map((offer) => offer.key);
    expect(keys).toEqual(['scraped.test', 'listed.test', 'crawled.test']);
    expect((await store.offerHosts(T0, 2)).map((offer) => offer.key)).toEqual(keys.slice(0, 2));
  });

  holds('tells how many hosts wait for an owner, how long the first has, and what is open', async (store) => {
    const nothing = { openTasks: 0, openJobs: {}, dueHosts: 0, oldestDueMs: 0, scheduleOverdueMs: 0 };
    expect(await store.at(T0).workload()).toEqual(nothing);
    await createJob(store, urlsOn('a.test', 3));
    await createJob(store, ['https://b.test/']);
    const waiting = await store.at(T0 + 9_000).workload();
    expect(waiting).toMatchObject({ openTasks: 4, dueHosts: 2, oldestDueMs: 9_000 });
    expect(Object.values(waiting.openJobs).reduce((sum, jobs) => sum + jobs, 0)).toBe(2);
    // An owned host waits for none, and one that is held until later does not wait yet.
    await own(store, 'a.test', T0 + 9_000);
    const lease = await own(store, 'b.test', T0 + 9_000, 'two');
    expect(await store.at(T0 + 9_001).workload()).toMatchObject({
      openTasks: 4,
      dueHosts: 0,
      oldestDueMs: 0,
    });
    await store.releaseHost(lease, HOST_STATE, T0 + 20_000, T0 + 10_000);
    expect(await store.at(T0 + 19_000).workload()).toMatchObject({ dueHosts: 0 });
    expect(await store.at(T0 + 21_000).workload()).toMatchObject({ dueHosts: 1, oldestDueMs: 1_000 });
  });

  holds('offers a host at the rank of its best task', async (store) => {
    await createJob(store, urlsOn('a.test', 500), { kind: 'crawl' });
    await createJob(store, urlsOn('b.test', 3), { kind: 'batch' });
    await createJob(store, ['https://a.test/urgent'], { kind: 'scrape' });
    expect((await store.offerHosts(T0, 1)).map((offer) => offer.key)).toEqual(['a.test']);
  });

  holds('gives a host nobody owned to its first owner', async (store) => {
    await createJob(store, urlsOn('a.test:8080', 2));
    const lease = await own(store, 'a.test:8080');
    expect(lease).toMatchObject({ key: 'a.test:8080', isTakenOver: false });
    expect(lease.state).toMatchObject({ lastRequestAt: null, requests: 0, failures: 0, blockedUntil: 0 });
    expect(lease.state.breaker.phase).toBe('closed');
  });

  holds('gives no host that has nothing due', async (store) => {
    expect(await acquire(store, 'unknown.test', 'one', T0)).toBeNull();
    await createJob(store, ['https://a.test/']);
    await drain(store);
    expect(await acquire(store, 'a.test', 'one', T0)).toBeNull();
    expect(await offered(store)).toEqual([]);
  });

  holds('has one owner at a time, for as long as its lease lasts', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    await own(store, 'a.test', T0, 'one');
    expect(await offered(store)).toEqual([]);
    expect(await acquire(store, 'a.test', 'two', T0)).toBeNull();
    expect(await acquire(store, 'a.test', 'two', T0 + LEASE_MS - 1)).toBeNull();
    expect(await offered(store, T0 + LEASE_MS - 1)).toEqual([]);
    expect(await offered(store, T0 + LEASE_MS + 1)).toEqual(['a.test']);
    expect(await acquire(store, 'a.test', 'two', T0 + LEASE_MS + 1)).toMatchObject({ isTakenOver: true });
  });

  holds('lets one of many who want a host at once have it', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const leases = await Promise.all(
      Array.from({ length: 8 }, (_, index) => acquire(store, 'a.test', `owner ${index}`, T0)),
    );
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
  });

  holds('makes claimed tasks ready again for the next owner', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const first = await take(store, 'a.test', 2);
    expect((await expectExact(store, id)).counters.claimed).toBe(2);
    const later = T0 + LEASE_MS + 1;
    const second = await own(store, 'a.test', later, 'two');
    expect(second.epoch).toBeGreaterThan(first.lease.epoch);
    expect((await expectExact(store, id)).counters).toMatchObject({ claimed: 0, open: 3 });
    const again = await claim(store, second, 10, later);
    expect(again).toHaveLength(3);
    // The interrupted attempt is not counted.
    expect(again.every((task) => task.attempts === 0 && task.trace.length === 0)).toBe(true);
  });

  holds('lets nothing through from an owner that lost its lease', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease: lost, tasks } = await take(store, 'a.test', 2);
    const later = T0 + LEASE_MS + 1;
    const current = await own(store, 'a.test', later, 'two');
    const [task] = await claim(store, current, 1, later);
    const before = { job: await job(store, id), states: await states(store, id) };
    const expectUnchanged = async () =>
      expect({ job: await job(store, id), states: await states(store, id) }).toEqual(before);

    expect(await claim(store, lost, 10, later)).toEqual([]);
    expect(await store.renewHosts([lost], later, LEASE_MS)).toEqual([lost.hostId]);
    const late = tasks.map((each) => done(lost, each, [foundOn(each, 'https://late.test/')]));
    const receipt = await store.commit(late, later);
    expect([...receipt.rejected].sort()).toEqual(tasks.map((each) => each.id).sort());
    expect(receipt).toMatchObject({ readyHosts: [], finishedJobs: [], stoppedJobs: [] });
    const target = newTask('https://a.test/target', { state: 'skipped', rule: 'duplicate.redirect' });
    expect(await store.reserveUrl(lost, at(tasks, 0).id, target, later)).toBe(false);
    await store.releaseHost(lost, HOST_STATE, later, later);
    await expectUnchanged();

    expect(await acquire(store, 'a.test', 'three', later)).toBeNull();
    expect(await store.renewHosts([current], later, LEASE_MS)).toEqual([]);
    expect((await store.getHost('a.test' as HostKey))?.state).not.toEqual(HOST_STATE);
    if (task === undefined) throw new Error('The new owner claimed nothing.');
    expect((await store.commit([done(current, task)], later)).rejected).toEqual([]);
  });

  holds('keeps the states of owned hosts meanwhile, and none of a lost lease', async (store) => {
    await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 2), ...urlsOn('c.test', 2)]);
    const [a, b, c] = [await own(store, 'a.test'), await own(store, 'b.test'), await own(store, 'c.test')];
    const stateOf = async (host: string) => (await store.getHost(host as HostKey))?.state;
    const released: HostState = { ...HOST_STATE, requests: 4 };
    await store.releaseHost(c, released, T0, T0);
    const later = T0 + LEASE_MS + 1;
    expect(await store.renewHosts([a], T0 + LEASE_MS - 1, LEASE_MS)).toEqual([]);
    const next = await own(store, 'b.test', later, 'two');
    const saved: HostState = { ...HOST_STATE, requests: 7, sent: { first: 12, counts: '5,,2' } };
    await store.saveHosts([a, b, c].map((lease) => ({ lease, state: saved })));
    expect([await stateOf('a.test'), await stateOf('b.test'), await stateOf('c.test')]).toEqual([
      saved,
      next.state,
      released,
    ]);
    await store.saveHosts([]);
    // The owner has the host as before, and the next one begins with what was saved.
    expect(await store.renewHosts([a], later, LEASE_MS)).toEqual([]);
    const after = await own(store, 'a.test', later + LEASE_MS + 1, 'two');
    expect(after).toMatchObject({ isTakenOver: true, state: saved });
  });

  holds('keeps a lease alive by renewing it', async (store) => {
    await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 2)]);
    const a = await own(store, 'a.test');
    const b = await own(store, 'b.test');
    expect(await store.renewHosts([a], T0 + LEASE_MS - 1, LEASE_MS)).toEqual([]);
    const later = T0 + LEASE_MS + 1;
    expect(await offered(store, later)).toEqual(['b.test']);
    expect(await acquire(store, 'a.test', 'two', later)).toBeNull();
    await own(store, 'b.test', later, 'two');
    expect(await store.renewHosts([a, b], later, LEASE_MS)).toEqual([b.hostId]);
    expect(await store.renewHosts([], later, LEASE_MS)).toEqual([]);
  });

  holds('keeps the host’s state from one owner to the next', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const first = await own(store, 'a.test');
    await store.releaseHost(first, HOST_STATE, T0, T0);
    const second = await own(store, 'a.test', T0 + 1, 'two');
    expect(second).toMatchObject({ state: HOST_STATE, isTakenOver: false });
    expect(second.epoch).toBeGreaterThan(first.epoch);
    const newer: HostState = { ...HOST_STATE, requests: 13, lastRequestAt: null };
    await store.releaseHost(second, newer, T0, T0);
    expect((await store.getHost('a.test' as HostKey))?.state).toEqual(newer);
  });

  holds('makes tasks ready again that a release leaves claimed', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test', 2);
    await store.commit([done(lease, at(tasks, 0))], T0);
    await store.releaseHost(lease, HOST_STATE, T0, T0);
    expect((await expectExact(store, id)).counters).toMatchObject({ claimed: 0, open: 2, done: 1 });
    expect(await claim(store, lease)).toEqual([]);
    expect((await store.commit([done(lease, at(tasks, 1))], T0)).rejected).toEqual([at(tasks, 1).id]);
    expect(await drain(store)).toHaveLength(2);
  });

  holds('offers a released host again from the given time on', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const lease = await own(store, 'a.test');
    await store.releaseHost(lease, HOST_STATE, T0 + 5_000, T0);
    expect(await offered(store, T0 + 4_999)).toEqual([]);
    expect(await acquire(store, 'a.test', 'two', T0 + 4_999)).toBeNull();
    // New work does not bring it forward.
    await createJob(store, ['https://a.test/urgent'], { kind: 'scrape', at: T0 + 1 });
    expect(await offered(store, T0 + 4_999)).toEqual([]);
    expect(await offered(store, T0 + 5_000)).toEqual(['a.test']);
    await own(store, 'a.test', T0 + 5_000, 'two');
  });

  holds('offers a host whose tasks all wait when the first of them is due', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit(
      tasks.map((task, index) =>
        completion(lease, task, {
          state: 'waiting',
          readyAt: T0 + 1_000 * (index + 1),
          rule: 'retry:CONNECT_FAILED',
        }),
      ),
      T0,
    );
    expect(await claim(store, lease)).toEqual([]);
    await store.releaseHost(lease, HOST_STATE, T0 + 10, T0);
    expect(await offered(store, T0 + 999)).toEqual([]);
    expect(await acquire(store, 'a.test', 'two', T0 + 999)).toBeNull();
    expect(await offered(store, T0 + 1_000)).toEqual(['a.test']);
    const second = await own(store, 'a.test', T0 + 1_000, 'two');
    expect((await claim(store, second, 10, T0 + 1_000)).map((task) => task.id)).toEqual([at(tasks, 0).id]);
    expect((await claim(store, second, 10, T0 + 2_000)).map((task) => task.id)).toEqual([at(tasks, 1).id]);
  });

  holds('wakes a host whose tasks all wait when new work comes', async (store) => {
    await createJob(store, ['https://a.test/1']);
    const { lease, tasks } = await take(store, 'a.test');
    const end = { state: 'waiting', readyAt: T0 + 60_000, rule: 'retry:CONNECT_FAILED' } as const;
    await store.commit([completion(lease, at(tasks, 0), end, { trace: [ATTEMPT] })], T0);
    await store.releaseHost(lease, HOST_STATE, T0, T0);
    await createJob(store, ['https://a.test/2'], { at: T0 + 5 });
    expect(await offered(store, T0 + 5)).toEqual(['a.test']);
    const again = await take(store, 'a.test', 10, T0 + 5);
    expect(again.tasks.map((task) => task.url)).toEqual(['https://a.test/2']);
    await store.commit([done(again.lease, at(again.tasks, 0))], T0 + 5);
    await store.releaseHost(again.lease, HOST_STATE, T0 + 5, T0 + 5);
    expect(await offered(store, T0 + 59_999)).toEqual([]);
    expect(await offered(store, T0 + 60_000)).toEqual(['a.test']);
  });

  holds('still knows that the last owner did not release when nothing was due at first', async (store) => {
    await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const readyAt = T0 + LEASE_MS + 5_000;
    await store.commit(
      [completion(lease, at(tasks, 0), { state: 'waiting', readyAt, rule: 'retry:CONNECT_FAILED' })],
      T0,
    );
    // The owner dies here. Its lease ends before the retry is due.
    expect(await acquire(store, 'a.test', 'two', T0 + LEASE_MS + 1)).toBeNull();
    expect(await acquire(store, 'a.test', 'two', readyAt)).toMatchObject({ isTakenOver: true });
  });

  holds('is told of new work by one whose time is from before a dead owner’s end', async (store) => {
    await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([completion(lease, at(tasks, 0), DONE)], T0);
    // The owner dies here; another worker looks and finds nothing, while a job of a little earlier is on its way.
    expect(await acquire(store, 'a.test', 'two', T0 + LEASE_MS + 1)).toBeNull();
    await createJob(store, ['https://a.test/2']);
    expect(await offered(store, T0 + LEASE_MS + 2)).toEqual(['a.test']);
  });

  holds('ends the leases of all owners that are known to be dead', async (store) => {
    const { id } = await createJob(store, [
      ...urlsOn('a.test', 2),
      ...urlsOn('b.test', 2),
      'https://c.test/',
    ]);
    await take(store, 'a.test', 1);
    await take(store, 'b.test', 1);
    expect(await store.releaseAllHosts(T0 + 1)).toBe(2);
    expect(await offered(store, T0 + 1)).toEqual(['a.test', 'b.test', 'c.test']);
    // When they last sent a request is unknown.
    expect(await acquire(store, 'a.test', 'two', T0 + 1)).toMatchObject({ isTakenOver: true });
    expect(await acquire(store, 'c.test', 'two', T0 + 1)).toMatchObject({ isTakenOver: false });
    const b = await own(store, 'b.test', T0 + 1, 'two');
    expect((await expectExact(store, id)).counters.claimed).toBe(0);
    const claimed = await claim(store, b, 10, T0 + 1);
    expect(claimed.map(({ interruptions }) => interruptions)).toEqual([1, 0]);
  });

  holds('has work at once after its clock was set back when the store is its own', async (store) => {
    const HOUR_MS = 3_600_000;
    await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 2)], { at: T0 + HOUR_MS });
    const held = await own(store, 'b.test', T0 + HOUR_MS);
    await store.releaseHost(held, held.state, T0 + HOUR_MS / 2, T0 + HOUR_MS);
    await store.releaseAllHosts(T0);
    expect(await offered(store, T0)).toEqual(['a.test']);
    // What asked for a pause is not hurried.
    expect(await offered(store, T0 + HOUR_MS / 2)).toEqual(['a.test', 'b.test']);
  });

  holds('shows a host as it is', async (store) => {
    expect(await store.getHost('a.test' as HostKey)).toBeNull();
    await createJob(store, urlsOn('a.test', 3));
    expect(await store.getHost('a.test' as HostKey)).toMatchObject({ key: 'a.test', ready: 3, owner: null });
    const { lease } = await take(store, 'a.test', 1);
    expect(await store.getHost('a.test' as HostKey)).toMatchObject({ ready: 2, owner: 'one' });
    await store.releaseHost(lease, HOST_STATE, T0 + 70, T0);
    const view = { key: 'a.test', ready: 3, owner: null, nextAt: T0 + 70, state: HOST_STATE };
    expect(await store.getHost('a.test' as HostKey)).toEqual(view);
    expect((await store.listHosts({ limit: 10 })).items).toEqual([view]);
  });

  holds('keeps the newest robots.txt of an origin', async (store) => {
    const origin = 'https://a.test';
    expect(await store.getRobots(origin)).toBeNull();
    const entry = {
      origin,
      status: 'ok',
      body: 'User-agent: *\nDisallow: /ü\n',
      fetchedAt: T0,
      expiresAt: T0 + 1,
      reason: '200',
      interruptions: 2,
      failures: 0,
    } as const;
    await store.putRobots(entry);
    expect(await store.getRobots(origin)).toEqual(entry);
    const answer = { fetchedAt: T0 + 5, reason: '503', interruptions: 0, failures: 3 };
    const gone = { ...entry, ...answer, status: 'unreachable', body: '' } as const;
    await store.putRobots(gone);
    expect(await store.getRobots(origin)).toEqual(gone);
    expect(await store.getRobots('http://a.test')).toBeNull();
  });
}
