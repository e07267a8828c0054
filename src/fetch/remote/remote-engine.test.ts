import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { MAX_CALL_BYTES } from '../../core/ports/queue.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import type { Engine } from '../engine.ts';
import { codeOfFailure, get, serve, testEngine, textOf } from '../http/loopback.fixture.ts';
import { openRemotePair } from './remote.fixture.ts';
import { createRemoteEngine } from './remote-engine.ts';
import { createParcels } from './sealed-calls.ts';

/** Says what it was asked, as it was asked. */
const echo = () =>
  serve(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body }));
  });

describe('a render', () => {
  test('brings a body of 10 MB by blob, alone on its buffer, and messages stay small', async () => {
    const bytes = randomBytes(10_485_760);
    const site = await serve((_, response) => response.end(bytes));
    const { remote, messages } = await openRemotePair(testEngine());
    const { body, wireBytes } = await get(remote, site.origin, { maxBodyBytes: bytes.length });
    expect(bytes.equals(body)).toBe(true);
    expect(body.buffer.byteLength).toBe(bytes.length);
    expect(wireBytes).toBe(bytes.length);
    expect(messages).toHaveLength(2);
    for (const message of messages) expect(message.length).toBeLessThan(2_000);
  });

  test('one byte above the limit is one too many', async () => {
    const site = await serve((_, response) => response.end('x'.repeat(5_000)));
    const { remote } = await openRemotePair(testEngine());
    expect(await codeOfFailure(get(remote, site.origin, { maxBodyBytes: 5_000 }))).toBe('none 200');
    expect(await codeOfFailure(get(remote, site.origin, { maxBodyBytes: 4_999 }))).toBe(
      'BODY_LIMIT_EXCEEDED',
    );
  });

  test('of nothing needs no blob', async () => {
    const site = await serve((_, response) => response.writeHead(204).end());
    const { remote, blobs } = await openRemotePair(testEngine());
    const { statusCode, body } = await get(remote, site.origin);
    expect([statusCode, body.byteLength]).toEqual([204, 0]);
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  test('brings headers of any size that an engine takes', async () => {
    const long = '"ä"'.repeat(12_000);
    const site = await serve((_, response) => {
      response.writeHead(
        200,
        [
          ['x-long', Buffer.from(long, 'latin1').toString('latin1')],
          ['set-cookie', `c=${'"'.repeat(4_000)}`],
          ['set-cookie', 'd=1'],
        ].flat(),
      );
      response.end('ok');
    });
    const { remote } = await openRemotePair(testEngine());
    const { headers } = await get(remote, site.origin);
    expect(headers['x-long']).toBe(long);
    expect(headers['set-cookie']).toHaveLength(2);
  });

  test('sends method, headers, validators and body as they are given, the body by blob when it is large', async () => {
    const site = await echo();
    const { remote, messages } = await openRemotePair(testEngine());
    for (const body of ['ä=1', 'ü'.repeat(300_000)]) {
      const headers = { 'Content-Type': 'text/plain', 'X-Thing': '1' };
      const conditional = { etag: '"v1"', lastModified: null };
      const response = await get(remote, `${site.origin}/a?b#c`, {
        method: 'POST',
        headers,
        conditional,
        body,
      });
      expect(response).toMatchObject({ url: `${site.origin}/a?b#c`, finalUrl: `${site.origin}/a?b` });
      const seen = JSON.parse(textOf(response));
      expect(seen.body === body).toBe(true);
      expect(seen).toMatchObject({
        method: 'POST',
        url: '/a?b',
        headers: {
          'user-agent': 'TestBot/1',
          'content-type': 'text/plain',
          'x-thing': '1',
          'if-none-match': '"v1"',
        },
      });
    }
    for (const message of messages) expect(message.length).toBeLessThan(2_000);
  });

  test.each([
    [{ Host: 'other.example' }, 'VALIDATION_FAILED'],
    [{ 'x-a': 'b\r\nx-injected: 1' }, 'VALIDATION_FAILED'],
    [{ 'x-large': 'a'.repeat(MAX_CALL_BYTES) }, 'UNSUPPORTED_OPTION'],
  ])('with headers that cannot be sent is refused', async (headers, code) => {
    const site = await echo();
    const { remote } = await openRemotePair(testEngine());
    expect(await codeOfFailure(get(remote, site.origin, { headers }))).toBe(code);
  });

  test('many at once each get their own', async () => {
    const site = await serve((request, response) => response.end(request.url));
    const { remote } = await openRemotePair(testEngine(), 4);
    const paths = Array.from({ length: 100 }, (_, index) => `/p${index}`);
    const answers = await Promise.all(paths.map((path) => get(remote, site.origin + path)));
    expect(answers.map(textOf)).toEqual(paths);
  });
});

describe('redirects', () => {
  /** /0 leads to /1 and so on, without end; /0 sets a cookie. */
  async function chain() {
    let requests = 0;
    const { origin } = await serve((request, response) => {
      requests += 1;
      const next = Number(request.url?.slice(1)) + 1;
      if (next === 1) response.setHeader('set-cookie', 'met=1');
      response.writeHead(302, { location: `/${next}` }).end('moved');
    });
    return { origin, requests: () => requests };
  }

  test('are asked about one by one, and none is followed before', async () => {
    const site = await chain();
    const { remote, messages } = await openRemotePair(testEngine());
    const asked: unknown[] = [];
    const response = await get(remote, `${site.origin}/0`, {
      async onRedirect(target, hop) {
        asked.push([new URL(target).pathname, hop, site.requests()]);
        return hop < 3 ? 'follow' : 'stop';
      },
    });
    expect(asked).toEqual([
      ['/1', 1, 1],
      ['/2', 2, 2],
      ['/3', 3, 3],
    ]);
    expect(response).toMatchObject({
      url: `${site.origin}/0`,
      finalUrl: `${site.origin}/2`,
      statusCode: 302,
      redirectedTo: `${site.origin}/3`,
      redirects: [
        { url: `${site.origin}/0`, statusCode: 302 },
        { url: `${site.origin}/1`, statusCode: 302 },
      ],
      wireBytes: 15,
    });
    expect(response.body.byteLength).toBe(0);
    // Within a site one call does it, and the site's cookies are the worker's.
    expect(messages).toHaveLength(2);
  });

  test('to another site are calls of their own, and asked about once', async () => {
    const there = await echo();
    const local = there.origin.replace('127.0.0.1', 'localhost');
    const here = await serve((request, response) => {
      const location = request.url === '/in' ? local : '/in';
      response.writeHead(302, { location, 'set-cookie': 'here=1; path=/' }).end();
    });
    const { remote, messages } = await openRemotePair(testEngine());
    const jar = createCookieJar();
    jar.store(new URL(local), 'there=1', Date.now());
    const asked: unknown[] = [];
    const response = await get(remote, here.origin, {
      jar,
      headers: { Authorization: 'Bearer secret', 'X-Api-Key': 'secret', 'X-Plain': '1' },
      crossOriginHeaders: ['x-plain'],
      cookies: { given: 'secret' },
      async onRedirect(target, hop) {
        asked.push([target, hop]);
        return 'follow';
      },
    });
    expect(asked).toEqual([
      [`${here.origin}/in`, 1],
      [`${local}/`, 2],
    ]);
    expect(response).toMatchObject({
      finalUrl: `${local}/`,
      redirectedTo: null,
      redirects: [{ url: `${here.origin}/` }, { url: `${here.origin}/in` }],
    });
    const seen = JSON.parse(textOf(response)).headers;
    expect(seen).toMatchObject({ cookie: 'there=1', 'x-plain': '1' });
    expect(seen).not.toHaveProperty('x-api-key');
    expect(messages).toHaveLength(4);
    expect(messages[0]).toContain('secret');
    expect(messages[0]).not.toContain('there');
    expect(messages[2]).not.toContain('secret');
    expect(messages[2]).not.toContain('"here"');
    expect(jar.cookiesFor(new URL(here.origin), Date.now())).toEqual([['here', '1']]);
  });

  test('met by a worker that cannot ask are decided upon its answer', async () => {
    const site = await chain();
    const { remote, queue, messages } = await openRemotePair(null);
    const engine = testEngine();
    await queue.answer('scrape-browser', 1, async (message) => {
      const { url } = message as { url: string };
      const { finalUrl, statusCode, headers, wireBytes } = await get(engine, url, {
        onRedirect: async () => 'stop',
      });
      const rest = { contentType: null, contentHash: null, ms: 1, httpVersion: '1.1', setCookies: [] };
      return { finalUrl, statusCode, headers, wireBytes, ...rest };
    });
    const onRedirect = async (_: string, hop: number) => (hop < 3 ? 'follow' : 'stop');
    const response = await get(remote, `${site.origin}/0`, { onRedirect });
    expect(response).toMatchObject({ redirectedTo: `${site.origin}/3`, finalUrl: `${site.origin}/2` });
    expect(messages).toHaveLength(6);
  });

  test.each([0, 1, 4])('more than %i are too many', async (maxRedirects) => {
    const site = await chain();
    const { remote } = await openRemotePair(testEngine());
    const attempt = get(remote, `${site.origin}/0`, { maxRedirects });
    expect(await codeOfFailure(attempt)).toBe('TOO_MANY_REDIRECTS');
    expect(site.requests()).toBe(maxRedirects + 1);
  });

  test('what onRedirect throws ends the attempt', async () => {
    const site = await chain();
    const { remote } = await openRemotePair(testEngine());
    const onRedirect = () => Promise.reject(new ScrapifieError('DOMAIN_DENIED', 'not there'));
    expect(await codeOfFailure(get(remote, `${site.origin}/0`, { onRedirect }))).toBe('DOMAIN_DENIED');
  });

  test('the time it takes to decide is not the attempt’s', async () => {
    const site = await chain();
    const { queue, blobs, transit } = await openRemotePair(testEngine());
    let clockMs = 0;
    const parcels = createParcels(transit, null);
    const patient = createRemoteEngine({ name: 'browser', queue, blobs, parcels, now: () => clockMs });
    const response = await get(patient, `${site.origin}/0`, {
      timeoutMs: 20_000,
      async onRedirect(_, hop) {
        clockMs += 1_000_000;
        return hop < 3 ? 'follow' : 'stop';
      },
    });
    expect(response.redirects).toHaveLength(2);
  });

  test('a page that sets a cookie and sends back to itself is no loop, one that only sends back is', async () => {
    const site = await serve((request, response) => {
      const { cookie = '' } = request.headers;
      if (request.url === '/loop') response.writeHead(302, { location: '/loop', 'set-cookie': 'a=1' }).end();
      else if (cookie.includes('old')) {
        response.writeHead(302, { location: '/gate', 'set-cookie': 'old=; max-age=0' }).end();
      } else if (cookie === '') response.writeHead(302, { location: '/gate', 'set-cookie': 'seen=1' }).end();
      else response.end(cookie);
    });
    const { remote } = await openRemotePair(testEngine());
    const jar = createCookieJar();
    jar.store(new URL(`${site.origin}/gate`), 'old=1', Date.now());
    expect(textOf(await get(remote, `${site.origin}/gate`, { jar }))).toBe('seen=1');
    expect(await codeOfFailure(get(remote, `${site.origin}/loop`))).toBe('REDIRECT_LOOP');
  });
});

describe('cookies', () => {
  test('of the jar go along, given ones over them, and those of the response come back', async () => {
    const site = await serve((request, response) => {
      response.setHeader('set-cookie', ['b=new; path=/', 'a=; max-age=0']);
      response.end(request.headers.cookie);
    });
    const { remote } = await openRemotePair(testEngine());
    const jar = createCookieJar();
    const url = new URL(`${site.origin}/x/y`);
    jar.store(url, ['a=1', 'twice=deep; path=/x', 'twice=flat; path=/', 'c=jar'], Date.now());
    const response = await get(remote, url.href, { jar, cookies: { c: 'given' } });
    expect(textOf(response)).toBe('a=1; twice=deep; twice=flat; c=given');
    expect(Object.fromEntries(jar.cookiesFor(new URL(`${site.origin}/x/`), Date.now()))).toMatchObject({
      b: 'new',
      twice: 'flat',
    });
    expect(jar.size).toBe(4);
  });

  test('last for the attempt without a jar', async () => {
    const site = await serve((request, response) => {
      const { cookie } = request.headers;
      if (request.url === '/in') response.end(cookie ?? 'none');
      else response.writeHead(302, { location: '/in', 'set-cookie': 'way=1' }).end();
    });
    const { remote } = await openRemotePair(testEngine());
    expect(textOf(await get(remote, site.origin))).toBe('way=1');
    expect(textOf(await get(remote, `${site.origin}/in`))).toBe('none');
  });

  test('that a page sets by itself come back too', async () => {
    const site = await serve((_, response) => response.setHeader('set-cookie', 'header=1').end('ok'));
    const inner = testEngine();
    /** Does what a script in the page would do in a browser. */
    const scripted: Engine = {
      ...inner,
      name: 'browser',
      async fetch(request) {
        const response = await inner.fetch(request);
        request.jar?.store(new URL(request.url), 'script=1', Date.now());
        return response;
      },
    };
    const { remote, messages } = await openRemotePair(scripted);
    const jar = createCookieJar();
    await get(remote, site.origin, { jar });
    expect(jar.cookiesFor(new URL(site.origin), Date.now())).toEqual([
      ['header', '1'],
      ['script', '1'],
    ]);
    expect(JSON.parse(messages[1] ?? '').setCookies).toEqual([
      { url: `${site.origin}/`, lines: ['script=1'] },
    ]);
  });
});
