import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { createOutage } from '../../test/property/outage.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { JobId } from '../core/model/ids.ts';

const ADDRESS = '10.0.0.7';
const failing = (code: 'STORE_UNAVAILABLE' | 'QUEUE_UNAVAILABLE' | 'BLOBS_UNAVAILABLE' | 'STORE_REFUSED') =>
  createOutage(() => new ScrapifieError(code, `The server at ${ADDRESS} did not answer.`));

let platform: Platform;
let outages: Record<'store' | 'queue' | 'blobs', ReturnType<typeof failing>>;
const clock = { aheadMs: 0 };
beforeEach(async () => {
  clock.aheadMs = 0;
  outages = {
    store: failing('STORE_UNAVAILABLE'),
    queue: failing('QUEUE_UNAVAILABLE'),
    blobs: failing('BLOBS_UNAVAILABLE'),
  };
  platform = await openPlatform({}, { outages, now: () => Date.now() + clock.aheadMs });
});
afterEach(async () => {
  for (const outage of Object.values(outages)) outage.end();
  await platform.close();
});

const url = 'https://example.com/';
const post = (path: string, payload: object, headers = {}) =>
  platform.call({ method: 'POST', url: path, payload, headers });
const get = (path: string, headers = {}) => platform.call({ url: path, headers });
const isHonest = (answer: Answer, code: string) => {
  expect([answer.statusCode, answer.at('error.code')]).toEqual([503, code]);
  expect(answer.at('error.retryable')).toBe(true);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.payload).not.toContain(ADDRESS);
};
const STALE = { warning: '110 - "Response is Stale"', 'x-scrapifie-stale': 'true' };

async function endedBatch(formats: readonly string[]): Promise<string> {
  await platform.work(() => DONE);
  const accepted = await post('/v1/batch', { urls: [url], options: { formats } });
  await platform.jobs.waitFor(accepted.at('data.id') as JobId, 60_000);
  return accepted.at('data.id') as string;
}

