import { afterAll, expect, test } from 'vitest';
import { ProxyCredentials } from '../../src/core/model/proxy.ts';
import {
  failureOf,
  lastingBrowser,
  render,
  testBrowser,
  textOf,
} from '../../src/fetch/browser/browser.fixture.ts';
import { faultOf } from '../../src/fetch/proxy/proxy-failure.ts';
import { startProxy } from './forwarding-proxy.ts';
import { startSite } from './target-site.ts';

const allowPrivate = (address: string): boolean => address === '127.0.0.1';
const { engine } = lastingBrowser({ maxBrowsers: 1, allowPrivate });
afterAll(() => engine.close());

const names = { 'shop.example': '127.0.0.1' };
const login = ['someone', 'pass word:ä'] as const;

test.each(['http', 'socks5'] as const)(
  'pages come by way of %s, which resolves the names, and the site sees the proxy alone',
  async (protocol) => {
    const site = await startSite();
    const proxy = await startProxy({ protocol, names, login, exit: '127.0.0.9' });
    const response = await render(engine, `http://shop.example:${site.port}/`, { proxy: proxy.endpoint() });
    expect(textOf(response)).toContain('127.0.0.9');
    expect(new Set(site.visitors)).toEqual(new Set(['127.0.0.9']));
    expect(new Set(proxy.asked.map(({ host, username }) => `${username} ${host}`))).toEqual(
      new Set(['someone shop.example']),
    );
  },
);

test('pages come by way of a proxy behind TLS, whose certificate is checked', async () => {
  const site = await startSite();
  const proxy = await startProxy({ protocol: 'https', names, login, exit: '127.0.0.9' });
  const url = `http://shop.example:${site.port}/`;
  const failure = await failureOf(render(engine, url, { proxy: proxy.endpoint() }));
  expect([failure.code, faultOf(failure)]).toEqual(['PROXY_FAILED', 'proxy']);
  const trusting = testBrowser({
    maxBrowsers: 1,
    allowPrivate,
    proxyTls: { ca: proxy.certificate?.cert ?? '' },
  });
  expect(textOf(await render(trusting.engine, url, { proxy: proxy.endpoint() }))).toContain('127.0.0.9');
});

test('two logins at one proxy are two visitors, who share no cookies', async () => {
  const site = await startSite();
  const proxy = await startProxy({ names });
  const url = `http://shop.example:${site.port}/`;
  const as = (username: string) => ({
    proxy: proxy.endpoint({ credentials: new ProxyCredentials(username, 'x') }),
    actions: [{ type: 'evaluate' as const, script: "document.cookie = 'a=1'" }],
  });
  for (const username of ['u-session-1', 'u-session-2', 'u-session-1'])
    await render(engine, url, as(username));
  expect(site.cookies).toEqual(['', '', 'a=1']);
});

test('a proxy that refuses or is not there is an error that blames it and tells no secrets', async () => {
  const proxy = await startProxy({ names, login });
  const wrong = proxy.endpoint({ credentials: new ProxyCredentials('someone', 'hush-hush') });
  for (const endpoint of [wrong, { ...wrong, port: 1 }]) {
    const failure = await failureOf(render(engine, 'http://shop.example/', { proxy: endpoint }));
    expect([failure.code, faultOf(failure)]).toEqual(['PROXY_FAILED', 'proxy']);
    expect(failure.message).toContain(endpoint.id);
    expect(`${failure.message} ${JSON.stringify(failure)}`).not.toMatch(/hush|someone|127\.0\.0\.1/);
  }
});

test.each(['http://127.0.0.2:8080/', 'http://router.lan/', 'https://10.0.0.1/'])(
  '%s is refused by way of a proxy too, and the proxy is not asked',
  async (url) => {
    const proxy = await startProxy({ names });
    const failure = await failureOf(render(engine, url, { proxy: proxy.endpoint() }));
    expect(failure.code).toBe('ADDRESS_REFUSED');
    expect(proxy.asked).toEqual([]);
  },
);

test('what a page fetches by itself goes the same way, and the inside stays closed to it', async () => {
  const site = await startSite();
  const proxy = await startProxy({ names, exit: '127.0.0.9' });
  const script = `(async () => {
    const ask = (url) => fetch(url, { mode: 'no-cors' }).then(() => 'answered', () => 'failed');
    return [await ask('http://shop.example:${site.port}/more'), await ask('http://127.0.0.3:${site.port}/')];
  })()`;
  const response = await render(engine, `http://shop.example:${site.port}/`, {
    proxy: proxy.endpoint(),
    actions: [{ type: 'evaluate', script }],
  });
  expect(response.extra.actions[0]?.value).toEqual(['answered', 'failed']);
  expect(new Set(site.visitors)).toEqual(new Set(['127.0.0.9']));
  expect(new Set(proxy.asked.map(({ host }) => host))).toEqual(new Set(['shop.example']));
});
