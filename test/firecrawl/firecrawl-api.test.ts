import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, newSecret } from '../../src/capabilities/accounts/api-key.ts';
import type { AccountId, JobId } from '../../src/core/model/ids.ts';
import type { KeyScope } from '../../src/core/ports/key-store.ts';
import { makePdf } from '../../src/extract/documents/pdf/pdf.fixture.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { type FirecrawlWorld, openFirecrawlWorld } from './firecrawl-world.ts';

const SETTINGS_SECRET = 'the secret of the settings';
let world: FirecrawlWorld;
let receiver: Receiver;
let site = '';
beforeAll(async () => {
  receiver = await startReceiver();
  world = await openFirecrawlWorld({ settings: { firecrawlWebhookSecret: SETTINGS_SECRET } });
  site = world.small.origin;
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

/** What these tests read of the answers of all calls; the rest is compared as it came. */
interface AnswerBody {
  readonly success: boolean;
  readonly id: string;
  readonly code?: string;
  readonly error?: string;
  readonly crawls?: unknown;
  readonly links?: readonly string[];
  readonly data: {
    readonly web?: unknown;
    readonly markdown?: string;
    readonly metadata: { readonly scrapeId: string; readonly cacheState?: string };
    readonly changeTracking: {
      readonly changeStatus: string;
      readonly diff: { readonly text: string; readonly json: { readonly files: readonly unknown[] } };
    };
  };
}

interface Answer {
  readonly status: number;
  readonly body: AnswerBody;
}

async function send(method: string, path: string, body?: unknown, secret = world.secret): Promise<Answer> {
  const isText = typeof body === 'string';
  const answer = await fetch(`${world.origin}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${secret}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as AnswerBody };
}

/** A key of an account of its own. */
async function keyOf(account: string, scopes: readonly KeyScope[]): Promise<string> {
  const { store } = world.platform;
  await world.call({ method: 'POST', url: '/v1/accounts', payload: { id: account, name: account } });
  const secret = newSecret();
  const options = { name: 'test', scopes, ratePerMinute: null, expiresAt: null };
  await store.createKey(newKey(account as AccountId, secret, options, Date.now()));
  return secret;
}

const ended = (id: string) => world.platform.jobs.waitFor(id as JobId, 60_000);
const MISSING = '01900000-0000-7000-8000-000000000000';

describe('errors', () => {
  it('have the envelope and the words that clients know', async () => {
    expect(await send('GET', '/')).toEqual({
      status: 200,
      body: { message: 'Firecrawl API', documentation_url: 'https://docs.firecrawl.dev' },
    });
    expect(await send('POST', '/v2/scrape', '{"url"')).toEqual({
      status: 400,
      body: { success: false, code: 'BAD_REQUEST_INVALID_JSON', error: 'Bad request, malformed JSON' },
    });
    const unauthorized = (text: string) => ({
      status: 401,
      body: { success: false, error: `Unauthorized: ${text}` },
    });
    expect(await send('POST', '/v2/scrape', { url: site }, 'wrong')).toEqual(unauthorized('Invalid token'));
    expect(await send('POST', '/v2/scrape', { url: site }, '')).toEqual(unauthorized('Token missing'));
    expect(await send('POST', '/v2/scrape', { url: site, surprise: 1 })).toMatchObject({
      status: 400,
      body: {
        success: false,
        code: 'BAD_REQUEST',
        error: expect.stringContaining('Unrecognized key in body'),
      },
    });
    expect(await send('POST', '/v2/scrape', { url: 'ftp://a.example' })).toMatchObject({
      status: 400,
      body: { success: false, code: 'BAD_REQUEST', error: expect.stringContaining('Invalid URL') },
    });
    expect(await send('GET', '/v2/nowhere')).toMatchObject({ status: 404, body: { success: false } });
    expect(await send('POST', '/v2/agent', {})).toMatchObject({
      status: 501,
      body: { code: 'NOT_SUPPORTED' },
    });
  });

  it('tell an id that is none from a job that is not there', async () => {
    for (const path of ['crawl', 'batch/scrape', 'scrape', 'extract']) {
      expect(await send('GET', `/v2/${path}/nonsense`)).toEqual({
        status: 400,
        body: { success: false, error: 'Invalid job ID format. Job ID must be a valid UUID.' },
      });
      expect(await send('GET', `/v2/${path}/${MISSING}`)).toEqual({
        status: 404,
        body: { success: false, error: 'Job not found' },
      });
    }
  });

  it('refuse options that cannot be honoured, each by its name', async () => {
    const options = [{ delay: 1 }, { prompt: 'only blog' }, { robotsUserAgent: 'Bot' }];
    for (const option of options) {
      const { status, body } = await send('POST', '/v2/crawl', { url: site, ...option });
      expect([status, body.code]).toEqual([400, 'UNSUPPORTED_OPTION']);
      expect(body.error).toContain(Object.keys(option)[0]);
    }
    const stealth = await send('POST', '/v2/scrape', { url: site, proxy: 'stealth' });
    expect([stealth.status, stealth.body.code]).toEqual([403, 'CONSENT_REQUIRED']);
    const robots = await send('POST', '/v2/crawl', { url: site, ignoreRobotsTxt: true });
    expect([robots.status, robots.body.code]).toEqual([403, 'CONSENT_REQUIRED']);
    const json = [{ type: 'json', schema: { type: 'object', properties: { a: { type: 'string' } } } }];
    const llm = await send('POST', '/v2/scrape', { url: site, formats: json });
    expect([llm.status, llm.body.code]).toEqual([400, 'UNSUPPORTED_OPTION']);
  });
});

describe('accounts', () => {
  it('see jobs of others like missing ones, over HTTP and over a WebSocket', async () => {
    const other = await keyOf('other', ['admin']);
    const { body: crawl } = await send('POST', '/v2/crawl', { url: `${site}/docs` });
    const { body: batch } = await send('POST', '/v2/batch/scrape', { urls: [`${site}/blog`] });
    const { body: scrape } = await send('POST', '/v2/scrape', { url: `${site}/blog` });
    await ended(crawl.id);
    const calls = [
      ['GET', `/crawl/${crawl.id}`],
      ['GET', `/crawl/${crawl.id}/errors`],
      ['DELETE', `/crawl/${crawl.id}`],
      ['GET', `/batch/scrape/${batch.id}`],
      ['GET', `/batch/scrape/${batch.id}/errors`],
      ['DELETE', `/batch/scrape/${batch.id}`],
      ['GET', `/extract/${batch.id}`],
    ] as const;
    for (const version of ['/v1', '/v2']) {
      for (const [method, path] of calls) {
        const kind = path.split('/').slice(0, -1).join('/').replace(crawl.id, MISSING);
        const missing = await send(
          method,
          `${version}${path.replace(/[0-9a-f-]{36}/, MISSING)}`,
          undefined,
          other,
        );
        expect(await send(method, `${version}${path}`, undefined, other), `${method} ${kind}`).toEqual(
          missing,
        );
        expect(missing.status).toBe(404);
      }
    }
    const ofScrape = await send('GET', `/v2/scrape/${scrape.data.metadata.scrapeId}`, undefined, other);
    expect(ofScrape).toEqual({ status: 404, body: { success: false, error: 'Job not found' } });
    expect((await send('GET', '/v2/crawl/active', undefined, other)).body.crawls).toEqual([]);
    await world.platform.settleReaders();
    expect((await send('POST', '/v2/search', { query: 'garden' }, other)).body.data.web).toEqual([]);
    expect(await closeOf(crawl.id, other)).toEqual([1008, '{"type":"error","error":"Job not found"}']);
    expect(await closeOf(MISSING, other)).toEqual([1008, '{"type":"error","error":"Job not found"}']);
    expect(await closeOf(crawl.id, 'wrong')).toEqual([3000, '{"type":"error","error":"Unauthorized"}']);
  });

  it('need a key with the scope of each call', async () => {
    const reader = await keyOf('reader', ['jobs:read']);
    for (const path of ['scrape', 'crawl', 'batch/scrape', 'map', 'extract']) {
      const { status, body } = await send('POST', `/v2/${path}`, { url: site }, reader);
      expect([status, body.success], path).toEqual([403, false]);
    }
    expect((await send('GET', '/v2/team/credit-usage', undefined, reader)).status).toBe(200);
    const scraper = await keyOf('scraper', ['scrape']);
    expect((await send('GET', '/v2/crawl/active', undefined, scraper)).status).toBe(403);
  });

  function closeOf(id: string, secret: string): Promise<[number, string]> {
    const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/v2/crawl/${id}`, secret);
    return new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => resolve([code, reason]));
    });
  }
});

