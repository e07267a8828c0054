import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { failureOf, fetchThrough } from '../../../test/proxies/fetch-through.ts';
import { type Behaviour, startProxy } from '../../../test/proxies/forwarding-proxy.ts';
import { listening } from '../../../test/proxies/listening.ts';
import { startSite } from '../../../test/proxies/target-site.ts';
import { ProxyCredentials } from '../../core/model/proxy.ts';
import { createTunnelOpener } from './open-tunnel.ts';
import { faultOf } from './proxy-failure.ts';

const openTunnel = createTunnelOpener({
  allowPrivate: (address) => address === '127.0.0.1',
  timeoutMs: 5_000,
});
const names = { 'shop.example': '127.0.0.1' };

test.each(['http', 'socks5'] as const)(
  'a tunnel through %s carries bytes both ways, those of a target that speaks first too',
  async (protocol) => {
    const port = await listening(
      createServer((socket) => {
        socket.write('hello ');
        socket.pipe(socket);
      }),
    );
    const proxy = await startProxy({ protocol, names });
    const tunnel = await openTunnel(proxy.endpoint(), 'SHOP.example.', port);
    tunnel.write('and back');
    let text = '';
    tunnel.on('data', (chunk) => {
      text += String(chunk);
    });
    await expect.poll(() => text).toBe('hello and back');
    tunnel.destroy();
    expect(proxy.asked[0]?.host).toBe('shop.example');
  },
);

test.each(['http', 'socks5'] as const)(
  'a tunnel through %s that is no longer wanted is given up',
  async (protocol) => {
    const proxy = await startProxy({ protocol, behaviour: 'silent' });
    const giveUp = new AbortController();
    const opening = openTunnel(proxy.endpoint(), 'shop.example', 80, giveUp.signal);
    await expect.poll(() => proxy.asked.length).toBe(1);
    giveUp.abort();
    expect((await failureOf(opening)).code).toBe('CANCELLED');
    expect((await failureOf(openTunnel(proxy.endpoint(), 'shop.example', 80, giveUp.signal))).code).toBe(
      'CANCELLED',
    );
    expect(proxy.asked).toHaveLength(1);
  },
);

test.each([
  'a b.example',
  'a.example\r\nX: y',
  'a.example:80',
  'ä.example',
  '',
  `${'a'.repeat(60)}.`.repeat(5),
  'u@a.example',
])('the host %j never reaches a proxy', async (host) => {
  const proxy = await startProxy();
  expect((await failureOf(openTunnel(proxy.endpoint(), host, 80))).code).toMatch(
    /INVALID_URL|ADDRESS_REFUSED/,
  );
  expect(proxy.asked).toEqual([]);
});

test('an answer without end is not waited for', async () => {
  const server = createServer((socket) => {
    const chunk = 'x'.repeat(8_192);
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
  });
  const port = await listening(server);
  const proxy = await startProxy();
  const connected = once(server, 'connection');
  const failure = await failureOf(openTunnel(proxy.endpoint({ port }), 'shop.example', 80));
  expect(failure.message).toContain('does not answer like an HTTP proxy');
  const [socket] = await connected;
  await expect.poll(() => socket.destroyed).toBe(true);
});

const PROTOCOLS = ['http', 'https', 'socks5'] as const;

const login = ['someone-country-de', 'p:ä@ss'] as const;

