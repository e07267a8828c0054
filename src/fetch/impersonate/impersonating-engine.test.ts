import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startProxy } from '../../../test/proxies/forwarding-proxy.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { ProxyCredentials } from '../../core/model/proxy.ts';
import { createIdentities } from '../../crawl/plan/identity/identities.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import type { Engine, FetchRequest } from '../engine.ts';
import { codeOfFailure, get, listen, serve, textOf } from '../http/loopback.fixture.ts';
import { selfSigned } from '../http/self-signed.fixture.ts';
import { faultOf } from '../proxy/proxy-failure.ts';
import { loadWreq } from './handshake-clients.ts';
import { engineWith, IDENTITY, noDriver, serveSecure } from './impersonate.fixture.ts';

const visit = (engine: Engine, url: string, more: Partial<FetchRequest> = {}) =>
  get(engine, url, { identity: IDENTITY, ...more });
/** Chrome's, twice: for the stream, and for what is on its way. */
const WINDOW_BYTES = 2 * 6_291_456;
const at = (port: number, path = '/') => `https://shop.example:${port}${path}`;

/** A server behind TLS that answers every request with these bytes. */
const serveBytes = (bytes: string | null) =>
  listen(
    createTlsServer(selfSigned(), (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => (bytes === null ? socket.destroy() : socket.end(bytes)));
    }),
  );

