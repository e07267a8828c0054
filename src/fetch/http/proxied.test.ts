import { createSecureServer } from 'node:http2';
import { describe, expect, test } from 'vitest';
import { type ForwardingProxy, startProxy } from '../../../test/proxies/forwarding-proxy.ts';
import { startSite } from '../../../test/proxies/target-site.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { ProxyCredentials } from '../../core/model/proxy.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import { faultOf } from '../proxy/proxy-failure.ts';
import { codeOfFailure, get, listen, serve, testEngine, textOf } from './loopback.fixture.ts';
import { selfSigned } from './self-signed.fixture.ts';

const names = { 'shop.example': '127.0.0.1', 'other.example': '127.0.0.1', localhost: '127.0.0.1' };
const login = ['someone', 'p:ä@ss'] as const;
const engineFor = (more = {}) =>
  testEngine({ allowPrivate: (address) => address === '127.0.0.1', connectTimeoutMs: 5_000, ...more });
const tunnels = ({ asked }: ForwardingProxy) => asked.map(({ username, host }) => `${username} ${host}`);

describe.each(['http', 'https', 'socks5'] as const)('by way of an %s proxy', (protocol) => {
  const start = () => startProxy({ protocol, names, login, exit: '127.0.0.9' });
  const trusting = (proxy: ForwardingProxy) => engineFor({ proxyTls: { ca: proxy.certificate?.cert ?? '' } });

  test('the site sees the proxy alone, and one tunnel serves many requests', async () => {
    const [site, proxy] = [await startSite(), await start()];
    const engine = trusting(proxy);
    for (let count = 0; count < 3; count++) {
      const response = await get(engine, `http://shop.example:${site.port}/`, { proxy: proxy.endpoint() });
      expect(textOf(response)).toBe('127.0.0.9');
    }
    expect(site.visitors).toEqual(new Array(3).fill('127.0.0.9'));
    expect(Object.keys(site.headers())).not.toContain('proxy-authorization');
    expect(tunnels(proxy)).toEqual(['someone shop.example']);
  });

  test('HTTP/2 is spoken inside the tunnel, and certificates are checked', async () => {
    const certificate = selfSigned();
    const server = createSecureServer({ ...certificate, allowHTTP1: true });
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 });
      stream.end(stream.session?.socket.remoteAddress);
    });
    const { port } = await listen(server, 'https');
    const proxy = await start();
    const proxyTls = { ca: proxy.certificate?.cert ?? '' };
    const request = { proxy: proxy.endpoint() };
    const engine = engineFor({ proxyTls, tls: { ca: certificate.cert } });
    const response = await get(engine, `https://localhost:${port}/`, request);
    expect([response.httpVersion, textOf(response)]).toEqual(['2', '127.0.0.9']);
    expect(await codeOfFailure(get(trusting(proxy), `https://localhost:${port}/`, request))).toBe(
      'TLS_FAILED',
    );
    expect(await codeOfFailure(get(engine, `https://shop.example:${port}/`, request))).toBe('TLS_FAILED');
  });

  test('redirects and cookies go the same way', async () => {
    const seen: string[] = [];
    const { port } = await serve((request, response) => {
      seen.push(`${request.headers.host} ${request.headers.cookie ?? '-'} ${request.socket.remoteAddress}`);
      if (request.url === '/end') response.end('arrived');
      else {
        const location = request.url === '/' ? '/next' : `http://other.example:${port}/end`;
        response.writeHead(302, { location, 'set-cookie': 'id=7; Path=/' }).end();
      }
    });
    const proxy = await start();
    const jar = createCookieJar();
    const request = { proxy: proxy.endpoint(), jar };
    const response = await get(trusting(proxy), `http://shop.example:${port}/`, request);
    expect([textOf(response), response.redirects.length]).toEqual(['arrived', 2]);
    expect(seen).toEqual([
      `shop.example:${port} - 127.0.0.9`,
      `shop.example:${port} id=7 127.0.0.9`,
      `other.example:${port} - 127.0.0.9`,
    ]);
    expect(jar.size).toBe(1);
  });

  test('an address on the inside is refused, also behind a redirect, and the proxy is not asked', async () => {
    const { port } = await serve((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end(),
    );
    const proxy = await start();
    const request = { proxy: proxy.endpoint() };
    const engine = trusting(proxy);
    expect(await codeOfFailure(get(engine, 'http://127.0.0.2/', request))).toBe('ADDRESS_REFUSED');
    expect(await codeOfFailure(get(engine, 'http://router.lan/', request))).toBe('ADDRESS_REFUSED');
    expect(await codeOfFailure(get(engine, `http://shop.example:${port}/`, request))).toBe('ADDRESS_REFUSED');
    expect(tunnels(proxy)).toEqual(['someone shop.example']);
  });
});

