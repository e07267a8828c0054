import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import { codeOfFailure, get, listen, serve, serveRaw, testEngine, textOf } from './loopback.fixture.ts';

describe('an answer', () => {
  test('comes with status, headers, body and where it came from', async () => {
    const site = await serve((_, response) => {
      response.writeHead(404, { 'Content-Type': 'text/html', 'X-Two': ['a', 'b'] }).end('<p>gone</p>');
    });
    const response = await get(testEngine(), `${site.origin}/a?b=c#d`);
    expect(response).toMatchObject({
      url: `${site.origin}/a?b=c#d`,
      finalUrl: `${site.origin}/a?b=c`,
      statusCode: 404,
      contentType: 'text/html',
      wireBytes: 11,
      redirects: [],
      redirectedTo: null,
      httpVersion: '1.1',
    });
    expect(response.headers['x-two']).toEqual(['a', 'b']);
    expect(textOf(response)).toBe('<p>gone</p>');
  });

  test.each(['declared', 'chunked', 'until the end'])(
    'has its body alone on its buffer: %s',
    async (kind) => {
      const body = 'x'.repeat(21_000);
      const site = await serve((_, response) => {
        if (kind === 'declared') response.setHeader('content-length', body.length);
        if (kind === 'until the end') response.useChunkedEncodingByDefault = false;
        response.write(body.slice(0, 9_000));
        response.end(body.slice(9_000));
      });
      const { body: bytes } = await get(testEngine(), site.origin);
      expect(Buffer.from(bytes).toString()).toBe(body);
      expect(bytes.buffer.byteLength).toBe(21_000);
      const moved = structuredClone(bytes, { transfer: [bytes.buffer] });
      expect(moved.byteLength).toBe(21_000);
      expect(bytes.byteLength).toBe(0);
    },
  );

  test('to HEAD, 204 and 304 has no body, whatever the headers say', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/204') response.writeHead(204);
      if (request.url === '/304') response.writeHead(304, { 'content-encoding': 'gzip' });
      if (request.url === '/head') response.setHeader('content-length', 99_999_999);
      response.end();
    });
    const engine = testEngine();
    expect((await get(engine, `${site.origin}/204`)).body.byteLength).toBe(0);
    expect((await get(engine, `${site.origin}/304`)).statusCode).toBe(304);
    const head = await get(engine, `${site.origin}/head`, { method: 'HEAD' });
    expect(head.headers['content-length']).toBe('99999999');
    expect(head.body.byteLength).toBe(0);
  });

  test('may be preceded by interim responses', async () => {
    const site = await serve((_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.end('ok');
    });
    expect(textOf(await get(testEngine(), site.origin))).toBe('ok');
  });
});

describe('a request', () => {
  const echo = () =>
    serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { method, headers } = request;
        response.end(JSON.stringify({ method, headers, body }));
      });
    });

  test('says who asks and what can be read', async () => {
    const site = await echo();
    const { headers } = JSON.parse(textOf(await get(testEngine(), site.origin)));
    expect(headers).toMatchObject({
      'user-agent': 'TestBot/1',
      'accept-encoding': 'gzip, deflate, br, zstd',
      connection: 'keep-alive',
    });
    expect(headers.accept).toContain('text/html');
    expect(headers['accept-language']).toContain('en');
  });

  test('carries given headers in place of the own ones, in any case', async () => {
    const site = await echo();
    const given = { 'User-Agent': 'Other/2', 'X-Thing': '1' };
    const { headers } = JSON.parse(textOf(await get(testEngine(), site.origin, { headers: given })));
    expect(headers['user-agent']).toBe('Other/2');
    expect(headers['x-thing']).toBe('1');
  });

  test('carries a body', async () => {
    const site = await echo();
    const more = { method: 'POST', body: 'ä=1', headers: { 'content-type': 'text/plain' } } as const;
    const seen = JSON.parse(textOf(await get(testEngine(), site.origin, more)));
    expect(seen).toMatchObject({ method: 'POST', body: 'ä=1', headers: { 'content-length': '4' } });
  });

  test('carries validators', async () => {
    const site = await echo();
    const conditional = { etag: '"v1"', lastModified: 'Thu, 01 Jan 2026 00:00:00 GMT' };
    const { headers } = JSON.parse(textOf(await get(testEngine(), site.origin, { conditional })));
    expect(headers['if-none-match']).toBe('"v1"');
    expect(headers['if-modified-since']).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
  });

  test('carries cookies: those of the jar, the given ones over them', async () => {
    const site = await echo();
    const jar = createCookieJar();
    jar.store(new URL(site.origin), ['a=jar', 'b=jar'], Date.now());
    const more = { jar, cookies: { b: 'given', c: 'given' } };
    const { headers } = JSON.parse(textOf(await get(testEngine(), site.origin, more)));
    expect(headers.cookie).toBe('a=jar; b=given; c=given');
  });

  test.each([
    { Host: 'other.example' },
    { 'Transfer-Encoding': 'chunked' },
    { 'x-a': 'b\r\nx-injected: 1' },
    { 'bad name': '1' },
  ])('with the header %j is refused', async (headers) => {
    const site = await echo();
    expect(await codeOfFailure(get(testEngine(), site.origin, { headers }))).toBe('VALIDATION_FAILED');
    expect(site.accepted()).toBeLessThanOrEqual(1);
  });

  test.each(['ftp://a.example/', 'nonsense', 'http://user:pw@a.example/', 'http://', 'file:///etc/passwd'])(
    'for %s is refused',
    async (url) => {
      expect(await codeOfFailure(get(testEngine(), url))).toBe('INVALID_URL');
    },
  );
});

