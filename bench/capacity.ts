import { randomFrom } from '../test/site/random.ts';
import { type CrawlCosts, measureCrawlCosts } from './capacity/crawl-costs.ts';
import { type StoreCosts, simulateFleet } from './capacity/simulation.ts';
import { type CommitLoad, type MeasuredStore, measureStore } from './capacity/store-costs.ts';
import {
  type Compared,
  comparedTable,
  millionTable,
  pageTable,
  pricesTable,
  type Simulated,
  simulatedTable,
  sizesTable,
} from './capacity/tables.ts';
import { openPlace } from './fleet/place.ts';
import type { Part, PartResult } from './part.ts';
import { figure } from './report.ts';

/** What everything in `docs/scaling.md` about sizes and prices is computed from. */
export interface CapacityData {
  readonly crawls: CrawlCosts;
  readonly store: MeasuredStore;
  readonly compared: readonly Compared[];
  readonly simulated: readonly Simulated[];
}

const SIMULATED_SECONDS = 20;
/** What a worker of two vCPUs fetches and reads: a little less than its processors could. */
const PAGES_PER_WORKER_SECOND = 1_000;
const FLEETS = [
  ...[1, 4, 16, 32, 64].map((workers) => ({ workers, shards: 1, coresPerShard: 8 })),
  ...[64, 128].map((workers) => ({ workers, shards: 1, coresPerShard: 32 })),
  ...[2, 4, 8].map((shards) => ({ workers: 64, shards, coresPerShard: 8 })),
  ...[2, 4, 8].map((shards) => ({ workers: 256, shards, coresPerShard: 8 })),
];

/** What a static and a rendered page cost each part of a fleet, how far PostgreSQL goes, and what follows for sizes and prices. */
export const capacity: Part = {
  name: 'capacity',
  async run(options) {
    const place = await openPlace();
    try {
      const store = await measureStore(place, options);
      return resultOf(store, await measureCrawlCosts(place, options));
    } finally {
      await place.close();
    }
  },
};

export function resultOf(store: MeasuredStore, crawls: CrawlCosts): PartResult {
  const { costs, loads } = store;
  const compared = loads.map((measured) => ({ measured, simulated: simulateLoad(costs, measured) }));
  const simulated = FLEETS.map((fleet) => ({
    ...fleet,
    ...simulateFleet(
      costs,
      { ...fleet, pagesPerWorkerSecond: PAGES_PER_WORKER_SECOND },
      { seconds: SIMULATED_SECONDS, random: randomFrom(1) },
    ),
  }));
  return {
    title: 'Capacity',
    about:
      'What a page costs each part of a fleet, measured in crawls of static pages and of pages that a script makes; commits to ' +
      'PostgreSQL by their size and by the number of clients; and what follows for sizes, prices and for several databases.',
    tables: [
      pageTable(crawls),
      sizesTable(crawls),
      pricesTable(),
      millionTable(crawls),
      comparedTable(compared),
      simulatedTable(simulated),
    ],
    bars: [],
    notes: [
      'The first table and the commits are measured; everything else is computed from them.',
      `A commit of n pages takes PostgreSQL ${figure(costs.fixedMs)} + n × ${figure(costs.perPageMs)} ms of a core, claims take ${figure(costs.otherPerPageMs)} ms a page, and a sync of the log ${figure(costs.syncMs)} ms.`,
      `Simulated workers bring ${figure(PAGES_PER_WORKER_SECOND)} pages a second each.`,
    ],
    data: { crawls, store, compared, simulated } satisfies CapacityData,
  };
}

/** Clients that have the next batch ready at once, on the cores of this machine, of which the clients need one. */
function simulateLoad(costs: StoreCosts, { clients }: CommitLoad) {
  return simulateFleet(
    { ...costs, otherPerPageMs: 0 },
    { workers: clients, pagesPerWorkerSecond: 1e6, shards: 1, coresPerShard: 1 },
    { seconds: SIMULATED_SECONDS, random: randomFrom(1) },
  );
}
