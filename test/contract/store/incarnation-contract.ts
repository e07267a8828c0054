import { expect } from 'vitest';
import type { HostKey } from '../../../src/core/model/ids.ts';
import type { HostLease } from '../../../src/core/ports/host-store.ts';
import type { Claim, Opened } from '../contract.ts';
import {
  at,
  createJob,
  done,
  expectExact,
  foundOn,
  HOST_STATE,
  job,
  LEASE_MS,
  ledger,
  newTask,
  own,
  pages,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

export interface OpenedStore extends Opened<TimedStore> {
  /** Opens the same place as another incarnation of the store. */
  comeBack(): Promise<OpenedStore>;
}

const HOST = 'a.test' as HostKey;

/** Shows what holds in the next incarnation, and closes it. */
async function afterComingBack(
  opened: Opened<TimedStore>,
  show: (store: TimedStore) => Promise<void>,
): Promise<void> {
  const again = await (opened as OpenedStore).comeBack();
  try {
    await show(again.driver);
  } finally {
    await again.close();
  }
}

/** Acquires the host for the owner whose lease was lost with the former incarnation. */
async function goOn(store: TimedStore, former: HostLease): Promise<HostLease> {
  // Long before the lease would have run out.
  const lease = await store.acquireHost(former.key, 'one', T0 + 1, LEASE_MS, former);
  if (lease === null) throw new Error(`${former.key} could not be acquired.`);
  return lease;
}

/** A store that may have gone back in time, and what callers know of the time before. */
export function incarnationContract(holds: Claim<TimedStore>): void {
  holds('is one incarnation as long as it is not opened or started again', async (store) => {
    await createJob(store, [...urlsOn('a.test', 1), ...urlsOn('b.test', 1)]);
    const [a, b] = [await own(store, 'a.test'), await own(store, 'b.test')];
    expect(a.incarnation).toBe(b.incarnation);
    expect(await store.renewHosts([a, b], T0 + 1, LEASE_MS)).toEqual([]);
    await store.releaseHost(a, HOST_STATE, 0, T0 + 2);
    expect((await own(store, 'a.test', T0 + 3)).incarnation).toBe(a.incarnation);
  });

  holds(
    'calls every lease of a former incarnation lost, and takes nothing from it',
    async (store, opened) => {
      const { id } = await createJob(store, urlsOn('a.test', 3));
      const { lease, tasks } = await take(store, 'a.test', 2);
      const first = at(tasks, 0);
      await afterComingBack(opened, async (again) => {
        const target = newTask('https://a.test/target');
        expect(await again.reserveUrl(lease, first.id, target, T0 + 1)).toBe(false);
        expect(await again.claimTasks(lease, 10, T0 + 1, [])).toEqual([]);
        expect(await again.renewHosts([lease], T0 + 1, LEASE_MS)).toEqual([lease.hostId]);
        const receipt = await again.commit([done(lease, first, [foundOn(first, 'https://b.test/')])], T0 + 1);
        expect(receipt).toMatchObject({ rejected: [first.id], readyHosts: [], finishedJobs: [] });
        await again.releaseHost(lease, HOST_STATE, 0, T0 + 1);
        expect((await again.getHost(HOST))?.owner).toBe('one');
        expect(await pages(again, id)).toEqual([]);
        expect((await ledger(again, id)).map(({ url }) => url)).toEqual(urlsOn('a.test', 3));
      });
    },
  );

  holds('gives a host at once to the owner that had it in the former incarnation', async (store, opened) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test', 2);
    await afterComingBack(opened, async (again) => {
      const next = await goOn(again, lease);
      expect(next).toMatchObject({ hostId: lease.hostId, isTakenOver: true });
      expect(next.incarnation).not.toBe(lease.incarnation);
      const claimed = await again.claimTasks(next, 10, T0 + 1, []);
      // The owner is alive.
      expect(claimed.map(({ interruptions }) => interruptions)).toEqual([0, 0, 0]);
      expect(claimed.map(({ url }) => url).sort()).toEqual(urlsOn('a.test', 3));
      // Completions of both in one batch: those of the former incarnation are left out.
      const old = at(tasks, 0);
      const others = claimed.filter((task) => task.id !== old.id);
      const batch = [done(lease, old), ...others.map((task) => done(next, task))];
      expect((await again.commit(batch, T0 + 1)).rejected).toEqual([old.id]);
      expect(await again.renewHosts([lease], T0 + 1, LEASE_MS)).toEqual([lease.hostId]);
      expect(await again.renewHosts([next], T0 + 1, LEASE_MS)).toEqual([]);
      await again.commit(
        [
          done(
            next,
            at(
              claimed,
              claimed.findIndex((task) => task.id === old.id),
            ),
          ),
        ],
        T0 + 1,
      );
      expect(await expectExact(again, id)).toMatchObject({ status: 'completed', counters: { done: 3 } });
    });
  });

  holds('gives nothing for a lease that was lost in this incarnation', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const lost = await own(store, 'a.test');
    await store.releaseHost(lost, HOST_STATE, 0, T0 + 1);
    expect(await store.acquireHost(HOST, 'one', T0 + 2, LEASE_MS, lost)).toBeNull();
    const next = await own(store, 'a.test', T0 + 2, 'two');
    expect(await store.acquireHost(HOST, 'one', T0 + 3, LEASE_MS, lost)).toBeNull();
    expect(await store.renewHosts([next], T0 + 4, LEASE_MS)).toEqual([]);
  });

  holds(
    'answers a commit that it has as it was answered in the former incarnation',
    async (store, opened) => {
      const { id } = await createJob(store, urlsOn('a.test', 1));
      const { lease, tasks } = await take(store, 'a.test');
      await store.commit([done(lease, at(tasks, 0))], T0 + 1);
      await afterComingBack(opened, async (again) => {
        expect((await again.commit([done(lease, at(tasks, 0))], T0 + 2)).rejected).toEqual([at(tasks, 0).id]);
        expect(await job(again, id)).toMatchObject({ status: 'completed', counters: { done: 1, pages: 1 } });
      });
    },
  );
}
