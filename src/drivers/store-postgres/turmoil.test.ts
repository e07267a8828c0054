import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  ATTEMPT,
  at,
  completion,
  createJob,
  DONE,
  expectExact,
  FAILED,
  foundOn,
  LEASE_MS,
  NO_LIMITS,
  newTask,
  T0,
} from '../../../test/contract/store/fixtures.ts';
import type { TimedStore } from '../../../test/contract/store/timed-store.ts';
import type { HostKey, JobId } from '../../core/model/ids.ts';
import type { TaskEnd } from '../../core/ports/ledger-store.ts';
import { openStores } from './open-stores.fixture.ts';

const WORKERS = 4;
const HOSTS = 5;
const ENDS = ['done', 'done', 'failed', 'waiting', 'ready', 'moved', 'skipped'] as const;

const url = fc.record({ host: fc.nat(HOSTS - 1), path: fc.nat(60) });
const move = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('slice' as const),
      host: fc.nat(HOSTS - 1),
      /** Comes so late that the last owner's lease has run out. */
      isLate: fc.boolean(),
      limit: fc.integer({ min: 1, max: 8 }),
      ends: fc.array(fc.constantFrom(...ENDS), { maxLength: 8 }),
      found: fc.array(url, { maxLength: 6 }),
      isReleased: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel' as const, 'resume' as const, 'retry' as const, 'raise' as const),
      job: fc.nat(2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deny' as const), host: fc.nat(HOSTS - 1) }) },
);
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;

/** One process: it does its moves in order, without a thought for what the others do. */
async function act(
  store: TimedStore,
  moves: readonly Move[],
  run: number,
  jobs: readonly JobId[],
): Promise<void> {
  const hostOf = (n: number) => `h${n}.run${run}.test`;
  for (const [turn, each] of moves.entries()) {
    const now = T0 + turn;
    if (each.do === 'deny') {
      await store.addOptOut({
        host: hostOf(each.host),
        reason: 'asked',
        contact: null,
        at: now,
        minDelayMs: null,
      });
    } else if (each.do !== 'slice') {
      const id = at(jobs, each.job);
      if (each.do === 'raise') await store.resumeJob(id, now, NO_LIMITS);
      else await store[`${each.do}Job`](id, now);
    } else {
      const when = each.isLate ? now + turn * 2 * LEASE_MS : now;
      const lease = await store.acquireHost(hostOf(each.host) as HostKey, `${turn}`, when, LEASE_MS);
      if (lease === null) continue;
      const tasks = await store.claimTasks(lease, each.limit, when, []);
      const ended = tasks.slice(0, each.ends.length).map((task, n) => {
        const found = each.found.map(({ host, path }, link) =>
          foundOn(
            task,
            `https://${hostOf(host)}/${path}`,
            link % 3 === 0 ? { state: 'skipped', rule: 'scope.depth' } : {},
          ),
        );
        const end = endOf(at(each.ends, n), now, hostOf((each.host + 1) % HOSTS));
        return completion(lease, task, end, { discovered: found, trace: [ATTEMPT] });
      });
      await store.commit(ended, when);
      if (each.isReleased) await store.releaseHost(lease, lease.state, now, now);
    }
  }
}

function endOf(state: (typeof ENDS)[number], now: number, toHost: string): TaskEnd {
  if (state === 'done') return DONE;
  if (state === 'failed') return FAILED;
  if (state === 'waiting') return { state, readyAt: now + 3, rule: 'retry:CONNECT_FAILED' };
  if (state === 'moved') return { state, atUrl: `https://${toHost}/`, hostKey: toHost as HostKey, hops: 1 };
  return state === 'ready' ? { state } : { state, rule: 'duplicate.redirect' };
}

it('whatever many processes do at once, counters are exact, no work is forgotten and no claim is without owner', async () => {
  const { schema, stores } = await openStores(WORKERS);
  const store = at(stores, 0);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(move, { minLength: 10, maxLength: 30 }), { minLength: WORKERS, maxLength: WORKERS }),
      async (lists) => {
        runs += 1;
        const seeds = Array.from({ length: 30 }, (_, n) =>
          newTask(`https://h${n % HOSTS}.run${runs}.test/${n}`),
        );
        const jobs: JobId[] = [];
        for (const maxPages of [null, 15, null]) {
          jobs.push((await createJob(store, seeds, { budgets: { maxPages } })).id);
        }
        await Promise.all(stores.map((each, n) => act(each, at(lists, n), runs, jobs)));
        for (const id of jobs) {
          const { counters, finishedAt } = await expectExact(store, id);
          expect(finishedAt !== null).toBe(counters.open === 0);
        }
        const { rows } = await schema.query(`SELECT
          (SELECT count(*)::int FROM hosts h WHERE next_at IS NULL AND EXISTS (
            SELECT FROM tasks WHERE host_id = h.id AND state IN ('ready', 'waiting'))) AS forgotten,
          (SELECT count(*)::int FROM tasks t JOIN hosts h ON h.id = t.host_id
            WHERE t.state = 'claimed' AND (h.owner IS NULL OR h.epoch <> t.epoch)) AS unowned`);
        expect(rows).toEqual([{ forgotten: 0, unowned: 0 }]);
      },
    ),
    { numRuns: 12 },
  );
}, 60_000);
