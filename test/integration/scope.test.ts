import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathOfPage } from '../site/pages/big.ts';
import { byPath, openWorld, type World } from './world.ts';

const PAGES = 60;
let world: World;
beforeAll(async () => {
  world = await openWorld({ site: { pages: PAGES } });
});
afterAll(() => world.close());

const big = (matches: (page: number) => boolean) =>
  Array.from({ length: PAGES }, (_, page) => page)
    .filter(matches)
    .map(pathOfPage)
    .sort();
const startsWith = (digit: string) => (page: number) => String(page).startsWith(digit);

describe('patterns', () => {
  test('only what an include pattern matches is fetched, besides the seeds', async () => {
    const host = world.site.hostUrl(20);
    const job = await world.crawlNow({ urls: [`${host}/big/`], include: ['/big/1*'], sitemap: 'skip' });
    expect(world.paths(host).sort()).toEqual(big((page) => page === 0 || startsWith('1')(page)));
    const ledger = byPath(await world.ledger(job));
    expect(ledger.get('/big/2')).toMatchObject({ state: 'skipped', rule: 'scope.include', attempts: [] });
    expect(job.counters).toMatchObject({ pages: 12, skipped: ledger.size - 12 });
  });

  test('what an exclude pattern matches is not fetched, and the ledger names the pattern', async () => {
    const host = world.site.hostUrl(21);
    const job = await world.crawlNow({
      urls: [`${host}/big/`],
      exclude: ['/big/5*', 're:/big/4[1-3]$'],
      sitemap: 'skip',
    });
    const isOut = (page: number) => startsWith('5')(page) || (page >= 41 && page <= 43);
    expect(world.paths(host).sort()).toEqual(big((page) => !isOut(page)));
    const ledger = byPath(await world.ledger(job));
    expect(ledger.get('/big/52')).toMatchObject({ state: 'skipped', rule: 'scope.exclude:/big/5*' });
    expect(ledger.get('/big/42')).toMatchObject({ state: 'skipped', rule: 'scope.exclude:re:/big/4[1-3]$' });
  });
});

describe('depth', () => {
  test('a crawl of depth 0 fetches the seeds alone and remembers what they link to', async () => {
    const host = world.site.hostUrl(22);
    const job = await world.crawlNow({ urls: [`${host}/big/`], maxDepth: 0, sitemap: 'skip' });
    expect(world.paths(host)).toEqual(['/big/']);
    expect(job.counters).toMatchObject({ pages: 1, known: 31, skipped: 30 });
    expect(byPath(await world.ledger(job)).get('/big/7')).toMatchObject({ rule: 'scope.depth', depth: 1 });
  });

  test('a crawl of depth 1 fetches what the seeds link to', async () => {
    const host = world.site.hostUrl(23);
    const job = await world.crawlNow({ urls: [`${host}/big/`], maxDepth: 1, sitemap: 'skip' });
    expect(world.paths(host).sort()).toEqual(big((page) => page <= 30));
    expect(job.counters).toMatchObject({ pages: 31, known: PAGES });
  });
});

describe('domains', () => {
  const other = async (
    allowed: (site: World['site']) => Partial<Parameters<World['crawl']>[0]>,
    at: number,
  ) => {
    const host = world.site.hostUrl(at);
    const job = await world.crawlNow({
      urls: [`${host}/links/other`],
      maxDepth: 1,
      sitemap: 'skip',
      ...allowed(world.site),
    });
    const entries = await world.ledger(job);
    return [1, 2, 3].map((n) => {
      const entry = entries.find(({ url }) => url === `${world.site.hostUrl(n)}/links/`);
      return entry?.rule ?? entry?.state;
    });
  };

  test('without a word about it a crawl stays on the hosts of its seeds', async () => {
    expect(await other(() => ({}), 24)).toEqual(['scope.domain', 'scope.domain', 'scope.domain']);
  });
  test('a crawl goes to the domains it is given, and nowhere else', async () => {
    const allowed = (site: World['site']) => ({ allowedDomains: [new URL(site.hostUrl(2)).hostname] });
    expect(await other(allowed, 25)).toEqual(['scope.domain', 'done', 'scope.domain']);
  });
  test('a crawl that may leave goes everywhere', async () => {
    expect(await other(() => ({ allowExternal: true }), 26)).toEqual(['done', 'done', 'done']);
  });
});

describe('what pages ask of crawlers', () => {
  const NAMES = ['noindex', 'noindex-header', 'nofollow', 'rel-nofollow'];
  const crawl = async (at: number, more: Partial<Parameters<World['crawl']>[0]>) => {
    const host = world.site.hostUrl(at);
    const urls = NAMES.map((name) => `${host}/content/${name}`);
    const job = await world.crawlNow({ urls, sitemap: 'skip', ...more });
    const ledger = byPath(await world.ledger(job));
    const rules = Object.fromEntries(
      [...ledger].map(([path, entry]) => [path.slice('/content/'.length), entry.rule ?? entry.state]),
    );
    const kept = (await world.pages(job)).map(({ url }) => new URL(url).pathname.slice('/content/'.length));
    return { rules, kept: kept.sort() };
  };

  test('noindex pages are read for their links and not kept; nofollow links are not followed', async () => {
    const { rules, kept } = await crawl(27, {});
    expect(rules).toEqual({
      noindex: 'scope.noindex',
      'from-noindex': 'done',
      'noindex-header': 'scope.noindex',
      nofollow: 'done',
      'from-nofollow': 'scope.nofollow',
      'rel-nofollow': 'done',
      'from-rel-nofollow': 'scope.nofollow',
      'from-rel-follow': 'done',
    });
    expect(kept).toEqual(['from-noindex', 'from-rel-follow', 'nofollow', 'rel-nofollow']);
  });

  test('a job can be told not to heed them', async () => {
    const { rules, kept } = await crawl(28, { obeyNoindex: false, obeyNofollow: false });
    expect(Object.values(rules).every((rule) => rule === 'done')).toBe(true);
    expect(kept).toHaveLength(8);
  });
});
