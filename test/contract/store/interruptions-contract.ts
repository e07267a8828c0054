import { expect } from 'vitest';
import type { HostKey } from '../../../src/core/model/ids.ts';
import type { Task } from '../../../src/core/model/task.ts';
import type { HostLease } from '../../../src/core/ports/host-store.ts';
import type { Claim } from '../contract.ts';
import {
  at,
  claim,
  completion,
  createJob,
  done,
  expectExact,
  FAILED,
  HOST_STATE,
  LEASE_MS,
  own,
  T0,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const HOST = 'a.test';
/** Owners of this suite each live for one lease and die. */
const lifeOf = (n: number) => T0 + n * 2 * LEASE_MS;

/** The n-th owner takes the host over from the one before and claims. */
async function nextLife(store: TimedStore, n: number, limit = 100) {
  const lease = await own(store, HOST, lifeOf(n), `owner ${n}`);
  return { lease, tasks: await claim(store, lease, limit, lifeOf(n)) };
}

const counts = (tasks: readonly Task[]) =>
  Object.fromEntries(
    tasks.map(({ url, interruptions }) => [new URL(url).pathname, interruptions] as const).sort(),
  );
const taskAt = (tasks: readonly Task[], path: string) =>
  at(
    tasks.filter(({ url }) => new URL(url).pathname === path),
    0,
  );

/** Lets owners die until the task has been interrupted `times` times; returns the owner that found it so. */
async function interrupted(store: TimedStore, times: number): Promise<{ lease: HostLease; task: Task }> {
  for (let n = 0; ; n += 1) {
    const { lease, tasks } = await nextLife(store, n);
    const task = at(tasks, 0);
    if (n === times) return { lease, task };
    expect(await store.startTask(lease, task.id, true)).toBe(true);
  }
}

/** Which tasks an owner had in hand when it died. */
export function interruptionsContract(holds: Claim<TimedStore>): void {
  holds('counts the first death of an owner for every task that it had claimed', async (store) => {
    const { id } = await createJob(store, urlsOn(HOST, 3));
    expect(counts((await nextLife(store, 0, 2)).tasks)).toEqual({ '/0': 0, '/1': 0 });
    expect(counts((await nextLife(store, 1)).tasks)).toEqual({ '/0': 1, '/1': 1, '/2': 0 });
    await expectExact(store, id);
  });

  holds('counts later deaths only for tasks that were recorded as started', async (store) => {
    await createJob(store, urlsOn(HOST, 3));
    await nextLife(store, 0);
    const second = await nextLife(store, 1);
    expect(await store.startTask(second.lease, taskAt(second.tasks, '/1').id, false)).toBe(true);
    const third = await nextLife(store, 2);
    expect(counts(third.tasks)).toEqual({ '/0': 1, '/1': 2, '/2': 1 });
    // The record was of the former claim: nothing was started under this one.
    expect(counts((await nextLife(store, 3)).tasks)).toEqual({ '/0': 1, '/1': 2, '/2': 1 });
  });

  holds('counts deaths while the task was recorded as alone, beside all of its deaths', async (store) => {
    await createJob(store, urlsOn(HOST, 2));
    await nextLife(store, 0);
    const lone = async (n: number, isAlone: boolean) => {
      const { lease, tasks } = await nextLife(store, n);
      expect(await store.startTask(lease, taskAt(tasks, '/0').id, isAlone)).toBe(true);
    };
    for (const [n, isAlone] of [false, true, true, false].entries()) await lone(n + 1, isAlone);
    const { tasks } = await nextLife(store, 5);
    expect(taskAt(tasks, '/0')).toMatchObject({ interruptions: 5, loneInterruptions: 2 });
    expect(taskAt(tasks, '/1')).toMatchObject({ interruptions: 1, loneInterruptions: 0 });
    // What was recorded under a former claim says nothing about this one.
    const again = await nextLife(store, 6);
    expect(taskAt(again.tasks, '/0')).toMatchObject({ interruptions: 5, loneInterruptions: 2 });
  });

  holds('counts a death once, whichever owner takes the host over later', async (store) => {
    await createJob(store, urlsOn(HOST, 1));
    await nextLife(store, 0);
    await own(store, HOST, lifeOf(1), 'claims nothing');
    expect(counts((await nextLife(store, 2)).tasks)).toEqual({ '/0': 1 });
  });

  holds('counts nothing for an owner that gives its host back', async (store) => {
    await createJob(store, urlsOn(HOST, 2));
    const { lease, tasks } = await nextLife(store, 0);
    await store.startTask(lease, at(tasks, 0).id, false);
    await store.releaseHost(lease, HOST_STATE, 0, lifeOf(0) + 1);
    expect(counts((await nextLife(store, 1)).tasks)).toEqual({ '/0': 0, '/1': 0 });
  });

  holds('counts nothing for an owner that takes up its own host again', async (store) => {
    await createJob(store, urlsOn(HOST, 2));
    for (const n of [0, 1, 2]) {
      const lease = await own(store, HOST, lifeOf(n), 'suspended');
      const tasks = await claim(store, lease, 10, lifeOf(n));
      expect(counts(tasks)).toEqual({ '/0': 0, '/1': 0 });
      await store.startTask(lease, at(tasks, 0).id, false);
    }
  });

  holds('counts nothing for tasks that had ended or were given back', async (store) => {
    await createJob(store, urlsOn(HOST, 3));
    const { lease, tasks } = await nextLife(store, 0);
    await store.commit(
      [
        done(lease, taskAt(tasks, '/0')),
        completion(lease, taskAt(tasks, '/1'), { state: 'ready' }),
        completion(lease, taskAt(tasks, '/2'), {
          state: 'waiting',
          readyAt: lifeOf(0) + 1,
          rule: 'retry:CONNECT_FAILED',
        }),
      ],
      lifeOf(0),
    );
    expect(counts((await nextLife(store, 1)).tasks)).toEqual({ '/1': 0, '/2': 0 });
  });

  holds('keeps the count when a task waits, moves to another host or is claimed there', async (store) => {
    await createJob(store, [`https://${HOST}/0`]);
    const { lease, task } = await interrupted(store, 2);
    expect(task.interruptions).toBe(2);
    const hostKey = 'b.test' as HostKey;
    const moved = { state: 'moved', atUrl: 'https://b.test/there', hostKey, hops: 1 } as const;
    await store.startTask(lease, task.id, false);
    await store.commit([completion(lease, task, moved)], lifeOf(2));
    const there = await own(store, 'b.test', lifeOf(2), 'there');
    const [arrived] = await claim(store, there, 1, lifeOf(2));
    expect(arrived).toMatchObject({ id: task.id, interruptions: 2 });
    const heir = await own(store, 'b.test', lifeOf(3), 'heir');
    expect(await claim(store, heir, 1, lifeOf(3))).toMatchObject([{ id: task.id, interruptions: 2 }]);
  });

  holds('records no start for an owner that has lost the host, or a task that it has not', async (store) => {
    await createJob(store, urlsOn(HOST, 2));
    const old = await nextLife(store, 0, 1);
    const next = await nextLife(store, 1, 1);
    const task = at(next.tasks, 0);
    expect(await store.startTask(old.lease, task.id, false)).toBe(false);
    expect(counts((await nextLife(store, 2)).tasks)).toMatchObject({ '/0': 1 });
    expect(await store.startTask(next.lease, task.id, false)).toBe(false);
    const { lease, tasks } = await nextLife(store, 3, 1);
    await store.commit([done(lease, at(tasks, 0))], lifeOf(3));
    expect(await store.startTask(lease, at(tasks, 0).id, false)).toBe(false);
  });

  holds('retries failed tasks without interruptions', async (store) => {
    const { id } = await createJob(store, [`https://${HOST}/0`]);
    const { lease, task } = await interrupted(store, 3);
    expect(task).toMatchObject({ interruptions: 3, loneInterruptions: 3 });
    await store.commit([completion(lease, task, FAILED)], lifeOf(3));
    await store.releaseHost(lease, HOST_STATE, 0, lifeOf(3));
    await store.retryJob(id, lifeOf(3));
    expect((await nextLife(store, 4)).tasks).toMatchObject([{ interruptions: 0, loneInterruptions: 0 }]);
  });

  holds('resumes cancelled tasks without interruptions', async (store) => {
    const { id } = await createJob(store, [`https://${HOST}/0`]);
    const { lease } = await interrupted(store, 2);
    await store.releaseHost(lease, HOST_STATE, 0, lifeOf(2));
    await store.cancelJob(id, lifeOf(2));
    await store.resumeJob(id, lifeOf(2));
    expect((await nextLife(store, 3)).tasks).toMatchObject([{ interruptions: 0, loneInterruptions: 0 }]);
  });
}
