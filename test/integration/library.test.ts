import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CrawlOptions,
  crawl,
  extract,
  map,
  openScrapifie,
  type Scrapifie,
  ScrapifieError,
  scrape,
} from '../../src/library/index.ts';
import { type Site, startSite } from '../site/site.ts';

const PAGES = 120;
const settings = { allowPrivate: true, extractThreads: 1 };
const folder = mkdtempSync(join(tmpdir(), 'scrapifie-library-'));
let site: Site;
let scrapifie: Scrapifie;
let nextHost = 0;

beforeAll(async () => {
  site = await startSite({ pages: PAGES });
  scrapifie = await openScrapifie({ settings });
});
afterAll(async () => {
  await scrapifie.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The start of the large site on a host that no other crawl of this file visits. */
const start = () => `${site.hostUrl(nextHost++)}/big/`;
const quick = { ratePerSecond: 'unlimited', sitemap: 'skip' } as const satisfies CrawlOptions;

async function failure(work: Promise<unknown>): Promise<ScrapifieError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ScrapifieError)) throw new Error(`not a ScrapifieError: ${error}`);
  return error;
}

async function urlsOf(pages: AsyncIterable<{ readonly url: string }>): Promise<string[]> {
  const urls: string[] = [];
  for await (const { url } of pages) urls.push(url);
  return urls;
}

