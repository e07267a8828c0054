import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { z } from 'zod';
import {
  batchRequestSchema,
  crawlRequestSchema,
  mapRequestSchema,
  scrapeRequestSchema,
} from '../../src/capabilities/jobs/request/job-request.ts';
import type { ScrapeResult } from '../../src/capabilities/jobs/results/job-reader.ts';
import type { MapResult } from '../../src/capabilities/jobs/results/map-result.ts';
import type { PageResult } from '../../src/capabilities/jobs/results/page-result.ts';
import { type Settings, settingsSchema } from '../../src/core/config/settings.ts';
import type { AccountId } from '../../src/core/model/ids.ts';
import type { Job } from '../../src/core/model/job.ts';
import type { LedgerEntry } from '../../src/core/model/task.ts';
import { createLogger, type Logger } from '../../src/core/observe/logger.ts';
import { createMetrics, type Metrics } from '../../src/core/observe/metrics.ts';
import { openPlatform, type Platform } from '../../src/wiring/platform.ts';
import type { LogEntry } from '../site/request-log.ts';
import { type Site, type SiteOptions, startSite } from '../site/site.ts';
import { type FleetPlace, takeFleetPlace } from './fleet-place.ts';

export type CrawlInput = z.input<typeof crawlRequestSchema>;
export type BatchInput = z.input<typeof batchRequestSchema>;
export type MapInput = z.input<typeof mapRequestSchema>;
export type ScrapeInput = z.input<typeof scrapeRequestSchema>;

/** A whole Scrapifie in a folder of its own. What begins a job resolves when it is accepted, `…Now` when it ended. */
export interface Scraper {
  readonly platform: Platform;
  readonly account: AccountId;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly dataDir: string;
  /** Log lines of level warn and above. */
  readonly warnings: readonly string[];
  crawl(input: CrawlInput): Promise<Job>;
  batch(input: BatchInput): Promise<Job>;
  crawlNow(input: CrawlInput): Promise<Job>;
  batchNow(input: BatchInput): Promise<Job>;
  mapNow(input: MapInput): Promise<MapResult>;
  scrapeNow(input: ScrapeInput): Promise<ScrapeResult>;
  ended(job: Pick<Job, 'id'>): Promise<Job>;
  /** Waits until all events of a job that has ended can be read, and readers of events have read them. */
  settled(job: Job): Promise<Job>;
  /** The job as it is now. */
  look(job: Pick<Job, 'id'>): Promise<Job>;
  ledger(job: Pick<Job, 'id'>): Promise<LedgerEntry[]>;
  pages(job: Pick<Job, 'id'>): Promise<PageResult[]>;
  /** Closes it and opens the same folder again, as a restart does. */
  reopen(): Promise<Scraper>;
  /** Closes it and removes the folder. */
  close(): Promise<void>;
}

export interface ScraperOptions {
  /** YAML of the policy file; left out: the one that is shipped. */
  readonly policy?: string;
  readonly settings?: Partial<Settings>;
  /** Left out: metrics without those of the process. */
  readonly metrics?: Metrics;
  readonly dataDir?: string;
  /** Where it is kept in the fleet profile; left out: a place of its own. */
  readonly place?: FleetPlace | null;
  /** False: jobs are accepted and nothing works on them. */
  readonly isStarted?: boolean;
}

/** Fast enough for tests about something else than speed. */
export const QUICK_POLICY = 'default: { rate: unlimited, concurrency: 8 }\n';
/** Processes that share a database make no key themselves. */
export const FLEET_VAULT_KEY = 'f1'.repeat(32);
const WAIT_MS = 120_000;