describe.each(PROTOCOLS)('a request through an %s proxy', (protocol) => {
  const start = (behaviour: Behaviour = 'forward') =>
    startProxy({ protocol, names, login, exit: '127.0.0.9', behaviour });
  const trust = (proxy: Awaited<ReturnType<typeof start>>) => ({
    proxyTls: { ca: proxy.certificate?.cert ?? '' },
  });

  test.each([false, true])('reaches the target, which sees only the proxy (TLS: %s)', async (isSecure) => {
    const site = await startSite({ isSecure });
    const proxy = await start();
    const scheme = isSecure ? 'https' : 'http';
    const answer = await fetchThrough(proxy.endpoint(), `${scheme}://shop.example:${site.port}/`, {
      ...trust(proxy),
      tls: { ca: site.certificate?.cert ?? '', servername: 'localhost' },
    });
    expect(answer).toEqual({ statusCode: 200, body: '127.0.0.9' });
    expect(site.visitors).toEqual(['127.0.0.9']);
    expect(Object.keys(site.headers())).not.toContain('proxy-authorization');
    // The proxy was asked for the name, so this process has not resolved it.
    expect(proxy.asked).toEqual([{ username: login[0], host: 'shop.example', port: site.port }]);
  });

  test.each([
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/',
    'http://localhost/',
    'http://a.localhost./',
    'http://router.lan/',
    'http://metadata.google.internal/',
    'http://intranet/',
  ])('%s is refused before the proxy is asked', async (url) => {
    const proxy = await start();
    const allowPrivate = url.includes('localhost') ? false : (address: string) => address === '127.0.0.1';
    const failure = await failureOf(fetchThrough(proxy.endpoint(), url, { ...trust(proxy), allowPrivate }));
    expect(failure.code).toBe('ADDRESS_REFUSED');
    expect(faultOf(failure)).toBeNull();
    expect(proxy.asked).toEqual([]);
  });

  test('without the right login is the fault of the proxy, and no message shows the login', async () => {
    const proxy = await start();
    const wrong = proxy.endpoint({ credentials: new ProxyCredentials('someone', 'hush-hush') });
    for (const endpoint of [wrong, proxy.endpoint({ credentials: null })]) {
      const failure = await failureOf(fetchThrough(endpoint, 'http://shop.example/', trust(proxy)));
      expect(faultOf(failure)).toBe('proxy');
      expect(failure.message).toContain('login');
      expect(inspect(failure, { depth: 9 }) + JSON.stringify([failure, endpoint])).not.toMatch(
        /hush|aHVzaC|someone/,
      );
    }
    expect(proxy.asked).toEqual([]);
  });

  test.each([
    ['http://nowhere.example/', /^(?:DNS|CONNECT)_FAILED$/],
    ['http://shop.example:1/', /^CONNECT_FAILED$/],
  ])('to %s is the fault of the target', async (url, code) => {
    const proxy = await start();
    const failure = await failureOf(fetchThrough(proxy.endpoint(), url, trust(proxy)));
    expect(failure.code).toMatch(code);
    expect(faultOf(failure)).toBeNull();
  });

  test.each(['silent', 'hang-up', 'gateway-error'] as const)(
    'may be the fault of the proxy when it is %s',
    async (behaviour) => {
      const proxy = await start(behaviour);
      const failing = fetchThrough(proxy.endpoint(), 'http://shop.example/', {
        ...trust(proxy),
        timeoutMs: 300,
      });
      expect(faultOf(await failureOf(failing))).toBe('unclear');
    },
  );

  test.each(['swallow', 'garble'] as const)(
    'that says yes and then will %s fails in the TLS handshake',
    async (behaviour) => {
      const proxy = await start(behaviour);
      const failing = fetchThrough(proxy.endpoint(), 'https://shop.example/', {
        ...trust(proxy),
        timeoutMs: 300,
      });
      const failure = await failureOf(failing);
      expect(failure.code).toBe('TLS_FAILED');
      expect(faultOf(failure)).toBe('unclear');
    },
  );
});

test('a proxy that is not there is at fault, and so is one that accepts and says nothing before TLS', async () => {
  const proxy = await startProxy();
  const gone = await failureOf(fetchThrough(proxy.endpoint({ port: 1 }), 'http://shop.example/'));
  expect([gone.code, faultOf(gone)]).toEqual(['PROXY_FAILED', 'proxy']);

  const port = await listening(createServer(() => {}));
  const mute = proxy.endpoint({ protocol: 'https', port });
  const failure = await failureOf(fetchThrough(mute, 'http://shop.example/', { timeoutMs: 300 }));
  expect(faultOf(failure)).toBe('proxy');
});

test('a server that speaks another protocol is recognised', async () => {
  const site = await startSite();
  const proxy = await startProxy();
  for (const protocol of ['socks5', 'http'] as const) {
    const notProxy = proxy.endpoint({ protocol, port: site.port });
    const failure = await failureOf(fetchThrough(notProxy, 'http://shop.example/'));
    expect(faultOf(failure)).not.toBeNull();
  }
});

describe("the proxy's own address", () => {
  test.each(['127.0.0.1', 'proxy.example'])('%s is refused when it is private', async (host) => {
    const proxy = await startProxy({ names });
    const failure = await failureOf(
      fetchThrough(proxy.endpoint({ host }), 'http://shop.example/', {
        allowPrivate: false,
        resolve: (_host, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
      }),
    );
    expect(failure.code).toBe('ADDRESS_REFUSED');
    expect(failure.message).not.toContain('127.0.0.1');
    expect(faultOf(failure)).toBe('proxy');
    expect(proxy.asked).toEqual([]);
  });

  test('may be private when the operator says so; it is then given addresses that were checked, not names', async () => {
    const proxy = await startProxy({ names });
    const endpoint = proxy.endpoint({ isPrivateAllowed: true });
    const resolved: string[] = [];
    const fetching = (address: string) =>
      fetchThrough(endpoint, 'http://shop.example:1/', {
        allowPrivate: false,
        resolve: (host, done) => {
          resolved.push(host);
          done(null, [{ address, family: 4 }]);
        },
      });
    expect((await failureOf(fetching('10.1.2.3'))).code).toBe('ADDRESS_REFUSED');
    expect(proxy.asked).toEqual([]);
    proxy.behave('gateway-error');
    expect(faultOf(await failureOf(fetching('93.184.216.34')))).toBe('unclear');
    expect(proxy.asked).toEqual([{ username: null, host: '93.184.216.34', port: 1 }]);
    expect(resolved).toEqual(['shop.example', 'shop.example']);
  });
});
