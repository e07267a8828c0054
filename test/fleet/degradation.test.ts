import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../fleet/servers/postgres.ts';
import { type RedisServer, startRedis } from '../../fleet/servers/redis.ts';
import { createCallSeal } from '../../src/capabilities/sessions/vault.ts';
import { createBlobsS3 } from '../../src/drivers/blobs-s3/blobs-s3.ts';
import { createQueueBullmq } from '../../src/drivers/queue-bullmq/queue-bullmq.ts';
import { createRemoteEngine } from '../../src/fetch/remote/remote-engine.ts';
import { createParcels, sealCalls } from '../../src/fetch/remote/sealed-calls.ts';
import { openTransit } from '../../src/wiring/open-blobs.ts';
import { SHOP_PATHS } from '../site/pages/shop.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { type ApiClient, createApiClient, look } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew, type Lines, VAULT_KEY } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 150_000;
const PAGES = 60;
/** Longer than an answer may take while something hangs, and shorter than a statement may take in PostgreSQL. */
const SOON_MS = 15_000;
const until = (condition: () => void | Promise<void>, timeout = 60_000) =>
  vi.waitFor(condition, { timeout, interval: 100 });

let dir: string;
let site: RemoteSite;
let postgres: PostgresServer;
let redis: RedisServer;
let crew: Crew;
let api: CrewMember;
let worker: CrewMember;
let scheduler: CrewMember;
let client: ApiClient;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-degradation-'));
  [site, postgres, redis] = await Promise.all([
    spawnSite({ pages: PAGES }),
    startPostgres({ dir: join(dir, 'postgres') }),
    startRedis({ dir: join(dir, 'redis') }),
  ]);
  crew = await gatherCrew({
    policy: 'default: { rate: 15, burst: 1, concurrency: 2 }\n',
    place: { databaseUrl: postgres.url, redisUrl: redis.url },
  });
  api = await crew.add('api');
  client = createApiClient(() => api.origin, crew.apiKey);
  [worker, scheduler] = await Promise.all([crew.add('http-worker'), crew.add('scheduler')]);
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await Promise.all([postgres?.stop(), redis?.stop(), site?.close()]);
  await rm(dir, { recursive: true, force: true });
}, LIMIT_MS);

const crawlOf = (n: number, more: Record<string, unknown> = {}) => ({
  urls: [`${site.hostUrl(n)}/big/`],
  sitemap: 'skip',
  ...more,
});
const crawl = (n: number, more?: Record<string, unknown>) => client.accept('/v1/crawl', crawlOf(n, more));

/** Requests that the site had from all for one host. */
async function heard(n: number): Promise<number> {
  const { urls } = await site.counts();
  return Object.entries(urls)
    .filter(([url]) => url.startsWith(`${site.hostUrl(n)}/`))
    .reduce((sum, [, count]) => sum + count, 0);
}

async function expectWhole(job: string): Promise<void> {
  const ended = await client.ended(job);
  expect(ended).toMatchObject({
    status: 'completed',
    progress: { known: PAGES, open: 0, pages: PAGES, failed: 0 },
  });
  const urls = (await client.pages(job)).map(({ url }) => url);
  expect(urls).toHaveLength(PAGES);
  expect(new Set(urls).size).toBe(PAGES);
}

function expectNobodyDied(): void {
  for (const one of [api, worker, scheduler]) expect(one.exitCode, one.output()).toBeNull();
}

/** How each part is, whichever way it is told. */
async function partsOf(origin: string): Promise<{ status: number; parts: Record<string, unknown> }> {
  const { status, body } = await look(origin, '/readyz');
  const told = (body.data ?? body.error?.details ?? {}) as { parts?: Record<string, { status: unknown }> };
  const states = Object.entries(told.parts ?? {}).map(([name, part]) => [name, part.status]);
  return { status, parts: Object.fromEntries(states) };
}

