import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ChildRun, numberOf, runChild } from '../child-run.ts';
import { LAUNCH_FLAGS } from '../launch.ts';

export const CONCURRENCY = 64;

export interface Crawled extends Pick<ChildRun, 'wallSeconds' | 'cpuSeconds' | 'peakRssBytes'> {
  readonly pages: number;
  readonly errors: number;
  /** As the crawler itself measured it, without the start of its process. */
  readonly seconds: number;
}

export interface Contestant {
  readonly name: string;
  /** Crawls everything from the URL on; the folder is its own and empty. */
  crawl(url: string, folder: string): Promise<Crawled>;
}

const LAUNCHER = fileURLToPath(new URL('../../scrapifie', import.meta.url));
const CEILING = fileURLToPath(new URL('./ceiling.ts', import.meta.url));
const CRAWLEE = fileURLToPath(new URL('./crawlee.mjs', import.meta.url));
const CRAWLEE_PACKAGE = fileURLToPath(new URL('../node_modules/@crawlee/cheerio', import.meta.url));
const SCRAPY = fileURLToPath(new URL('./scrapy_spider.py', import.meta.url));

const withFields = (run: ChildRun, pages: number, errors: number, seconds: number): Crawled => {
  const { wallSeconds, cpuSeconds, peakRssBytes } = run;
  return { pages, errors, seconds, wallSeconds, cpuSeconds, peakRssBytes };
};
const asAnswered = (run: ChildRun): Crawled =>
  withFields(
    run,
    numberOf(run.answer, 'pages'),
    numberOf(run.answer, 'errors'),
    numberOf(run.answer, 'seconds'),
  );

/** As a person would run it: the command line, a folder for the results, everything stored durably. */
const scrapifie: Contestant = {
  name: 'Scrapifie',
  async crawl(url, folder) {
    const options = [
      '--sitemap',
      'skip',
      '--rate',
      'unlimited',
      '--concurrency',
      String(CONCURRENCY),
      '--allow-private',
      '--json',
    ];
    const run = await runChild(LAUNCHER, ['crawl', url, '--out', folder, ...options], {
      env: { SCRAPIFIE_LOG_LEVEL: 'warn' },
      cwd: folder,
    });
    const { answer } = run;
    return withFields(
      run,
      numberOf(answer, 'pages'),
      numberOf(answer, 'failed'),
      numberOf(answer, 'durationMs') / 1_000,
    );
  },
};

const ceiling: Contestant = {
  name: 'bare ceiling',
  crawl: async (url) =>
    asAnswered(await runChild(process.execPath, [...LAUNCH_FLAGS, CEILING, url, String(CONCURRENCY)])),
};

const crawlee: Contestant = {
  name: 'Crawlee',
  crawl: async (url, folder) => asAnswered(await runChild(process.execPath, [CRAWLEE, url, folder])),
};

function scrapyWith(python: string): Contestant {
  return {
    name: 'Scrapy',
    async crawl(url, folder) {
      return asAnswered(await runChild(python, [SCRAPY, url, join(folder, 'pages.jsonl')]));
    },
  };
}

/** The first Python that has Scrapy; Debian's own keeps it where another one on PATH does not look. */
function pythonWithScrapy(): string | undefined {
  const hasScrapy = (python: string) =>
    spawnSync(python, ['-c', 'import scrapy'], { stdio: 'ignore' }).status === 0;
  return ['python3', '/usr/bin/python3'].find(hasScrapy);
}

/** The contestants that run on this machine, and why the others do not. */
export function contestants(): { list: readonly Contestant[]; missing: readonly string[] } {
  const list = [scrapifie, ceiling];
  const missing: string[] = [];
  if (existsSync(CRAWLEE_PACKAGE)) list.push(crawlee);
  else missing.push('Crawlee is not installed: `npm ci --prefix bench`.');
  const python = pythonWithScrapy();
  if (python !== undefined) list.push(scrapyWith(python));
  else missing.push('Scrapy is not installed (on Debian: `apt-get install python3-scrapy`).');
  return { list, missing };
}

export async function crawlIn(scratch: string, contestant: Contestant, url: string): Promise<Crawled> {
  const folder = join(scratch, 'crawl');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    return await contestant.crawl(url, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