describe('single pages', () => {
  it('one call scrapes a page and leaves no folder behind', async () => {
    // A place of its own: other tests that run meanwhile make such folders too.
    const { TMPDIR } = process.env;
    const place = mkdtempSync(join(tmpdir(), 'scrapifie-library-'));
    process.env.TMPDIR = place;
    const page = await scrape(start(), { formats: ['markdown'], settings }).finally(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    expect(page).toMatchObject({ statusCode: 200, markdown: expect.stringContaining('#') });
    expect(page.trace.attempts).toHaveLength(1);
    expect(readdirSync(place)).toEqual([]);
    rmSync(place, { recursive: true });
  });

  it('a site is mapped, and a page at hand is read without fetching', async () => {
    const { urls } = await map(start(), { sitemap: 'skip', settings });
    expect(urls.length).toBeGreaterThan(20);
    const read = await extract(
      { html: '<h1>Hat</h1><b class="p">€ 5</b>', url: 'https://shop.example/hat' },
      { formats: [], extract: { rules: { name: 'h1', price: { css: '.p', type: 'price' } } } },
    );
    expect(read.extracted).toMatchObject({ name: 'Hat' });
  });

  it('every error has a code', async () => {
    expect((await failure(scrapifie.scrape('no url'))).code).toBe('INVALID_URL');
    const misspelt = { format: ['markdown'] } as object;
    expect(await failure(scrapifie.scrape(start(), misspelt))).toMatchObject({
      code: 'VALIDATION_FAILED',
      message: expect.stringContaining('format'),
    });
    const wrong = await failure(openScrapifie({ settings: { maxConcurrency: -1 } }));
    expect(wrong.code).toBe('INVALID_SETTINGS');
    expect(wrong.message).toContain('settings.maxConcurrency');
    const aborted = AbortSignal.abort();
    const crawled = scrapifie.crawl(start(), { signal: aborted });
    expect((await failure(crawled.run())).code).toBe('CANCELLED');
  });
});

describe('crawls', () => {
  it('the loop gets every page once, and the summary counts them', async () => {
    const crawled = scrapifie.crawl(start(), quick);
    const urls = await urlsOf(crawled);
    expect(urls).toHaveLength(PAGES);
    expect(new Set(urls).size).toBe(PAGES);
    expect(crawled.summary).toMatchObject({ pages: PAGES, failed: 0, status: 'completed' });
    expect((await failure(crawled.run())).code).toBe('INVALID_USAGE');
  });

  it('pages wait on disk for a loop that is slow: the crawl ends before the second page is asked for', async () => {
    const url = start();
    const pages = scrapifie.crawl(url, quick)[Symbol.asyncIterator]();
    await pages.next();
    const { host } = new URL(url);
    const isFetched = () => site.log.filter((entry) => entry.host === host).length > PAGES;
    await expect.poll(isFetched, { timeout: 20_000 }).toBe(true);
    let count = 1;
    while ((await pages.next()).done !== true) count += 1;
    expect(count).toBe(PAGES);
  });

  it('hooks extract, change, drop and hear of pages', async () => {
    const heard: string[] = [];
    const pages = scrapifie.crawl(start(), {
      ...quick,
      maxPages: 20,
      extractor: (document) => ({ heading: document.text('h1'), links: document.attributes('a', 'href') }),
      pipeline: [
        (page) => (page.depth > 1 ? null : page),
        (page) => ({ ...page, title: page.extracted?.heading?.toUpperCase() ?? null }),
      ],
      onPage: (page) => void heard.push(page.url),
    });
    const titles: (string | null)[] = [];
    for await (const page of pages) {
      titles.push(page.title);
      expect(page.extracted?.links.length).toBeGreaterThan(5);
    }
    expect(titles.length).toBeGreaterThan(1);
    expect(titles).toHaveLength(heard.length);
    expect(titles.every((title) => title !== null && title === title.toUpperCase())).toBe(true);
  });

  it('an extractor or a step that throws costs its page, and the others go on', async () => {
    let calls = 0;
    const pages = scrapifie.crawl(start(), {
      ...quick,
      maxPages: 5,
      extractor(document) {
        calls += 1;
        if (calls === 2) throw new Error('no such heading');
        return document.text('h1');
      },
      pipeline: [
        (page) => {
          if (calls === 3) throw new Error('the database is away');
          return page;
        },
      ],
    });
    const errors: unknown[] = [];
    for await (const { error } of pages) errors.push(error ?? null);
    expect(errors).toEqual([
      null,
      { code: 'PLUGIN_FAILED', message: 'The extractor threw: no such heading' },
      { code: 'PLUGIN_FAILED', message: 'A step of the pipeline threw: the database is away' },
      null,
      null,
    ]);
  });

  it('an error of onPage ends the crawl with that error', async () => {
    const onPage = () => {
      throw new RangeError('enough');
    };
    await expect(scrapifie.crawl(start(), { ...quick, onPage }).run()).rejects.toThrow(RangeError);
  });

  it('URLs that failed without a page come last, with their error', async () => {
    const refused = 'http://169.254.169.254/';
    const pages = await Array.fromAsync(scrapifie.crawl([start(), refused], { ...quick, maxDepth: 0 }));
    expect(pages).toMatchObject([
      { statusCode: 200 },
      { url: refused, statusCode: null, error: { code: 'ADDRESS_REFUSED' } },
    ]);
  });

  it('leaving the loop stops the crawl, and so does the signal', async () => {
    const left = start();
    for await (const _ of scrapifie.crawl(left, { ratePerSecond: 5, sitemap: 'skip' })) break;
    const controller = new AbortController();
    const stopped = scrapifie.crawl(start(), {
      ratePerSecond: 5,
      sitemap: 'skip',
      signal: controller.signal,
      onPage: () => controller.abort(),
    });
    expect((await failure(stopped.run())).code).toBe('CANCELLED');
    const { host } = new URL(left);
    expect(site.log.filter((entry) => entry.host === host).length).toBeLessThan(10);
  });
});

describe('a named folder', () => {
  it('a crawl goes on where the loop was left, without a page twice and without fetching again', async () => {
    const url = start();
    const options = { ...quick, dataDir: join(folder, 'named'), settings, resume: true };
    const first: string[] = [];
    for await (const page of crawl(url, options)) {
      first.push(page.url);
      // The tenth page is not counted as handled: the loop did not ask for another.
      if (first.length === 10) break;
    }
    const rest = await urlsOf(crawl(url, options));
    expect(rest[0]).toBe(first[9]);
    expect([...first.slice(0, 9), ...rest].sort()).toEqual([...new Set([...first, ...rest])].sort());
    expect(new Set([...first, ...rest]).size).toBe(PAGES);
    const { host } = new URL(url);
    const paths = site.log.filter((entry) => entry.host === host).map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('/big/')).length).toBe(PAGES);
    expect(await urlsOf(crawl(url, options))).toEqual([]);
  });

  it('a higher limit goes on; other options are refused', async () => {
    const url = start();
    const options = { ...quick, dataDir: join(folder, 'limits'), settings, resume: true };
    expect(await urlsOf(crawl(url, { ...options, maxPages: 5 }))).toHaveLength(5);
    expect(await urlsOf(crawl(url, { ...options, maxPages: 8 }))).toHaveLength(3);
    const other = { ...options, exclude: ['/big/7'] };
    expect((await failure(crawl(url, other).run())).code).toBe('INVALID_USAGE');
  });

  it('one process at a time uses it', async () => {
    const dataDir = join(folder, 'locked');
    const one = await openScrapifie({ dataDir, settings });
    expect((await failure(openScrapifie({ dataDir, settings }))).code).toBe('DATA_DIR_LOCKED');
    await one.close();
  });
});

it('closing ends loops under way and later calls with SHUTTING_DOWN', async () => {
  const other = await openScrapifie({ settings });
  const pages = other.crawl(start(), { ratePerSecond: 5, sitemap: 'skip' })[Symbol.asyncIterator]();
  await pages.next();
  const [second] = await Promise.all([failure(pages.next().then(() => pages.next())), other.close()]);
  expect(second.code).toBe('SHUTTING_DOWN');
  expect((await failure(other.scrape(start()))).code).toBe('SHUTTING_DOWN');
});
