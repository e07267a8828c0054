import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import type { JobId } from '../core/model/ids.ts';

let platform: Platform;
let id: string;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work((task) => ({
    ...DONE,
    record: {
      metadata: null,
      links: task.url.endsWith('/a')
        ? [
            { url: 'https://example.com/shop/b#top', text: 'B', rel: '', from: 'a' },
            { url: 'https://other.test/', text: 'away', rel: 'nofollow', from: 'a' },
          ]
        : [],
    },
  }));
  const urls = ['a', 'shop/b', 'shop/c?x=1'].map((each) => `https://example.com/${each}`);
  const answer = await platform.call({ method: 'POST', url: '/v1/batch', payload: { urls } });
  id = answer.at('data.id') as string;
  await platform.jobs.waitFor(id as JobId, 20_000);
});
afterAll(() => platform.close());

const get = (url: string) => platform.call({ url });
const post = (url: string, payload: object) => platform.call({ method: 'POST', url, payload });

describe('the addresses of a job', () => {
  it('are a tree that opens from its origins down, page by page', async () => {
    const origins = await get(`/v1/jobs/${id}/tree`);
    expect(origins.at('data.items')).toMatchObject([
      { url: 'https://example.com/', isFolder: true, urls: 3 },
    ]);
    const first = await get(`/v1/jobs/${id}/tree?under=https://example.com/&limit=1`);
    expect(first.at('data.items')).toMatchObject([{ name: 'a', isFolder: false, done: 1 }]);
    const next = `/v1/jobs/${id}/tree?under=https://example.com/&cursor=${first.at('data.nextCursor')}`;
    expect((await get(next)).at('data.items')).toMatchObject([{ url: 'https://example.com/shop/', urls: 2 }]);
    for (const forged of ['tree:books/', 'tree:["https://other.example/","a"]', 'tree:{}', 'log:1']) {
      const cursor = Buffer.from(forged).toString('base64url');
      const refused = await get(`/v1/jobs/${id}/tree?under=https://example.com/&cursor=${cursor}`);
      expect([refused.statusCode, refused.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    }
    expect((await get(`/v1/jobs/${id}/tree?under=nonsense`)).at('error.details.0.field')).toBe('under');
  });
});

describe('the links of a page', () => {
  it('tell where it leads with the state of each target, and which pages lead to it', async () => {
    const out = await get(`/v1/jobs/${id}/links?url=https://example.com/a`);
    expect(out.at('data.outgoing')).toMatchObject([
      { text: 'B', isInternal: true, state: 'done', statusCode: 200 },
      { text: 'away', isInternal: false, state: null },
    ]);
    const into = await get(`/v1/jobs/${id}/links?url=https://example.com/shop/b`);
    expect(into.at('data')).toMatchObject({
      outgoing: [],
      incoming: [{ url: 'https://example.com/a', text: 'B' }],
      nextCursor: null,
    });
    const unseen = await get(`/v1/jobs/${id}/links?url=https://example.com/unseen`);
    expect(unseen.at('data')).toMatchObject({ state: null, hasPage: false, incoming: [] });
  });
});

describe('an estimate', () => {
  it('of a batch counts its URLs at the pace of their host', async () => {
    const urls = Array.from({ length: 10 }, (_, n) => `https://slow.test/${n}`);
    const answer = await post('/v1/estimate', { job: { kind: 'batch', urls } });
    // Two requests per second, as the policy of the platform says.
    expect(answer.at('data')).toMatchObject({
      pages: { low: 10, high: 10 },
      durationMs: { low: 5_000 },
      credits: { low: 10 },
      hosts: [{ host: 'slow.test', pauseMs: 500, reason: 'The policy allows 2 requests per second.' }],
    });
  });

  it('of a crawl takes the pages from the request, a map, the last crawl or the budget', async () => {
    const job = { kind: 'crawl', urls: ['https://example.com/'], maxPages: 500 };
    expect((await post('/v1/estimate', { job })).at('data.pages')).toEqual({ low: 1, high: 500 });
    expect((await post('/v1/estimate', { job, pages: 70 })).at('data.pages')).toEqual({ low: 70, high: 70 });
    expect((await post('/v1/estimate', { job, mapId: id })).at('data.pages')).toEqual({ low: 3, high: 500 });
    const capped = { ...job, maxPages: null, maxCredits: 4, maxDurationMs: 1_000 };
    expect((await post('/v1/estimate', { job: capped, pages: 70 })).at('data')).toMatchObject({
      credits: { low: 4, high: 4 },
      durationMs: { low: 1_000, high: 1_000 },
    });
    expect((await post('/v1/estimate', { job: capped })).at('data.pages.high')).toBeNull();
  });

  it('is refused for what its job would be refused for', async () => {
    const bad = await post('/v1/estimate', { job: { kind: 'crawl', urls: ['mailto:x'] } });
    expect(bad.at('error.code')).toBe('INVALID_URL');
  });
});

describe('the robots.txt of a host', () => {
  it('is tested for a URL, stored or as the request brings it', async () => {
    const test = (body: object) => post('/v1/domains/example.com/robots-test', body);
    expect((await test({ url: '/x' })).at('data')).toMatchObject({ isAllowed: null, source: 'none' });
    await platform.store.putRobots({
      origin: 'https://example.com',
      status: 'ok',
      body: 'User-agent: *\nCrawl-delay: 2\nDisallow: /private/\nAllow: /private/open',
      fetchedAt: 1_000,
      expiresAt: 2_000,
      reason: '200',
      interruptions: 0,
      failures: 0,
    });
    expect((await test({ url: 'https://example.com/private/a' })).at('data')).toMatchObject({
      isAllowed: false,
      line: 3,
      crawlDelayMs: 2_000,
      source: 'stored',
      policy: 'obey',
    });
    expect((await test({ url: '/private/open' })).at('data.isAllowed')).toBe(true);
    const robotsTxt = 'User-agent: other\nDisallow: /';
    expect((await test({ url: '/a', robotsTxt, userAgent: 'Other' })).at('data')).toMatchObject({
      isAllowed: false,
      source: 'given',
    });
    expect((await test({ url: 'https://elsewhere.test/' })).at('error.details.0.field')).toBe('url');
    expect((await get('/v1/domains/example.com')).at('data.robots.0.body')).toContain('Disallow: /private/');
  });
});

describe('notifications', () => {
  it('tell what ended, newest first, as sentences, by type and level', async () => {
    await platform.store.appendEvents([
      {
        type: 'schedule.missed',
        accountId: await platform.store.defaultAccount(),
        jobId: null,
        data: { scheduleName: 'nightly' },
      },
    ]);
    const all = await get('/v1/notifications');
    expect(all.at('data.items')).toMatchObject([
      { type: 'schedule.missed', level: 'bad', jobId: null, links: null },
      { type: 'job.completed', title: 'The batch of https://example.com/a is completed', jobId: id },
    ]);
    expect((await get('/v1/notifications?type=job.*')).at('data.items.0.type')).toBe('job.completed');
    expect((await get('/v1/notifications?level=bad')).at('data.items')).toHaveLength(1);
    const newer = await get(`/v1/notifications?after=${all.at('data.items.1.id')}`);
    expect(newer.at('data')).toMatchObject({ items: [{ type: 'schedule.missed' }], nextCursor: null });
    expect((await get('/v1/notifications?after=x')).at('error.details.0.field')).toBe('after');
  });
});

describe('the list of jobs', () => {
  it('is filtered by text and time', async () => {
    const idsOf = async (query: string) =>
      ((await get(`/v1/jobs?${query}`)).at('data.items') as { id: string }[]).map((each) => each.id);
    expect(await idsOf('text=SHOP/b')).toEqual([id]);
    expect(await idsOf(`text=${id.slice(-12)}`)).toEqual([id]);
    expect(await idsOf('text=nothing')).toEqual([]);
    expect(await idsOf('since=2020-01-01T00:00:00Z&kind=batch')).toEqual([id]);
    expect(await idsOf('since=2100-01-01T00:00:00Z')).toEqual([]);
    expect(await idsOf('until=2020-01-01T00:00:00%2B01:00')).toEqual([]);
  });
});

describe('the system', () => {
  it('tells of its processes, queues, readiness and storage', async () => {
    expect((await get('/v1/system')).at('data')).toMatchObject({
      role: 'all',
      isShared: false,
      drivers: { store: 'SQLite', blobs: 'folder' },
      processes: [{ role: 'all' }],
      readiness: { store: { status: 'ok' } },
      queues: { openUrls: 0, waitingHosts: 0, deliveries: { pending: 0 } },
      storage: { entries: expect.arrayContaining([expect.objectContaining({ name: 'scrapifie.db' })]) },
    });
  });

  it('lists settings without their secrets', async () => {
    const items = (await get('/v1/system/settings')).at('data.items') as { name: string; value: unknown }[];
    const shownOf = (name: string) => items.find((each) => each.name === name)?.value;
    expect(shownOf('vaultKey')).toBe('[secret]');
    expect(shownOf('role')).toBe('all');
    expect(JSON.stringify(items)).not.toContain('d4d4d4');
  });

  it('examines itself and says what fails', async () => {
    const answer = await post('/v1/system/doctor', {});
    expect(answer.at('data')).toMatchObject({
      isHealthy: true,
      items: expect.arrayContaining([{ check: 'store', state: 'ok', found: 'ok', advice: null }]),
    });
  });

  it('shows its last log lines, newest first, by level and text, page by page', async () => {
    const first = await get('/v1/system/log?limit=1&text=/V1/system');
    expect(first.at('data.items.0')).toMatchObject({ level: 'info', message: 'request' });
    const second = await get(`/v1/system/log?limit=1&cursor=${first.at('data.nextCursor')}`);
    expect(second.at('data.items.0.number')).toBeLessThan(first.at('data.items.0.number') as number);
    expect((await get('/v1/system/log?level=error')).at('data.items')).toEqual([]);
    for (const forged of ['log:all', 'log:-1', 'log:1e3', 'log:0', 'rows:1']) {
      const cursor = Buffer.from(forged).toString('base64url');
      const refused = await get(`/v1/system/log?cursor=${cursor}`);
      expect([refused.statusCode, refused.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    }
  });
});