it('serves the same on the port of the other routes: v2 at the root, both below /firecrawl', async () => {
  const headers = { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' };
  for (const path of ['/v2', '/firecrawl/v2', '/firecrawl/v1']) {
    const answer = await fetch(`${world.mainOrigin}${path}/batch/scrape`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ urls: [`${site}/blog`] }),
    });
    const { url, id } = (await answer.json()) as { url: string; id: string };
    expect(url).toBe(`${world.mainOrigin}${path}/batch/scrape/${id}`);
    expect((await fetch(url, { headers })).status).toBe(200);
  }
  const own = await fetch(`${world.mainOrigin}/v1/scrape`, { method: 'POST', headers, body: '{}' });
  expect(await own.json()).toMatchObject({ error: { code: 'VALIDATION_FAILED' } });
});

describe('webhooks', () => {
  const messages = (id: string) =>
    receiver.received
      .map((each) => ({ ...each, json: JSON.parse(each.body) }))
      .filter(({ json }) => json.id === id);

  it('are written and signed as receivers expect it', async () => {
    const webhook = { url: `${receiver.url}/hook`, metadata: { shop: 7 }, headers: { 'x-mine': 'yes' } };
    const { body } = await send('POST', '/v2/crawl', { url: `${site}/docs`, webhook });
    await expect.poll(() => messages(body.id).length, { timeout: 20_000 }).toBe(5);
    const sent = messages(body.id);
    expect(sent.map(({ json }) => json.type)).toEqual([
      'crawl.started',
      'crawl.page',
      'crawl.page',
      'crawl.page',
      'crawl.completed',
    ]);
    expect(sent[1]?.json).toMatchObject({
      success: true,
      metadata: { shop: 7 },
      data: [{ markdown: expect.any(String), metadata: { statusCode: 200 } }],
    });
    for (const { headers, body: text } of sent) {
      const signature = createHmac('sha256', SETTINGS_SECRET).update(text).digest('hex');
      expect(headers['x-firecrawl-signature']).toBe(`sha256=${signature}`);
      expect(headers['x-mine']).toBe('yes');
    }
  });

  it('of another account are never signed with the secret of the settings', async () => {
    const other = await keyOf('hooked', ['admin']);
    const start = (secret?: string) =>
      send(
        'POST',
        '/v1/batch/scrape',
        {
          urls: [`${site}/blog`],
          webhook: {
            url: `${receiver.url}/hook`,
            events: ['completed'],
            ...(secret === undefined ? {} : { secret }),
          },
        },
        other,
      );
    const [{ body: plain }, { body: signed }] = [await start(), await start('a secret of its own')];
    await expect
      .poll(() => [...messages(plain.id), ...messages(signed.id)].length, { timeout: 20_000 })
      .toBe(2);
    expect(messages(plain.id)[0]?.headers['x-firecrawl-signature']).toBeUndefined();
    const [own] = messages(signed.id);
    const signature = createHmac('sha256', 'a secret of its own')
      .update(own?.body ?? '')
      .digest('hex');
    expect(own?.headers['x-firecrawl-signature']).toBe(`sha256=${signature}`);
    expect(own?.json.type).toBe('batch_scrape.completed');
  });
});

