import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type World } from './world.ts';

const PAGES = 400;
let world: World;
beforeAll(async () => {
  world = await openWorld({
    site: { pages: PAGES },
    policy: (site) =>
      `default: { rate: unlimited, concurrency: 8 }\ndomains: { "${new URL(site.hostUrl(104)).host}": { rate: 5 }, "${new URL(site.hostUrl(105)).host}": { rate: 1 } }\n`,
  });
});
afterAll(() => world.close());

describe('a page budget', () => {
  test('is never exceeded, as the server sees it', async () => {
    const host = world.site.hostUrl(101);
    const job = await world.crawlNow({ urls: [`${host}/big/`], maxPages: 37, sitemap: 'skip' });
    expect(world.paths(host)).toHaveLength(37);
    expect(job).toMatchObject({ status: 'completed', stopReason: 'budget.pages' });
    expect(job.counters).toMatchObject({ pages: 37, open: 0, claimed: 0 });
    const left = (await world.ledger(job)).filter(({ rule }) => rule === 'budget.pages');
    expect(left).toHaveLength(job.counters.skipped);
    expect(job.counters.known).toBe(37 + left.length);
  });

  test('holds over many hosts at once', async () => {
    const start = world.site.hostUrl(30);
    const before = world.site.log.length;
    const job = await world.crawlNow({
      urls: [`${start}/links/ring?40`],
      allowExternal: true,
      maxPages: 9,
      sitemap: 'skip',
    });
    const asked = world.site.log.slice(before).filter(({ path }) => path.startsWith('/links/ring'));
    expect(asked).toHaveLength(9);
    expect(job.counters.pages).toBe(9);
  });

  test('that is raised lets the job go on, and nothing is fetched twice', async () => {
    const host = world.site.hostUrl(102);
    const stopped = await world.crawlNow({ urls: [`${host}/big/`], maxPages: 25, sitemap: 'skip' });
    expect(stopped.stopReason).toBe('budget.pages');
    await world.platform.jobs.resume(stopped.id, world.account, { maxPages: null });
    const job = await world.ended(stopped);
    expect(job).toMatchObject({ status: 'completed', stopReason: null });
    expect(job.counters).toMatchObject({ pages: PAGES, known: PAGES, skipped: 0 });
    const paths = world.paths(host);
    expect(paths).toHaveLength(PAGES);
    expect(new Set(paths).size).toBe(PAGES);
  });
});

test('a byte budget stops the job soon after it is spent', async () => {
  const host = world.site.hostUrl(103);
  const job = await world.crawlNow({
    urls: [`${host}/big/`],
    maxBytes: 200_000,
    concurrency: 2,
    sitemap: 'skip',
  });
  expect(job.stopReason).toBe('budget.bytes');
  expect(job.counters.bytes).toBeGreaterThanOrEqual(200_000);
  expect(job.counters.pages).toBeLessThan(PAGES);
  expect(world.paths(host)).toHaveLength(job.counters.pages);
  expect((await world.ledger(job)).some(({ rule }) => rule === 'budget.bytes')).toBe(true);
});

test('claimed pages that have not begun when a budget is spent are not fetched', async () => {
  const host = world.site.hostUrl(105);
  const urls = Array.from({ length: 20 }, (_, index) => `${host}/big/${index + 1}`);
  // The owner of a host with this rate claims several pages at once, and begins one in a second.
  const job = await world.batchNow({ urls, maxCredits: 1 });
  expect(job).toMatchObject({ stopReason: 'budget.credits', counters: { open: 0, claimed: 0 } });
  expect(world.paths(host).length).toBeLessThan(3);
  expect(job.counters.pages).toBe(world.paths(host).length);
});

test('a duration budget stops the job, and what was fetched is kept', async () => {
  const host = world.site.hostUrl(104);
  const job = await world.crawlNow({ urls: [`${host}/big/`], maxDurationMs: 1_200, sitemap: 'skip' });
  expect(job.stopReason).toBe('budget.duration');
  expect(job.counters.pages).toBeLessThan(PAGES);
  expect(job.counters.pages).toBe(world.paths(host).length);
  expect(await world.pages(job)).toHaveLength(job.counters.pages);
});

describe('a web without end', () => {
  test.each(['calendar/2024/01', 'facets', 'endless/start', 'pages?page=1'])(
    'ends at the page budget: %s',
    async (path) => {
      const host = world.site.hostUrl(150 + path.length);
      const urls = [`${host}/traps/${path}`];
      const job = await world.crawlNow({ urls, maxPages: 40, sitemap: 'skip' });
      expect(job.stopReason).toBe('budget.pages');
      expect(world.paths(host)).toHaveLength(40);
    },
  );

  test('ends at the depth limit', async () => {
    const host = world.site.hostUrl(180);
    const job = await world.crawlNow({ urls: [`${host}/traps/endless/start`], maxDepth: 4, sitemap: 'skip' });
    expect(job).toMatchObject({ status: 'completed', stopReason: null });
    expect(job.counters.pages).toBeLessThanOrEqual(2 ** 5 - 1);
  });

  test('of paths that repeat themselves ends by itself', async () => {
    const host = world.site.hostUrl(181);
    const job = await world.crawlNow({ urls: [`${host}/traps/deep/`], sitemap: 'skip' });
    expect(job).toMatchObject({ status: 'completed', stopReason: null });
    expect((await world.ledger(job)).map(({ rule }) => rule)).toContain('scope.trap:repeated-segment');
  });
});