export async function openScraper(options: ScraperOptions = {}): Promise<Scraper> {
  const { isStarted = true } = options;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'scrapifie-world-')));
  const place = options.place === undefined ? await takeFleetPlace() : options.place;
  const policyFile = join(dataDir, 'policy.yaml');
  if (options.policy !== undefined) await writeFile(policyFile, options.policy);
  const settings: Settings = {
    ...settingsSchema.parse({ dataDir, allowPrivate: true, extractThreads: 1, drainMs: 5_000 }),
    ...place?.settings,
    ...(place == null ? {} : { vaultKey: FLEET_VAULT_KEY }),
    ...(options.policy === undefined ? {} : { policyFile }),
    ...options.settings,
  };
  const warnings: string[] = [];
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void warnings.push(line) } });
  const metrics = options.metrics ?? createMetrics({ withProcess: false });
  const platform = await openPlatform({ settings, logger, metrics });
  if (isStarted) await platform.start();
  const account = await platform.store.defaultAccount();
  const { jobs } = platform;
  const ended = (job: Pick<Job, 'id'>) => jobs.waitFor(job.id, WAIT_MS);
  const look = (job: Pick<Job, 'id'>) => jobs.get(job.id, account);

  const scraper: Scraper = {
    platform,
    account,
    metrics,
    logger,
    dataDir,
    warnings,
    crawl: (input) => jobs.crawl(crawlRequestSchema.parse(input), account),
    batch: (input) => jobs.batch(batchRequestSchema.parse(input), account),
    crawlNow: async (input) => ended(await scraper.crawl(input)),
    batchNow: async (input) => ended(await scraper.batch(input)),
    mapNow: (input) => jobs.mapNow(mapRequestSchema.parse(input), account),
    scrapeNow: (input) => jobs.scrapeNow(scrapeRequestSchema.parse(input), account),
    ended,
    async settled(job) {
      // In PostgreSQL a transaction of another test delays readers of events for a moment.
      const readEnd = async () => {
        const { items } = await platform.store.listEvents({ after: null, jobId: job.id, limit: 1_000 });
        if (!items.some(({ type, at }) => type === `job.${job.status}` && at >= (job.finishedAt ?? 0))) {
          throw new Error(`The end of job ${job.id} cannot be read yet.`);
        }
      };
      await vi.waitFor(readEnd, { timeout: WAIT_MS });
      await platform.settleReaders();
      return job;
    },
    look,
    ledger: async (job) => Array.fromAsync(jobs.read.eachUrl(await look(job))),
    pages: async (job) => Array.fromAsync(jobs.read.eachResult(await look(job))),
    async reopen() {
      await platform.close();
      return openScraper({ ...options, dataDir, place });
    },
    async close() {
      await platform.close();
      await place?.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return scraper;
}

/** A test web and a Scrapifie that may fetch from it. */
export interface World extends Scraper {
  readonly site: Site;
  /** What one host received, oldest first. */
  heard(url: string): LogEntry[];
  /** The same as paths, without robots.txt. */
  paths(url: string): string[];
}

export interface WorldOptions extends Omit<ScraperOptions, 'policy'> {
  readonly site?: SiteOptions;
  readonly policy?: string | ((site: Site) => string);
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const site = await startSite(options.site);
  const { policy = QUICK_POLICY } = options;
  const scraper = await openScraper({
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
    policy: typeof policy === 'string' ? policy : policy(site),
  });
  const heard = (url: string) => heardBy(site.log, url);
  return {
    ...scraper,
    site,
    heard,
    paths: (url) => pathsOf(heard(url)),
    async close() {
      await scraper.close();
      await site.close();
    },
  };
}

export function heardBy(log: readonly LogEntry[], url: string): LogEntry[] {
  const { host } = new URL(url);
  return log.filter((entry) => entry.host === host);
}

export function pathsOf(entries: readonly LogEntry[]): string[] {
  return entries.map(({ path }) => path).filter((path) => path !== '/robots.txt');
}

/** The ledger by path and query, for hosts that only one job visits. */
export function byPath(entries: readonly LedgerEntry[]): Map<string, LedgerEntry> {
  return new Map(
    entries.map((entry) => {
      const { pathname, search } = new URL(entry.url);
      return [pathname + search, entry];
    }),
  );
}
