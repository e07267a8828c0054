import { randomUUID } from 'node:crypto';
import { draftCrawl } from '../../src/capabilities/jobs/accept/job-draft.ts';
import { crawlRequestSchema } from '../../src/capabilities/jobs/request/job-request.ts';
import type { JobId } from '../../src/core/model/ids.ts';
import type { HostOffer } from '../../src/core/ports/host-store.ts';
import { createQueueBullmq } from '../../src/drivers/queue-bullmq/queue-bullmq.ts';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import { randomFrom } from '../../test/site/random.ts';
import type { FrontierAnswer } from '../growth/frontier.ts';
import { forkFrontier } from '../growth/frontier-child.ts';
import { createWorld } from '../growth/world.ts';
import type { BenchOptions } from '../part.ts';
import { figure, megabytes, spread } from '../report.ts';
import { quantile, ratios, sampleOf } from '../sample.ts';
import { askJobPerUrl } from './contestants.ts';
import type { Place } from './place.ts';
import type { Section } from './section.ts';

const FULL = { urls: 1_000_000, hosts: 10_000, rounds: 5, held: 100_000, dueHosts: 1_000_000 };
const QUICK = { urls: 100_000, hosts: 1_000, rounds: 1, held: 10_000, dueHosts: 100_000 };
const SMALL = { urls: 10_000, hosts: 100 };
/** As far on as the frontier's own clock never gets: every host is due. */
const ALWAYS = 4_000_000_000_000;
const MOST_GROWTH_MB = 10;
const OFFERED = 500;
const LOOKS = 20;

/** Rates of one PostgreSQL, from which those of several can be estimated. */
export interface StoreRates {
  readonly claimsPerSecond: number;
  readonly completionsPerSecond: number;
  /** Time to find the hosts to offer, by how many are due. */
  readonly offerMs: readonly { readonly hosts: number; readonly ms: number }[];
}

interface Filled {
  readonly urls: number;
  readonly hosts: number;
  readonly redisBytes: number;
  /** Size of the database once it was filled. */
  readonly storeBytes: number;
  readonly samples: readonly FrontierAnswer[];
}

/** A large frontier beside a small one: what Redis holds of them, and how fast PostgreSQL hands out and takes back. */
export async function measureFrontier(
  place: Place,
  options: BenchOptions,
): Promise<Section & { readonly rates: StoreRates }> {
  const size = options.isQuick ? QUICK : FULL;
  const [smallPlace, largePlace] = [await place.freshDatabase(), await place.freshDatabase()];
  const seedsBytes = await seedsOnly(place, size);
  const [small, large] = await fillBoth(place, smallPlace.url, largePlace.url, size, options);
  await place.redis.flushAll();
  const { bytesPerJob } = await askJobPerUrl({
    redisUrl: place.redis.url,
    concurrency: 1,
    addsKnown: false,
    groups: [],
    held: size.held,
  });
  await place.redis.flushAll();
  const offerMs = [
    { hosts: large.hosts, ms: await offerTime(largePlace.url, size.hosts) },
    ...(await manyDue(place, size.dueHosts)),
  ];
  const growthMb = megabytes(large.redisBytes - seedsBytes);
  const jobsMb = megabytes(bytesPerJob * size.urls);
  options.say(
    `Redis holds ${figure(megabytes(large.redisBytes))} MB of ${figure(large.urls)} URLs on ${figure(large.hosts)} hosts; ` +
      `one job per URL would be ${figure(jobsMb)} MB`,
  );
  const column = ({ samples }: Filled, name: 'claimsPerSecond' | 'completionsPerSecond') =>
    samples.map((answer) => answer[name]);
  const kept = (name: 'claimsPerSecond' | 'completionsPerSecond') =>
    sampleOf(ratios(column(large, name), column(small, name)));
  return {
    tables: [
      {
        columns: [
          'frontier in PostgreSQL',
          'hosts offered',
          'Redis MB',
          'bytes/URL',
          'claims/s',
          'completions/s',
        ],
        rows: [
          ...[small, large].map((filled) => [
            `${figure(filled.urls)} URLs`,
            figure(filled.hosts),
            figure(megabytes(filled.redisBytes)),
            figure(filled.storeBytes / filled.urls),
            spread(sampleOf(column(filled, 'claimsPerSecond'))),
            spread(sampleOf(column(filled, 'completionsPerSecond'))),
          ]),
          [
            `${figure(size.hosts)} URLs, one a host`,
            figure(size.hosts),
            figure(megabytes(seedsBytes)),
            '',
            '',
            '',
          ],
          [
            `one job per URL, ${figure(size.urls)} (from ${figure(size.held)})`,
            '',
            figure(jobsMb),
            '',
            '',
            '',
          ],
        ],
      },
      {
        columns: ['hosts that are due', `time to find ${OFFERED} to offer, ms`],
        rows: offerMs.map(({ hosts, ms }) => [figure(hosts), figure(ms)]),
      },
    ],
    bars: [
      {
        claim: `Redis: growth from ${figure(size.hosts)} to ${figure(size.urls)} URLs on the same ${figure(size.hosts)} hosts`,
        measured: growthMb,
        atMost: MOST_GROWTH_MB,
        unit: 'MB',
      },
    ],
    notes: [
      `The large frontier keeps ${spread(kept('claimsPerSecond'))} of the small one’s claim rate and ${spread(kept('completionsPerSecond'))} of its completion rate; one client with 8 connections on the same machine.`,
      'Bytes a URL: the whole database with its indexes; one URL in a hundred has a stored page.',
      `Redis holds one entry per offered host: ${figure(large.redisBytes / large.hosts)} bytes each, however many URLs a host has. A job per URL takes ${figure(bytesPerJob)} bytes.`,
    ],
    data: { small, large, seedsBytes, bytesPerJob, offerMs },
    rates: {
      claimsPerSecond: quantile(column(large, 'claimsPerSecond'), 0.5),
      completionsPerSecond: quantile(column(large, 'completionsPerSecond'), 0.5),
      offerMs,
    },
  };
}