it('tracks changes from one scrape to the next', async () => {
  const body = {
    url: `${site}/watched`,
    formats: ['markdown', { type: 'changeTracking', modes: ['git-diff'] }],
  };
  const text = (word: string) =>
    `<main><h1>Watched</h1><p>The price of a ${word} is written on this page, and it may change.</p></main>`;
  const scrape = async () => {
    const { body: answer } = await send('POST', '/v2/scrape', body);
    await world.platform.settleReaders();
    return answer.data.changeTracking;
  };
  world.small.pages.set('/watched', { body: text('turnip') });
  expect(await scrape()).toMatchObject({ changeStatus: 'new', previousScrapeAt: null });
  expect(await scrape()).toMatchObject({ changeStatus: 'same', previousScrapeAt: expect.any(String) });
  world.small.pages.set('/watched', { body: text('potato') });
  const changed = await scrape();
  expect(changed.changeStatus).toBe('changed');
  expect(changed.diff.text).toMatch(/^-.*turnip.*\n\+.*potato/m);
  expect(changed.diff.json.files[0]).toMatchObject({ additions: 1, deletions: 1 });
});

it('answers no later request with a page that was scraped with storeInCache: false, by whatever route', async () => {
  const cacheState = async (path: string) => {
    const { body } = await send('POST', '/v2/scrape', { url: `${site}${path}`, maxAge: 60_000 });
    return body.data.metadata.cacheState;
  };
  const hide = { storeInCache: false };
  world.small.pages.set('/uncached', { body: '<h1>Uncached</h1>' });
  world.small.pages.set('/uncached-too', { body: '<h1>Uncached</h1>' });
  const { body: first } = await send('POST', '/v2/scrape', { url: `${site}/uncached`, ...hide });
  expect(first.data.markdown).toContain('Uncached');
  const { body: batch } = await send('POST', '/v1/batch/scrape', { urls: [`${site}/uncached-too`], ...hide });
  await ended(batch.id);
  expect([await cacheState('/uncached'), await cacheState('/uncached-too')]).toEqual(['miss', 'miss']);
  // The requests of the line before were allowed to keep the two pages.
  expect([await cacheState('/uncached'), await cacheState('/uncached-too')]).toEqual(['hit', 'hit']);
  expect((await ended(first.data.metadata.scrapeId)).options.search).toBeUndefined();
});

