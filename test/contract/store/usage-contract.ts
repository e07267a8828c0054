import { expect } from 'vitest';
import { dayOf } from '../../../src/core/model/credits.ts';
import type { AccountId } from '../../../src/core/model/ids.ts';
import { USAGE_GROUPS, type UsageCounters, type UsageGroup } from '../../../src/core/ports/credit-store.ts';
import type { Claim } from '../contract.ts';
import { ACCOUNT, paid } from './credits-contract.ts';
import {
  ATTEMPT,
  all,
  at,
  claim,
  completion,
  createJob,
  DONE,
  drain,
  own,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const DAY = dayOf(T0);
const DAY_MS = 86_400_000;

export const usage = (store: TimedStore, by: UsageGroup, from = DAY, to = DAY + 60, limit = 2) =>
  all((cursor) => store.listUsage({ accountId: ACCOUNT, by, from, to, cursor, limit }));

export const sumOf = (sums: readonly UsageCounters[], counter: keyof UsageCounters) =>
  sums.reduce((sum, each) => sum + each[counter], 0);

/** What accounts have used, by day, key, job, engine and host. */
export function usageContract(holds: Claim<TimedStore>): void {
  holds(
    'counts what commits used under each group, the same before and after it is folded',
    async (store) => {
      const one = await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 1)], { keyId: 'k1' });
      const two = await createJob(store, urlsOn('a.test', 1));
      const a = await take(store, 'a.test');
      const b = await take(store, 'b.test');
      const rendered = {
        ...ATTEMPT,
        engine: 'browser' as const,
        extras: { tokens: 900 },
      };
      await store.commit(
        [
          ...a.tasks.map((task) => paid(a.lease, task, 10)),
          completion(b.lease, at(b.tasks, 0), DONE, {
            used: rendered,
            microcredits: 50,
            spent: { browserMs: 1_200, proxyBytes: 80 },
          }),
        ],
        T0,
      );
      const expected = {
        day: [['2026-01-01', 4, 80]],
        key: [
          ['', 1, 10],
          ['k1', 3, 70],
        ],
        job: [
          [one.id, 3, 70],
          [two.id, 1, 10],
        ].toSorted((x, y) => (String(x[0]) < String(y[0]) ? -1 : 1)),
        engine: [
          ['browser', 1, 50],
          ['http', 3, 30],
        ],
        host: [
          ['a.test', 3, 30],
          ['b.test', 1, 50],
        ],
      };
      const found = async () =>
        Object.fromEntries(
          await Promise.all(
            USAGE_GROUPS.map(async (by) => [
              by,
              (await usage(store, by)).map(({ value, pages, microcredits }) => [value, pages, microcredits]),
            ]),
          ),
        );
      expect(await found()).toEqual(expected);
      expect(await store.foldUsage(1)).toBe(1);
      expect(await found()).toEqual(expected);
      expect(await store.foldUsage(1_000)).toBeGreaterThan(0);
      expect(await store.foldUsage(1_000)).toBe(0);
      expect(await found()).toEqual(expected);
      expect((await usage(store, 'engine'))[0]).toEqual({
        value: 'browser',
        pages: 1,
        attempts: 1,
        bytes: 100,
        browserMs: 1_200,
        proxyBytes: 80,
        tokens: 900,
        microcredits: 50,
      });
    },
  );

  holds('sums over days, leaves other days out and pages through all values', async (store) => {
    for (let day = 0; day < 3; day += 1) {
      const hosts = ['c', 'a', 'e', 'b', 'd'].slice(day);
      await createJob(
        store,
        hosts.map((host) => `https://${host}.test/${day}`),
        { at: T0 + day * DAY_MS },
      );
      for (const host of hosts) {
        const { lease, tasks } = await take(store, `${host}.test`, 10, T0 + day * DAY_MS);
        await store.commit([paid(lease, at(tasks, 0), 1)], T0 + day * DAY_MS);
        await store.releaseHost(lease, lease.state, T0, T0 + day * DAY_MS);
      }
      if (day === 1) await store.foldUsage(1_000);
    }
    const costs = (sums: Awaited<ReturnType<typeof usage>>) =>
      sums.map(({ value, pages }) => [value[0], pages]);
    expect(costs(await usage(store, 'host'))).toEqual([
      ['a', 2],
      ['b', 3],
      ['c', 1],
      ['d', 3],
      ['e', 3],
    ]);
    expect(costs(await usage(store, 'host', DAY + 1, DAY + 1))).toEqual([
      ['a', 1],
      ['b', 1],
      ['d', 1],
      ['e', 1],
    ]);
    const days = await usage(store, 'day', DAY + 1);
    expect(days.map(({ value, pages }) => [value, pages])).toEqual([
      ['2026-01-02', 4],
      ['2026-01-03', 3],
    ]);
    for (const by of USAGE_GROUPS) expect(sumOf(await usage(store, by), 'microcredits')).toBe(12);
  });

  holds('shows an account its own usage, and keeps that of deleted jobs', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 1));
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([paid(lease, at(tasks, 0), 5)], T0);
    await store.deleteJob(id);
    expect(await usage(store, 'job')).toMatchObject([{ value: id, microcredits: 5 }]);
    const query = { by: 'job', from: DAY, to: DAY, limit: 10 } as const;
    const other = await store.listUsage({ ...query, accountId: 'other' as AccountId });
    expect(other).toEqual({ items: [], nextCursor: null });
    await expect(store.listUsage({ ...query, accountId: ACCOUNT, cursor: 'x' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
  });

  holds('counts nothing of tasks that were not attempted or whose lease was lost', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const lease = await own(store, 'a.test');
    const [first, second] = await claim(store, lease);
    if (first === undefined || second === undefined) throw new Error('Two tasks were expected.');
    const lost = { ...paid(lease, first, 5), lease: { ...lease, epoch: lease.epoch + 1 } };
    await store.commit(
      [lost, completion(lease, second, { state: 'denied', rule: 'robots: disallow: /' })],
      T0,
    );
    expect(await usage(store, 'day')).toEqual([]);
    await drain(store, T0 + 1);
  });
}
