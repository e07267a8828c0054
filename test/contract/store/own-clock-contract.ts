import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HostKey, JobId } from '../../../src/core/model/ids.ts';
import type { Store } from '../../../src/core/ports/store.ts';
import type { Open } from '../contract.ts';
import { at, completion, DONE, LEASE_MS, NO_LIMITS, newTask, OPTIONS } from './fixtures.ts';

const HOUR_MS = 3_600_000;
const HOST = 'a.test' as HostKey;

/** What a store on its real clock holds while the wall clock of the process that uses it is set. */
export function ownClockContract(name: string, open: Open<Store>): void {
  describe(`store: ${name}, on its own clock`, () => {
    afterEach(() => void vi.useRealTimers());

    it.each([HOUR_MS, -HOUR_MS])(
      'when the wall clock is set by %i ms: living leases stay, jobs go on, and nothing waits for that hour',
      async (stepMs) => {
        const { driver: store, close } = await open();
        try {
          const budgets = { ...NO_LIMITS, maxDurationMs: HOUR_MS / 2 };
          const create = async (url: string) =>
            store.createJob(
              {
                id: randomUUID() as string as JobId,
                accountId: await store.defaultAccount(),
                kind: 'crawl',
                options: { ...OPTIONS, budgets },
                seeds: [url],
              },
              [newTask(url)],
            );
          const first = await create('https://a.test/1');
          const lease = await store.acquireHost(HOST, 'one', LEASE_MS);
          if (lease === null) throw new Error('The host could not be acquired.');

          vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + stepMs });
          expect(await store.acquireHost(HOST, 'two', LEASE_MS)).toBeNull();
          expect(await store.offerHosts(10)).toEqual([]);
          expect(await store.renewHosts([lease], LEASE_MS)).toEqual([]);
          expect(await store.expireJobs()).toEqual([]);
          const before = await store.clock();
          expect((await store.getHost(HOST))?.nextAt).toBeLessThanOrEqual(before + LEASE_MS);

          const second = await create('https://a.test/2');
          expect(Math.abs(second.createdAt - first.createdAt)).toBeLessThan(HOUR_MS / 2);
          const tasks = await store.claimTasks(lease, 10, []);
          expect(tasks).toHaveLength(2);
          const waiting = { state: 'waiting', readyAt: before, rule: 'retry:CONNECT_FAILED' } as const;
          const receipt = await store.commit([
            completion(lease, at(tasks, 0), DONE),
            completion(lease, at(tasks, 1), waiting),
          ]);
          expect(receipt).toMatchObject({ rejected: [], finishedJobs: [first.id] });
          await store.releaseHost(lease, lease.state, before);
          expect(await store.offerHosts(10)).toMatchObject([{ key: HOST }]);
          expect(await store.acquireHost(HOST, 'two', LEASE_MS)).toMatchObject({ isTakenOver: false });
        } finally {
          await close();
        }
      },
    );
  });
}
