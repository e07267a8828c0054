import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey, newSecret } from '../../src/capabilities/accounts/api-key.ts';
import type { AccountId, JobId } from '../../src/core/model/ids.ts';
import { type FirecrawlWorld, openFirecrawlWorld } from './firecrawl-world.ts';

let world: FirecrawlWorld;
let site = '';
beforeAll(async () => {
  world = await openFirecrawlWorld();
  site = world.small.origin;
});
afterAll(() => world.close());

interface Answer {
  readonly success: boolean;
  readonly id?: JobId;
  readonly code?: string;
  readonly warning?: string;
  readonly error?: { readonly code: string };
  readonly details?: readonly { readonly field: string }[];
  readonly data?: { readonly changeTracking: { readonly changeStatus: string } };
}

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  origin = world.origin,
) {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${origin}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${world.secret}`,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

it('answers for a batch that is no extract like for a missing extract', async () => {
  const { body } = await send('POST', '/v2/batch/scrape', { urls: [`${site}/blog`] });
  await world.platform.jobs.waitFor(body.id ?? ('none' as JobId), 60_000);
  for (const version of ['v1', 'v2']) {
    expect(await send('GET', `/${version}/extract/${body.id}`)).toEqual({
      status: 404,
      body: { success: false, error: 'Job not found' },
    });
  }
});

describe('a webhook', () => {
  it.each([
    ['a line break in a value', { 'x-mine': 'a\r\nx-other: b' }],
    ['a length of its own', { 'Content-Length': '5' }],
    ['an encoding of its own', { 'Transfer-Encoding': 'chunked' }],
    ['a host of its own', { Host: 'other.example' }],
    ['a bad name', { 'x mine': 'a' }],
    ['an empty name', { '': 'a' }],
    ['a value that is not ASCII', { 'x-mine': 'ü€' }],
    ['a value of 100 KB', { 'x-mine': 'a'.repeat(100_000) }],
  ])('whose headers could not be sent is refused: %s', async (_what, headers) => {
    const webhook = { url: 'https://hooks.example/', headers };
    for (const [path, of] of [
      ['/v1/crawl', { url: site }],
      ['/v2/batch/scrape', { urls: [site] }],
    ] as const) {
      const { status, body } = await send('POST', path, { ...of, webhook });
      expect([status, body.success, body.code]).toEqual([400, false, 'BAD_REQUEST']);
    }
  });
});

it.each([
  ['/v2/scrape', 'poor'],
  ['/v1/scrape', 'poor-too'],
])('%s answers 402 when credits run out, also while scrapes are under way', async (path, account) => {
  const origin = path.startsWith('/v1') ? world.mainOrigin : world.origin;
  await world.call({ method: 'POST', url: '/v1/accounts', payload: { id: account, name: account } });
  await world.call({ method: 'PUT', url: `/v1/accounts/${account}/credits`, payload: { monthlyCredits: 7 } });
  const secret = newSecret();
  const options = { name: 'test', scopes: ['admin'] as const, ratePerMinute: null, expiresAt: null };
  await world.platform.store.createKey(newKey(account as AccountId, secret, options, Date.now()));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      send('POST', path, { url: `${site}/blog?${n}` }, { authorization: `Bearer ${secret}` }, origin),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused.map(({ status, body }) => `${status} ${body.code ?? body.error?.code}`))).toEqual(
    new Set(['402 CREDITS_EXHAUSTED']),
  );
});

describe('an option that would have no effect is refused', () => {
  const tracking = (more: object) => ({ formats: ['markdown', { type: 'changeTracking', ...more }] });
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  it.each<[string, string, object]>([
    ['fastMode beside stealth', '/v2/scrape', { fastMode: true, proxy: 'stealth' }],
    [
      'windows of different sizes',
      '/v2/scrape',
      {
        actions: [
          { type: 'screenshot', viewport: { width: 800, height: 600 } },
          { type: 'screenshot', viewport: { width: 400, height: 600 } },
        ],
      },
    ],
    ['changeTracking of what is not retained', '/v2/scrape', { zeroDataRetention: true, ...tracking({}) }],
    ['a schema of changeTracking', '/v2/scrape', tracking({ schema })],
    [
      'a prompt of changeTracking',
      '/v1/scrape',
      { formats: ['markdown', 'changeTracking'], changeTrackingOptions: { prompt: 'x' } },
    ],
    [
      'an agent of jsonOptions',
      '/v1/scrape',
      { formats: ['json'], jsonOptions: { schema, agent: { model: 'x' } } },
    ],
    ['a mode of jsonOptions', '/v1/scrape', { formats: ['json'], jsonOptions: { schema, mode: 'x' } }],
    ['a filter of the search', '/v1/search', { query: 'x', filter: 'y' }],
    ['a location of a search over stored pages', '/v2/search', { query: 'x', location: 'Berlin' }],
    ['includeSubdomains of extract', '/v2/extract', { schema, includeSubdomains: true }],
    ['ignoreSitemap of extract', '/v2/extract', { schema, ignoreSitemap: true }],
    ['a limit of extract', '/v2/extract', { schema, limit: 1 }],
  ])('%s', async (_what, path, options) => {
    const isExtract = path.endsWith('extract');
    const target = isExtract ? { urls: [`${site}/`, `${site}/blog`] } : { url: `${site}/` };
    const { status, body } = await send('POST', path, {
      ...(path.endsWith('search') ? {} : target),
      ...options,
    });
    expect([status, body.code]).toEqual([400, expect.stringMatching(/^(?:UNSUPPORTED_OPTION|BAD_REQUEST)$/)]);
  });

  it('but what clients of v1 send with each search is answered with a warning', async () => {
    const { status, body } = await send('POST', '/v1/search', { query: 'x', lang: 'en', country: 'us' });
    expect([status, body.warning]).toEqual([200, expect.stringContaining('no effect')]);
  });
});

it('compares with a scrape that was answered just before', async () => {
  world.small.pages.set('/fresh', {
    body: '<main><h1>Fresh</h1><p>The page is the same each time.</p></main>',
  });
  const scrape = () =>
    send('POST', '/v2/scrape', { url: `${site}/fresh`, formats: ['markdown', 'changeTracking'] });
  expect((await scrape()).body.data?.changeTracking.changeStatus).toBe('new');
  expect((await scrape()).body.data?.changeTracking.changeStatus).toBe('same');
  world.small.pages.delete('/fresh');
  expect((await scrape()).body.data?.changeTracking.changeStatus).toBe('removed');
});

describe('parse', () => {
  const noise = Uint8Array.from({ length: 4_000 }, (_, at) => (at * at * 31 + at * 7) % 256);

  it.each([
    ['bytes that are no PDF', 'report.pdf', 'application/pdf', noise],
    ['a PDF that breaks off', 'report.pdf', 'application/pdf', Buffer.from('%PDF-1.7\n1 0 obj\n<<')],
    ['a broken text document', 'letter.docx', '', Buffer.concat([Buffer.from('PK\x03\x04'), noise])],
    ['a program', 'setup.exe', '', Buffer.concat([Buffer.from('MZ\x90\x00\x03'), noise])],
  ])('refuses %s', async (_what, name, type, bytes) => {
    const form = new FormData();
    form.append('file', new File([new Uint8Array(bytes)], name, { type }));
    const { status, body } = await send('POST', '/v2/parse', form);
    expect([status, body.success, body.code]).toEqual([400, false, 'SCRAPE_UNSUPPORTED_FILE_ERROR']);
  });
});

it.each([
  ['/v1/map', 'ignoreSitemap'],
  ['/v1/map', 'sitemapOnly'],
  ['/v1/crawl', 'ignoreSitemap'],
])('%s refuses %s that is neither true nor false', async (path, field) => {
  for (const value of ['yes', 1, {}]) {
    const { status, body } = await send('POST', path, { url: site, [field]: value });
    expect([status, body.code, body.details?.[0]?.field]).toEqual([400, 'BAD_REQUEST', field]);
  }
});

it.each([
  ['/v2/crawl', { includePaths: ['('] }, 'includePaths.0'],
  ['/v2/crawl', { excludePaths: ['a', '['] }, 'excludePaths.1'],
  ['/v1/crawl', { includePaths: ['('] }, 'includePaths.0'],
  ['/v2/crawl', { bogus: 1 }, 'bogus'],
  [
    '/v2/scrape',
    { formats: [{ type: 'json', schema: { properties: { name: { type: 'string' } } } }] },
    'formats',
  ],
])('%s with %j is refused by the name of the field that was sent', async (path, fields, named) => {
  const { status, body } = await send('POST', path, { url: site, ...fields });
  expect([status, body.details?.[0]?.field]).toEqual([400, named]);
  expect(body.error).toContain(named);
  expect(String(body.error)).not.toMatch(/\binclude\.|\bexclude\.|a-z|extract\.llm/);
});

it('leaves the idempotency key of a request that was refused unused', async () => {
  for (const [path, wrong, right] of [
    ['/v2/crawl', { url: site, limit: 'x' }, { url: `${site}/docs/one`, limit: 1 }],
    ['/v2/batch/scrape', { urls: [] }, { urls: [`${site}/blog`] }],
    ['/v1/batch/scrape', { urls: [site], skipTlsVerification: true }, { urls: [`${site}/blog`] }],
  ] as const) {
    const headers = { 'x-idempotency-key': `refused ${path}`.replaceAll(' ', '-') };
    expect((await send('POST', path, wrong, headers)).status).toBe(400);
    expect((await send('POST', path, right, headers)).status).toBe(200);
    expect((await send('POST', path, right, headers)).status).toBe(409);
  }
});
