import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { isFleetProfile } from './fleet-place.ts';

/** Properties 2, 8 to 11 and 37 of the scraping service, held by the whole of it. */
let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld({
    site: { pages: 40 },
    policy: (site) => {
      const slow = new URL(site.hostUrl(900)).host;
      return `default: { rate: unlimited, concurrency: 8 }\ndomains: { "${slow}": { rate: 3 } }\n`;
    },
  });
});
afterAll(() => world.close());

const RUNS = { numRuns: 12 };
/** Every run has a host of its own, so that failures of one run open no breaker for the next. */
let nextHost = 100;
const freshHost = () => world.site.hostUrl(nextHost++);

/** Pages and what becomes of them. A 404 is a failure of the page and not of the host. */
const KINDS = {
  done: (n: number) => `/content/item/${n}`,
  failed: (n: number) => `/content/404?${n}`,
} as const;
type Kind = keyof typeof KINDS;
const kinds = fc.array(fc.constantFrom<Kind>('done', 'failed'), { minLength: 1, maxLength: 12 });

const batchOf = async (wanted: readonly Kind[]) => {
  const host = freshHost();
  const urls = wanted.map((kind, n) => host + KINDS[kind](n));
  return { urls, answer: await world.post('/v1/batch', { urls, options: { maxAttempts: 1 } }) };
};
const idOf = (data: Record<string, unknown> | undefined) => ({ id: data?.id as never });

test('property 8: a batch of N URLs is a job of N tasks with an id', async () => {
  await fc.assert(
    fc.asyncProperty(kinds, async (wanted) => {
      const { urls, answer } = await batchOf(wanted);
      expect(answer.status).toBe(202);
      expect(answer.body.data?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
      const job = await world.ended(idOf(answer.body.data));
      const entries = await world.ledger(job);
      expect(entries.map(({ url }) => url).sort()).toEqual([...urls].sort());
      expect(job.counters.known).toBe(urls.length);
    }),
    RUNS,
  );
});

test('properties 9 and 10: status follows from the outcomes, and results are the completed tasks', async () => {
  await fc.assert(
    fc.asyncProperty(kinds, async (wanted) => {
      const { answer } = await batchOf(wanted);
      const job = await world.ended(idOf(answer.body.data));
      const done = wanted.filter((kind) => kind === 'done').length;
      const failed = wanted.length - done;
      const status = failed === 0 ? 'completed' : done === 0 ? 'failed' : 'partially_completed';
      expect(job).toMatchObject({ status, counters: { pages: done, failed, open: 0 } });
      const results = await world.call({ method: 'GET', url: `/v1/jobs/${job.id}/results?state=done` });
      const items = results.body.data?.items as { url: string; error?: unknown }[];
      expect(items).toHaveLength(done);
      for (const item of items) expect(item.error ?? null).toBeNull();
    }),
    RUNS,
  );
});

test('property 11: a cancel drops what is queued and keeps what is running', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), async (running) => {
      const host = freshHost();
      const slow = Array.from({ length: running }, (_, n) => `${host}/slow/late/${400 + n}`);
      const queued = Array.from({ length: 20 }, (_, n) => `${world.site.hostUrl(900)}/big/${n}`);
      const { body } = await world.post('/v1/batch', { urls: [...slow, ...queued] });
      const job = idOf(body.data);
      await vi.waitFor(() => expect(world.paths(host)).toHaveLength(running), { timeout: 20_000 });
      const cancelled = await world.post(`/v1/jobs/${job.id}/cancel`, {});
      expect(cancelled.body.data?.status).toBe('cancelled');
      const ended = await world.ended(job);
      const states = new Map((await world.ledger(job)).map(({ url, state }) => [url, state]));
      for (const url of slow) expect(states.get(url)).toBe('done');
      expect(ended.counters).toMatchObject({ open: 0, claimed: 0 });
      expect([...states.values()].filter((state) => state === 'cancelled').length).toBeGreaterThanOrEqual(10);
    }),
    { numRuns: 3 },
  );
});

test('property 37: what the metrics say is open and under way is so', async () => {
  const gauge = async (name: string) => {
    const line = (await world.metrics.render()).split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.split(' ')[1]);
  };
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), async (count) => {
      const host = freshHost();
      const urls = Array.from({ length: count }, (_, n) => `${host}/slow/late/${2_000 + n}`);
      const { body } = await world.post('/v1/batch', { urls });
      await vi.waitFor(() => expect(world.paths(host)).toHaveLength(count), { timeout: 20_000 });
      expect(await gauge('scrapifie_in_flight_fetches')).toBe(count);
      // What is known of the whole installation may be half a second old.
      await vi.waitFor(async () => expect(await gauge('scrapifie_open_tasks')).toBe(count), {
        timeout: 20_000,
        interval: 250,
      });
      expect(await gauge('scrapifie_active_slices')).toBeGreaterThanOrEqual(1);
      await world.ended(idOf(body.data));
      for (const name of ['scrapifie_open_tasks', 'scrapifie_in_flight_fetches']) {
        await vi.waitFor(async () => expect(await gauge(name)).toBe(0), { timeout: 20_000, interval: 250 });
      }
    }),
    { numRuns: 2 },
  );
});

describe('property 2: the server is ready exactly when its parts work', () => {
  const harms: Record<string, (own: ApiWorld) => Promise<void>> = {
    store: (own) => own.platform.store.close(),
    // Without its object store a fleet is degraded, not unready; its own tests show that.
    ...(isFleetProfile() ? {} : { blobs: blockFolder }),
  };
  test.each(Object.keys(harms))('%s', async (part) => {
    const own = await openApiWorld({ site: { pages: 1 } });
    const ready = () => own.call({ method: 'GET', url: '/readyz' });
    try {
      expect((await ready()).status).toBe(200);
      await harms[part]?.(own);
      const answer = await ready();
      expect(answer).toMatchObject({ status: 503, body: { success: false } });
      expect(answer.body.error?.message).toBe(`Not ready: ${part}.`);
      expect((await own.call({ method: 'GET', url: '/healthz' })).status).toBe(200);
    } finally {
      await own.close().catch(() => undefined);
    }
  });
});

async function blockFolder({ dataDir }: ApiWorld): Promise<void> {
  await rm(join(dataDir, 'blobs'), { recursive: true });
  await writeFile(join(dataDir, 'blobs'), 'in the way');
}
