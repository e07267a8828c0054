import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classify } from '../../src/fetch/classify/classify.ts';
import { LOGIN } from './pages/javascript/doors.ts';
import { SOCKET_GREETING, SOCKET_PATH } from './pages/javascript/windows.ts';
import { SCRIPTED } from './scripted.ts';
import { type Site, startSite } from './site.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 50 });
});
afterAll(() => site.close());

const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(site.url + path, init);
interface Data {
  readonly items: readonly unknown[];
  readonly links: readonly { readonly href: string }[];
}
const json = async (path: string, init: RequestInit = {}) => (await (await get(path, init)).json()) as Data;

describe('what a server sends of pages with scripts', () => {
  test.each(SCRIPTED)('$path: $note', async ({ path, plain, shows, actions }) => {
    const response = await get(path);
    const html = await response.text();
    const isThere = plain === 'ok' && actions === undefined;
    expect(html.includes(shows)).toBe(isThere);
    const found = classify({
      url: site.url + path,
      finalUrl: response.url,
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      contentType: response.headers.get('content-type'),
      bytes: html.length,
      html,
      facts: null,
    });
    expect(found).toMatchObject({ outcome: plain });
    expect(await (await get(path)).text()).toBe(html);
  });

  test('is the same shell for every address of the application, even for those it does not have', async () => {
    const shells = ['', 'about', 'products/3', 'no-such-route'].map(async (route) =>
      (await get(`/js/spa/${route}`)).text(),
    );
    expect(new Set(await Promise.all(shells)).size).toBe(1);
    expect(await json('/js/api/spa/about')).toMatchObject({ title: 'About the application' });
    expect(await json('/js/api/spa/no-such-route')).toMatchObject({ title: 'Page not found' });
  });
});

describe('what scripts ask for', () => {
  test('is the same every time', async () => {
    for (const path of ['/js/api/list', '/js/api/late', '/js/api/scroll/4', '/js/api/catalogue/7']) {
      const { items } = await json(path);
      expect(items.length).toBeGreaterThan(10);
      expect((await json(path)).items).toEqual(items);
    }
    expect((await get('/js/api/scroll/5')).status).toBe(404);
    expect((await get('/js/api/catalogue/50')).status).toBe(404);
    expect(await json('/js/api/echo', { method: 'POST', body: 'words' })).toEqual({
      method: 'POST',
      body: 'words',
    });
  });

  test('reaches every page of the catalogue', async () => {
    const seen = new Set(['0']);
    for (const page of seen) {
      const { links } = await json(`/js/api/catalogue/${page}`);
      for (const { href } of links) seen.add(href.slice('/js/catalogue/'.length) || '0');
    }
    expect(seen.size).toBe(50);
  });
});

describe('doors', () => {
  const manual = { redirect: 'manual' } as const;
  test('a login sets a cookie that opens the pages of members', async () => {
    const wrong = new URLSearchParams({ ...LOGIN, password: 'guess' });
    expect((await get('/js/login', { method: 'POST', body: wrong })).status).toBe(401);
    const right = await get('/js/login', { method: 'POST', body: new URLSearchParams(LOGIN), ...manual });
    expect([right.status, right.headers.get('location')]).toEqual([303, '/js/members']);
    const cookie = right.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const shut = await get('/js/members', manual);
    expect(shut.headers.get('location')).toBe('/js/login?next=%2Fjs%2Fmembers');
    expect(await (await get('/js/members', { headers: { cookie } })).text()).toContain(
      'Good to see you, anna',
    );
    expect((await get('/js/members/orders/2', { headers: { cookie }, ...manual })).status).toBe(200);
  });

  test('a token opens the account', async () => {
    const ask = (user: string) =>
      get('/js/api/token', { method: 'POST', body: JSON.stringify({ ...LOGIN, user }) });
    expect((await ask('bob')).status).toBe(401);
    const { token } = (await (await ask(LOGIN.user)).json()) as { token: string };
    expect((await get('/js/api/account')).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    expect(await json('/js/api/account', { headers })).toMatchObject({ name: 'anna' });
  });

  test('consent opens the cookie wall', async () => {
    const headers = { cookie: 'consent=yes' };
    expect(await (await get('/js/cookie-wall', { headers })).text()).toContain('Behind the cookie wall');
  });

  test('a challenge is opened by the number that its script looks for, and by no other', async () => {
    const { headers, status } = await get('/js/challenge/1');
    expect([status, headers.get('cf-mitigated')]).toEqual([403, 'challenge']);
    expect((await get('/js/old-challenge/1')).status).toBe(503);
    for (const form of ['challenge', 'old-challenge']) {
      const asked = await (await get(`/js/${form}/5`)).text();
      // Its own code finds the number; only what needs a browser is taken out.
      const code = /<script>\n(const seedOf[\s\S]*?)<\/script>/.exec(asked)?.[1] ?? '';
      const cookie: string = await new Promise((resolve) => {
        const page = { cookie: '' };
        new Function('document', 'location', 'setTimeout', code)(
          page,
          { reload: () => resolve(page.cookie.split(';')[0] ?? '') },
          (work: () => void) => setImmediate(work),
        );
      });
      expect(await (await get(`/js/${form}/5`, { headers: { cookie } })).text()).toContain(
        'Behind the challenge',
      );
      const wrong = { cookie: `${cookie}1` };
      expect((await get(`/js/${form}/5`, { headers: wrong })).status).toBeGreaterThan(400);
    }
  });
});

/** What a socket hears until it closes or has heard enough. */
function hear(request: string, isEnough: (heard: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(site.port, '127.0.0.1').setEncoding('latin1');
    socket.on('data', (piece: string) => {
      heard += piece;
      if (isEnough(heard)) socket.destroy();
    });
    socket.on('close', () => resolve(heard));
    socket.write(request);
  });
}

test('the websocket greets, and there is no other', async () => {
  const upgrade = (path: string) =>
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
  const heard = await hear(upgrade(SOCKET_PATH), (text) => text.includes(SOCKET_GREETING));
  // The example of RFC 6455, 1.3.
  expect(heard).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  expect(heard).toContain(SOCKET_GREETING);
  expect(await hear(upgrade('/js/list'), () => false)).toBe('');
});

test('the picture that never comes never comes', async () => {
  const asked = get('/js/never.png', { signal: AbortSignal.timeout(300) });
  await expect(asked).rejects.toThrow();
  expect(site.countOf(`${site.url}/js/never.png`)).toBe(1);
});
