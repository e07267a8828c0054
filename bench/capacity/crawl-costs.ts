import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type FleetSize, startFleet } from '../../fleet/fleet.ts';
import { openRawS3 } from '../../test/contract/raw-s3.ts';
import { type RemoteSite, spawnSite } from '../../test/site/remote-site.ts';
import { crawlThroughApi } from '../fleet/api-crawl.ts';
import { API_KEY, CONCURRENCY, liftedSettings } from '../fleet/contestants.ts';
import { createMeter, type Kind, type Usage, usedBetween } from '../fleet/meter.ts';
import type { Place } from '../fleet/place.ts';
import type { BenchOptions } from '../part.ts';
import { watchMemory } from '../render/tree-memory.ts';
import { figure } from '../report.ts';

/** What a page costs the parts of a fleet, beyond what they use while idle. */
export interface PageCosts {
  readonly pages: number;
  readonly seconds: number;
  readonly failed: number;
  readonly cpuMs: Readonly<Record<Kind, number>>;
  readonly statements: number;
  readonly redisCommands: number;
  readonly redisBytes: number;
  readonly s3Requests: number;
  readonly s3Writes: number;
  readonly walBytes: number;
  readonly databaseBytes: number;
  /** The stored body, compressed. */
  readonly storedBytes: number;
  /** Peak memory of each role (proportional set size), browsers included. */
  readonly memoryBytes: Readonly<Record<string, number>>;
}

/** The two kinds of crawls that are measured. */
interface CrawlKind {
  readonly name: 'static' | 'rendered';
  readonly size: FleetSize;
  readonly path: string;
  readonly pages: number;
  readonly concurrency: number;
  readonly options: Readonly<Record<string, unknown>>;
}

const SETTLE_MS = 2_000;
const IDLE_SECONDS = 10;
const READY = '#page[data-ready="true"]';

const crawlKinds = (isQuick: boolean): readonly CrawlKind[] => [
  {
    name: 'static',
    size: { api: 1, 'http-worker': 1, scheduler: 1 },
    path: '/big/',
    pages: isQuick ? 300 : 3_000,
    concurrency: CONCURRENCY,
    options: {},
  },
  {
    name: 'rendered',
    size: { api: 1, 'http-worker': 1, 'browser-worker': 1, scheduler: 1 },
    path: '/js/catalogue/',
    pages: isQuick ? 24 : 200,
    concurrency: 4,
    options: { options: { engine: 'browser', wait: { selector: READY } } },
  },
];

export type CrawlCosts = Readonly<Record<CrawlKind['name'], PageCosts>>;

/** The same fleet crawls static pages, and pages that scripts make. Everything is measured in its second crawl. */
export async function measureCrawlCosts(place: Place, options: BenchOptions): Promise<CrawlCosts> {
  const measured: [string, PageCosts][] = [];
  for (const kind of crawlKinds(options.isQuick))
    measured.push([kind.name, await measure(place, kind, options)]);
  return Object.fromEntries(measured) as CrawlCosts;
}

async function measure(place: Place, kind: CrawlKind, { scratch, say }: BenchOptions): Promise<PageCosts> {
  const dir = join(scratch, kind.name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const servers = await place.fresh();
  // The crawl that warms up has another size, and so other pages: equal bodies would be stored once.
  const warmUp = await spawnSite({ log: 'off', pages: Math.ceil(kind.pages / 4) + 1 });
  const site = await spawnSite({ log: 'off', pages: kind.pages });
  const settings = { ...liftedSettings(dir), browserPages: kind.concurrency };
  const fleet = await startFleet({ dir, size: kind.size, settings, servers, isKeptUp: false });
  try {
    const api = { origin: fleet.origin, apiKey: API_KEY };
    const crawl = (of: RemoteSite) =>
      crawlThroughApi(api, [`${of.url}${kind.path}`], kind.concurrency, kind.options);
    await crawl(warmUp);
    const meter = createMeter({
      place,
      processes: fleet.processes,
      database: servers.database,
      sitePid: site.pid,
    });
    const objectsBefore = await storedIn(servers.s3.url);
    const memory = fleet.processes.map((process) => ({ process, watch: watchMemory(process.pid) }));
    // A host stays owned a second after its last task.
    await delay(SETTLE_MS);
    const idle = await meter.read();
    await delay(IDLE_SECONDS * 1_000);
    const before = await meter.read();
    const { pages, failed, seconds } = await crawl(site);
    const all = usedBetween(before, await meter.read());
    const used = without(all, usedBetween(idle, before), seconds / IDLE_SECONDS);
    const peaks: [string, number][] = [];
    for (const { process, watch } of memory) peaks.push([process.role, await watch.stop()]);
    const objects = await storedIn(servers.s3.url);
    const perPage = (value: number) => value / pages;
    const cpu = Object.entries(used.cpuSeconds).map(([name, value]) => [name, perPage(value * 1_000)]);
    say(`${kind.name}: ${figure(pages / seconds)} pages/s, ${failed} failed`);
    return {
      ...{ pages, seconds, failed },
      cpuMs: Object.fromEntries(cpu) as Record<Kind, number>,
      statements: perPage(used.statements),
      redisCommands: perPage(used.redisCommands),
      redisBytes: perPage(used.redisBytes),
      s3Requests: perPage(used.s3Requests),
      s3Writes: perPage(used.s3Writes),
      walBytes: perPage(used.walBytes),
      databaseBytes: perPage(used.databaseBytes),
      storedBytes: (objects.bytes - objectsBefore.bytes) / Math.max(1, objects.count - objectsBefore.count),
      memoryBytes: Object.fromEntries(peaks),
    };
  } finally {
    await fleet.stop();
    await Promise.all([site.close(), warmUp.close()]);
  }
}

/** What a crawl added to that which timers and health checks use anyway, nothing at least. */
function without(all: Usage, idle: Usage, times: number): Usage {
  const less = (value: number, standing: number) => Math.max(0, value - standing * times);
  const { cpuSeconds, ...counts } = all;
  const cpu = Object.entries(cpuSeconds).map(([kind, value]) => [
    kind,
    less(value, idle.cpuSeconds[kind as Kind]),
  ]);
  const others = Object.entries(counts).map(([name, value]) => [
    name,
    less(value, idle[name as keyof typeof counts]),
  ]);
  return { ...Object.fromEntries(others), cpuSeconds: Object.fromEntries(cpu) } as Usage;
}

async function storedIn(url: string): Promise<{ count: number; bytes: number }> {
  const raw = openRawS3(url);
  const found = { count: 0, bytes: 0 };
  try {
    for (let token: string | undefined; ; ) {
      const { Contents = [], NextContinuationToken } = await raw.client.send(
        new ListObjectsV2Command({
          Bucket: raw.place.bucket,
          ...(token === undefined ? {} : { ContinuationToken: token }),
        }),
      );
      for (const { Size = 0 } of Contents) {
        found.count += 1;
        found.bytes += Size;
      }
      if (NextContinuationToken === undefined) return found;
      token = NextContinuationToken;
    }
  } finally {
    raw.close();
  }
}
