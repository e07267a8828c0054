import { expect, test, vi } from 'vitest';
import { type FullableS3, openFullableS3 } from '../contract/fullable-s3.ts';
import { takeFleetPlace } from '../integration/fleet-place.ts';
import { openScraper, QUICK_POLICY } from '../integration/world.ts';
import { startSite } from '../site/site.ts';

const PAGES = 200;
const LIMIT_MS = 120_000;
const WAIT = { timeout: 60_000, interval: 100 };

/** A crawl of a site, over an object store that can be full. */
async function openFullWorld(spillBytes: number) {
  const [site, place] = await Promise.all([startSite({ pages: PAGES }), takeFleetPlace()]);
  if (place?.settings.s3Url === undefined)
    throw new Error('This test needs the servers of the fleet profile.');
  const store: FullableS3 = await openFullableS3(place.settings.s3Url);
  const scraper = await openScraper({
    place,
    policy: QUICK_POLICY,
    settings: { s3Url: store.url, spillBytes },
  });
  const crawl = () => scraper.crawl({ urls: [`${site.hostUrl(1)}/big/`], sitemap: 'skip' });
  /** How often each page was asked for, robots.txt aside. */
  const timesFetched = () => {
    const times = new Map<string, number>();
    for (const { host, path } of site.log) {
      if (path !== '/robots.txt') times.set(host + path, (times.get(host + path) ?? 0) + 1);
    }
    return [...times.values()];
  };
  const close = async (open = scraper) => {
    await open.close();
    await Promise.all([store.close(), site.close()]);
  };
  return { store, scraper, crawl, timesFetched, close };
}

test(
  'a full object store costs nothing while bodies have room in the database, and each page is fetched once',
  async () => {
    const { store, scraper, crawl, timesFetched, close } = await openFullWorld(1_000_000_000);
    store.refusePuts('507 InsufficientStorage');
    const ended = await scraper.ended(await crawl());
    expect(ended).toMatchObject({ status: 'completed', counters: { pages: PAGES, failed: 0 } });
    expect(timesFetched()).toEqual(Array(PAGES).fill(1));
    await scraper.platform.blobs.check();
    expect(scraper.platform.blobs.degradation()).toContain('is full');
    await close();
  },
  LIMIT_MS,
);

test(
  'without room anywhere fetching is suspended and new work refused; with room the crawl goes on, each page fetched once',
  async () => {
    const { store, scraper, crawl, timesFetched, close } = await openFullWorld(40_000);
    const { blobs } = scraper.platform;
    store.refusePuts('403 QuotaExceeded');
    const job = await crawl();
    await vi.waitFor(() => expect(scraper.warnings.join('')).toContain('fetching is suspended'), WAIT);
    // Each process finds out for itself, by a look that may be a moment old.
    await vi.waitFor(() => expect(blobs.check()).rejects.toMatchObject({ code: 'DISK_FULL' }), WAIT);
    await expect(crawl()).rejects.toMatchObject({ code: 'DISK_FULL' });
    const held = await scraper.look(job);
    expect(held).toMatchObject({ finishedAt: null, counters: { failed: 0 } });
    expect(timesFetched().length).toBeLessThan(PAGES);
    // The pages in hand come to a stop and are tried again and again, while the site is left alone.
    const fetched = await vi.waitFor(async () => {
      const before = timesFetched().length;
      await blobs.check().catch(() => undefined);
      const tasks = await scraper.platform.store.countOpenTasks();
      expect(timesFetched().length).toBe(before);
      expect(tasks).toBeGreaterThan(0);
      return before;
    }, WAIT);
    expect(fetched).toBeLessThan(PAGES);

    store.refusePuts(null);
    const ended = await scraper.ended(job);
    expect(ended).toMatchObject({ status: 'completed', counters: { pages: PAGES, known: PAGES, failed: 0 } });
    expect(timesFetched()).toEqual(Array(PAGES).fill(1));
    await vi.waitFor(() => blobs.check(), WAIT);
    await vi.waitFor(async () => {
      const second = await crawl();
      expect(second.id).not.toBe(job.id);
    }, WAIT);
    await close();
  },
  LIMIT_MS,
);

test(
  'a process that starts or stops while the object store is full does so as ever, and what it held is fetched later',
  async () => {
    const { store, scraper, crawl, timesFetched, close } = await openFullWorld(20_000);
    store.refusePuts('507 InsufficientStorage');
    const job = await crawl();
    await vi.waitFor(() => expect(scraper.warnings.join('')).toContain('fetching is suspended'), WAIT);
    const again = await scraper.reopen();
    store.refusePuts(null);
    const ended = await again.ended(job);
    expect(ended).toMatchObject({ status: 'completed', counters: { pages: PAGES, failed: 0 } });
    expect(Math.max(...timesFetched())).toBeLessThanOrEqual(2);
    await close(again);
  },
  LIMIT_MS,
);
