import fc from 'fast-check';
import type { Claim } from '../contract.ts';
import { LEASE_MS } from './fixtures.ts';
import { type End, HOSTS, type Step, StoreWorld, type UrlNumber } from './store-world.ts';
import type { TimedStore } from './timed-store.ts';

const host = fc.nat(HOSTS - 1);
const urls: fc.Arbitrary<UrlNumber[]> = fc.array(fc.record({ host, path: fc.nat(8) }), { maxLength: 6 });
const end: fc.Arbitrary<End> = fc.oneof(
  { weight: 4, arbitrary: fc.constant('done' as const) },
  {
    weight: 5,
    arbitrary: fc.constantFrom('failed', 'skipped', 'denied', 'waiting', 'ready', 'moved'),
  },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      urls,
      maxPages: fc.option(fc.integer({ min: 1, max: 4 })),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('acquire' as const), host }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('claim' as const), host, limit: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      host,
      ends: fc.array(end, { minLength: 1, maxLength: 4 }),
      found: urls,
      toHost: host,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), host }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('late' as const), pick: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('cancel' as const, 'resume' as const, 'retry' as const),
      job: fc.nat(5),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 600, LEASE_MS + 1) }),
  },
);

/** The store against a model of it: whatever the order of operations, both tell the same story. */
export function modelContract(holds: Claim<TimedStore>): void {
  holds('agrees with a plain model after any sequence of operations', async (store) => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({ do: fc.constant('create' as const), urls, maxPages: fc.constant(null) }),
        fc.array(step, { minLength: 5, maxLength: 40 }),
        async (first, steps) => {
          runs += 1;
          const world = new StoreWorld(store, runs);
          for (const each of [first, ...steps]) await world.step(each);
          await world.finish();
        },
      ),
      { numRuns: 80 },
    );
  });
}