/** The same hosts as the large frontier's, when nothing is known of them but their home pages. */
async function seedsOnly(place: Place, { hosts, urls }: typeof FULL): Promise<number> {
  const { name, url } = await place.freshDatabase();
  const { seeds: tasks } = createWorld(hosts, urls, randomFrom(7));
  const store = await createPostgresStore({ url, poolSize: 1 });
  try {
    await store.migrate();
    const request = crawlRequestSchema.parse({ urls: [tasks[0]?.url], maxPages: null, allowExternal: true });
    const { options, kind, seeds } = draftCrawl(request, () => false);
    const accountId = await store.defaultAccount();
    const id = randomUUID() as string as JobId;
    await store.createJob({ id, accountId, kind, options, seeds }, tasks);
  } finally {
    await store.close();
  }
  const bytes = await offeredBytes(place, url, hosts);
  await place.postgres.dropDatabase(name);
  return bytes;
}

async function fillBoth(
  place: Place,
  smallUrl: string,
  largeUrl: string,
  size: typeof FULL,
  { say }: BenchOptions,
): Promise<readonly [Filled, Filled]> {
  const small = forkFrontier(smallUrl, SMALL.urls, SMALL.hosts);
  const large = forkFrontier(largeUrl, size.urls, size.hosts);
  const samples: { small: FrontierAnswer[]; large: FrontierAnswer[] } = { small: [], large: [] };
  await small.ask('fill');
  const filled = await large.ask('fill');
  say(`frontier of ${figure(filled.urls)} URLs in PostgreSQL filled in ${figure(filled.seconds)} s`);
  const sizes = {
    small: {
      redisBytes: await offeredBytes(place, smallUrl, SMALL.hosts),
      storeBytes: await place.databaseBytes(smallUrl),
    },
    large: {
      redisBytes: await offeredBytes(place, largeUrl, size.hosts),
      storeBytes: await place.databaseBytes(largeUrl),
    },
  };
  // The first turn of each is for the caches.
  for (let round = -1; round < size.rounds; round++) {
    const one = await small.ask('sample');
    const other = await large.ask('sample');
    if (round < 0) continue;
    samples.small.push(one);
    samples.large.push(other);
  }
  await Promise.all([small.close(), large.close()]);
  return [
    { ...SMALL, ...sizes.small, samples: samples.small },
    { urls: size.urls, hosts: size.hosts, ...sizes.large, samples: samples.large },
  ];
}

/** What Redis holds once every host of the frontier is offered. */
async function offeredBytes(place: Place, url: string, hosts: number): Promise<number> {
  const offers = await offersOf(url, hosts);
  if (offers.length < hosts) throw new Error(`${offers.length} of ${hosts} hosts are due.`);
  await place.redis.flushAll();
  const queue = await createQueueBullmq({ url: place.redis.url, onHandlerError: () => undefined });
  try {
    const { memoryBytes: before } = await place.redisInfo();
    await queue.offer(
      'scrape-http',
      offers.map(({ key, rank }) => ({ id: key, rank })),
    );
    return (await place.redisInfo()).memoryBytes - before;
  } finally {
    await queue.close();
  }
}

async function offersOf(url: string, limit: number): Promise<readonly HostOffer[]> {
  const store = await createPostgresStore({ url, poolSize: 1, now: () => ALWAYS });
  try {
    return await store.offerHosts(limit);
  } finally {
    await store.close();
  }
}

async function offerTime(url: string, hosts: number): Promise<number> {
  const store = await createPostgresStore({ url, poolSize: 1, now: () => ALWAYS });
  try {
    const times: number[] = [];
    for (let look = 0; look < LOOKS; look++) {
      const startedAt = performance.now();
      const offers = await store.offerHosts(OFFERED);
      times.push(performance.now() - startedAt);
      if (offers.length < Math.min(OFFERED, hosts)) throw new Error(`Only ${offers.length} hosts are due.`);
    }
    return quantile(times, 0.5);
  } finally {
    await store.close();
  }
}

/** Stores that know nothing but very many hosts, all of them due. */
async function manyDue(place: Place, most: number): Promise<StoreRates['offerMs']> {
  const times: { hosts: number; ms: number }[] = [];
  for (const hosts of [most / 8, most]) {
    const { name, url } = await place.freshDatabase();
    const store = await createPostgresStore({ url, poolSize: 1 });
    await store.migrate();
    await store.close();
    await place.queryIn(
      url,
      `INSERT INTO hosts (key, rank, next_at)
       SELECT 'www.site-' || n || '.example', 1e12::bigint + (n * 7919::bigint) % ${hosts}, 1e12::bigint + (n * 104729::bigint) % ${hosts}
       FROM generate_series(1, ${hosts}) AS n; ANALYZE hosts`,
    );
    times.push({ hosts, ms: await offerTime(url, hosts) });
    await place.postgres.dropDatabase(name);
  }
  return times;
}
