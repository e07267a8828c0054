import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { HostKey } from '../../src/core/model/ids.ts';
import type { Job } from '../../src/core/model/job.ts';
import { startCrawl } from '../fault/crawl-process.ts';
import { maxInWindow } from '../site/max-in-window.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import type { LogEntry } from '../site/request-log.ts';
import { heardBy, openScraper, pathsOf, type Scraper } from './world.ts';

/** The site has a process of its own, so that what it notes is not what the crawler's event loop was free to note. */
let site: RemoteSite;
let scraper: Scraper;
const hostOf = (n: number) => new URL(site.hostUrl(n)).host;
const LIMIT_MS = 240_000;
const WAIT = { timeout: 120_000, interval: 250 };

const policyOf = (reloaded: number) => `
default: { rate: 2, burst: 1, concurrency: 2 }
domains:
  "${hostOf(2)}": { rate: 10 }
  "${hostOf(3)}": { rate: unlimited, concurrency: 2 }
  "${hostOf(4)}": { rate: unlimited, concurrency: 5 }
  "${hostOf(5)}": { rate: ${reloaded} }
`;

beforeAll(async () => {
  site = await spawnSite({ pages: 500 });
  scraper = await openScraper({ policy: policyOf(3) });
}, LIMIT_MS);
afterAll(async () => {
  await scraper.close();
  await site.close();
}, LIMIT_MS);

/** What the site has told so far. Only news is asked for: a site that tells its whole log all the time is late with it. */
const log: LogEntry[] = [];
let telling: Promise<void> | null = null;
async function heard(n: number, since = 0): Promise<LogEntry[]> {
  telling ??= site.entries(log.length).then((news) => {
    log.push(...news);
    telling = null;
  });
  await telling;
  return heardBy(log, site.hostUrl(n)).filter(({ at }) => at >= since);
}
const mostPerSecond = (entries: readonly LogEntry[]) => maxInWindow(entries, 1_000);
/** Fails with the times between requests, to tell a burst from a delay on the way. */
function expectAtMost(rate: number, entries: readonly LogEntry[]): void {
  const gaps = entries.slice(1).map(({ at }, index) => Math.round(at - (entries[index]?.at ?? at)));
  expect(mostPerSecond(entries), `gaps in ms: ${gaps.join(' ')}`).toBeLessThanOrEqual(rate);
}
const urlsOf = (n: number, from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `${site.hostUrl(n)}/big/${from + at}`);
const waitForRequests = (n: number, count: number, since: number) =>
  vi.waitFor(async () => expect((await heard(n, since)).length).toBeGreaterThanOrEqual(count), WAIT);
const cancel = async (jobs: readonly Job[]) => {
  for (const { id } of jobs) await scraper.platform.jobs.cancel(id, scraper.account);
};

describe.concurrent('as the server sees it', () => {
  test('jobs on one host together keep to the rate of a host nobody said anything about', {
    timeout: LIMIT_MS,
  }, async () => {
    const since = Date.now();
    const jobs = await Promise.all([
      scraper.batch({ urls: urlsOf(1, 1, 100) }),
      scraper.batch({ urls: urlsOf(1, 201, 100) }),
      scraper.crawl({ urls: [`${site.hostUrl(1)}/big/`], sitemap: 'skip' }),
    ]);
    await waitForRequests(1, 10, since);
    await cancel(jobs);
    expectAtMost(2, await heard(1, since));
  });

  test('and to the rate that policy gives it', { timeout: LIMIT_MS }, async () => {
    const since = Date.now();
    const jobs = await Promise.all([
      scraper.batch({ urls: urlsOf(2, 1, 25) }),
      scraper.batch({ urls: urlsOf(2, 101, 25) }),
    ]);
    const ended = await Promise.all(jobs.map((job) => scraper.ended(job)));
    for (const { counters } of ended) expect(counters.pages).toBe(25);
    const entries = await heard(2, since);
    expect(pathsOf(entries)).toHaveLength(50);
    expectAtMost(10, entries);
    // The host gets the rate and not less: without the policy it would get two requests a second.
    expect(mostPerSecond(entries)).toBeGreaterThan(2);
  });

  test.each([
    [3, 2],
    [4, 5],
  ])('host %i never has more than its %i requests at a time', async (n, places) => {
    const since = Date.now();
    const urls = Array.from({ length: 20 }, (_, at) => `${site.hostUrl(n)}/slow/late/${100 + at}`);
    const [one, other] = [urls.slice(0, 10), urls.slice(10)];
    await Promise.all([scraper.batchNow({ urls: one }), scraper.batchNow({ urls: other })]);
    const entries = await heard(n, since);
    expect(pathsOf(entries)).toHaveLength(20);
    expect(Math.max(...entries.map(({ inFlight }) => inFlight))).toBe(places);
  });

  test('a new rate in the policy file is in force for jobs that run', { timeout: LIMIT_MS }, async () => {
    const since = Date.now();
    const setRate = async (rate: number) => {
      await writeFile(scraper.platform.settings.policyFile ?? '', policyOf(rate));
      await vi.waitFor(() => {
        const { ratePerSecond } = scraper.platform.policies().policyFor(hostOf(5) as HostKey);
        expect(ratePerSecond).toBe(rate);
      }, WAIT);
    };
    await setRate(3);
    const job = await scraper.batch({ urls: urlsOf(5, 1, 200) });
    await waitForRequests(5, 4, since);
    const before = (await heard(5, since)).length;
    expectAtMost(3, await heard(5, since));
    await setRate(30);
    await waitForRequests(5, before + 40, since);
    const fast = await heard(5, since);
    expect(mostPerSecond(fast)).toBeGreaterThan(3);
    expectAtMost(30, fast);
    await setRate(3);
    const slowedAt = Date.now();
    await waitForRequests(5, (await heard(5, since)).length + 8, since);
    await cancel([job]);
    // What was sent before the change was in force may arrive just after.
    const slow = (await heard(5, since)).filter(({ notBefore }) => notBefore > slowedAt + 100);
    expect(slow.length).toBeGreaterThan(3);
    expectAtMost(3, slow);
  });

  test('the rate holds across a restart', { timeout: LIMIT_MS }, async () => {
    const since = Date.now();
    const first = await openScraper({ policy: policyOf(3) });
    const job = await first.batch({ urls: urlsOf(6, 1, 100) });
    await waitForRequests(6, 4, since);
    const second = await first.reopen();
    await waitForRequests(6, 8, since);
    const third = await second.reopen();
    await waitForRequests(6, 12, since);
    expect((await third.look(job)).finishedAt).toBeNull();
    await third.close();
    const entries = await heard(6, since);
    expectAtMost(2, entries);
    const paths = entries.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
  });

  test('the rate of two jobs on one host holds across kill -9', { timeout: LIMIT_MS }, async () => {
    const since = Date.now();
    const dir = await mkdtemp(join(tmpdir(), 'scrapifie-polite-'));
    const start = () =>
      startCrawl({
        dir,
        policy: policyOf(3),
        seeds: [`${site.hostUrl(7)}/big/`, `${site.hostUrl(7)}/big/1`],
      });
    try {
      for (const requests of [4, 8, 12]) {
        const life = start();
        await waitForRequests(7, requests, since);
        await life.kill();
      }
      expectAtMost(2, await heard(7, since));
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
