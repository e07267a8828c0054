import fc from 'fast-check';
import { expect } from 'vitest';
import type { JobStatus } from '../../../src/core/model/job.ts';
import type { Claim } from '../contract.ts';
import {
  at,
  completion,
  createJob,
  DONE,
  expectExact,
  FAILED,
  ledger,
  pages,
  states,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const ENDS = ['done', 'failed', 'skipped', 'denied'] as const;
type End = (typeof ENDS)[number];

/** The rule in words: nothing done and something failed or refused is a failure; something of both is partial. */
function statusOf(ends: readonly End[]): JobStatus {
  const has = (end: End) => ends.includes(end);
  if (!has('done') && (has('failed') || has('denied'))) return 'failed';
  return has('failed') ? 'partially_completed' : 'completed';
}

/** Claims that hold for every job, shown on many. Each run has hosts of its own. */
export function propertiesContract(holds: Claim<TimedStore>): void {
  let hosts = 0;
  const freshHost = () => {
    hosts += 1;
    return `run${hosts}.test`;
  };

  holds('a batch of N URLs has N tasks of one job', async (store) => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 60 }), async (paths) => {
        const host = freshHost();
        const urls = paths.map((path) => `https://${host}/${path}`);
        const { id, counters } = await createJob(store, [...urls, ...urls.slice(0, 3)], { kind: 'batch' });
        expect(counters).toMatchObject({ known: urls.length, open: urls.length });
        expect((await ledger(store, id)).map((entry) => entry.url)).toEqual(urls);
        const { tasks } = await take(store, host);
        expect(tasks.map((task) => task.jobId)).toEqual(urls.map(() => id));
      }),
      { numRuns: 30 },
    );
  });

  holds(
    'the status of any job follows from its outcomes, and its results are its completed tasks',
    async (store) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...ENDS), { minLength: 1, maxLength: 8 }), async (ends) => {
          const host = freshHost();
          const { id } = await createJob(store, urlsOn(host, ends.length), { kind: 'batch' });
          const { lease, tasks } = await take(store, host);
          for (const [index, task] of tasks.entries()) {
            const state = at(ends, index);
            const end =
              state === 'failed'
                ? FAILED
                : state === 'done'
                  ? DONE
                  : { state, rule: 'scope.domain' as const };
            const receipt = await store.commit([completion(lease, task, end)], T0 + index);
            expect(receipt.finishedJobs).toEqual(index === ends.length - 1 ? [id] : []);
          }
          const ended = await expectExact(store, id);
          expect(ended.status).toBe(statusOf(ends));
          const results = (await pages(store, id, 'done')).map((page) => page.url);
          const fetched = (await ledger(store, id, 'done')).map((entry) => entry.url);
          expect(results).toEqual(fetched);
          expect(results).toHaveLength(ended.counters.done);
        }),
        { numRuns: 40 },
      );
    },
  );

  holds('a cancel drops what is queued and leaves what runs', async (store) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.nat(12),
        fc.nat(12),
        async (count, limit, over) => {
          const host = freshHost();
          const { id } = await createJob(store, urlsOn(host, count));
          const { lease, tasks } = await take(store, host, limit);
          const ended = tasks.slice(0, over);
          const running = tasks.slice(over);
          await store.commit(
            ended.map((task) => completion(lease, task, DONE)),
            T0,
          );
          const cancelled = await store.cancelJob(id, T0 + 1);
          const isOver = ended.length === count;
          expect(cancelled?.status).toBe(isOver ? 'completed' : 'cancelled');
          const after = await states(store, id);
          for (const task of running) expect(after[task.url]).toBe('claimed');
          expect(Object.values(after).filter((state) => state === 'cancelled')).toHaveLength(
            count - tasks.length,
          );
          await store.commit(
            running.map((task) => completion(lease, task, DONE)),
            T0 + 2,
          );
          const last = await expectExact(store, id);
          expect(last.counters).toMatchObject({
            done: tasks.length,
            open: 0,
            cancelled: count - tasks.length,
          });
          expect(last.finishedAt).not.toBeNull();
          expect(await pages(store, id, 'done')).toHaveLength(tasks.length);
        },
      ),
      { numRuns: 40 },
    );
  });
}