it('keeps the history that changeTracking needs, whether or not the page may be cached', async () => {
  world.small.pages.set('/tracked', {
    body: '<main><h1>Tracked</h1><p>The same words each time.</p></main>',
  });
  const scrape = async () => {
    const formats = ['markdown', 'changeTracking'];
    const { body } = await send('POST', '/v2/scrape', {
      url: `${site}/tracked`,
      formats,
      storeInCache: false,
    });
    await world.platform.settleReaders();
    return body.data.changeTracking.changeStatus;
  };
  expect([await scrape(), await scrape()]).toEqual(['new', 'same']);
});

it('forgets a map with zeroDataRetention, and lists only what is below the path where v1 asks for that', async () => {
  const { body } = await send('POST', '/v2/map', { url: `${site}/`, zeroDataRetention: true });
  const job = await ended(body.id);
  expect(job.options.retention).toMatchObject({ jobsMs: 3_600_000 });
  world.small.pages.set('/hand/', { body: '<a href="/hand/book">Book</a> <a href="/other">Other</a>' });
  const map = async (more: object) => {
    const { body: mapped } = await send('POST', '/v1/map', {
      url: `${site}/hand/`,
      sitemap: 'skip',
      ...more,
    });
    return mapped.links?.map((url) => new URL(url).pathname).sort();
  };
  expect(await map({ filterByPath: true })).toEqual(['/hand/', '/hand/book']);
  expect(await map({})).toEqual(['/hand/', '/hand/book', '/other']);
});

it('says how many pages of a PDF were read, and reads as many as are asked for', async () => {
  const pages = Array.from({ length: 4 }, (_, n) => [[12, `Page ${n + 1}`] as const]);
  const parse = async (parsers: unknown) => {
    const form = new FormData();
    form.set('file', new File([new Uint8Array(makePdf({ pages }))], 'a.pdf', { type: 'application/pdf' }));
    form.set('options', JSON.stringify({ parsers }));
    const answer = await fetch(`${world.origin}/v2/parse`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.secret}` },
      body: form,
    });
    return ((await answer.json()) as { data: { markdown: string; warning?: string; metadata: object } }).data;
  };
  expect(await parse([{ type: 'pdf', maxPages: 3 }])).toMatchObject({
    markdown: 'Page 1\n\nPage 2\n\nPage 3',
    warning: 'Only the first 3 of 4 pages were read.',
    metadata: { numPages: 3, totalPages: 4 },
  });
  const whole = await parse(['pdf']);
  expect(whole.metadata).toMatchObject({ numPages: 4, totalPages: 4 });
  expect(whole.warning).toBeUndefined();
});

it('forgets a job with zeroDataRetention, and takes a page from the cache by maxAge', async () => {
  const { body: kept } = await send('POST', '/v2/scrape', { url: `${site}/imprint` });
  expect(kept.data.metadata.cacheState).toBeUndefined();
  const { body: again } = await send('POST', '/v2/scrape', { url: `${site}/imprint`, maxAge: 60_000 });
  expect(again.data.metadata).toMatchObject({ cacheState: 'hit', cachedAt: expect.any(String) });
  const { body } = await send('POST', '/v2/scrape', { url: `${site}/imprint`, zeroDataRetention: true });
  const job = await ended(body.data.metadata.scrapeId);
  expect(job.options.retention).toMatchObject({ bodiesMs: 3_600_000, jobsMs: 3_600_000 });
  expect(job.options.search).toBeUndefined();
});