describe('by wreq-js', () => {
  const open = (more = {}) => engineWith(loadWreq, more);

  test('the identity’s headers arrive in their order, with those of the request in place', async () => {
    let seen: readonly string[] = [];
    const { port } = await serveSecure((request, response) => {
      seen = request.rawHeaders;
      response.end('ok');
    });
    const engine = open();
    const response = await visit(engine, at(port), {
      headers: { 'Accept-Language': 'fr', 'X-More': '1' },
      cookies: { id: '7' },
    });
    expect([textOf(response), response.httpVersion, engine.handshake]).toEqual(['ok', '2', 'wreq']);
    const sent = Object.fromEntries(
      seen.flatMap((text, index) => (index % 2 === 0 ? [[text, seen[index + 1]]] : [])),
    );
    const order = Object.keys(sent).filter((header) => !header.startsWith(':'));
    expect(order).toEqual([
      ...IDENTITY.headers.map(([header]) => header).filter((header) => header !== 'priority'),
      ...['cookie', 'priority', 'x-more'],
    ]);
    expect(sent).toMatchObject({
      ...Object.fromEntries(IDENTITY.headers),
      'accept-language': 'fr',
      cookie: 'id=7',
    });
    expect(seen.filter((text) => text.startsWith(':'))).toEqual([
      ':method',
      ':authority',
      ':scheme',
      ':path',
    ]);
  });

  test('servers are greeted as Chrome greets them', async () => {
    let hello = Buffer.alloc(0);
    const { port } = await listen(
      createServer((socket) =>
        socket.once('data', (chunk) => {
          hello = chunk;
          socket.destroy();
        }),
      ),
    );
    expect(await codeOfFailure(visit(open(), at(port)))).toBe('TLS_FAILED');
    const ciphers = ciphersOf(hello);
    // Chrome puts a number that means nothing in front, so that servers learn to pass over those.
    expect((ciphers[0] ?? 0) & 0x0f0f).toBe(0x0a0a);
    expect(ciphers.slice(1, 4)).toEqual([0x1301, 0x1302, 0x1303]);
    expect(hello.includes(Buffer.from('\u0002h2\u0008http/1.1'))).toBe(true);
  });

  test.each(['firefox', 'safari'] as const)('servers are greeted as %s greets them', async (family) => {
    let hello = Buffer.alloc(0);
    const { port } = await listen(
      createServer((socket) =>
        socket.once('data', (chunk) => {
          hello = chunk;
          socket.destroy();
        }),
      ),
    );
    const identity = await createIdentities(() => null).of('seed', 'de', family);
    expect(await codeOfFailure(visit(open(), at(port), { identity }))).toBe('TLS_FAILED');
    const isGrease = ((ciphersOf(hello)[0] ?? 0) & 0x0f0f) === 0x0a0a;
    expect(isGrease).toBe(family === 'safari');
    if (family === 'firefox') expect(ciphersOf(hello).slice(0, 3)).toEqual([0x1301, 0x1303, 0x1302]);
    let sent: readonly string[] = [];
    const site = await serveSecure((request, response) => {
      sent = request.rawHeaders.filter((_, index) => index % 2 === 0);
      response.end('ok');
    });
    expect(textOf(await visit(open(), at(site.port), { identity }))).toBe('ok');
    const order = identity.headers.map(([name]) => name);
    expect(sent.filter((name) => !name.startsWith(':'))).toEqual(order);
    expect(order.some((name) => name.startsWith('sec-ch-'))).toBe(false);
  });

  test('redirects are asked about one by one, and cookies are ours to keep', async () => {
    const seen: string[] = [];
    const { port } = await serveSecure((request, response) => {
      seen.push(`${request.url} ${request.headers.cookie ?? '-'}`);
      const step = Number(request.url.slice(1));
      if (step === 0) response.end('arrived');
      else
        response.writeHead(302, { location: `/${step - 1}`, 'set-cookie': `step=${step}; Path=/` }).end('go');
    });
    const engine = open();
    const jar = createCookieJar();
    const asked: string[] = [];
    const onRedirect = async (target: string, hop: number) => {
      asked.push(`${hop} ${new URL(target).pathname}`);
      return target.endsWith('/0') ? ('stop' as const) : ('follow' as const);
    };
    const stopped = await visit(engine, at(port, '/2'), { jar, onRedirect });
    expect([stopped.statusCode, stopped.redirectedTo, stopped.redirects.length]).toEqual([
      302,
      at(port, '/0'),
      1,
    ]);
    expect(asked).toEqual(['1 /1', '2 /0']);
    expect(seen).toEqual(['/2 -', '/1 step=2']);
    expect(textOf(await visit(engine, at(port, '/0'), { jar }))).toBe('arrived');
    expect(seen.at(-1)).toBe('/0 step=1');
    expect(await codeOfFailure(visit(engine, at(port, '/3'), { maxRedirects: 1 }))).toBe(
      'TOO_MANY_REDIRECTS',
    );
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('bodies in %s are decoded, and cut where they pass the limit', async (coding, compress) => {
    const bodies = {
      '/': compress('hello'),
      '/large': compress(Buffer.alloc(300_000, 'x')),
      '/bomb': compress(Buffer.alloc(5_000_000)),
    };
    const { port } = await serveSecure((request, response) => {
      response.setHeader('content-encoding', coding);
      response.end(bodies[request.url as '/']);
    });
    const engine = open();
    expect(textOf(await visit(engine, at(port)))).toBe('hello');
    const large = await visit(engine, at(port, '/large'));
    expect([large.body.byteLength, large.body.buffer.byteLength]).toEqual([300_000, 300_000]);
    expect(await codeOfFailure(visit(engine, at(port, '/bomb')))).toBe('BODY_LIMIT_EXCEEDED');
    expect(await codeOfFailure(visit(engine, at(port, '/large'), { maxBodyBytes: 299_999 }))).toBe(
      'BODY_LIMIT_EXCEEDED',
    );
  });

  test('a body without end is cut before much of it is taken, and so is one that says it is too long', async () => {
    const cut: string[] = [];
    let sentBytes = 0;
    const { port } = await serveSecure((request, response) => {
      response.on('close', () => cut.push(request.url));
      if (request.url === '/declared') response.setHeader('content-length', 50_000_000);
      response.write(Buffer.alloc(1_000));
      const pour = () => {
        let isTaken = true;
        while (isTaken && !response.stream.destroyed) {
          isTaken = response.write(Buffer.alloc(65_536));
          sentBytes += 65_536;
        }
      };
      response.on('drain', pour);
      if (request.url === '/endless') pour();
    });
    const engine = open();
    for (const path of ['/endless', '/declared']) {
      expect(await codeOfFailure(visit(engine, at(port, path)))).toBe('BODY_LIMIT_EXCEEDED');
    }
    await expect.poll(() => cut.toSorted()).toEqual(['/declared', '/endless']);
    // A browser opens its window for so much before it has read any; no library takes more than it opens.
    expect(sentBytes).toBeLessThan(WINDOW_BYTES);
  });

  test('waiting has its limits: for the whole, for the head, within the body', async () => {
    const { port } = await serveSecure((request, response) => {
      if (request.url === '/body') response.write('begun');
    });
    const patient = open();
    expect(await codeOfFailure(visit(patient, at(port), { timeoutMs: 300 }))).toBe('TASK_TIMEOUT');
    const short = open({ connectTimeoutMs: 500, headersTimeoutMs: 300, bodyTimeoutMs: 300 });
    expect(await codeOfFailure(visit(short, at(port)))).toBe('HEADERS_TIMEOUT');
    expect(await codeOfFailure(visit(short, at(port, '/body')))).toBe('BODY_TIMEOUT');
  });

  test('whoever gives up is obeyed, before and after something is sent', async () => {
    let requests = 0;
    const { port } = await serveSecure(() => {
      requests += 1;
    });
    const engine = open();
    expect(await codeOfFailure(visit(engine, at(port), { mayStart: () => false }))).toBe('CANCELLED');
    expect(await codeOfFailure(visit(engine, at(port), { signal: AbortSignal.abort() }))).toBe('CANCELLED');
    expect(requests).toBe(0);
    const giveUp = new AbortController();
    const waiting = codeOfFailure(visit(engine, at(port), { signal: giveUp.signal }));
    await expect.poll(() => requests).toBe(1);
    giveUp.abort(new ScrapifieError('BLOCKED', 'somebody else has it'));
    expect(await waiting).toBe('BLOCKED');
    const closed = codeOfFailure(visit(engine, at(port)));
    await expect.poll(() => requests).toBe(2);
    await engine.close();
    expect(await closed).toBe('SHUTTING_DOWN');
    expect(await codeOfFailure(visit(engine, at(port)))).toBe('SHUTTING_DOWN');
  });

  test('POST and HEAD are what they are, and a page that did not change is not sent again', async () => {
    const seen: string[] = [];
    const { port } = await serveSecure((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        seen.push([request.method, request.headers['content-type'] ?? '-', text].join(' '));
        if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
        else response.end('body');
      });
    });
    const engine = open();
    const form = {
      method: 'POST',
      body: 'a=ä',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    } as const;
    expect(textOf(await visit(engine, at(port), form))).toBe('body');
    await visit(engine, at(port), { method: 'POST', body: 'plain' });
    expect((await visit(engine, at(port), { method: 'HEAD' })).body.byteLength).toBe(0);
    const conditional = { etag: '"1"', lastModified: null };
    expect((await visit(engine, at(port), { conditional })).statusCode).toBe(304);
    expect(seen).toEqual(['POST application/x-www-form-urlencoded a=ä', 'POST - plain', 'HEAD - ', 'GET - ']);
  });

  test.each(['https://127.0.0.2/', 'https://[::1]/', 'https://169.254.169.254/', 'https://inside.example/'])(
    '%s is refused, whatever the environment says of proxies',
    async (url) => {
      const before = process.env.NO_PROXY;
      process.env.NO_PROXY = '*';
      try {
        const engine = open({
          resolve: (_host: string, done: (error: null, found: object[]) => void) =>
            done(null, [{ address: '10.0.0.1', family: 4 }]),
        });
        expect(await codeOfFailure(visit(engine, url))).toBe('ADDRESS_REFUSED');
      } finally {
        if (before === undefined) delete process.env.NO_PROXY;
        else process.env.NO_PROXY = before;
      }
    },
  );

  test('a redirect to the inside is refused', async () => {
    const { port } = await serveSecure((_, response) =>
      response.writeHead(302, { location: 'https://127.0.0.9/' }).end(),
    );
    expect(await codeOfFailure(visit(open(), at(port)))).toBe('ADDRESS_REFUSED');
  });

  test.each([
    ['hang-up', null, 'CONNECTION_RESET'],
    ['another language', 'SSH-2.0-x\r\n\r\n', 'PROTOCOL_ERROR'],
    ['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc', 'CONNECTION_RESET'],
    ['half a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc', 'CONNECTION_RESET'],
    ['no chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'PROTOCOL_ERROR'],
    ['no gzip', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc', 'BAD_ENCODING'],
    [
      'an unknown coding',
      'HTTP/1.1 200 OK\r\nContent-Encoding: x-y\r\nContent-Length: 3\r\n\r\nabc',
      'BAD_ENCODING',
    ],
    [
      'a huge head',
      `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\nContent-Length: 0\r\n\r\n`,
      'HEADERS_LIMIT_EXCEEDED',
    ],
    ['too many headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(3_000)}\r\n`, 'HEADERS_LIMIT_EXCEEDED'],
  ])('%s is named as what it is', async (_what, bytes, code) => {
    const { port } = await serveBytes(bytes);
    expect(await codeOfFailure(visit(open(), at(port)))).toBe(code);
  });

  test('what keeps a connection from standing is named, and no message holds the path', async () => {
    const { port } = await serveSecure((_, response) => response.end('ok'));
    const [nobody, plain] = [await listen(createServer()), await serve((_, response) => response.end())];
    const unknown = (_host: string, done: (error: Error) => void) =>
      done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
    const failing: [() => Promise<unknown>, string][] = [
      [() => visit(open({ tls: {} }), at(port, '/hush')), 'TLS_FAILED'],
      [() => visit(open(), at(plain.port, '/hush')), 'TLS_FAILED'],
      [() => visit(open(), at(1, '/hush')), 'CONNECT_FAILED'],
      [() => visit(open({ resolve: unknown }), at(nobody.port, '/hush')), 'DNS_FAILED'],
    ];
    for (const [attempt, code] of failing) {
      const error: unknown = await attempt().catch((reason: unknown) => reason);
      if (!isScrapifieError(error)) throw error;
      expect(error.code).toBe(code);
      expect(`${error.stack}${error.cause}`).not.toContain('hush');
    }
  });

  test('by way of a proxy the site sees the proxy alone, which is blamed when it fails', async () => {
    const visitors: (string | undefined)[] = [];
    const { port } = await serveSecure((request, response) => {
      visitors.push(request.socket.remoteAddress);
      response.end('ok');
    });
    const names = { 'shop.example': '127.0.0.1' };
    const login = ['someone', 'p@ss:ä'] as const;
    const engine = open();
    for (const protocol of ['http', 'socks5'] as const) {
      const proxy = await startProxy({ protocol, names, login, exit: '127.0.0.9' });
      const through = (more = {}) => visit(engine, at(port), { proxy: proxy.endpoint(more) });
      expect(textOf(await through())).toBe('ok');
      expect(textOf(await through())).toBe('ok');
      expect(proxy.asked).toEqual([{ username: 'someone', host: 'shop.example', port }]);
      const wrong = through({ credentials: new ProxyCredentials('someone', 'hush') });
      const error: unknown = await wrong.catch((reason: unknown) => reason);
      expect([isScrapifieError(error) && error.code, faultOf(error)]).toEqual(['PROXY_FAILED', 'proxy']);
      expect(JSON.stringify(error)).not.toContain('hush');
      proxy.behave('garble');
      const garbled: unknown = await through().catch((reason: unknown) => reason);
      expect([isScrapifieError(garbled) && garbled.code, faultOf(garbled)]).toEqual([
        'TLS_FAILED',
        'unclear',
      ]);
    }
    expect(new Set(visitors)).toEqual(new Set(['127.0.0.9']));
  });

  test('one visitor keeps a connection, two never share one', async () => {
    const site = await serveSecure((_, response) => response.end('ok'));
    const engine = open();
    const other = { ...IDENTITY, region: 'at' };
    for (const identity of [IDENTITY, other, IDENTITY, other, structuredClone(IDENTITY)]) {
      await visit(engine, at(site.port), { identity });
    }
    expect(site.accepted()).toBe(2);
    await visit(engine, at(site.port), { key: 'somebody else' });
    expect(site.accepted()).toBe(3);
  });
});

describe('without a driver', () => {
  test('requests go out plain, with the identity’s headers, and that is said', async () => {
    let seen: NodeJS.Dict<string | string[]> = {};
    const { port } = await serveSecure((request, response) => {
      seen = request.headers;
      response.end('ok');
    });
    const engine = engineWith(noDriver);
    expect(engine.handshake).toBeNull();
    expect(textOf(await visit(engine, at(port)))).toBe('ok');
    expect(engine.handshake).toBe('plain');
    expect(seen).toMatchObject(Object.fromEntries(IDENTITY.headers));
  });
});

describe('over plain http', () => {
  test('the identity writes its headers as browsers do there, and no driver is loaded', async () => {
    let seen: readonly string[] = [];
    const { port } = await serve((request, response) => {
      seen = request.rawHeaders;
      response.end('ok');
    });
    const engine = engineWith(noDriver);
    await visit(engine, `http://shop.example:${port}/`, { cookies: { id: '7' } });
    expect(seen.filter((_, index) => index % 2 === 0)).toEqual([
      ...['host', 'connection'],
      ...[
        'Upgrade-Insecure-Requests',
        'User-Agent',
        'Accept',
        'Accept-Encoding',
        'Accept-Language',
        'Cookie',
      ],
    ]);
    expect(seen[seen.indexOf('Accept-Encoding') + 1]).toBe('gzip, deflate');
    expect(engine.handshake).toBeNull();
    await visit(engine, `http://localhost:${port}/`);
    expect(seen.map((text) => text.toLowerCase())).toEqual(
      expect.arrayContaining(['sec-ch-ua', 'sec-fetch-site']),
    );
  });

  test('a redirect to https goes on with the handshake', async () => {
    const { port } = await serveSecure((request, response) =>
      response.end(`${request.headers['sec-fetch-mode']}`),
    );
    const door = await serve((_, response) => response.writeHead(301, { location: at(port) }).end());
    const engine = engineWith(loadWreq);
    const response = await visit(engine, `http://shop.example:${door.port}/`);
    expect([textOf(response), response.redirects.length, engine.handshake]).toEqual(['navigate', 1, 'wreq']);
  });
});

test('without an identity a request is ours, and nothing is loaded', async () => {
  const { port } = await serveSecure((request, response) =>
    response.end(request.headers['user-agent'] ?? ''),
  );
  const engine = engineWith(loadWreq);
  expect(textOf(await get(engine, at(port)))).toBe('TestBot/1');
  expect(engine.handshake).toBeNull();
});

/** The cipher suites of a ClientHello. */
function ciphersOf(hello: Buffer): number[] {
  // Record, handshake, version and random have fixed sizes; the session's id tells its own.
  const at = 5 + 4 + 2 + 32;
  const start = at + 1 + (hello[at] ?? 0);
  const length = hello.readUInt16BE(start);
  return Array.from({ length: length / 2 }, (_, index) => hello.readUInt16BE(start + 2 + index * 2));
}
