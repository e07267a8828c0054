import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { LedgerEntry } from '../../src/core/model/task.ts';
import { openScraper, QUICK_POLICY } from '../integration/world.ts';
import { type Site, startSite } from '../site/site.ts';

const PAGES = 60;
/** Once unrecorded, once beside other tasks, twice alone. */
const DEATHS = 4;
const MOST_LIVES = 10;
const LIMIT_MS = 400_000;
const CHILD = fileURLToPath(new URL('crawl-child.ts', import.meta.url));
const POISON = fileURLToPath(new URL('poison.ts', import.meta.url));
/** More heap than the crawl needs, and more stack than the system gives a process. */
const FLAGS: Readonly<Record<string, string>> = {
  heap: '--max-old-space-size=160',
  stack: '--stack-size=65500',
};

let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: PAGES, logLimit: 1_000 * PAGES });
});
afterAll(() => site.close());

interface Poison {
  readonly url: string;
  readonly way: string;
}

/** One life of a process that crawls these hosts: whether it came to the end of its jobs, and what it said. */
function live(dir: string, hosts: readonly string[], { url, way }: Poison) {
  const seeds = hosts.flatMap((host) => ['--seed', `${host}/big/`]);
  const flags = ['--import', POISON, ...(FLAGS[way] === undefined ? [] : [FLAGS[way]])];
  const child = spawn(process.execPath, [...flags, CHILD, '--dir', dir, '--policy', QUICK_POLICY, ...seeds], {
    cwd: dir,
    env: { ...process.env, TEST_POISON_URL: url, TEST_POISON_WAY: way },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const hear = (piece: Buffer) => {
    said = (said + piece.toString()).slice(-5_000);
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return new Promise<{ isFinished: boolean; said: string }>((resolve) => {
    child.once('close', () => resolve({ isFinished: said.includes('finished\n'), said }));
  });
}

/** Starts the process again and again until its jobs are done; returns how often it died. */
async function deathsUntilDone(dir: string, hosts: readonly string[], poison: Poison): Promise<number> {
  const words: string[] = [];
  for (let deaths = 0; deaths < MOST_LIVES; deaths += 1) {
    const { isFinished, said } = await live(dir, hosts, poison);
    if (isFinished) return deaths;
    words.push(said);
  }
  throw new Error(`The process died ${MOST_LIVES} times. The last one said:\n${words.at(-1)}`);
}

async function ledgersIn(dir: string): Promise<{ entries: LedgerEntry[]; pages: string[] }> {
  const scraper = await openScraper({ dataDir: dir, policy: QUICK_POLICY, isStarted: false });
  try {
    const { items } = await scraper.platform.jobs.list({ accountId: scraper.account, limit: 10 });
    const ledgers = await Promise.all(items.map((job) => scraper.ledger(job)));
    const pages = await Promise.all(items.map((job) => scraper.pages(job)));
    return { entries: ledgers.flat(), pages: pages.flat().map(({ url }) => url) };
  } finally {
    await scraper.platform.close();
  }
}

/** Crawls two hosts by a job each until both jobs are done, although `path` of the first one kills the process. */
async function crawlWithPoison(n: number, path: string, way: string) {
  const hosts = [site.hostUrl(2 * n), site.hostUrl(2 * n + 1)] as const;
  const url = hosts[0] + path;
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-deaths-'));
  try {
    const deaths = await deathsUntilDone(dir, hosts, { url, way });
    return { url, hosts, deaths, requests: site.countOf(url), ...(await ledgersIn(dir)) };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * However a process dies, its successor finds the same in the store. So one way each is tried of the program's own end, of
 * the runtime's and of the system's; `make fault` tries them all.
 */
const ALL_WAYS = ['uncaught error', 'heap', 'OOM kill', 'abort', 'stack', 'native crash'];
const WAYS = process.env.TEST_ALL_DEATHS === undefined ? ALL_WAYS.slice(0, 3) : ALL_WAYS;

// Beside each other: most of the time is spent waiting until a process has lived for a while.
describe.concurrent('what kills the process', { timeout: LIMIT_MS }, () => {
  for (const [n, way] of WAYS.entries()) {
    it(`a URL, by ${way}, ends after ${DEATHS} deaths; all others of its job, host and other jobs are fetched`, async ({
      expect,
    }) => {
      const { url, deaths, requests, entries, pages } = await crawlWithPoison(n, `/big/${PAGES - 1}`, way);
      expect([deaths, requests]).toEqual([DEATHS, DEATHS]);
      const failed = entries.filter(({ state }) => state !== 'done');
      expect(failed).toMatchObject([{ url, state: 'failed', errorCode: 'WORKER_DIED' }]);
      expect(entries).toHaveLength(2 * PAGES);
      expect(new Set(pages).size).toBe(2 * PAGES);
      expect(pages).toHaveLength(2 * PAGES);
    });
  }

  it(`a robots.txt ends the URLs of its host after ${DEATHS} deaths; other hosts are crawled`, async ({
    expect,
  }) => {
    const { hosts, deaths, requests, entries } = await crawlWithPoison(WAYS.length, '/robots.txt', 'abort');
    expect([deaths, requests]).toEqual([DEATHS, DEATHS]);
    const failed = entries.filter(({ state }) => state !== 'done');
    expect(failed).toMatchObject([{ url: `${hosts[0]}/big/`, state: 'failed', errorCode: 'WORKER_DIED' }]);
    expect(entries).toHaveLength(1 + PAGES);
  });
});