describe('a connection', () => {
  test('is kept for the next request', async () => {
    const site = await serve((_, response) => response.end('ok'));
    const engine = testEngine();
    for (let count = 0; count < 5; count += 1) await get(engine, site.origin);
    expect(site.accepted()).toBe(1);
  });

  test('that the server closed while it was idle costs a GET nothing', async () => {
    const site = await serveRaw((socket, head, count) => {
      // The second request is met by a reset instead of an answer.
      if (count === 2) socket.resetAndDestroy();
      else
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${head.startsWith('GET') ? 'ok' : 'po'}`);
    });
    const engine = testEngine();
    expect(textOf(await get(engine, site.origin))).toBe('ok');
    expect(textOf(await get(engine, site.origin))).toBe('ok');
    expect(site.accepted()).toBe(2);
  });

  test.each(['reset', 'closed'])(
    '%s under a kept POST is an error: it may have been acted on',
    async (how) => {
      const site = await serveRaw((socket, _, count) => {
        if (count === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        else if (how === 'reset') socket.resetAndDestroy();
        else socket.end();
      });
      const engine = testEngine();
      await get(engine, site.origin);
      expect(await codeOfFailure(get(engine, site.origin, { method: 'POST' }))).toBe('CONNECTION_RESET');
      expect(site.accepted()).toBe(1);
    },
  );

  test.each(['reset', 'closed'])('that is new and %s without an answer is not tried again', async (how) => {
    let requests = 0;
    const site = await serveRaw((socket) => {
      requests += 1;
      if (how === 'reset') socket.resetAndDestroy();
      else socket.end();
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('CONNECTION_RESET');
    expect(requests).toBe(1);
  });

  test('that keeps failing is tried again once only', async () => {
    let requests = 0;
    const site = await serveRaw((socket, head) => {
      requests += 1;
      if (head.includes('/warm')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      else socket.resetAndDestroy();
    });
    const engine = testEngine();
    await Promise.all([get(engine, `${site.origin}/warm`), get(engine, `${site.origin}/warm`)]);
    expect(await codeOfFailure(get(engine, site.origin))).toBe('CONNECTION_RESET');
    expect(requests).toBe(4);
  });

  test('goes with its pool when there are too many, but never under a request', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const listener = async (request: { url?: string | undefined }, response: { end(text: string): void }) => {
      if (request.url === '/held') await held;
      response.end('ok');
    };
    const sites = await Promise.all([0, 1, 2].map(() => listen(createServer(listener))));
    const [first, second, third] = sites.map(({ origin }) => origin);
    const engine = testEngine({ maxPools: 1 });
    const slow = get(engine, `${first}/held`);
    await get(engine, `${second}/`);
    await get(engine, `${third}/`);
    await get(engine, `${second}/`);
    release();
    expect(textOf(await slow)).toBe('ok');
    expect(sites[1]?.accepted()).toBe(2);
  });

  test('is limited in number per host', async () => {
    const site = await serve((_, response) => response.end('ok'));
    const engine = testEngine({ connectionsPerHost: 3 });
    await Promise.all(Array.from({ length: 20 }, () => get(engine, site.origin)));
    expect(site.accepted()).toBeLessThanOrEqual(3);
  });
});

describe('an attempt can be ended', () => {
  test('by its signal, with the reason where that is one of ours', async () => {
    const site = await serve(() => {});
    const engine = testEngine();
    const controller = new AbortController();
    const attempt = codeOfFailure(get(engine, site.origin, { signal: controller.signal }));
    controller.abort();
    expect(await attempt).toBe('CANCELLED');
    const reason = new ScrapifieError('SHUTTING_DOWN', 'enough');
    expect(await codeOfFailure(get(engine, site.origin, { signal: AbortSignal.abort(reason) }))).toBe(
      'SHUTTING_DOWN',
    );
  });

  test('by closing the engine, which then takes no more', async () => {
    let arrived = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const site = await serve(() => arrived());
    const engine = testEngine();
    const attempt = codeOfFailure(get(engine, site.origin));
    await asked;
    await engine.close();
    expect(await attempt).toBe('SHUTTING_DOWN');
    expect(await codeOfFailure(get(engine, site.origin))).toBe('SHUTTING_DOWN');
  });
});

test('many requests at once each get their own answer', async () => {
  const site = await serve((request, response) => response.end(request.url));
  const engine = testEngine();
  const paths = Array.from({ length: 300 }, (_, index) => `/p${index}`);
  const answers = await Promise.all(paths.map((path) => get(engine, site.origin + path)));
  expect(answers.map(textOf)).toEqual(paths);
});
