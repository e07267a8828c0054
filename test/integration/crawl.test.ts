import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JobCounters } from '../../src/core/model/job.ts';
import type { LedgerEntry } from '../../src/core/model/task.ts';
import { linksOf, pathOfPage, renderPage } from '../site/pages/big.ts';
import { byPath, openWorld, type World } from './world.ts';

const PAGES = 300;
let world: World;
beforeAll(async () => {
  world = await openWorld({ site: { pages: PAGES } });
});
afterAll(() => world.close());

/** Clicks from the start to each page. */
function depths(): number[] {
  const found = new Array<number>(PAGES).fill(-1);
  found[0] = 0;
  for (let queue = [0]; queue.length > 0; ) {
    const next: number[] = [];
    for (const page of queue) {
      for (const target of linksOf(page, PAGES)) {
        if (found[target] !== -1) continue;
        found[target] = (found[page] ?? 0) + 1;
        next.push(target);
      }
    }
    queue = next;
  }
  return found;
}

/** What the counters should say, counted from the ledger. */
function recount(entries: readonly LedgerEntry[]): Omit<JobCounters, 'bytes' | 'browserMs' | 'proxyBytes'> {
  const of = (...states: LedgerEntry['state'][]) => entries.filter(({ state }) => states.includes(state));
  return {
    known: entries.length,
    open: of('ready', 'waiting', 'claimed').length,
    claimed: of('claimed').length,
    pages: of('done').filter(({ kind }) => kind === 'page').length,
    done: of('done').length,
    failed: of('failed').length,
    skipped: of('skipped').filter(({ kind }) => kind === 'page').length,
    denied: of('denied').length,
    cancelled: of('cancelled').length,
  };
}

test('a crawl fetches each page exactly once and stores it as it was sent', async () => {
  const start = world.site.hostUrl(0);
  const job = await world.crawlNow({ urls: [`${start}/big/`], sitemap: 'skip' });
  expect(job.status).toBe('completed');
  expect(job.stopReason).toBeNull();

  const wanted = Array.from({ length: PAGES }, (_, page) => pathOfPage(page));
  expect(world.paths(start).sort()).toEqual([...wanted].sort());
  expect(world.heard(start).filter(({ path }) => path === '/robots.txt')).toHaveLength(1);

  const pages = await world.pages(job);
  expect(pages.map(({ url }) => new URL(url).pathname).sort()).toEqual([...wanted].sort());
  let bytes = 0;
  for (const page of pages) {
    const number = Number(new URL(page.url).pathname.slice(5));
    const sent = renderPage(number, PAGES);
    bytes += sent.length;
    expect(page.bytes).toBe(sent.length);
    const kept = await world.platform.blobs.get(page.contentHash as never);
    expect(sent.equals(kept ?? Buffer.alloc(0))).toBe(true);
    expect(page.links?.map(({ url }) => new URL(url).pathname)).toEqual(
      expect.arrayContaining(linksOf(number, PAGES).map(pathOfPage)),
    );
  }
  expect(job.counters).toEqual({ ...recount(await world.ledger(job)), bytes, browserMs: 0, proxyBytes: 0 });
  expect(job.counters).toMatchObject({ known: PAGES, pages: PAGES, done: PAGES, failed: 0, open: 0 });
});

test('the ledger says of each URL where it was found, how deep, and what became of it', async () => {
  const start = world.site.hostUrl(1);
  // Pages are fetched one at a time, so that they are visited in the order of their distance.
  const job = await world.crawlNow({ urls: [`${start}/big/`], sitemap: 'skip', concurrency: 1 });
  const ledger = byPath(await world.ledger(job));
  const wanted = depths();
  expect(ledger.size).toBe(PAGES);
  for (let page = 0; page < PAGES; page++) {
    const entry = ledger.get(pathOfPage(page));
    expect(entry).toMatchObject({ kind: 'page', state: 'done', decision: 'fetched', depth: wanted[page] });
    expect(entry).toMatchObject({ rule: null, errorCode: null, foundBy: page === 0 ? 'seed' : 'link' });
    expect(entry?.attempts).toHaveLength(1);
    expect(entry?.attempts[0]).toMatchObject({ engine: 'http', outcome: 'ok', statusCode: 200 });
    if (page === 0) {
      expect(entry?.foundOn).toBeNull();
      continue;
    }
    const parent = Number(new URL(entry?.foundOn ?? '').pathname.slice(5));
    expect(linksOf(parent, PAGES)).toContain(page);
    expect(ledger.get(pathOfPage(parent))?.depth).toBe((wanted[page] ?? 0) - 1);
  }
});

test('jobs on many hosts run side by side and keep their pages apart', async () => {
  const hosts = Array.from({ length: 10 }, (_, n) => world.site.hostUrl(10 + n));
  const jobs = await Promise.all(
    hosts.map((host) => world.crawlNow({ urls: [`${host}/big/`], sitemap: 'skip', maxDepth: 1 })),
  );
  for (const [at, job] of jobs.entries()) {
    const host = hosts[at] ?? '';
    expect(job.counters.pages).toBe(31);
    for (const { url } of await world.pages(job)) expect(url.startsWith(`${host}/`)).toBe(true);
    expect(world.paths(host)).toHaveLength(31);
  }
});

test('one crawl over hosts that link to each other visits each of them once', async () => {
  const start = world.site.hostUrl(0);
  const job = await world.crawlNow({
    urls: [`${start}/links/ring?12`],
    allowExternal: true,
    sitemap: 'skip',
  });
  expect(job.counters.pages).toBe(12);
  const hosts = (await world.pages(job)).map(({ url }) => new URL(url).host);
  expect(new Set(hosts).size).toBe(12);
});

test('nothing went wrong behind the scenes', () => {
  expect(world.warnings).toEqual([]);
});