describe('while Redis is down', { timeout: LIMIT_MS }, () => {
  it('work is accepted and waits, limits let everybody through, owned hosts go on; then all is done by itself', async () => {
    const owned = await crawl(1);
    await until(async () => expect(await heard(1)).toBeGreaterThan(5));
    await redis.kill();
    const before = await heard(1);
    const accepted = await crawl(2);
    for (let read = 0; read < 20; read += 1) {
      expect((await client.get(`/v1/jobs/${accepted}`)).status).toBe(200);
    }
    await until(async () => {
      const parts = { store: 'ok', queue: 'degraded', blobs: 'ok' };
      expect(await partsOf(api.origin)).toMatchObject({ status: 200, parts });
      expect(await partsOf(worker.origin)).toMatchObject({ status: 503, parts: { queue: 'failing' } });
    });
    await expectWhole(owned);
    expect(await heard(1)).toBeGreaterThan(before);
    expect(await heard(2)).toBe(0);

    await redis.restart();
    await expectWhole(accepted);
    expectNobodyDied();
    await until(async () => expect((await partsOf(worker.origin)).status).toBe(200));
  });
});

describe('while PostgreSQL is down', { timeout: LIMIT_MS }, () => {
  it('what was told is told again as stale, the rest is put off, and nothing accepted is lost', async () => {
    const job = await crawl(3);
    const before = await client.get(`/v1/jobs/${job}`);
    await until(async () => expect(await heard(3)).toBeGreaterThan(5));
    await postgres.kill();

    const again = await client.get(`/v1/jobs/${job}`);
    expect(again).toMatchObject({ status: 200, text: before.text });
    expect(again.headers.get('x-scrapifie-stale')).toBe('true');
    expect(again.headers.get('age')).toMatch(/^\d+$/);
    for (const answer of [await client.get('/v1/jobs?limit=7'), await client.post('/v1/crawl', crawlOf(4))]) {
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'STORE_UNAVAILABLE' } } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.ms).toBeLessThan(SOON_MS);
    }
    expect((await look(api.origin, '/healthz')).status).toBe(200);
    await until(async () =>
      expect(await partsOf(api.origin)).toMatchObject({ status: 503, parts: { store: 'failing' } }),
    );

    await postgres.restart();
    await expectWhole(job);
    expect(await heard(4)).toBe(0);
    expectNobodyDied();
    await until(async () => expect((await partsOf(api.origin)).status).toBe(200));
  });

  it('connections that are dropped in the middle of a crawl cost nothing', async () => {
    const job = await crawl(5);
    await until(async () => expect(await heard(5)).toBeGreaterThan(5));
    expect(await postgres.dropConnections()).toBeGreaterThan(0);
    await expectWhole(job);
    expectNobodyDied();
  });
});

describe('while a server hangs', { timeout: LIMIT_MS }, () => {
  it('nobody waits long: Redis is done without, PostgreSQL is told as away', async () => {
    api.to.redis.set('silent');
    const accepted = await client.post('/v1/crawl', crawlOf(8));
    expect(accepted).toMatchObject({ status: 202 });
    expect(accepted.ms).toBeLessThan(SOON_MS);
    const path = `/v1/jobs/${accepted.body.data?.id}`;
    const known = await client.get(path);
    expect(known).toMatchObject({ status: 200 });
    api.to.redis.set('open');

    api.to.postgres.set('silent');
    const again = await client.get(path);
    expect(again).toMatchObject({ status: 200, text: known.text });
    expect(again.headers.get('x-scrapifie-stale')).toBe('true');
    const refused = await client.post('/v1/crawl', crawlOf(9));
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'STORE_UNAVAILABLE' } } });
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    for (const { ms } of [again, refused]) expect(ms).toBeLessThan(SOON_MS);
    api.to.postgres.set('open');
    await expectWhole(String(accepted.body.data?.id));
    expectNobodyDied();
  });
});

describe('while S3 is down', { timeout: LIMIT_MS }, () => {
  it('bodies are kept in PostgreSQL, can be read there, and are moved when it is back', async () => {
    // All processes are cut off, since a process that reaches S3 moves what the others have spilled.
    for (const one of [api, worker, scheduler]) one.to.s3.set('cut');
    // Pages that no other crawl has stored: what was kept before an outage cannot be read in it.
    const urls = SHOP_PATHS.map((path) => `${site.hostUrl(6)}${path}`);
    const job = await client.accept('/v1/batch', { urls, options: { formats: ['rawHtml'] } });
    expect(await client.ended(job)).toMatchObject({
      status: 'completed',
      progress: { known: urls.length, pages: urls.length, failed: 0 },
    });
    const spilled = async () => Number((await crew.sql('SELECT count(*) AS n FROM spilled_blobs'))[0]?.n);
    expect(await spilled()).toBeGreaterThan(0);
    const bodies = async () => (await client.pages(job)).map(({ url, rawHtml }) => ({ url, rawHtml }));
    const away = await bodies();
    expect(away).toHaveLength(urls.length);
    for (const { rawHtml } of away) expect(rawHtml).toMatch(/^<!doctype html>/);
    expect(await partsOf(worker.origin)).toMatchObject({ status: 200, parts: { blobs: 'degraded' } });
    expect((await look(api.origin, '/readyz')).body.data).toMatchObject({ status: 'degraded' });

    for (const one of [api, worker, scheduler]) one.to.s3.set('open');
    await until(async () => expect(await spilled()).toBe(0));
    for (const one of [api, worker]) {
      await until(async () => expect((await partsOf(one.origin)).parts.blobs).toBe('ok'));
    }
    expect(await bodies()).toEqual(away);
    expectNobodyDied();
  });
});

