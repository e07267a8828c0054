import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Site } from '../site/site.ts';
import { openWorld, type World } from './world.ts';

let world: World;
const hostOf = (url: string) => new URL(url).host;
const WAIT = { timeout: 20_000, interval: 20 };
const hour = (at: number) => `${String(new Date(at).getUTCHours()).padStart(2, '0')}:00`;
const HOUR_MS = 3_600_000;

function policyOf(site: Site): string {
  return `
default: { rate: unlimited, concurrency: 2 }
domains:
  "${hostOf(site.hostUrl(1))}": { deny: true }
  "${hostOf(site.hostUrl(3))}": { rate: 10 }
  "${hostOf(site.hostUrl(6))}": { ${closedNow()} }
denyList: ["${hostOf(site.hostUrl(5))}"]
`;
}
/** Open for one hour, and that hour is some hours away. */
const closedNow = () =>
  `allowedHours: { from: "${hour(Date.now() + 4 * HOUR_MS)}", to: "${hour(Date.now() + 5 * HOUR_MS)}", timeZone: UTC }`;

beforeAll(async () => {
  world = await openWorld({ site: { pages: 100 }, policy: policyOf });
});
afterAll(() => world.close());

test('a host that policy denies hears nothing, not even a question for its robots.txt', async () => {
  for (const n of [1, 5]) {
    const url = `${world.site.hostUrl(n)}/big/1`;
    await expect(world.scrapeNow({ url })).rejects.toMatchObject({ code: 'DOMAIN_DENIED' });
    const job = await world.batchNow({ urls: [url] });
    expect(job.counters).toMatchObject({ denied: 1, failed: 0, pages: 0 });
    expect((await world.ledger(job))[0]).toMatchObject({ state: 'denied', decision: 'denied' });
    expect((await world.ledger(job))[0]?.rule).toMatch(/^policy\.deny/);
    expect(world.heard(url)).toEqual([]);
  }
});

test('a redirect does not lead to a host that policy denies', async () => {
  const job = await world.batchNow({ urls: [`${world.site.hostUrl(2)}/redirects/other-host`] });
  expect(job.counters).toMatchObject({ denied: 1, pages: 0 });
  expect(world.heard(world.site.hostUrl(1))).toEqual([]);
});

test('an opt-out takes effect at once', async () => {
  const host = world.site.hostUrl(3);
  const job = await world.crawl({ urls: [`${host}/big/`], sitemap: 'skip' });
  await vi.waitFor(
    async () => expect((await world.look(job)).counters.pages).toBeGreaterThanOrEqual(3),
    WAIT,
  );
  const { store, bus } = world.platform;
  await store.addOptOut({
    host: hostOf(host),
    reason: 'asked by its owner',
    contact: null,
    at: Date.now(),
    minDelayMs: null,
  });
  bus.publish('policy.changed', {});
  const ended = await world.ended(job);
  expect(ended.counters.open).toBe(0);
  expect(ended.counters.denied).toBeGreaterThan(50);
  expect(ended.counters.pages + ended.counters.denied).toBe(ended.counters.known);
  // A request that was about to be sent when the change came has been sent by the time the next job is refused.
  const later = await world.batchNow({ urls: [`${host}/big/99`] });
  const heard = world.paths(host);
  expect((await world.ledger(later))[0]).toMatchObject({ state: 'denied' });
  await expect(world.scrapeNow({ url: `${host}/big/98` })).rejects.toMatchObject({ code: 'DOMAIN_DENIED' });
  await world.batchNow({ urls: [`${host}/big/97`] });
  expect(world.paths(host)).toEqual(heard);
  expect(heard).not.toContain('/big/99');
});

test('outside its allowed hours a host hears nothing and the job waits', async () => {
  const host = world.site.hostUrl(6);
  const urls = [1, 2, 3].map((page) => `${host}/big/${page}`);
  const job = await world.batch({ urls });
  // The host was looked at, found closed, and put aside until it opens.
  await vi.waitFor(async () => {
    const view = await world.platform.store.getHost(hostOf(host) as never);
    expect(view?.owner).toBeNull();
    expect(view?.nextAt ?? 0).toBeGreaterThan(Date.now() + 10_000);
  }, WAIT);
  expect(await world.look(job)).toMatchObject({ finishedAt: null, counters: { open: 3 } });
  expect(world.heard(host)).toEqual([]);
});
