import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Job } from '../../src/core/model/job.ts';
import { openWorld, type World } from './world.ts';

const PAGES = 120;
let world: World;
const hostOf = (url: string) => new URL(url).host;
beforeAll(async () => {
  world = await openWorld({
    site: { pages: PAGES },
    policy: (site) => `
default: { rate: unlimited, concurrency: 4 }
domains:
  "${hostOf(site.hostUrl(1))}": { rate: 60 }
  "${hostOf(site.hostUrl(3))}": { rate: 4 }
`,
  });
});
afterAll(() => world.close());

const WAIT = { timeout: 20_000, interval: 20 };
const waitUntilFetched = (job: Job, pages: number) =>
  vi.waitFor(async () => expect((await world.look(job)).counters.pages).toBeGreaterThanOrEqual(pages), WAIT);

/** What a crawl came to, by path: state and content. */
async function outcomes(job: Job): Promise<[string, string, string | null][]> {
  const hashes = new Map((await world.pages(job)).map(({ url, contentHash }) => [url, contentHash]));
  const entries = await world.ledger(job);
  return entries
    .map(({ url, state }): [string, string, string | null] => [
      new URL(url).pathname,
      state,
      hashes.get(url) ?? null,
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

describe.concurrent('a job', () => {
  test('that stopped at a limit reaches the rest after its failed pages were tried again', async () => {
    const host = world.site.hostUrl(9);
    const { jobs } = world.platform;
    const urls = [`${host}/content/404`, ...[1, 2, 3, 4].map((page) => `${host}/big/${page}`)];
    const job = await world.crawl({ urls, sitemap: 'skip', maxDepth: 0, maxPages: 2, concurrency: 1 });
    const stopped = await world.ended(job);
    expect(stopped).toMatchObject({
      stopReason: 'budget.pages',
      counters: { pages: 1, failed: 1 },
    });
    await expect(jobs.resume(job.id, world.account)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The job stopped at its limit of 2 pages. Resume it with a higher limit.',
    });
    await jobs.retry(job.id, world.account);
    expect((await world.ended(job)).counters).toMatchObject({ pages: 1, failed: 1 });
    await jobs.resume(job.id, world.account, { maxPages: 10 });
    expect((await world.ended(job)).counters).toMatchObject({ pages: 4, failed: 1 });
    await expect(jobs.resume(job.id, world.account)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('that is cancelled keeps what it has, and resumed it comes to what an undisturbed one does', async () => {
    const host = world.site.hostUrl(1);
    const started = await world.crawl({ urls: [`${host}/big/`], sitemap: 'skip' });
    for (const pages of [10, 60]) {
      await waitUntilFetched(started, pages);
      await world.platform.jobs.cancel(started.id, world.account);
      const cancelled = await world.ended(started);
      expect(cancelled.status).toBe('cancelled');
      expect(cancelled.counters).toMatchObject({ open: 0, claimed: 0 });
      expect(cancelled.counters.cancelled).toBeGreaterThan(0);
      expect(await world.pages(started)).toHaveLength(cancelled.counters.pages);
      expect(world.paths(host)).toHaveLength(cancelled.counters.pages);
      await world.platform.jobs.resume(started.id, world.account);
    }
    const resumed = await world.ended(started);
    const undisturbed = await world.crawlNow({ urls: [`${world.site.hostUrl(2)}/big/`], sitemap: 'skip' });
    expect(resumed.status).toBe('completed');
    expect(resumed.counters).toEqual(undisturbed.counters);
    expect(await outcomes(resumed)).toEqual(await outcomes(undisturbed));
    expect(world.paths(host)).toHaveLength(PAGES);
  });

  test('that is cancelled drops what waits and lets what runs finish', async () => {
    const slow = world.site.hostUrl(4);
    const crowded = world.site.hostUrl(3);
    const waiting = Array.from({ length: 50 }, (_, page) => `${crowded}/big/${page + 1}`);
    const job = await world.batch({ urls: [`${slow}/slow/late/1500`, ...waiting] });
    await vi.waitFor(() => expect(world.paths(slow)).toEqual(['/slow/late/1500']), WAIT);
    await waitUntilFetched(job, 1);
    const asked = await world.platform.jobs.cancel(job.id, world.account);
    expect(asked.status).toBe('cancelled');
    expect(asked.counters.cancelled).toBeGreaterThan(30);
    const ended = await world.ended(job);
    expect(ended.counters).toMatchObject({ open: 0, claimed: 0 });
    const finished = (await world.pages(job)).map(({ url }) => url);
    expect(finished).toContain(`${slow}/slow/late/1500`);
    expect(finished.length + ended.counters.cancelled).toBe(51);
    expect(world.paths(crowded).length + 1).toBe(finished.length);
  });

  test('tries failed URLs again on request, and replaces their pages', async () => {
    const host = world.site.hostUrl(5);
    const urls = [`${host}/again/500/none/2?a`, `${host}/big/1`];
    const first = await world.batchNow({ urls, options: { maxAttempts: 1 } });
    expect(first.status).toBe('partially_completed');
    expect(first.counters).toMatchObject({ pages: 1, failed: 1 });
    const statuses: string[] = [];
    for (let round = 0; round < 2; round++) {
      await world.platform.jobs.retry(first.id, world.account);
      statuses.push((await world.ended(first)).status);
    }
    expect(statuses).toEqual(['partially_completed', 'completed']);
    const pages = await world.pages(first);
    expect(pages.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(pages.every(({ error }) => error === undefined)).toBe(true);
    expect(world.site.countOf(`${host}/again/500/none/2?a`)).toBe(3);
    expect(world.site.countOf(`${host}/big/1`)).toBe(1);
    await expect(world.platform.jobs.retry(first.id, world.account)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  test('tries a failing URL as often as it was told to, and the trace has each try', async () => {
    const host = world.site.hostUrl(6);
    const job = await world.batchNow({
      urls: [`${host}/again/500/none/always`],
      options: { maxAttempts: 2 },
    });
    expect(job.status).toBe('failed');
    const [entry] = await world.ledger(job);
    expect(entry).toMatchObject({ state: 'failed', errorCode: 'HTTP_ERROR' });
    expect(entry?.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 500]);
    expect(world.paths(host)).toHaveLength(2);
  });

  test('keeps to its own limit of fetches at once over all hosts, and still ends', async () => {
    const hosts = [11, 12, 13, 14].map((n) => world.site.hostUrl(n));
    const urls = hosts.flatMap((host) => [1, 2, 3].map((n) => `${host}/slow/late/${n * 20}`));
    const job = await world.batchNow({ urls, concurrency: 1 });
    expect(job.counters.pages).toBe(urls.length);
    for (const host of hosts) for (const { inFlight } of world.heard(host)) expect(inFlight).toBe(1);
  });
});