describe('without browser workers', { timeout: LIMIT_MS }, () => {
  it('a call for one says so, what HTTP can do goes on, and one that comes is found', async () => {
    const { redisUrl: url, redisPrefix: prefix, s3Url, databaseUrl } = crew.place;
    const queue = await createQueueBullmq({ url, prefix, onHandlerError: () => undefined });
    const blobs = await createBlobsS3({ url: s3Url, now: Date.now, random: Math.random });
    const transit = await openTransit({ s3Url, databaseUrl, dataDir: crew.dir, spillBytes: 0 });
    const seal = createCallSeal(VAULT_KEY);
    const browser = createRemoteEngine({
      name: 'browser',
      queue: sealCalls(queue, seal),
      blobs,
      parcels: createParcels(transit, seal),
    });
    const page = { url: `${site.hostUrl(7)}/big/1`, method: 'GET', headers: {}, cookies: {} } as const;
    const limits = { timeoutMs: 20_000, maxBodyBytes: 1_048_576, maxRedirects: 0 };
    const fetchPage = () =>
      browser.fetch({
        ...page,
        ...limits,
        body: null,
        conditional: null,
        onRedirect: async () => 'stop',
      });
    try {
      await expect(fetchPage()).rejects.toMatchObject({ code: 'NO_WORKER' });
      const scraped = await client.post('/v1/scrape', { url: `${site.hostUrl(7)}/big/2` });
      expect(scraped).toMatchObject({ status: 200, body: { success: true } });
      const late = await crew.add('browser-worker');
      expect((await fetchPage()).statusCode).toBe(200);
      late.signal('SIGTERM');
      expect(await late.ended).toBe(0);
      await expect(fetchPage()).rejects.toMatchObject({ code: 'NO_WORKER' });
    } finally {
      await browser.close();
      await Promise.all([queue.close(), blobs.close(), transit.close()]);
    }
  });
});

describe('/readyz', { timeout: LIMIT_MS }, () => {
  const PARTS = [
    { line: 'postgres', part: 'store', api: 'failing', worker: 'failing' },
    { line: 'redis', part: 'queue', api: 'degraded', worker: 'failing' },
    { line: 's3', part: 'blobs', api: 'degraded', worker: 'degraded' },
  ] as const satisfies readonly { line: keyof Lines; [name: string]: string }[];

  it.each(PARTS)(
    'tells within its limits that $line is cut or hangs, and that it is back',
    async (expected) => {
      const { line, part } = expected;
      for (const state of ['silent', 'open', 'cut', 'open'] as const) {
        for (const one of [api, worker]) one.to[line].set(state);
        for (const [one, told] of [
          [api, expected.api],
          [worker, expected.worker],
        ] as const) {
          const wanted = state === 'open' ? 'ok' : told;
          await until(async () => {
            const { status, parts } = await partsOf(one.origin);
            expect({ [part]: parts[part], status }, `${line} ${state}`).toEqual({
              [part]: wanted,
              status: wanted === 'failing' ? 503 : 200,
            });
          });
          expect((await look(one.origin, '/healthz')).status).toBe(200);
        }
      }
      expectNobodyDied();
    },
  );
});

describe('SIGTERM while every server hangs', { timeout: LIMIT_MS }, () => {
  it('ends a process at work in the time it has for that', async () => {
    await crawl(14);
    await until(async () => expect(await heard(14)).toBeGreaterThan(5));
    const ending = [api, worker];
    for (const { to } of ending) for (const line of [to.postgres, to.redis, to.s3]) line.set('silent');
    for (const one of ending) one.signal('SIGTERM');
    // A process that takes longer ends with another code.
    for (const one of ending) expect(await one.ended, one.output()).toBe(0);
  });
});
