import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ContentHash } from '../../src/core/model/ids.ts';
import type { Job } from '../../src/core/model/job.ts';
import { CALM_MS } from '../../src/crawl/host/process/quarantine.ts';
import { openScraper, QUICK_POLICY } from '../integration/world.ts';
import { randomFrom } from '../site/random.ts';
import { type Site, startSite } from '../site/site.ts';
import { type CrawlProcess, startCrawl } from './crawl-process.ts';

export interface KillOptions {
  readonly pages: number;
  readonly kills: number;
  /** Decides when the kills come. */
  readonly seed: number;
  /** The share of the kills that come when the process has lived long enough to fetch suspected URLs alone. */
  readonly lateShare?: number;
  readonly say?: (line: string) => void;
}

/** What a crawl left behind. */
export interface Outcome {
  readonly job: Job;
  /** By path: state of the ledger, and the hash of the stored body. */
  readonly urls: ReadonlyMap<string, { readonly state: string; readonly contentHash: string | null }>;
  /** Paths of stored pages, each as often as it is stored. */
  readonly pages: readonly string[];
  /** Hashes of stored pages whose body is not there. */
  readonly lostBodies: readonly string[];
}

export interface KillReport {
  readonly kills: number;
  /** Kills before the process had begun to work. */
  readonly killsAtStart: number;
  readonly disturbed: Outcome;
  readonly undisturbed: Outcome;
  /** Paths that one life of the process asked for more than once. */
  readonly repeatedInOneLife: readonly string[];
  /** Paths that were asked for although they had ended before the kill. */
  readonly repeatedAfterEnd: readonly string[];
  readonly requests: number;
  /** Requests that a kill made necessary again. */
  readonly extraRequests: number;
  readonly mostPerUrl: number;
}

const SHARE_AT_START = 0.15;
const START_MS = 1_200;
const LATE_MS = CALM_MS;
const CONCURRENCY = 16;
const POLICY = QUICK_POLICY.replace('concurrency: 8', `concurrency: ${CONCURRENCY}`);

/** Crawls the big site once in peace and once killed again and again, and reports what became of both. */
export async function killCrawl(options: KillOptions): Promise<KillReport> {
  const { pages, kills, seed, lateShare = 0, say = () => {} } = options;
  const site = await startSite({ pages, logLimit: 10 * pages + 10_000 });
  const dirs = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'scrapifie-kill-'))));
  const [peaceful = '', killed = ''] = dirs;
  try {
    await startCrawl({ dir: peaceful, seeds: [`${site.hostUrl(0)}/big/`], policy: POLICY }).ended;
    const undisturbed = await outcomeOf(peaceful);
    say(`undisturbed: ${undisturbed.job.counters.pages} pages`);
    const lives = await killAgainAndAgain(site, killed, { pages, kills, seed, lateShare, say });
    return { ...lives, undisturbed, disturbed: await outcomeOf(killed) };
  } finally {
    await site.close();
    await Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true })));
  }
}

type Lives = Omit<KillReport, 'disturbed' | 'undisturbed'>;

async function killAgainAndAgain(site: Site, dir: string, options: Required<KillOptions>): Promise<Lives> {
  const host = new URL(site.hostUrl(1)).host;
  const random = randomFrom(options.seed);
  const seen = new Set<string>();
  const ended = new Set<string>();
  const repeatedInOneLife: string[] = [];
  const repeatedAfterEnd: string[] = [];
  let kills = 0;
  let killsAtStart = 0;
  site.reset();
  for (let logged = 0; ; ) {
    const life = startCrawl({ dir, seeds: [`${site.hostUrl(1)}/big/`], policy: POLICY });
    if (kills < options.kills) {
      const isAtStart = random() < SHARE_AT_START;
      if (options.lateShare > 0 && random() < options.lateShare) {
        await Promise.race([life.working.then(() => after(LATE_MS + random() * LATE_MS)), life.ended]);
      } else if (isAtStart) {
        killsAtStart += 1;
        await Promise.race([after(random() * START_MS), life.ended]);
      } else {
        const left = (options.pages - seen.size) / (options.kills - kills + 2);
        const most = 1 + Math.floor(random() * 1.4 * left);
        await waitForRequests(site, life, logged + most);
      }
      await life.kill();
    }
    const end = await life.ended;
    const paths = site.log
      .slice(logged)
      .filter((entry) => entry.host === host)
      .map(({ path }) => path);
    logged = site.log.length;
    repeatedInOneLife.push(...paths.filter((path, at) => paths.indexOf(path) !== at));
    repeatedAfterEnd.push(...paths.filter((path) => ended.has(path)));
    for (const path of paths) seen.add(path);
    if (end === 'finished') break;
    kills += 1;
    // Only now and then: opening the database also repairs it, and the crawl must be able to do that itself.
    if (random() < 0.5) for (const path of endedIn(dir)) ended.add(path);
    options.say(`kill ${kills}: ${paths.length} requests in this life, ${seen.size} URLs so far`);
  }
  const requests = site.log.length;
  const mostPerUrl = Math.max(...[...seen].map((path) => site.countOf(`http://${host}${path}`)));
  return {
    kills,
    killsAtStart,
    repeatedInOneLife,
    repeatedAfterEnd,
    requests,
    extraRequests: requests - seen.size,
    mostPerUrl,
  };
}

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Resolves when the site was asked this often in all, or the process is over. */
async function waitForRequests(site: Site, life: CrawlProcess, total: number): Promise<void> {
  let isOver = false;
  const watch = () => {
    isOver = true;
  };
  void life.ended.then(watch, watch);
  while (!isOver && site.log.length < total) await after(1);
}

/** Paths whose task had ended when the process died. */
function endedIn(dir: string): string[] {
  const database = new DatabaseSync(join(dir, 'scrapifie.db'));
  try {
    const hasTasks = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'tasks'`).get();
    if (hasTasks === undefined) return [];
    const rows = database.prepare(`SELECT url FROM tasks WHERE state = 'done'`).all();
    return rows.map(({ url }) => new URL(String(url)).pathname);
  } finally {
    database.close();
  }
}

async function outcomeOf(dir: string): Promise<Outcome> {
  const scraper = await openScraper({ dataDir: dir, policy: POLICY, isStarted: false });
  try {
    const { items } = await scraper.platform.jobs.list({ accountId: scraper.account, limit: 10 });
    const [job] = items;
    if (job === undefined || items.length !== 1) throw new Error(`There are ${items.length} jobs.`);
    const pages = await scraper.pages(job);
    const hashes = new Map(pages.map(({ url, contentHash }) => [url, contentHash]));
    const entries = await scraper.ledger(job);
    const urls = entries.map(
      ({ url, state }) => [new URL(url).pathname, { state, contentHash: hashes.get(url) ?? null }] as const,
    );
    if (new Set(urls.map(([path]) => path)).size !== urls.length) throw new Error('A URL is there twice.');
    const lostBodies: string[] = [];
    for (const { contentHash } of pages) {
      const body = await scraper.platform.blobs.get(contentHash as ContentHash);
      if (body === null) lostBodies.push(contentHash ?? 'none');
    }
    return {
      job,
      urls: new Map(urls.sort(([a], [b]) => (a < b ? -1 : 1))),
      pages: pages.map(({ url }) => new URL(url).pathname),
      lostBodies,
    };
  } finally {
    await scraper.platform.close();
  }
}
