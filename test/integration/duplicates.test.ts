import { afterAll, beforeAll, expect, test } from 'vitest';
import { byPath, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const crawl = (at: number, paths: readonly string[]) =>
  world.crawlNow({ urls: paths.map((path) => world.site.hostUrl(at) + path), sitemap: 'skip' });

test('spellings of one URL are one URL', async () => {
  const host = world.site.hostUrl(1);
  const port = new URL(host).port;
  const job = await crawl(1, [
    '/content/item/1?b=2&a=1',
    '/content/item/1?a=1&b=2#top',
    '/content/./item/1?a=1&utm_source=x&b=2',
    '/content/item/1?a=1&b=2&fbclid=abc',
  ]);
  expect(world.paths(host)).toEqual(['/content/item/1?a=1&b=2']);
  expect(job.counters).toMatchObject({ known: 1, pages: 1 });
  const upper = await world.batchNow({ urls: [`HTTP://127.0.0.3:${port}/big/1`, `${host}/big/1#x`] });
  expect(upper.counters.known).toBe(1);
});

test('links that differ in tracking parameters or fragment alone lead nowhere new', async () => {
  const job = await crawl(2, ['/content/tracking?utm_source=a']);
  expect(world.paths(world.site.hostUrl(2))).toEqual(['/content/tracking']);
  expect(job.counters.known).toBe(1);
});

test('session ids make no new pages', async () => {
  const [query, path] = await Promise.all([
    crawl(3, ['/traps/session-query/home']),
    crawl(4, ['/traps/session-path/home']),
  ]);
  for (const [at, job] of [[3, query] as const, [4, path] as const]) {
    expect(job.counters.pages).toBe(5);
    expect(world.paths(world.site.hostUrl(at))).toHaveLength(5);
  }
});

test('URLs that redirect to one page make the job fetch and keep it once', async () => {
  const job = await crawl(5, ['/redirects/relative', '/redirects/dots', '/redirects/no-scheme']);
  const paths = world.paths(world.site.hostUrl(5));
  expect(paths.filter((path) => path === '/redirects/end')).toHaveLength(1);
  const [page, ...others] = await world.pages(job);
  expect(others).toEqual([]);
  expect(new URL(page?.finalUrl ?? '').pathname).toBe('/redirects/end');
  const entries = await world.ledger(job);
  const states = entries.filter(({ foundBy }) => foundBy === 'seed').map(({ state }) => state);
  expect(states.sort()).toEqual(['done', 'skipped', 'skipped']);
  const repeats = entries.filter(({ rule }) => rule?.startsWith('duplicate.redirect'));
  expect(repeats).toHaveLength(3);
});

test('a redirect to a page that the job has is not followed', async () => {
  const job = await crawl(6, ['/redirects/end', '/redirects/relative', '/redirects/fragment']);
  expect(world.paths(world.site.hostUrl(6)).filter((path) => path === '/redirects/end')).toHaveLength(1);
  expect(await world.pages(job)).toHaveLength(1);
  const entry = byPath(await world.ledger(job)).get('/redirects/fragment');
  expect(entry?.rule).toBe(`duplicate.redirect:${world.site.hostUrl(6)}/redirects/end`);
});

test('chains of redirects that meet are walked once from there on', async () => {
  const job = await crawl(7, ['/redirects/chain/5?302', '/redirects/chain/3?302']);
  const paths = world.paths(world.site.hostUrl(7));
  expect(new Set(paths).size).toBe(paths.length);
  expect(await world.pages(job)).toHaveLength(1);
});

test('a page that names another as its original keeps that one from being fetched', async () => {
  const host = world.site.hostUrl(8);
  const job = await crawl(8, ['/content/canonical?sort=price']);
  const pages = await world.pages(job);
  expect(pages.length).toBeGreaterThan(0);
  for (const { duplicateOf } of pages) expect(duplicateOf).toBe(`${host}/content/canonical`);
  expect(world.site.countOf(`${host}/content/canonical`)).toBe(0);
  const entry = byPath(await world.ledger(job)).get('/content/canonical');
  expect(entry).toMatchObject({ state: 'skipped', foundBy: 'canonical' });
  expect(entry?.rule).toMatch(/^duplicate\.canonical:/);
});

test('a redirect to another host is followed there, under that host’s rules', async () => {
  const host = world.site.hostUrl(9);
  const target = world.site.hostUrl(1);
  const before = world.site.countOf(`${target}/redirects/end`);
  const job = await world.batchNow({ urls: [`${host}/redirects/other-host`] });
  const [page] = await world.pages(job);
  expect(page).toMatchObject({ statusCode: 200, finalUrl: `${target}/redirects/end` });
  expect(page?.url).toBe(`${host}/redirects/other-host`);
  expect(world.site.countOf(`${target}/redirects/end`)).toBe(before + 1);
  expect(world.site.countOf(`${target}/robots.txt`)).toBe(1);
  expect(world.paths(host)).toEqual(['/redirects/other-host']);
});

test('a crawl does not follow a redirect out of its domains, unless its seed is redirected', async () => {
  const host = world.site.hostUrl(10);
  const moved = await crawl(10, ['/redirects/other-host']);
  expect((await world.pages(moved))[0]?.finalUrl).toBe(`${world.site.hostUrl(1)}/redirects/end`);
  const listed = await world.crawlNow({
    urls: [`${host}/content/item/1`],
    sitemapUrls: [],
    sitemap: 'skip',
    allowedDomains: [new URL(host).hostname],
  });
  expect(listed.counters.pages).toBe(1);
});
