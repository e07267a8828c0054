import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { maxInWindow } from '../site/max-in-window.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 120_000;
const SKEW_MS = 300_000;
const PAGES = 40;
const HOSTS = [1, 2, 3, 4];
const RATE = 8;
const LEASE_MS = 12_000;
const WARNING =
  "this machine's clock differs from the store's; the store's is used, but set the machine's right";

let site: RemoteSite;
let crew: Crew;
let client: ApiClient;
let skewed: CrewMember[];
beforeAll(async () => {
  site = await spawnSite({ pages: PAGES });
  crew = await gatherCrew({
    policy: `default: { rate: ${RATE}, burst: 1, concurrency: 2 }\n`,
    settings: { hostLeaseMs: LEASE_MS },
  });
  const api = await crew.add('api');
  client = createApiClient(() => api.origin, crew.apiKey);
  skewed = await Promise.all([
    crew.add('http-worker', { maxHosts: 2 }, { skewMs: SKEW_MS }),
    crew.add('http-worker', { maxHosts: 2 }, { skewMs: -SKEW_MS }),
    crew.add('scheduler', {}, { skewMs: -SKEW_MS }),
    crew.add('scheduler', {}, { skewMs: SKEW_MS }),
  ]);
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await site?.close();
}, LIMIT_MS);

describe('processes whose clocks are five minutes off', { timeout: LIMIT_MS }, () => {
  it('share hosts without ever owning one together, and finish the crawl politely', async () => {
    const job = await client.accept('/v1/crawl', {
      urls: HOSTS.map((n) => `${site.hostUrl(n)}/big/`),
      sitemap: 'skip',
    });
    const workers = new Set<string>();
    await vi.waitFor(
      async () => {
        const leases = await crew.sql(`
          SELECT owner, lease_until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "leftMs"
          FROM hosts WHERE owner IS NOT NULL`);
        for (const { owner, leftMs } of leases) {
          workers.add(String(owner));
          // By the store's clock, neither over already nor longer than a lease.
          expect(Number(leftMs)).toBeGreaterThan(-1_000);
          expect(Number(leftMs)).toBeLessThan(LEASE_MS + 1_000);
        }
        expect(workers.size).toBe(2);
      },
      { timeout: 30_000, interval: 50 },
    );
    expect(await client.ended(job)).toMatchObject({
      status: 'completed',
      progress: { known: HOSTS.length * PAGES, pages: HOSTS.length * PAGES, failed: 0 },
    });
    const { urls } = await site.counts();
    expect(Object.values(urls).filter((count) => count > 1)).toEqual([]);
    const log = await site.entries();
    for (const n of HOSTS) {
      const entries = log.filter(({ host }) => site.hostUrl(n).endsWith(`/${host}`));
      expect(entries).toHaveLength(PAGES + 1);
      // Over three seconds: a busy machine holds single requests up, which crowds one second and not three.
      expect(maxInWindow(entries, 3_000)).toBeLessThanOrEqual(3 * RATE + 1);
    }
  });

  it('end a job when its time is over, neither sooner nor never', async () => {
    const urls = Array.from({ length: 200 }, (_, at) => `${site.hostUrl(5)}/slow/late/500?page=${at}`);
    const startedAt = Date.now();
    const job = await client.accept('/v1/batch', { urls, maxDurationMs: 4_000 });
    const ended = await client.ended(job, 30_000);
    expect(ended).toMatchObject({ stopReason: 'budget.duration' });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(4_000);
    // What it took before that was fetched.
    expect(Number((ended.progress as { pages: number }).pages)).toBeGreaterThan(0);
  });

  it('say so once each', () => {
    for (const one of skewed) {
      const warnings = one.lines(WARNING);
      expect(warnings).toHaveLength(1);
      expect(Math.abs(Number(warnings[0]?.behindMs))).toBeGreaterThan(SKEW_MS - 5_000);
    }
  });
});
