import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type FleetSize, startFleet } from '../../fleet/fleet.ts';
import { createRoleProcess, type RoleProcess } from '../../fleet/role-process.ts';
import { environmentName, type Settings } from '../../src/core/config/settings.ts';
import { runChild } from '../child-run.ts';
import { crawlThroughApi } from './api-crawl.ts';
import type { JobPerUrl, JobPerUrlAnswer } from './job-per-url.ts';
import { createMeter, KINDS, type Kind, type Meter, type Usage, usedBetween } from './meter.ts';
import type { Place } from './place.ts';
import type { SiteGroup, Sites } from './sites.ts';

export const CONCURRENCY = 64;
export const API_KEY = 'measured-with-this-key-0123456789';
const JOB_PER_URL = fileURLToPath(new URL('./job-per-url.ts', import.meta.url));
const STOP_MS = 40_000;
/** A host stays owned a second after its last task. */
const SETTLE_MS = 2_000;
const STANDING_SECONDS = 5;
const NOTHING: Standing = { redisCommands: 0, statements: 0, s3Requests: 0 };

/** One crawl and what it cost. */
export interface Crawled extends Usage {
  readonly pages: number;
  /** Pages that failed, are missing or were fetched twice. */
  readonly faults: number;
  readonly seconds: number;
  /** What goes on in the same processes while nothing is asked of them, a second. */
  readonly standing: Standing;
}

export type Standing = Pick<Usage, 'redisCommands' | 'statements' | 's3Requests'>;

export interface Contestant {
  readonly name: string;
  /** Crawls the first group to warm up and the others in the order given; everything is fresh and its own. */
  crawl(warmUp: SiteGroup, groups: readonly SiteGroup[]): Promise<Crawled[]>;
}

export interface Ground {
  readonly place: Place;
  readonly sites: Sites;
  readonly scratch: string;
}

/** Politeness must not be what is measured. */
export function liftedSettings(folder: string): Partial<Settings> {
  mkdirSync(folder, { recursive: true });
  const policyFile = join(folder, 'policy.yaml');
  writeFileSync(policyFile, `default:\n  rate: unlimited\n  concurrency: ${CONCURRENCY}\n`);
  return { apiKey: API_KEY, allowPrivate: true, policyFile, logLevel: 'info' };
}

/** One process that does everything, as `scrapifie serve` starts it. */
export function embedded(ground: Ground): Contestant {
  return {
    name: 'one process',
    async crawl(warmUp, groups) {
      const dir = join(ground.scratch, 'embedded');
      const settings = Object.entries(liftedSettings(dir));
      const one = createRoleProcess({
        name: 'embedded',
        role: 'all',
        dir,
        environment: Object.fromEntries(
          settings.map(([name, value]) => [environmentName(name), String(value)]),
        ),
        isKeptUp: false,
        stopMs: STOP_MS,
      });
      await one.start();
      try {
        return await crawlAll(ground, [one], one.origin ?? '', 'none', warmUp, groups);
      } finally {
        await one.stop();
      }
    },
  };
}

export function fleetOf(ground: Ground, workers: number): Contestant {
  const size: FleetSize = { api: 1, 'http-worker': workers, scheduler: 1 };
  return {
    name: `fleet, ${workers} http-worker${workers === 1 ? '' : 's'}`,
    async crawl(warmUp, groups) {
      const dir = join(ground.scratch, 'fleet');
      const servers = await ground.place.fresh();
      const fleet = await startFleet({ dir, size, settings: liftedSettings(dir), servers, isKeptUp: false });
      try {
        return await crawlAll(ground, fleet.processes, fleet.origin, servers.database, warmUp, groups);
      } finally {
        await fleet.stop();
      }
    },
  };
}

async function crawlAll(
  { place, sites }: Ground,
  processes: readonly RoleProcess[],
  origin: string,
  database: string,
  warmUp: SiteGroup,
  groups: readonly SiteGroup[],
): Promise<Crawled[]> {
  const api = { origin, apiKey: API_KEY };
  const meter = createMeter({ place, processes, database, sitePid: sites.pid });
  await crawlThroughApi(api, warmUp.seeds, CONCURRENCY);
  const standing = await standingOf(meter);
  const crawled: Crawled[] = [];
  for (const group of groups) {
    await group.reset();
    const before = await meter.read();
    const { pages, failed, seconds } = await crawlThroughApi(api, group.seeds, CONCURRENCY);
    const used = usedBetween(before, await meter.read());
    const faults = failed + Math.abs(group.pages - pages) + Math.max(0, await group.surplus());
    crawled.push({ pages, faults, seconds, ...used, standing });
  }
  return crawled;
}

/** Looks at an idle fleet for a moment, once the slices of the last crawl are over. */
async function standingOf(meter: Meter): Promise<Standing> {
  await delay(SETTLE_MS);
  const before = await meter.read();
  await delay(STANDING_SECONDS * 1_000);
  const { redisCommands, statements, s3Requests } = usedBetween(before, await meter.read());
  return {
    redisCommands: redisCommands / STANDING_SECONDS,
    statements: statements / STANDING_SECONDS,
    s3Requests: s3Requests / STANDING_SECONDS,
  };
}

export function jobPerUrl({ place }: Ground, addsKnown: boolean): Contestant {
  return {
    name: addsKnown ? 'one job per URL, every link added' : 'one job per URL, new links added',
    async crawl(warmUp, groups) {
      await place.redis.flushAll();
      const all = [warmUp, ...groups];
      const { crawls } = await askJobPerUrl({
        redisUrl: place.redis.url,
        concurrency: CONCURRENCY,
        addsKnown,
        groups: all.map(({ seeds }) => seeds),
        held: 0,
      });
      return crawls.slice(1).map((crawl, at) => {
        const { pages, errors, seconds, redisCommands, redisSteps, redisBytes } = crawl;
        const cpu = { workers: crawl.cpuSeconds, Redis: crawl.redisCpuSeconds };
        return {
          ...NOTHING,
          ...{ pages, seconds, redisCommands, redisSteps, redisBytes },
          ...{ walBytes: 0, databaseBytes: 0, s3Writes: 0 },
          standing: NOTHING,
          faults: errors + Math.abs((groups[at]?.pages ?? 0) - pages),
          cpuSeconds: Object.fromEntries(
            KINDS.map((kind) => [kind, kind in cpu ? cpu[kind as keyof typeof cpu] : Number.NaN]),
          ) as Record<Kind, number>,
        };
      });
    },
  };
}

export async function askJobPerUrl(what: JobPerUrl): Promise<JobPerUrlAnswer> {
  const { answer } = await runChild(process.execPath, [JOB_PER_URL, JSON.stringify(what)]);
  return answer as unknown as JobPerUrlAnswer;
}