describe('while the store is away', () => {
  it('what needs it is answered 503 with Retry-After, and nothing of it happened', async () => {
    await get('/v1/account');
    outages.store.begin('away');
    for (const [path, payload] of [
      ['/v1/scrape', { url }],
      ['/v1/scrape', { url, async: true }],
      ['/v1/batch', { urls: [url] }],
      ['/v1/crawl', { urls: [url] }],
      ['/v1/map', { url }],
      ['/v1/keys', { name: 'x' }],
      [`/v1/domains/example.com/opt-out`, {}],
      [`/v1/jobs/${platform.jobs.newId()}/cancel`, {}],
    ] as const) {
      isHonest(await post(path, payload), 'STORE_UNAVAILABLE');
    }
    for (const path of ['/v1/jobs', `/v1/jobs/${platform.jobs.newId()}`, '/v1/domains', '/v1/keys']) {
      isHonest(await get(path), 'STORE_UNAVAILABLE');
    }
    const accountId = await platform.store.defaultAccount();
    expect((await platform.store.listJobs({ accountId, limit: 10 })).items).toEqual([]);
  });

  it('the reason is in the log, with the request, and only there', async () => {
    await get('/v1/account');
    outages.store.begin('away');
    isHonest(await get('/v1/jobs', { 'x-request-id': 'away-1' }), 'STORE_UNAVAILABLE');
    const line = platform.lines.find((each) => each.includes('away-1')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
    expect(line).toContain(ADDRESS);
  });

  it('what was accepted before is there afterwards, and the same request may be sent again', async () => {
    const headers = { 'idempotency-key': 'once' };
    await get('/v1/account');
    outages.store.begin('away');
    isHonest(await post('/v1/batch', { urls: [url] }, headers), 'STORE_UNAVAILABLE');
    outages.store.end();
    const again = async () => (await post('/v1/batch', { urls: [url] }, headers)).statusCode;
    await expect.poll(again).toBe(202);
    const list = await get('/v1/jobs');
    expect(list.at('data.items.length')).toBe(1);
  });

  it('answers given before are given again and say so, to the same question only', async () => {
    const id = await endedBatch(['rawHtml']);
    const path = `/v1/jobs/${id}`;
    const paths = [path, `${path}/results`, `${path}/errors`, `${path}/urls`, '/v1/jobs', '/v1/domains'];
    const before = await Promise.all(paths.map((each) => get(each)));
    for (const answer of before) expect(answer.headers).not.toHaveProperty('x-scrapifie-stale');
    outages.store.begin('away');
    clock.aheadMs = 90_000;
    const after = await Promise.all(paths.map((each) => get(each)));
    for (const [at, answer] of after.entries()) {
      expect(answer.statusCode).toBe(200);
      expect(answer.headers).toMatchObject(STALE);
      expect(Number(answer.headers.age)).toBeGreaterThanOrEqual(90);
      expect(answer.payload).toBe(before[at]?.payload);
      expect(answer.headers['content-type']).toBe(before[at]?.headers['content-type']);
    }
    isHonest(await get(`${path}/results?limit=1`), 'STORE_UNAVAILABLE');
    isHonest(await get(path, { accept: 'text/plain' }), 'STORE_UNAVAILABLE');
    const stream = await get(`${path}/urls`, { accept: 'application/x-ndjson' });
    isHonest(stream, 'STORE_UNAVAILABLE');
    const stranger = await platform.api.inject({ url: path, headers: { 'x-api-key': 'sk_nobody' } });
    expect(stranger.statusCode).toBe(503);
    expect((await get('/v1/account')).headers).not.toHaveProperty('x-scrapifie-stale');
  });

  it('a browser that was signed in goes on reading, and none can sign in', async () => {
    const signIn = () =>
      platform.api.inject({ method: 'POST', url: '/dashboard/session', payload: { key: platform.secret } });
    const cookie = String((await signIn()).headers['set-cookie']).split(';', 1)[0] ?? '';
    const read = (path: string) => platform.api.inject({ url: path, headers: { cookie } });
    expect((await read('/v1/jobs')).statusCode).toBe(200);
    outages.store.begin('away');
    clock.aheadMs = 90_000;
    expect((await read('/v1/jobs')).headers).toMatchObject(STALE);
    expect((await read('/dashboard/session')).json().data).toMatchObject({ signedIn: true });
    expect((await signIn()).json().error.code).toBe('STORE_UNAVAILABLE');
    clock.aheadMs = 3_600_000;
    expect((await read('/v1/jobs')).json().error.code).toBe('STORE_UNAVAILABLE');
  });

  it('a store that works is always asked', async () => {
    const id = (await post('/v1/batch', { urls: [url] })).at('data.id') as JobId;
    expect((await get(`/v1/jobs/${id}`)).at('data.status')).toBe('queued');
    outages.store.begin('away');
    expect((await get(`/v1/jobs/${id}`)).headers).toMatchObject(STALE);
    await platform.store.cancelJob(id);
    outages.store.end();
    await expect.poll(async () => (await get(`/v1/jobs/${id}`)).at('data.status')).toBe('cancelled');
    expect((await get(`/v1/jobs/${id}`)).headers).not.toHaveProperty('x-scrapifie-stale');
  });

  it('what the store no longer had when it was last asked is not told again', async () => {
    const id = await endedBatch(['text']);
    expect((await get(`/v1/jobs/${id}`)).statusCode).toBe(200);
    // Not through this process: deleted through another one, or lost by a store that went back in time.
    await platform.store.deleteJob(id as JobId);
    expect((await get(`/v1/jobs/${id}`)).statusCode).toBe(404);
    outages.store.begin('away');
    isHonest(await get(`/v1/jobs/${id}`), 'STORE_UNAVAILABLE');
  });

  it('what was deleted is not told again', async () => {
    const id = await endedBatch(['text']);
    expect((await get(`/v1/jobs/${id}/results`)).statusCode).toBe(200);
    expect((await platform.call({ method: 'DELETE', url: `/v1/jobs/${id}` })).statusCode).toBe(200);
    outages.store.begin('away');
    isHonest(await get(`/v1/jobs/${id}/results`), 'STORE_UNAVAILABLE');
  });

  it('a silent one keeps no client waiting', async () => {
    const id = (await post('/v1/batch', { urls: [url] })).at('data.id') as JobId;
    expect((await get(`/v1/jobs/${id}`)).statusCode).toBe(200);
    outages.store.begin('silent');
    const crowd = await Promise.all(Array.from({ length: 50 }, () => post('/v1/crawl', { urls: [url] })));
    for (const answer of crowd) isHonest(answer, 'STORE_UNAVAILABLE');
    expect((await get(`/v1/jobs/${id}`)).headers).toMatchObject(STALE);
  });

  it('a scrape that ended meanwhile says under which id it can be read', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await platform.work(() => released.then(() => DONE));
    const waiting = post('/v1/scrape', { url, formats: ['text'] });
    await expect.poll(async () => (await get('/v1/jobs')).at('data.items.length')).toBe(1);
    outages.store.begin('away');
    release();
    const answer = await waiting;
    isHonest(answer, 'STORE_UNAVAILABLE');
    outages.store.end();
    const results = `/v1/jobs/${answer.at('error.details.jobId')}/results`;
    await expect.poll(async () => (await get(results)).at('data.items.0.text')).toBe('body');
  });
});

