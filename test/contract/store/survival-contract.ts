import { expect } from 'vitest';
import type { HostKey } from '../../../src/core/model/ids.ts';
import { afterKill, type Claim } from '../contract.ts';
import {
  ATTEMPT,
  at,
  completion,
  createJob,
  done,
  drain,
  expectExact,
  foundOn,
  HOST_STATE,
  job,
  LEASE_MS,
  ledger,
  pages,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** What a kill leaves, and the store's own upkeep. */
export function survivalContract(holds: Claim<TimedStore>): void {
  holds('has everything after a kill that it said it had', async (store, opened) => {
    const { id } = await createJob(store, urlsOn('a.test', 6));
    const cancelled = await createJob(store, urlsOn('b.test', 3));
    const { lease, tasks } = await take(store, 'a.test', 3);
    const [one, two] = [at(tasks, 0), at(tasks, 1)];
    const waiting = { state: 'waiting', readyAt: T0 + 5, rule: 'retry:CONNECT_FAILED' } as const;
    await store.commit(
      [
        done(lease, one, [foundOn(one, 'https://c.test/')]),
        completion(lease, two, waiting, { trace: [ATTEMPT] }),
      ],
      T0 + 1,
    );
    await store.cancelJob(cancelled.id, T0 + 2);
    const c = await take(store, 'c.test', 1, T0 + 2);
    await store.releaseHost(c.lease, HOST_STATE, T0 + 3, T0 + 3);
    await store.addOptOut({ host: 'x.test', reason: 'asked', contact: null, at: T0, minDelayMs: null });
    const look = async (from: TimedStore) => ({
      jobs: [await job(from, id), await job(from, cancelled.id)],
      ledgers: [await ledger(from, id), await ledger(from, cancelled.id)],
      pages: (await pages(from, id)).map((page) => ({ ...page, record: [...(page.record ?? [])] })),
      host: await from.getHost('c.test' as HostKey),
      optOuts: await from.listOptOuts(),
      open: await from.countOpenTasks(),
    });
    const before = await look(store);
    await afterKill(opened, async (again) => {
      expect(await look(again)).toEqual(before);
      // The dead owner's lease still stands until its time is up.
      expect(await again.acquireHost('a.test' as HostKey, 'two', T0 + 10, LEASE_MS)).toBeNull();
      const later = T0 + LEASE_MS + 10;
      const fetched = await drain(again, later);
      expect(fetched.sort()).toEqual([...urlsOn('a.test', 6).slice(1), 'https://c.test/'].sort());
      expect(await expectExact(again, id)).toMatchObject({ status: 'completed', counters: { done: 7 } });
      expect(await pages(again, id)).toHaveLength(7);
    });
  });

  holds('goes on at once after a kill when the store is its own', async (store, opened) => {
    const { id } = await createJob(store, urlsOn('a.test', 4));
    await take(store, 'a.test', 2);
    await afterKill(opened, async (again) => {
      expect(await again.releaseAllHosts(T0 + 1)).toBe(1);
      expect((await drain(again, T0 + 1)).sort()).toEqual(urlsOn('a.test', 4));
      expect(await expectExact(again, id)).toMatchObject({ status: 'completed' });
    });
  });

  holds('migrates again without changing anything', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const before = await job(store, id);
    const [first, second] = await Promise.all([store.migrate(), store.migrate()]);
    expect(first.from).toBe(first.to);
    expect(second).toEqual(first);
    expect(first.to).toBeGreaterThan(0);
    expect(await job(store, id)).toEqual(before);
  });

  holds('has a clock of its own that does not go back', async (store) => {
    const times = [await store.clock(), await store.clock(), await store.clock()];
    expect(times.every(Number.isSafeInteger)).toBe(true);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(T0);
  });

  holds('check works', async (store) => {
    await store.check();
    await store.check();
  });
}
