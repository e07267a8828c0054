import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { JobId } from '../../../src/core/model/ids.ts';
import type { LedgerReason } from '../../../src/core/model/reasons.ts';
import type { Claim } from '../contract.ts';
import { at, completion, createJob, HOST_STATE, job, own, T0, take, urlsOn } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const HOUR_MS = 3_600_000;
const HOLD = { rule: 'rate.retry-after', until: T0 + HOUR_MS } as const;

/** The host is released until an hour from T0. */
async function hold(store: TimedStore, host: string): Promise<void> {
  const lease = await own(store, host);
  await store.releaseHost(lease, { ...HOST_STATE, hold: HOLD }, HOLD.until, T0);
}

/** Where the open tasks of a job stand. */
export function waitsContract(holds: Claim<TimedStore>): void {
  holds('tells of ready tasks whether and why their host is held', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 3));
    expect(await store.listWaits(id)).toEqual([
      { hostKey: 'a.test', state: 'ready', tasks: 3, rule: null, readyAt: null, heldUntil: null, hold: null },
    ]);
    await hold(store, 'a.test');
    expect(await store.listWaits(id)).toMatchObject([{ tasks: 3, heldUntil: HOLD.until, hold: HOLD }]);
  });

  holds('tells of waiting tasks by their rule and the first time, and of claimed ones', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 6));
    const { lease, tasks } = await take(store, 'a.test', 5);
    const waiting = (index: number, rule: LedgerReason, readyAt: number) =>
      completion(lease, at(tasks, index), { state: 'waiting', readyAt, rule });
    await store.commit(
      [
        waiting(0, 'retry:CONNECT_FAILED', T0 + 9_000),
        waiting(1, 'retry:CONNECT_FAILED', T0 + 5_000),
        waiting(2, 'robots.unreachable: 500', T0 + 7_000),
      ],
      T0,
    );
    const found = await store.listWaits(id);
    expect(found.toSorted((a, b) => (a.rule ?? a.state).localeCompare(b.rule ?? b.state))).toMatchObject([
      { state: 'claimed', tasks: 2, rule: null, readyAt: null, heldUntil: null },
      { state: 'ready', tasks: 1, rule: null, readyAt: null },
      { state: 'waiting', tasks: 2, rule: 'retry:CONNECT_FAILED', readyAt: T0 + 5_000 },
      { state: 'waiting', tasks: 1, rule: 'robots.unreachable: 500', readyAt: T0 + 7_000 },
    ]);
  });

  holds('has nothing to tell of tasks that have ended, and of jobs that do not exist', async (store) => {
    const { id } = await createJob(store, ['https://a.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([completion(lease, at(tasks, 0), { state: 'skipped', rule: 'scope.domain' })], T0);
    expect(await store.listWaits(id)).toEqual([]);
    expect(await store.listWaits(randomUUID() as string as JobId)).toEqual([]);
  });

  holds('looks at a bounded part of a large job, each URL once', async (store) => {
    const few = await createJob(store, urlsOn('few.test', 1_500));
    expect(await store.listWaits(few.id)).toMatchObject([{ tasks: 1_500 }]);
    const many = await createJob(store, urlsOn('many.test', 2_500));
    expect(await store.listWaits(many.id)).toMatchObject([{ tasks: 2_000 }]);
  });

  holds('tells the creator of a scrape or a map until when its host is held', async (store) => {
    await createJob(store, urlsOn('a.test', 1));
    await hold(store, 'a.test');
    const made = (kind: 'scrape' | 'map' | 'batch', host: string, time = T0) =>
      createJob(store, [`https://${host}/${kind}`], { kind, at: time });
    expect(await made('scrape', 'a.test')).toMatchObject({ heldUntil: HOLD.until });
    expect(await made('map', 'a.test')).toMatchObject({ heldUntil: HOLD.until });
    for (const other of [
      await made('batch', 'a.test'),
      await made('scrape', 'b.test'),
      await made('scrape', 'a.test', HOLD.until + 1),
    ]) {
      expect(other).not.toHaveProperty('heldUntil');
    }
  });

  holds('keeps why a job was cancelled, until it is resumed', async (store) => {
    const { id } = await createJob(store, ['https://a.test/'], { kind: 'scrape' });
    expect(await store.plain.cancelJob(id, 'wait:CIRCUIT_OPEN')).toMatchObject({
      status: 'cancelled',
      stopReason: 'wait:CIRCUIT_OPEN',
      counters: { open: 0, cancelled: 1 },
    });
    await store.resumeJob(id, T0);
    expect(await job(store, id)).toMatchObject({
      status: 'running',
      stopReason: null,
      counters: { open: 1 },
    });
  });
}