describe('a store that refuses us', () => {
  it('is to clients one that is away', async () => {
    const refusing = failing('STORE_REFUSED');
    const other = await openPlatform({}, { outages: { store: refusing } });
    await other.call({ url: '/v1/jobs' });
    refusing.begin('away');
    isHonest(await other.call({ url: '/v1/keys' }), 'STORE_UNAVAILABLE');
    expect((await other.call({ url: '/v1/jobs' })).headers).toMatchObject(STALE);
    await other.close();
  });
});

describe.each(['away', 'silent'] as const)('while the queue is %s', (kind) => {
  it('work is accepted at once and waits in the store', async () => {
    outages.queue.begin(kind);
    expect((await post('/v1/crawl', { urls: [url], sitemap: 'skip' })).statusCode).toBe(202);
    expect((await post('/v1/batch', { urls: [url] })).statusCode).toBe(202);
    const scrape = await post('/v1/scrape', { url, timeoutMs: 1_000 });
    expect([scrape.statusCode, scrape.at('error.code')]).toEqual([504, 'REQUEST_TIMEOUT']);
    const accountId = await platform.store.defaultAccount();
    const { items } = await platform.store.listJobs({ accountId, limit: 10 });
    expect(items.map(({ counters }) => counters.open)).toEqual([1, 1, 1]);
    expect(items.map(({ id }) => id)).toContain(scrape.at('error.details.jobId'));
    expect(await platform.store.offerHosts(10)).toMatchObject([{ key: 'example.com' }]);
  });
});

describe('while the object store is away', () => {
  it('bodies are answered 503, and everything else is there', async () => {
    const withBody = await endedBatch(['rawHtml']);
    const without = await endedBatch(['text', 'html', 'links', 'metadata']);
    outages.blobs.begin('away');
    isHonest(await get(`/v1/jobs/${withBody}/results`), 'BLOBS_UNAVAILABLE');
    const stream = await get(`/v1/jobs/${withBody}/results`, { accept: 'application/x-ndjson' });
    isHonest(stream, 'BLOBS_UNAVAILABLE');
    expect((await get(`/v1/jobs/${without}/results`)).at('data.items.0.html')).toBe('<p>body</p>');
    for (const path of ['', '/errors', '/urls']) {
      expect((await get(`/v1/jobs/${withBody}${path}`)).statusCode).toBe(200);
    }
    outages.blobs.end();
    expect((await get(`/v1/jobs/${withBody}/results`)).at('data.items.0.rawHtml')).toBe('<p>body</p>');
  });

  it('a scrape whose body cannot be read says under which id it can be later', async () => {
    await platform.work(() => DONE);
    outages.blobs.begin('away');
    expect((await post('/v1/scrape', { url, formats: ['text'] })).statusCode).toBe(200);
    const answer = await post('/v1/scrape', { url, formats: ['rawHtml'] });
    isHonest(answer, 'BLOBS_UNAVAILABLE');
    outages.blobs.end();
    const results = `/v1/jobs/${answer.at('error.details.jobId')}/results`;
    await expect.poll(async () => (await get(results)).at('data.items.0.rawHtml')).toBe('<p>body</p>');
  });
});

describe('the probes', () => {
  it('of readiness tell which part is away and whether that matters; that of health asks nobody', async () => {
    outages.queue.begin('away');
    outages.blobs.begin('away');
    const degraded = await get('/readyz');
    expect(degraded.statusCode).toBe(200);
    expect(degraded.at('data')).toMatchObject({
      status: 'degraded',
      parts: {
        store: { status: 'ok' },
        queue: { status: 'degraded', code: 'QUEUE_UNAVAILABLE' },
        blobs: { status: 'degraded', code: 'BLOBS_UNAVAILABLE' },
      },
    });
    expect(degraded.payload).not.toContain(ADDRESS);
    outages.store.begin('silent');
    const unready = await get('/readyz');
    expect([unready.statusCode, unready.at('error.message')]).toEqual([503, 'Not ready: store.']);
    expect(unready.at('error.details.parts.store')).toMatchObject({ status: 'failing' });
    expect(unready.headers).toHaveProperty('retry-after');
    expect((await get('/healthz')).statusCode).toBe(200);
    const logged = platform.lines.filter((line) => line.includes('a part does not work'));
    expect(logged.map((line) => JSON.parse(line).part).sort()).toEqual(['blobs', 'queue', 'store']);
    expect(logged.join('')).toContain(ADDRESS);
  });
});
