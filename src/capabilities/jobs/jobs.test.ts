import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import type { AccountId, HostKey, JobId } from '../../core/model/ids.ts';
import { parseRequest } from './request/invalid-request.ts';
import {
  batchRequestSchema,
  crawlRequestSchema,
  mapRequestSchema,
  scrapeRequestSchema,
} from './request/job-request.ts';

const account = 'default' as AccountId;
const stranger = 'stranger' as AccountId;
const url = 'https://example.com/';
const scrape = (given: object = {}) => parseRequest(scrapeRequestSchema, { url, ...given });
const batch = (count: number, given: object = {}) =>
  parseRequest(batchRequestSchema, {
    urls: Array.from({ length: count }, (_, each) => `${url}${each}`),
    ...given,
  });

let platform: Platform;
beforeEach(async () => {
  platform = await openPlatform({ maxQueuedUrls: 50 });
});
afterEach(() => platform.close());

describe('scraping at once', () => {
  it('answers with the page and how it came about', async () => {
    await platform.work(() => DONE);
    const result = await platform.jobs.scrapeNow(scrape({ formats: ['text', 'rawHtml', 'links'] }), account);
    expect(result).toMatchObject({
      url,
      statusCode: 200,
      text: 'body',
      rawHtml: '<p>body</p>',
      links: [{ url: 'https://example.com/next' }],
      trace: { decision: 'fetched', rule: null, attempts: [{ engine: 'http' }], timings: { fetchMs: 3 } },
    });
    expect(result).not.toHaveProperty('metadata');
    expect(result).not.toHaveProperty('html');
  });

  it('succeeds with whatever status the host answered', async () => {
    await platform.work(() => ({
      end: { state: 'failed', rule: null, errorCode: 'HTTP_ERROR' },
      statusCode: 404,
    }));
    const result = await platform.jobs.scrapeNow(scrape(), account);
    expect(result).toMatchObject({ statusCode: 404, error: { code: 'HTTP_ERROR' } });
  });

  it('throws the reason when nothing was answered', async () => {
    await platform.work(() => ({
      end: { state: 'failed', rule: null, errorCode: 'DNS_FAILED' },
      statusCode: null,
      errorMessage: 'no such host',
    }));
    await expect(platform.jobs.scrapeNow(scrape(), account)).rejects.toMatchObject({
      code: 'DNS_FAILED',
      message: 'no such host',
    });
  });

  it('gives up waiting, never the job, and says which one', async () => {
    const waiting = platform.jobs.scrapeNow(scrape({ timeoutMs: 1_000 }), account);
    const error = await waiting.then(
      () => null,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'REQUEST_TIMEOUT' });
    const { jobId } = error.details as { jobId: JobId };
    await platform.work(() => DONE);
    expect(await platform.jobs.waitFor(jobId, 60_000)).toMatchObject({ status: 'completed' });
  });

  it('names the limit of the caller and the last reason when an attempt took all its time', async () => {
    const attempt = {
      engine: 'browser',
      proxyTier: null,
      reason: 'plan.requested',
      outcome: 'error',
      errorCode: 'TASK_TIMEOUT',
      evidence: 'Loading example.com until load took longer than 1000 ms',
      statusCode: null,
      ms: 1_000,
      bytes: 0,
      at: new Date().toISOString(),
    } as const;
    const waiting = platform.jobs.scrapeNow(scrape({ timeoutMs: 1_000, engine: 'browser' }), account);
    const lease = await vi.waitFor(
      async () => {
        const owned = await platform.store.acquireHost('example.com' as HostKey, 'test', 30_000);
        if (owned === null) throw new Error('not yet');
        return owned;
      },
      { timeout: 20_000 },
    );
    const [task] = await platform.store.claimTasks(lease, 1, []);
    if (task === undefined) throw new Error('no task');
    const end = { state: 'waiting', readyAt: Date.now(), rule: 'retry:TASK_TIMEOUT' } as const;
    const { id: taskId, jobSeq } = task;
    await platform.store.commit([
      { lease, taskId, jobSeq, end, trace: [attempt], bytes: 0, page: null, discovered: [] },
    ]);
    const error = await waiting.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'TASK_TIMEOUT', details: { attempts: [attempt] } });
    expect(String(error)).toMatch(/Not ready within 1000 ms; .*longer than 1000 ms/);
  });

  it('is told at once what keeps the page for longer than it waits, and the job is cancelled', async () => {
    const readyAt = Date.now() + 3_600_000;
    await platform.work(() => ({ end: { state: 'waiting', readyAt, rule: 'retry:HOST_RATE_LIMITED' } }));
    const error = await platform.jobs.scrapeNow(scrape(), account).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'HOST_RATE_LIMITED',
      message: `example.com asked to wait until ${new Date(readyAt).toISOString()}.`,
      details: { host: 'example.com', until: new Date(readyAt).toISOString() },
    });
    const { jobId } = (error as { details: { jobId: JobId } }).details;
    expect(await platform.jobs.get(jobId, account)).toMatchObject({
      status: 'cancelled',
      stopReason: 'wait:HOST_RATE_LIMITED',
      counters: { open: 0, cancelled: 1 },
    });
  });

  it('is told at once that no browser is free, although the page is tried again soon', async () => {
    const readyAt = Date.now() + 10_000;
    await platform.work(() => ({ end: { state: 'waiting', readyAt, rule: 'own-fault:BROWSERS_BUSY' } }));
    await expect(platform.jobs.scrapeNow(scrape(), account)).rejects.toMatchObject({ code: 'BROWSERS_BUSY' });
  });

  it('has the time of the next request for robots.txt when that could not be read', async () => {
    const now = Date.now();
    await platform.store.putRobots({
      origin: 'https://example.com',
      status: 'unreachable',
      body: '',
      fetchedAt: now,
      expiresAt: now + 600_000,
      reason: 'HTTP 500',
      interruptions: 0,
      failures: 0,
    });
    const end = {
      state: 'failed',
      rule: 'robots.unreachable: HTTP 500',
      errorCode: 'ROBOTS_UNREACHABLE',
    } as const;
    await platform.work(() => ({ end }));
    const error = await platform.jobs.scrapeNow(scrape(), account).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'ROBOTS_UNREACHABLE',
      details: { until: new Date(now + 600_000).toISOString() },
    });
    expect((error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(500_000);
  });

  it('stops waiting when the caller leaves or the process stops', async () => {
    const caller = new AbortController();
    const leaving = platform.jobs.scrapeNow(scrape(), account, { signal: caller.signal });
    caller.abort();
    await expect(leaving).rejects.toMatchObject({ code: 'CANCELLED' });
    const stopping = platform.jobs.scrapeNow(scrape(), account);
    const list = () => platform.jobs.list({ accountId: account, limit: 10 });
    await expect.poll(async () => (await list()).items.length).toBe(2);
    platform.jobs.close();
    await expect(stopping).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

describe('waiting for a job', () => {
  it('that has ended already returns at once', async () => {
    await platform.work(() => DONE);
    const { id } = await platform.jobs.scrapeNow(scrape(), account);
    expect(await platform.jobs.waitFor(id, 1_000)).toMatchObject({ id, status: 'completed' });
  });

  it('that does not exist is an error', async () => {
    await expect(platform.jobs.waitFor(platform.jobs.newId(), 1_000)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('a job', () => {
  it('is stored with all its URLs before anybody hears of it', async () => {
    const heard: string[] = [];
    platform.bus.subscribe('host.ready', ({ hosts }) => {
      heard.push(...hosts);
    });
    const job = await platform.jobs.batch(batch(20), account);
    expect(job).toMatchObject({ kind: 'batch', status: 'queued', counters: { known: 20, open: 20 } });
    await expect.poll(() => heard).toEqual(['example.com']);
    expect(await platform.queue.depth('scrape-http')).toEqual({ waiting: 1, active: 0 });
  });

  it('belongs to its account', async () => {
    const { id } = await platform.jobs.scrape(scrape(), account);
    for (const act of [
      () => platform.jobs.get(id, stranger),
      () => platform.jobs.cancel(id, stranger),
      () => platform.jobs.resume(id, stranger),
      () => platform.jobs.retry(id, stranger),
      () => platform.jobs.delete(id, stranger),
      () => platform.jobs.get('nonsense', account),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  it('too large for the queue is refused whole', async () => {
    await platform.jobs.batch(batch(40), account);
    await expect(platform.jobs.batch(batch(11), account)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await platform.jobs.batch(batch(10), account);
    expect((await platform.jobs.list({ accountId: account, limit: 10 })).items).toHaveLength(2);
  });

  it('can be cancelled, resumed and finished', async () => {
    const { id } = await platform.jobs.batch(batch(5), account);
    expect(await platform.jobs.cancel(id, account)).toMatchObject({
      status: 'cancelled',
      counters: { cancelled: 5 },
    });
    await expect(platform.jobs.cancel(id, account)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The job has ended (cancelled); there is nothing to cancel.',
    });
    const wait = platform.jobs.waitFor(id, 60_000);
    await wait;
    await platform.jobs.resume(id, account);
    await platform.work(() => DONE);
    expect(await platform.jobs.waitFor(id, 60_000)).toMatchObject({
      status: 'completed',
      counters: { done: 5 },
    });
    await expect(platform.jobs.resume(id, account)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('whose budget was spent goes on with a larger one', async () => {
    await platform.work(() => DONE);
    const request = parseRequest(crawlRequestSchema, {
      urls: batch(5).urls,
      maxPages: 2,
      sitemap: 'skip',
    });
    const { id } = await platform.jobs.crawl(request, account);
    const stopped = await platform.jobs.waitFor(id, 60_000);
    expect(stopped).toMatchObject({ stopReason: 'budget.pages', counters: { pages: 2 } });
    const eventsOf = () => platform.store.listEvents({ accountId: account, after: null, limit: 100 });
    const before = await eventsOf();
    await expect(platform.jobs.resume(id, account, { maxPages: 1 })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The job stopped at its limit of 1 page. Resume it with a higher limit.',
    });
    expect(await platform.jobs.get(id, account)).toEqual(stopped);
    expect(await eventsOf()).toEqual(before);
    await platform.jobs.resume(id, account, { maxPages: null });
    expect(await platform.jobs.waitFor(id, 60_000)).toMatchObject({
      stopReason: null,
      counters: { pages: 5 },
    });
  });

  it('tries again what failed, and nothing else', async () => {
    const tried: string[] = [];
    let isBroken = true;
    await platform.work((task) => {
      tried.push(task.url);
      return isBroken && task.url.endsWith('/1')
        ? { end: { state: 'failed', rule: null, errorCode: 'CONNECTION_RESET' }, statusCode: null }
        : DONE;
    });
    const { id } = await platform.jobs.batch(batch(3), account);
    expect(await platform.jobs.waitFor(id, 60_000)).toMatchObject({ status: 'partially_completed' });
    const job = await platform.jobs.get(id, account);
    expect(await platform.jobs.read.errors(job, { state: 'failed', limit: 10 })).toMatchObject({
      items: [{ url: `${url}1`, code: 'CONNECTION_RESET', retryable: true }],
    });
    isBroken = false;
    await platform.jobs.retry(id, account);
    expect(await platform.jobs.waitFor(id, 60_000)).toMatchObject({ status: 'completed' });
    expect(tried.filter((each) => each === `${url}1`)).toHaveLength(2);
    expect(tried).toHaveLength(4);
    await expect(platform.jobs.retry(id, account)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is deleted with its pages once it has ended', async () => {
    const { id } = await platform.jobs.batch(batch(2), account);
    await expect(platform.jobs.delete(id, account)).rejects.toMatchObject({ code: 'CONFLICT' });
    await platform.work(() => DONE);
    await platform.jobs.waitFor(id, 60_000);
    await platform.jobs.delete(id, account);
    await expect(platform.jobs.get(id, account)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('what is done by consent', () => {
  it('is in the audit log', async () => {
    const consenting = await openPlatform({}, { consents: () => true });
    const plain = await consenting.jobs.scrape(scrape(), account);
    const { id } = await consenting.jobs.scrape(scrape({ obeyRobots: false }), account);
    const { items: audit } = await consenting.store.listAudit({ limit: 10 });
    expect(audit).toMatchObject([{ action: 'consent.use', target: id, details: { consents: ['robots'] } }]);
    expect(audit).not.toMatchObject([{ target: plain.id }]);
    await consenting.close();
  });
});

describe('a map', () => {
  it('lists what was found, and says when there was more', async () => {
    const listed = (number: number) => ({
      kind: 'page' as const,
      url: `${url}${number}`,
      urlKey: `key-${number}` as never,
      hostKey: 'example.com' as never,
      depth: 1,
      foundBy: 'link' as const,
      foundOn: null,
      state: 'skipped' as const,
      rule: number === 3 ? ('scope.exclude:3' as const) : ('map.listed' as const),
    });
    await platform.work((task) =>
      task.kind === 'page' ? { ...DONE, discovered: [1, 2, 3].map(listed) } : DONE,
    );
    const map = (given: object) =>
      platform.jobs.mapNow(parseRequest(mapRequestSchema, { url, ...given }), account);
    expect(await map({})).toMatchObject({ urls: [url, `${url}1`, `${url}2`], isTruncated: false });
    expect(await map({ limit: 2 })).toMatchObject({ urls: [url, `${url}1`], isTruncated: true });
  });

  it('of a site that cannot be reached is an error', async () => {
    await platform.work(() => ({ end: { state: 'failed', rule: null, errorCode: 'CONNECT_FAILED' } }));
    const map = platform.jobs.mapNow(parseRequest(mapRequestSchema, { url }), account);
    await expect(map).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
  });
});

describe('results', () => {
  it('come in slices that fit together, and in one stream', async () => {
    await platform.work(() => DONE);
    const { id } = await platform.jobs.batch(batch(25, { options: { formats: ['text'] } }), account);
    const job = await platform.jobs.waitFor(id, 60_000);
    const urls: string[] = [];
    let cursor: string | undefined;
    do {
      const slice = await platform.jobs.read.results(job, { limit: 7, cursor });
      expect(slice.items.length).toBeLessThanOrEqual(7);
      urls.push(...slice.items.map((item) => item.url));
      cursor = slice.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(urls).size).toBe(25);
    const streamed: string[] = [];
    for await (const result of platform.jobs.read.eachResult(job)) streamed.push(result.url);
    expect(streamed).toEqual(urls);
  });
});
