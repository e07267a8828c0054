// A million hosts spread over several stores, with what one store was measured to do. Without options the rate is the
// one that `make bench ARGS=fleet` measured last. Ends with a line of JSON.
// usage: node partition-simulation.ts [--completions-per-second 3000] [--hosts 1000000] [--urls 100000000]
//   [--exponent 1] [--most-per-host 10000]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Table } from '../part.ts';
import { figure, tableOf } from '../report.ts';
import { balanceOf, byBuckets, byRemainder, byRendezvous, crawlTimes, createWorld } from './partitions.ts';

export interface SimulationAnswer {
  readonly tables: readonly Table[];
  readonly assumptions: Readonly<Record<string, number>>;
}

const STORES = [1, 2, 4, 8, 16];
const SPREADS = [
  ['remainder', byRemainder],
  ['rendezvous', byRendezvous],
  ['1,024 buckets', byBuckets],
] as const;
/** As the shipped policy has it. */
const HOST_RATE = 2;
/** Pages that a host gives in one slice while others wait: ten seconds. */
const SLICE_PAGES = 10 * HOST_RATE;
const SHARES = [0.5, 0.9, 0.99];
const LAST_RUN = new URL('../results/fleet.json', import.meta.url);

const { values } = parseArgs({
  options: {
    'completions-per-second': { type: 'string' },
    hosts: { type: 'string', default: '1000000' },
    urls: { type: 'string', default: '100000000' },
    exponent: { type: 'string', default: '1' },
    'most-per-host': { type: 'string', default: '10000' },
  },
});

function lastMeasured(): number {
  const { result } = JSON.parse(readFileSync(LAST_RUN, 'utf8')) as {
    result: { data: { rates: { completionsPerSecond: number } } };
  };
  return result.data.rates.completionsPerSecond;
}

const capacity = Number(values['completions-per-second'] ?? lastMeasured());
const assumptions = {
  hosts: Number(values.hosts),
  urls: Number(values.urls),
  exponent: Number(values.exponent),
  mostPerHost: Number(values['most-per-host']),
  capacity,
  hostRate: HOST_RATE,
};
const world = createWorld(assumptions);
const percent = (share: number) => `${figure(share * 100)} %`;
const hours = (seconds: number) => figure(seconds / 3_600);

const spreading: Table = {
  columns: [
    'spread by',
    'stores',
    'hosts, fullest over mean',
    'URLs, fullest over mean',
    'hosts moved by one more',
    'URLs moved',
  ],
  rows: SPREADS.flatMap(([name, spread]) =>
    STORES.filter((stores) => stores > 1).map((stores) => {
      const { hosts, urls, movedHosts, movedUrls } = balanceOf(world, spread, stores);
      return [name, String(stores), figure(hosts), figure(urls), percent(movedHosts), percent(movedUrls)];
    }),
  ),
};
const crawling: Table = {
  columns: [
    'stores',
    'pages/s at most',
    ...SHARES.map((share) => `hours to ${share * 100} %`),
    'pages/s up to 90 %',
    'a host’s turn, minutes apart',
    'links to other stores',
  ],
  rows: STORES.map((stores) => {
    const times = crawlTimes(world, byRendezvous, stores, { capacity, hostRate: HOST_RATE }, SHARES);
    const at90 = times[SHARES.indexOf(0.9)] ?? Number.NaN;
    return [
      String(stores),
      figure(capacity * stores),
      ...times.map(hours),
      figure((0.9 * world.urls) / at90),
      figure((world.sizes.length * SLICE_PAGES) / (capacity * stores) / 60),
      // The share of links to other hosts that lead to another store.
      percent((stores - 1) / stores),
    ];
  }),
};
for (const table of [spreading, crawling]) process.stdout.write(`${tableOf(table)}\n\n`);
process.stdout.write(
  `${JSON.stringify({ tables: [spreading, crawling], assumptions } satisfies SimulationAnswer)}\n`,
);
