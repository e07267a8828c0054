import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../src/fetch/http/loopback.fixture.ts';
import { byPath, type CrawlInput, openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** A site of its own: HTML by path, everything else is missing. */
async function site(pages: Readonly<Record<string, Answer>>) {
  const heard: string[] = [];
  const { origin } = await serve((request, response) => {
    const path = request.url ?? '';
    if (path !== '/robots.txt') heard.push(path);
    const answer = pages[path];
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (typeof answer === 'function') answer(request, response);
    else response.writeHead(answer === undefined ? 404 : 200).end(answer ?? 'gone');
  });
  return { origin, heard };
}
const linksTo = (...paths: readonly string[]) =>
  paths.map((path) => `<p>About ${path}: <a href="${path}">more</a></p>`).join('');
const pathOf = (url: string) => new URL(url).pathname;

test('a crawl of sitemaps only fetches the pages that they name, and follows none of their links', async () => {
  const { origin, heard } = await site({
    '/sitemap.xml': (_request, response) => {
      const urls = ['/a', '/b'].map((path) => `<url><loc>${origin}${path}</loc></url>`);
      response.setHeader('content-type', 'application/xml');
      response.end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`);
    },
    '/a': linksTo('/c'),
    '/b': linksTo('/d'),
    '/c': 'not named',
    '/d': 'not named',
  });
  const job = await world.crawlNow({ urls: [`${origin}/`], sitemap: 'only' });
  expect(job.counters.pages).toBe(2);
  expect(heard.sort()).toEqual(['/a', '/b', '/sitemap.xml']);
});

describe('a meta refresh within five seconds', () => {
  test('is followed as a redirect', async () => {
    const { origin, heard } = await site({
      '/old': '<meta http-equiv="refresh" content="0; url=/new">',
      '/new': '<title>The new page</title>Text of it',
    });
    const page = await world.scrapeNow({ url: `${origin}/old` });
    expect(page).toMatchObject({ finalUrl: `${origin}/new`, title: 'The new page', url: `${origin}/old` });
    expect(heard).toEqual(['/old', '/new']);
  });

  test('leads a crawl to a page once', async () => {
    const { origin, heard } = await site({
      '/': linksTo('/old', '/new'),
      '/old': '<meta http-equiv="refresh" content="3;URL=/new">',
      '/new': linksTo('/'),
    });
    const job = await world.crawlNow({ urls: [`${origin}/`], sitemap: 'skip' });
    expect(heard.filter((path) => path === '/new')).toHaveLength(1);
    expect(job.counters).toMatchObject({ pages: 2, failed: 0 });
  });

  test('in a circle ends, and a later or conditional one is not followed', async () => {
    const { origin, heard } = await site({
      '/a': '<title>A</title><meta http-equiv="refresh" content="0; url=/b">',
      '/b': '<title>B</title><meta http-equiv="refresh" content="0; url=/a">',
      '/late': '<title>Late</title><meta http-equiv="refresh" content="30; url=/a">',
      '/self': '<title>Self</title><meta http-equiv="refresh" content="1; url=/self">',
      '/script': '<title>Script</title><noscript><meta http-equiv="refresh" content="0; url=/a"></noscript>',
    });
    for (const path of ['late', 'self', 'script']) {
      expect((await world.scrapeNow({ url: `${origin}/${path}` })).finalUrl).toBe(`${origin}/${path}`);
    }
    expect(heard).toEqual(['/late', '/self', '/script']);
    expect(await world.scrapeNow({ url: `${origin}/a` })).toMatchObject({ statusCode: 200 });
    expect(heard.length).toBeLessThan(16);
  });
});

describe('routes', () => {
  test('follow listings without keeping them, and read each kind of page by its own rules', async () => {
    const { origin } = await site({
      '/': linksTo('/list/1', '/item/1'),
      '/list/1': linksTo('/item/2', '/list/2'),
      '/list/2': linksTo('/item/3'),
      '/item/1': `<h1>One</h1>${linksTo('/other')}`,
      '/item/2': '<h1>Two</h1>',
      '/item/3': '<h1>Three</h1>',
      '/other': 'not followed',
    });
    const job = await world.crawlNow({
      urls: [`${origin}/`],
      sitemap: 'skip',
      routes: [
        { match: '/list/*', keep: false },
        {
          match: ['/item/*'],
          follow: false,
          options: { formats: ['html'], extract: { rules: { name: 'h1' } } },
        },
      ],
    });
    const pages = await world.pages(job);
    expect(pages.map(({ url }) => pathOf(url)).sort()).toEqual(['/', '/item/1', '/item/2', '/item/3']);
    const item = pages.find(({ url }) => pathOf(url) === '/item/3');
    expect(item).toMatchObject({ extracted: { name: 'Three' }, html: expect.stringContaining('<h1>') });
    expect(item).not.toHaveProperty('metadata');
    expect(pages.find(({ url }) => pathOf(url) === '/')).not.toHaveProperty('extracted');
    const ledger = byPath(await world.ledger(job));
    expect(ledger.get('/list/2')).toMatchObject({ state: 'skipped', rule: 'route.not-kept:/list/*' });
    expect(ledger.has('/other')).toBe(false);
    expect(job.counters).toMatchObject({ pages: 4, skipped: 2 });
  });
});

test('links of an endless calendar are left out with the reason, unless the crawl wants them', async () => {
  const { origin } = await serve((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    const month = new URL(request.url ?? '/', 'http://site.test').searchParams.get('month');
    const [year = 2026, at = 1] = (month ?? '').split('-').map(Number);
    const next =
      month === null ? '2026-01' : `${year + (at === 12 ? 1 : 0)}-${String((at % 12) + 1).padStart(2, '0')}`;
    response.end(`<p>Events of ${month}</p>${linksTo(`/calendar?month=${next}`)}`);
  });
  const input: CrawlInput = { urls: [`${origin}/calendar`], sitemap: 'skip', maxPages: 120 };
  const job = await world.crawlNow(input);
  expect(job.stopReason).toBeNull();
  const left = (await world.ledger(job)).filter(({ state }) => state === 'skipped');
  expect(left.map(({ rule }) => rule)).toEqual(['scope.trap:query-calendar']);
  const all = await world.crawlNow({ ...input, avoidQueryTraps: false });
  expect(all.stopReason).toBe('budget.pages');
});

test('a page with the body of an earlier one of the job names it', async () => {
  const same = `<title>Same</title>${linksTo('/x')}`;
  const { origin } = await site({
    '/': linksTo('/a', '/b', '/c'),
    '/a': same,
    '/b': same,
    '/c': 'other',
    '/x': 'x',
  });
  const first = await world.crawlNow({ urls: [`${origin}/`], sitemap: 'skip' });
  for (const job of [first, await world.crawlNow({ urls: [`${origin}/`], sitemap: 'skip' })]) {
    const pages = new Map((await world.pages(job)).map((page) => [pathOf(page.url), page]));
    const twins = [pages.get('/a'), pages.get('/b')];
    const original = twins.find((page) => page?.duplicateOf === null);
    const copy = twins.find((page) => page?.duplicateOf !== null);
    expect(copy?.duplicateOf).toBe(original?.url);
    for (const path of ['/', '/c', '/x']) expect(pages.get(path)?.duplicateOf).toBeNull();
  }
});

describe('a crawl that asks only for what changed', () => {
  test('sends the validators of the crawl before, and keeps the bodies of unchanged pages', async () => {
    const asked: { path: string; tag: string | undefined; since: string | undefined }[] = [];
    let version = 1;
    const tagged =
      (path: string, tag: () => string, html: () => string): Answer =>
      (request, response) => {
        const { 'if-none-match': wanted, 'if-modified-since': since } = request.headers;
        asked.push({ path, tag: wanted, since });
        if (wanted === tag()) return void response.writeHead(304, { etag: tag() }).end();
        response.writeHead(200, { etag: tag(), 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' });
        response.end(html());
      };
    const { origin } = await site({
      '/': tagged(
        '/',
        () => '"home"',
        () => `<title>Home</title>${linksTo('/same', '/new')}`,
      ),
      '/same': tagged(
        '/same',
        () => '"same"',
        () => `<title>Same</title>${linksTo('/below')}`,
      ),
      '/new': tagged(
        '/new',
        () => `"v${version}"`,
        () => `<title>Version ${version}</title>`,
      ),
      '/below': '<title>No validators</title>',
    });
    const formats: CrawlInput['options'] = { formats: ['metadata', 'rawHtml'] };
    const input: CrawlInput = { urls: [`${origin}/`], sitemap: 'skip', options: formats };
    await world.crawlNow(input);
    expect(asked.every(({ tag, since }) => tag === undefined && since === undefined)).toBe(true);
    asked.length = 0;
    version = 2;
    const job = await world.crawlNow({ ...input, ifModified: true });
    expect(new Map(asked.map(({ path, tag }) => [path, tag]))).toEqual(
      new Map([
        ['/', '"home"'],
        ['/same', '"same"'],
        ['/new', '"v1"'],
      ]),
    );
    expect(asked[0]?.since).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
    const pages = new Map((await world.pages(job)).map((page) => [pathOf(page.url), page]));
    expect(pages.size).toBe(4);
    expect(pages.get('/same')).toMatchObject({
      statusCode: 200,
      title: 'Same',
      notModified: true,
      rawHtml: expect.stringContaining('/below'),
    });
    expect(pages.get('/new')).toMatchObject({ title: 'Version 2' });
    expect(pages.get('/new')).not.toHaveProperty('notModified');
    const third = await world.crawlNow({ ...input, options: {}, ifModified: true });
    expect((await world.pages(third)).filter(({ notModified }) => notModified === true)).toHaveLength(3);
  });

  test('asks as always when its requests carry headers of their own', async () => {
    const tags: unknown[] = [];
    const { origin } = await site({
      '/': (request, response) => {
        tags.push(request.headers['if-none-match']);
        response.writeHead(200, { etag: '"1"' }).end('page');
      },
    });
    const options = { headers: { 'x-key': 'secret' } };
    await world.crawlNow({ urls: [`${origin}/`], sitemap: 'skip', options });
    await world.crawlNow({ urls: [`${origin}/`], sitemap: 'skip', options, ifModified: true });
    await world.crawlNow({ urls: [`${origin}/`], sitemap: 'skip', ifModified: true });
    expect(tags).toEqual([undefined, undefined, undefined]);
  });
});

describe('a scrape with maxAge', () => {
  test('is answered by the stored page without a request, read by its own options', async () => {
    const { origin, heard } = await site({ '/p': '<title>Page</title><h1>Head</h1>' });
    const url = `${origin}/p`;
    const first = await world.scrapeNow({ url, maxAge: '1h' });
    expect(first.cache).toEqual({ hit: false, storedAt: null });
    const second = await world.scrapeNow({ url, maxAge: 3_600_000, extract: { rules: { head: 'h1' } } });
    expect(heard).toEqual(['/p']);
    expect(second).toMatchObject({
      title: 'Page',
      statusCode: 200,
      extracted: { head: 'Head' },
      cache: { hit: true, storedAt: first.fetchedAt },
      trace: { attempts: [{ reason: 'cache.hit', bytes: 0 }] },
    });
    expect(second.id).not.toBe(first.id);
    const job = await world.batchNow({ urls: [url, `${origin}/missing`], options: { maxAge: '1h' } });
    expect(heard).toEqual(['/p', '/missing']);
    expect((await world.pages(job)).find((page) => page.url === url)?.cache?.hit).toBe(true);
    expect(await world.scrapeNow({ url })).not.toHaveProperty('cache');
    expect(heard).toEqual(['/p', '/missing', '/p']);
  });

  test.each([
    ['headers', { headers: { 'x-key': 'secret' } }],
    ['cookies', { cookies: { session: 'mine' } }],
    ['a session', { session: 'mine' }],
    ['a body', { method: 'POST', body: 'a=1' }],
  ] as const)('is neither answered nor kept for others when the request has %s', async (_, personal) => {
    const { origin, heard } = await site({ '/p': '<title>Page</title>' });
    const url = `${origin}/p`;
    await world.scrapeNow({ url, ...personal });
    expect((await world.scrapeNow({ url, maxAge: '1h' })).cache?.hit).toBe(false);
    expect((await world.scrapeNow({ url, maxAge: '1h', ...personal })).cache?.hit).toBe(false);
    expect(heard).toHaveLength(3);
  });

  test('asks for a page that failed', async () => {
    let isDown = true;
    const { origin, heard } = await site({
      '/p': (_request, response) => void response.writeHead(isDown ? 404 : 200).end('<title>P</title>text'),
    });
    const url = `${origin}/p`;
    await world.scrapeNow({ url });
    isDown = false;
    expect((await world.scrapeNow({ url, maxAge: '1h' })).cache?.hit).toBe(false);
    expect(heard).toHaveLength(2);
  });
});
