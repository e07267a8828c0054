import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addressAt, HOSTS } from './hosts.ts';
import { NASTY } from './nasty.ts';
import { createBusyGate } from './pages/again.ts';
import { LINKS_PER_PAGE, linksOf, pathOfPage, renderPage } from './pages/big.ts';
import { SHOP_PATHS } from './pages/shop.ts';
import { type Site, startSite } from './site.ts';

const PAGES = 500;
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: PAGES });
});
afterAll(() => site.close());
beforeEach(() => site.reset());

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(path.startsWith('http') ? path : site.url + path, { redirect: 'manual', ...init });

/** What the socket received until it closed, or until `isEnough`; and whether it was reset. */
function hear(path: string, isEnough: (heard: string) => boolean = () => false) {
  return new Promise<{ heard: string; isReset: boolean }>((resolve) => {
    let heard = '';
    let isReset = false;
    const socket = connect(site.port, '127.0.0.1');
    socket.setEncoding('latin1');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${site.port}\r\n\r\n`);
    socket.on('data', (piece: string) => {
      heard += piece;
      if (isEnough(heard)) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      isReset = error.code === 'ECONNRESET';
    });
    socket.on('close', () => resolve({ heard, isReset }));
  });
}

describe('the big site', () => {
  test('gives the same bytes every time, on every host', async () => {
    for (const path of ['/big/', '/big/1', '/big/499']) {
      const first = Buffer.from(await (await get(path)).arrayBuffer());
      const again = Buffer.from(await (await get(`${site.hostUrl(3)}${path}`)).arrayBuffer());
      expect(again.equals(first)).toBe(true);
    }
  });

  test('has pages of about 21 KB with 30 links to different other pages', async () => {
    const text = await (await get('/big/17')).text();
    const hrefs = [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href]) => href);
    expect(new Set(hrefs).size).toBe(LINKS_PER_PAGE);
    expect(hrefs).toHaveLength(LINKS_PER_PAGE);
    expect(hrefs).not.toContain('/big/17');
    expect(text).toContain('<link rel="canonical" href="/big/17">');
    for (let page = 0; page < PAGES; page++) {
      const { length } = renderPage(page, PAGES);
      expect(length).toBeGreaterThan(20_000);
      expect(length).toBeLessThan(22_500);
    }
  });

  test.each([1, 2, 5, 31, 45, 500, 4_000])('reaches all of its %i pages from its home', (pages) => {
    const seen = new Set([0]);
    for (const page of seen) for (const target of linksOf(page, pages)) seen.add(target);
    expect(seen.size).toBe(pages);
  });

  test('is reached by following what it serves, and by nothing else', async () => {
    const seen = new Set(['/big/']);
    for (const path of seen) {
      const text = await (await get(path)).text();
      for (const [, href] of text.matchAll(/href="(\/big\/[^"]*)"/g)) if (href !== undefined) seen.add(href);
    }
    expect(seen).toEqual(new Set(Array.from({ length: PAGES }, (_, page) => pathOfPage(page))));
    expect((await get(`/big/${PAGES}`)).status).toBe(404);
    expect((await get('/big/007')).status).toBe(404);
    expect((await get('/big/0')).headers.get('location')).toBe('/big/');
  });
});

describe('the cases', () => {
  test('have names of their own and pages behind them', async () => {
    expect(new Set(NASTY.map(({ name }) => name)).size).toBe(NASTY.length);
    const whole = NASTY.filter(
      ({ expect: { code, finalPath }, requires }) => !code && !finalPath && !requires,
    );
    for (const { path, expect: expected } of whole) {
      const response = await get(path);
      await response.body?.cancel();
      expect([path, response.status]).toEqual([path, expected.statusCode]);
    }
    const leading = NASTY.filter(({ path }) => /^\/redirects\/(?!refresh)/.test(path));
    for (const { path } of leading) {
      const { status } = await get(path);
      expect([path, status >= 300 && status < 400]).toEqual([path, true]);
    }
  });

  test.each([
    ['/protocol/resets-at-once', ''],
    ['/protocol/resets-in-head', 'HTTP/1.1 200 OK'],
    ['/protocol/resets-in-body', '<h1>Protocol</h1>'],
  ])('%s resets the connection', async (path, before) => {
    const { heard, isReset } = await hear(path);
    expect(isReset).toBe(true);
    expect(heard).toContain(before);
  });

  test('a body can be shorter and longer than declared', async () => {
    const declared = (heard: string): number => Number(/content-length: (\d+)/.exec(heard)?.[1]);
    const received = (heard: string): number => heard.length - heard.indexOf('\r\n\r\n') - 4;
    const short = await hear('/protocol/too-short');
    expect(received(short.heard)).toBeLessThan(declared(short.heard));
    const long = await hear('/protocol/too-long');
    expect(received(long.heard)).toBeGreaterThan(declared(long.heard));
  });

  test('endless answers go on for as long as someone listens', async () => {
    const flood = await hear('/slow/flood', (heard) => heard.length > 20_000_000);
    expect(flood.heard.length).toBeGreaterThan(20_000_000);
    const drip = await hear('/slow/endless-drip', (heard) => heard.endsWith('....'));
    expect(drip.heard).toContain('200 OK');
  });

  test('heads can be broken, missing and huge', async () => {
    expect((await hear('/protocol/garbage')).heard).not.toContain('HTTP');
    expect((await hear('/protocol/bad-chunk-size')).heard).toContain('\r\n\r\nzz\r\n');
    expect((await hear('/protocol/huge-header')).heard.indexOf('\r\n\r\n')).toBeGreaterThan(200_000);
    expect((await hear('/protocol/closes-at-once')).heard).toBe('');
  });

  test('a recovering page fails as often as it says, per URL, and anew after a reset', async () => {
    const statuses = async (path: string): Promise<number[]> => {
      const seen: number[] = [];
      for (let visit = 0; visit < 4; visit++) seen.push((await get(path)).status);
      return seen;
    };
    expect(await statuses('/again/429/seconds/2')).toEqual([429, 429, 200, 200]);
    expect(await statuses('/again/429/seconds/2?fresh')).toEqual([429, 429, 200, 200]);
    const flaky = await statuses('/again/flaky/a');
    site.reset();
    expect(await statuses('/again/flaky/a')).toEqual(flaky);
    expect((await get('/again/429/seconds/1?x')).headers.get('retry-after')).toBe('1');
    const before = Date.now();
    const hint = (await get('/again/429/date/1?x')).headers.get('retry-after') ?? '';
    expect(Date.parse(hint)).toBeGreaterThan(before);
  });

  test('cookies open the gate, and validators answer 304', async () => {
    expect((await get('/content/cookie-inside')).headers.get('location')).toBe('/content/cookie-gate');
    expect((await get('/content/cookie-inside', { headers: { cookie: 'a=b; pass=open' } })).status).toBe(200);
    const etag = (await get('/content/etag')).headers.get('etag') ?? '';
    expect((await get('/content/etag', { headers: { 'if-none-match': etag } })).status).toBe(304);
    const modified = (await get('/content/modified')).headers.get('last-modified') ?? '';
    expect((await get('/content/modified', { headers: { 'if-modified-since': modified } })).status).toBe(304);
  });

  test('303 turns a POST into a GET, 308 keeps it', async () => {
    const post = { method: 'POST', body: 'hello', redirect: 'follow' } as const;
    expect(await (await get('/redirects/status/303', post)).json()).toMatchObject({
      method: 'GET',
      body: '',
    });
    expect(await (await get('/redirects/status/308', post)).json()).toMatchObject({
      method: 'POST',
      body: 'hello',
    });
  });
});

describe('the hosts', () => {
  test('each have their own robots.txt', async () => {
    const robots = async (host: string) => get(site.urlOf(host, '/robots.txt'));
    expect(await (await robots('default')).text()).toBe('User-agent: *\nAllow: /\n');
    expect(await (await robots('robots-some')).text()).toContain('Disallow: /private/');
    expect((await robots('robots-404')).status).toBe(404);
    expect((await robots('robots-500')).status).toBe(500);
    expect((await robots('robots-redirect')).headers.get('location')).toBe('/robots-real.txt');
    expect((await (await robots('robots-huge')).text()).length).toBe(1_048_576);
    expect(await (await robots('sitemaps')).text()).toContain(
      `Sitemap: ${site.urlOf('sitemaps', '/sitemaps/index.xml')}`,
    );
    await expect(robots('robots-reset')).rejects.toThrow();
    const bodies = HOSTS.filter(({ name }) => !/hang|reset|endless/.test(name)).map(({ name }) =>
      robots(name),
    );
    expect((await Promise.all(bodies)).length).toBe(HOSTS.length - 3);
  });

  test('are also known by name in the Host header', async () => {
    const heard = await new Promise<string>((resolve) => {
      const socket = connect(site.port, '127.0.0.1').setEncoding('latin1');
      socket.once('data', (piece: string) => {
        socket.destroy();
        resolve(piece);
      });
      socket.write(`GET /robots.txt HTTP/1.1\r\nhost: robots-all.localhost:${site.port}\r\n\r\n`);
    });
    expect(heard).toContain('Disallow: /\n');
  });

  test('are many, and no two share an address', async () => {
    const addresses = Array.from({ length: 2_000 }, (_, n) => addressAt(n));
    expect(new Set(addresses).size).toBe(2_000);
    for (const n of [0, 249, 250, 1_999]) expect((await get(`${site.hostUrl(n)}/big/`)).status).toBe(200);
    expect(() => site.urlOf('nowhere', '/')).toThrow();
  });

  test('the busy one refuses the sixth request in a second', async () => {
    const gate = createBusyGate();
    const times = [0, 100, 200, 300, 400, 999, 1_000, 1_050, 1_100];
    expect(times.map((at) => gate(at) === null)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      true,
      false,
      true,
    ]);
    expect((await get(site.urlOf('busy', '/big/'))).status).toBe(200);
  });
});

test('every page that is offered can be browsed', async () => {
  expect(SHOP_PATHS).toHaveLength(30);
  const offering = ['/', ...SHOP_PATHS];
  const offered = new Set(offering);
  for (const path of offering) {
    const text = await (await get(path)).text();
    for (const [, href] of text.matchAll(/<a [^>]*href="(\/[^"]*)"/g))
      if (href !== undefined) offered.add(href);
  }
  for (const path of offered) {
    const response = await get(path);
    await response.body?.cancel();
    expect([path, response.status < 400]).toEqual([path, true]);
  }
});

test('the log says who asked for what and when, and counts by URL', async () => {
  await (await get('/big/3?x=1', { headers: { 'x-me': 'yes' } })).text();
  await (await get('/big/3?x=1')).text();
  const [entry] = site.log;
  expect(entry).toMatchObject({
    host: `127.0.0.1:${site.port}`,
    path: '/big/3?x=1',
    method: 'GET',
    inFlight: 1,
  });
  expect(entry?.headers['x-me']).toBe('yes');
  expect(Math.abs((entry?.at ?? 0) - Date.now())).toBeLessThan(60_000);
  expect(site.countOf(`${site.url}/big/3?x=1`)).toBe(2);
  expect(site.countOf(`${site.url}/big/3`)).toBe(0);
});
