import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BAD_SITEMAPS, GOOD_SITEMAPS } from '../site/pages/sitemaps.ts';
import { byPath, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ site: { pages: 40 } });
});
afterAll(() => world.close());

const pagesOf = (numbers: readonly number[]) => numbers.map((n) => `/sitemaps/page/${n}`);
const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);

describe('a crawl with sitemaps', () => {
  test('finds what robots.txt declares: indexes, gzip, text, RSS and Atom', async () => {
    const start = world.site.urlOf('sitemaps', '/big/1');
    const job = await world.crawlNow({ urls: [start], sitemap: 'only' });
    expect(job.status).toBe('completed');
    const paths = world.paths(start);
    const fetched = paths.filter((path) => path.startsWith('/sitemaps/page/'));
    expect(fetched.sort()).toEqual(pagesOf(upTo(70)).sort());
    for (const sitemap of [...GOOD_SITEMAPS, '/sitemaps/child-a.xml', '/sitemaps/child-b.xml.gz']) {
      expect(paths.filter((path) => path === sitemap)).toHaveLength(1);
    }
    expect(paths).not.toContain('/big/1');
    const ledger = byPath(await world.ledger(job));
    expect(ledger.get('/sitemaps/page/15')).toMatchObject({
      state: 'done',
      foundBy: 'sitemap',
      foundOn: world.site.urlOf('sitemaps', '/sitemaps/child-b.xml.gz'),
      depth: 1,
    });
    // A sitemap is a means, not a result.
    expect(job.counters.pages).toBe(70);
    expect(await world.pages(job)).toHaveLength(70);
  });

  test('survives every bad one, and says of each what was wrong', async () => {
    const urls = BAD_SITEMAPS.map((path) => world.site.urlOf('sitemaps-bad', path));
    const job = await world.crawlNow({ sitemapUrls: urls, maxPages: 30, options: { timeoutMs: 20_000 } });
    expect(job.counters.open).toBe(0);
    const ledger = byPath(await world.ledger(job));
    const said = (name: string) => {
      const entry = ledger.get(`/sitemaps/${name}`);
      return entry?.errorCode ?? entry?.rule ?? entry?.state;
    };
    expect(said('broken.xml')).toMatch(/^sitemap\.broken-xml/);
    expect(said('html.xml')).toMatch(/^sitemap\.(html-page|not-a-sitemap)/);
    expect(said('empty.xml')).toBe('sitemap.empty');
    expect(said('bomb.xml.gz')).toMatch(/^sitemap\.(byte-limit|not-a-sitemap)$/);
    expect(said('entities.xml')).toMatch(/^(done|sitemap\.)/);
    expect(said('missing.xml')).toBe('HTTP_ERROR');
    expect(said('large.xml')).toBe('sitemap.url-limit');
    expect(said('endless.xml')).toMatch(/^(sitemap\.(url|byte)-limit|BODY_LIMIT_EXCEEDED)$/);
    expect(said('loop.xml')).toBe('done');
    expect(said('foreign.xml')).toBe('done');
    // Good up to the break: what came before it was kept.
    expect(ledger.get('/sitemaps/page/80')?.foundOn).toContain('/sitemaps/broken.xml');
    const deep = [...ledger.keys()].filter((path) => path.startsWith('/sitemaps/deep.xml'));
    expect(deep.length).toBeLessThan(10);
    for (const path of [...deep, '/sitemaps/loop.xml', '/sitemaps/loop-b.xml']) {
      expect(world.site.countOf(world.site.urlOf('sitemaps-bad', path))).toBeLessThanOrEqual(1);
    }
    expect([...ledger.values()].some(({ url }) => url.includes('passwd') || url.includes('haha'))).toBe(
      false,
    );
    const fetched = world.paths(urls[0] ?? '').filter((path) => path.startsWith('/sitemaps/page/'));
    expect(fetched.length).toBeGreaterThan(20);
    expect(fetched.length).toBeLessThanOrEqual(30);
  });

  test('looks at /sitemap.xml where nothing is declared, and does without', async () => {
    const host = world.site.hostUrl(1);
    const job = await world.crawlNow({ urls: [`${host}/big/1`], maxDepth: 0 });
    expect(job.status).toBe('completed');
    expect(world.paths(host).sort()).toEqual(['/big/1', '/sitemap.xml']);
    expect(byPath(await world.ledger(job)).get('/sitemap.xml')).toMatchObject({
      state: 'skipped',
      rule: 'sitemap.HTTP_ERROR',
      foundBy: 'robots',
    });
  });

  test('skips them when told to', async () => {
    const host = world.site.hostUrl(2);
    await world.crawlNow({ urls: [`${host}/big/1`], maxDepth: 0, sitemap: 'skip' });
    expect(world.paths(host)).toEqual(['/big/1']);
  });
});

describe('a map', () => {
  test('lists what a site’s start page and sitemaps name, and fetches none of it', async () => {
    const start = world.site.urlOf('shop', '/shop/');
    const { urls, isTruncated } = await world.mapNow({ url: start });
    expect(isTruncated).toBe(false);
    expect(urls.length).toBeGreaterThan(20);
    expect(new Set(urls).size).toBe(urls.length);
    for (const url of urls) expect(url.startsWith(new URL(start).origin)).toBe(true);
    expect(world.paths(start).filter((path) => !path.endsWith('.xml'))).toEqual(['/shop/']);
  });

  test('has the titles of an earlier crawl for URLs that only a sitemap names', async () => {
    // The world is a new one, in which nothing was crawled yet: other tests crawl the same host.
    const fresh = await openWorld({ site: { pages: 40 } });
    try {
      const start = fresh.site.urlOf('sitemaps', '/');
      const before = await fresh.mapNow({ url: start, sitemap: 'only' });
      expect(before.pages.length).toBeGreaterThan(0);
      expect(before.pages.filter(({ title }) => title !== null)).toEqual([]);
      await fresh.crawlNow({ urls: [start], sitemap: 'only' });
      const after = await fresh.mapNow({ url: start, sitemap: 'only' });
      expect(after.pages.filter(({ title }) => title !== null).length).toBeGreaterThan(0);
    } finally {
      await fresh.close();
    }
  });

  test('lists no more than it is asked for and says so', async () => {
    const host = world.site.hostUrl(3);
    const { urls, isTruncated } = await world.mapNow({ url: `${host}/big/`, limit: 10, sitemap: 'skip' });
    expect(urls).toHaveLength(10);
    expect(isTruncated).toBe(true);
  });

  test('keeps to its patterns, for the start as well, and finds URLs by words', async () => {
    const host = world.site.hostUrl(4);
    const { urls } = await world.mapNow({ url: `${host}/big/`, include: ['/big/1*'], sitemap: 'skip' });
    expect(urls.map((url) => new URL(url).pathname).sort()).toEqual(
      ['/big/1', ...upTo(10, 10).map((n) => `/big/${n}`)].sort(),
    );
    const { pages } = await world.mapNow({ url: `${host}/big/`, search: 'BIG/7', sitemap: 'skip' });
    expect(pages).toEqual([{ url: `${host}/big/7`, title: expect.any(String) }]);
  });
});
