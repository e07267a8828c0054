import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { maxInWindow } from '../site/max-in-window.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { heardBy, openScraper, type Scraper } from './world.ts';

const HOUR_MS = 3_600_000;
const PAGES = 60;
const RATE = 20;
const LIMIT_MS = 60_000;

let site: RemoteSite;
let scraper: Scraper;
beforeAll(async () => {
  site = await spawnSite({ pages: PAGES });
  scraper = await openScraper({ policy: `default: { rate: ${RATE}, burst: 1, concurrency: 2 }\n` });
}, LIMIT_MS);
afterAll(async () => {
  await scraper.close();
  await site.close();
}, LIMIT_MS);
afterEach(() => void vi.useRealTimers());

const setClock = (aheadMs: number) => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs, shouldAdvanceTime: true });
};
const fetched = (count: number, job: Parameters<Scraper['look']>[0]) =>
  vi.waitFor(async () => expect((await scraper.look(job)).counters.pages).toBeGreaterThanOrEqual(count), {
    timeout: 30_000,
    interval: 20,
  });

describe('a wall clock that is set by an hour while a crawl runs', () => {
  test.each([
    [1, HOUR_MS],
    [2, -HOUR_MS],
  ])(
    'changes nothing for host %i, by %i ms: no page is lost or fetched twice, the rate is kept, the time is not over',
    async (n, stepMs) => {
      const job = await scraper.crawl({
        urls: [`${site.hostUrl(n)}/big/`],
        sitemap: 'skip',
        maxPages: null,
        maxDurationMs: HOUR_MS / 2,
      });
      await fetched(5, job);
      setClock(stepMs);
      await fetched(20, job);
      setClock(-stepMs);
      await fetched(35, job);
      setClock(0);
      expect(await scraper.ended(job)).toMatchObject({
        status: 'completed',
        stopReason: null,
        counters: { known: PAGES, pages: PAGES, failed: 0 },
      });
      const entries = heardBy(await site.entries(), site.hostUrl(n));
      expect(entries).toHaveLength(PAGES + 1);
      expect(maxInWindow(entries, 1_000)).toBeLessThanOrEqual(RATE + 2);
    },
    LIMIT_MS,
  );
});