test('with and without a proxy, and with another login at it, connections are not shared', async () => {
  const site = await startSite();
  const proxy = await startProxy({ names, exit: '127.0.0.9' });
  const engine = testEngine({ resolve: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) });
  const url = `http://shop.example:${site.port}/`;
  const as = (username: string, password: string) =>
    proxy.endpoint({ credentials: new ProxyCredentials(username, password) });
  const ways = [undefined, as('u-country-de', 'x'), as('u-country-fr', 'x'), as('u-country-de', 'guessed')];
  const seen: string[] = [];
  for (const way of [...ways, ...ways]) seen.push(textOf(await get(engine, url, { proxy: way })));
  expect(seen.slice(0, 4)).toEqual(['127.0.0.1', '127.0.0.9', '127.0.0.9', '127.0.0.9']);
  expect(seen.slice(4)).toEqual(seen.slice(0, 4));
  expect(tunnels(proxy).sort()).toEqual(
    ['u-country-de', 'u-country-de', 'u-country-fr'].map((username) => `${username} shop.example`),
  );
});

test('connections by way of many proxies stay within the bound', async () => {
  const site = await startSite();
  const proxies = await Promise.all([1, 2, 3, 4].map(() => startProxy({ names })));
  const engine = engineFor({ maxPools: 2 });
  for (const proxy of [...proxies, ...proxies]) {
    await get(engine, `http://shop.example:${site.port}/`, { proxy: proxy.endpoint() });
  }
  // There is room for connections through two of the four proxies, so no request finds an open connection of its own
  // proxy.
  expect(proxies.map(({ asked }) => asked.length)).toEqual([2, 2, 2, 2]);
});

test('a dead proxy is named and blamed, without its login', async () => {
  const proxy = await startProxy({ names, login });
  const engine = engineFor();
  const wrong = proxy.endpoint({ credentials: new ProxyCredentials('someone', 'hush-hush') });
  for (const endpoint of [wrong, { ...wrong, port: 1 }]) {
    const failure: unknown = await get(engine, 'http://shop.example/', { proxy: endpoint }).catch(
      (error: unknown) => error,
    );
    if (!isScrapifieError(failure)) throw failure;
    expect([failure.code, faultOf(failure)]).toEqual(['PROXY_FAILED', 'proxy']);
    expect(failure.message).toContain(endpoint.id);
    expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toMatch(/hush|someone/);
  }
});

test('a proxy that is slow to answer is given up when the time is over, or the caller does', async () => {
  const proxy = await startProxy({ names, behaviour: 'silent' });
  const engine = engineFor();
  const request = { proxy: proxy.endpoint() };
  const url = 'http://shop.example/';
  expect(await codeOfFailure(get(engine, url, { ...request, timeoutMs: 50 }))).toBe('TASK_TIMEOUT');
  const signal = AbortSignal.abort();
  expect(await codeOfFailure(get(engine, url, { ...request, signal }))).toBe('CANCELLED');
});

test('closing ends what waits for a proxy', async () => {
  const proxy = await startProxy({ names, behaviour: 'silent' });
  const engine = engineFor({ connectTimeoutMs: 60_000 });
  const waiting = codeOfFailure(
    get(engine, 'http://shop.example/', { proxy: proxy.endpoint(), timeoutMs: 60_000 }),
  );
  await expect.poll(() => proxy.asked.length).toBe(1);
  await engine.close();
  expect(await waiting).toBe('SHUTTING_DOWN');
  expect(await codeOfFailure(get(engine, 'http://shop.example/', { proxy: proxy.endpoint() }))).toBe(
    'SHUTTING_DOWN',
  );
});

test('a tunnel that was closed meanwhile costs a GET nothing', async () => {
  const site = await startSite();
  const proxy = await startProxy({ names });
  const engine = engineFor();
  const fetching = () => get(engine, `http://shop.example:${site.port}/`, { proxy: proxy.endpoint() });
  await fetching();
  proxy.behave('forward');
  expect((await fetching()).statusCode).toBe(200);
  expect(proxy.asked).toHaveLength(2);
});
