import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { ProxyCredentials, type ProxyEndpoint } from '../../core/model/proxy.ts';
import { createIdentity } from '../../crawl/plan/identity/identity.ts';
import { lastingBrowser, type TestBrowser } from '../browser/browser.fixture.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import type { Engine, FetchRequest, FetchResponse, Rendered } from '../engine.ts';
import { codeOfFailure, get, serve, testEngine, textOf } from '../http/loopback.fixture.ts';
import { openRemotePair } from './remote.fixture.ts';

const PNG = [0x89, 0x50, 0x4e, 0x47];

let browser: TestBrowser;
beforeAll(() => {
  browser = lastingBrowser();
});
afterAll(() => browser.engine.close());

const page = (body: string): string => `<!doctype html><title>t</title><body>${body}`;

const PAGES: Readonly<Record<string, string>> = {
  '/': page('<p id=out></p><script>fetch("/data").then(r=>r.json()).then(d=>out.append(d.text))</script>'),
  '/form': page(
    '<form method=post action=/login><input id=name name=name><button id=go>in</button></form><a id=far href=/far>x</a>',
  ),
  '/leaves': page('<script>location.replace("/arrived")</script>'),
  '/arrived': page('arrived'),
  '/stores': page('<script>localStorage.seen="1";document.cookie="script=1"</script><img src=/pixel>'),
};

async function site() {
  const seen: string[] = [];
  const { origin } = await serve(async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (pathname !== '/favicon.ico') seen.push(`${request.method} ${pathname} ${body}`.trim());
    if (pathname === '/data') response.end(JSON.stringify({ text: 'fetched' }));
    else if (pathname === '/pixel') response.setHeader('set-cookie', 'pixel=1; path=/').end();
    else if (pathname === '/login') {
      response.writeHead(303, { location: '/arrived', 'set-cookie': 'session=s1; path=/' }).end();
    } else {
      response.setHeader('content-type', 'text/html');
      response.end(PAGES[pathname] ?? page(`cookies: ${request.headers.cookie ?? 'none'}`));
    }
  });
  return { origin, seen };
}

const renderedOf = ({ rendered }: FetchResponse): Rendered => {
  if (rendered === undefined) throw new Error('nothing was rendered');
  return rendered;
};
const show = (
  engine: Engine,
  url: string,
  render: FetchRequest['render'],
  more: Partial<FetchRequest> = {},
) => get(engine, url, { render, ...more });

describe('a page rendered elsewhere', () => {
  test('comes with its text, picture, PDF, answers and values as from the engine itself', async () => {
    const { origin } = await site();
    const { remote, messages, blobs } = await openRemotePair(browser.engine);
    const wish: FetchRequest['render'] = {
      wait: { until: 'networkidle' },
      captureXhr: true,
      screenshot: { fullPage: true },
      pdf: true,
      actions: [
        { type: 'evaluate', script: '({ sum: 1 + 2 })' },
        { type: 'screenshot', format: 'jpeg' },
      ],
    };
    const distant = await show(remote, origin, wish);
    const direct = await show(browser.engine, origin, wish);
    expect(textOf(distant)).toContain('fetched');
    expect(textOf(distant)).toBe(textOf(direct));
    const { extra, rawBody, failure } = renderedOf(distant);
    expect(failure).toBeNull();
    expect(Buffer.from(rawBody ?? []).toString()).toBe(PAGES['/']);
    expect(rawBody?.buffer.byteLength).toBe(rawBody?.byteLength);
    expect([...(extra.screenshot?.bytes.subarray(0, 4) ?? [])]).toEqual(PNG);
    expect(extra.screenshot?.bytes.byteLength).toBe(renderedOf(direct).extra.screenshot?.bytes.byteLength);
    expect(
      Buffer.from(extra.pdf ?? [])
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
    expect(extra.xhr).toMatchObject([{ url: `${origin}/data`, statusCode: 200, isTooLarge: false }]);
    expect(Buffer.from(extra.xhr[0]?.body ?? []).toString()).toBe('{"text":"fetched"}');
    expect(extra.actions).toMatchObject([
      { type: 'evaluate', value: { sum: 3 } },
      { type: 'screenshot', picture: { contentType: 'image/jpeg' } },
    ]);
    for (const message of messages) expect(message.length).toBeLessThan(4_000);
    // The page's own body stays for who stores it; all else was for its caller alone.
    expect(await Array.fromAsync(blobs.list())).toHaveLength(1);
  });

  test('goes on by itself where its owner lets it, forms and what they lead to included', async () => {
    const { origin, seen } = await site();
    const { remote, messages } = await openRemotePair(browser.engine);
    const jar = createCookieJar();
    const asked: unknown[] = [];
    const response = await show(
      remote,
      `${origin}/form`,
      {
        actions: [
          { type: 'type', selector: '#name', text: 'ann' },
          { type: 'click', selector: '#go' },
          { type: 'wait', until: 'load' },
        ],
      },
      {
        jar,
        async onRedirect(target, hop) {
          asked.push([new URL(target).pathname, hop]);
          return 'follow';
        },
      },
    );
    expect(renderedOf(response).failure).toBeNull();
    expect(textOf(response)).toContain('arrived');
    expect(asked).toEqual([
      ['/login', 1],
      ['/arrived', 2],
    ]);
    expect(seen).toEqual(['GET /form', 'POST /login name=ann', 'GET /arrived']);
    expect(response).toMatchObject({
      finalUrl: `${origin}/arrived`,
      redirects: [
        { url: `${origin}/form`, statusCode: 200 },
        { url: `${origin}/login`, statusCode: 303 },
      ],
    });
    expect(jar.cookiesFor(new URL(origin), Date.now())).toEqual([['session', 's1']]);
    expect(messages).toHaveLength(2);
  });

  test('that wants to leave and may not stays, and says where it wanted to go', async () => {
    const { origin, seen } = await site();
    const { remote } = await openRemotePair(browser.engine);
    const response = await show(remote, `${origin}/leaves`, {}, { onRedirect: async () => 'stop' });
    expect(response).toMatchObject({
      statusCode: 200,
      finalUrl: `${origin}/leaves`,
      redirectedTo: `${origin}/arrived`,
    });
    expect(seen).toEqual(['GET /leaves']);
  });

  test('tells of a step that failed, and what there was by then', async () => {
    const { origin } = await site();
    const { remote } = await openRemotePair(browser.engine);
    const response = await show(remote, `${origin}/form`, {
      actions: [
        { type: 'evaluate', script: '1' },
        { type: 'click', selector: '#missing', timeoutMs: 200 },
      ],
    });
    const { failure, extra } = renderedOf(response);
    expect(failure).toMatchObject({ code: 'ACTION_FAILED', details: { step: 'actions.1 click #missing' } });
    expect(failure?.message).toContain('actions.1 click #missing');
    expect(extra.actions).toHaveLength(1);
    expect(textOf(response)).toContain('<form');
  });

  test('finds what a session has stored, and what it stores comes back, however large', async () => {
    const { origin } = await site();
    const { remote, messages, blobs } = await openRemotePair(browser.engine);
    const large = 'x'.repeat(400_000);
    const { hostname } = new URL(origin);
    const cookie = { name: 'kept', value: '1', domain: hostname, path: '/', expires: -1 };
    const flags = { httpOnly: false, secure: false, sameSite: 'Lax' as const };
    const response = await show(
      remote,
      `${origin}/stores`,
      { actions: [{ type: 'evaluate', script: `localStorage.large.length /* ${large} */` }] },
      {
        wantsStorage: true,
        key: 'a session',
        storage: {
          cookies: [{ ...cookie, ...flags }],
          localStorage: { [origin]: { large } },
        },
      },
    );
    const { extra } = renderedOf(response);
    expect(extra.actions[0]?.value).toBe(large.length);
    expect(extra.storage?.localStorage[origin]).toEqual({ large, seen: '1' });
    expect(extra.storage?.cookies.map(({ name }) => name).sort()).toEqual(['kept', 'pixel', 'script']);
    for (const message of messages) expect(message.length).toBeLessThan(4_000);
    expect(await Array.fromAsync(blobs.list())).toHaveLength(1);
  });

  test('gets cookies of its jar with the paths they are for; new ones come back, others are left as they were', async () => {
    const { origin } = await site();
    const { remote } = await openRemotePair(browser.engine);
    const jar = createCookieJar();
    const url = new URL(`${origin}/deep/page`);
    jar.store(url, ['here=1; path=/deep', 'there=1; path=/other', 'all=1; path=/; max-age=9999'], Date.now());
    const before = jar.list(Date.now());
    const response = await show(remote, url.href, {}, { jar, cookies: { given: '1' }, key: 'k' });
    expect(textOf(response)).toMatch(/cookies: (?=.*here=1)(?=.*all=1)(?=.*given=1)/);
    expect(textOf(response)).not.toContain('there=1');
    const names = (list: typeof before) => list.map(({ name, path, value }) => `${name}${path} ${value}`);
    expect(names(jar.list(Date.now())).filter((each) => !each.startsWith('given'))).toEqual(names(before));
    await show(remote, `${origin}/stores`, {}, { jar, key: 'k' });
    const known = jar.cookiesFor(new URL(origin), Date.now()).map(([name]) => name);
    expect(known).toEqual(expect.arrayContaining(['all', 'script', 'pixel']));
  });
});

describe('whoever renders', () => {
  test('is newCookies everything that a request can ask of an engine', () => {
    type Sent =
      | 'url'
      | 'method'
      | 'headers'
      | 'crossOriginHeaders'
      | 'cookies'
      | 'body'
      | 'timeoutMs'
      | 'maxBodyBytes'
      | 'conditional';
    type Options =
      | 'proxy'
      | 'identity'
      | 'key'
      | 'render'
      | 'storage'
      | 'wantsStorage'
      | 'maySolve'
      | 'runsAlone'
      | 'secrets'
      | 'jar';
    type Asked = 'maxRedirects' | 'onRedirect' | 'mayStart' | 'admission' | 'signal';
    /** Each process counts the bytes that it holds itself, and only plain HTTP cuts bodies. */
    type Local = 'held' | 'isCutAtLimit';
    // Does not compile when there is more: it would be lost on the way.
    expectTypeOf<Exclude<keyof FetchRequest, Sent | Options | Asked | Local>>().toBeNever();
  });

  const proxy: ProxyEndpoint = {
    id: 'p/1',
    provider: 'p',
    tier: 'mobile',
    protocol: 'socks5',
    host: '127.0.0.1',
    port: 9,
    credentials: new ProxyCredentials('ann', 'hunter2'),
    country: 'de',
    isPrivateAllowed: true,
  };

  test('is given the proxy with its login, who to be, the key and the leave to solve', async () => {
    const identity = createIdentity({ random: () => 0.4, browserVersion: '150.0.7100.10', region: 'de' });
    const inner = testEngine();
    const seen: FetchRequest[] = [];
    const engine: Engine = {
      ...inner,
      name: 'browser',
      async fetch(request) {
        seen.push(request);
        return inner.fetch({ ...request, proxy: undefined, identity: undefined });
      },
    };
    const { origin } = await site();
    const { remote, messages, troubles } = await openRemotePair(engine);
    await get(remote, origin, { proxy, identity, key: 'job/1', maySolve: true, runsAlone: true });
    const [request] = seen;
    expect(request).toMatchObject({
      key: 'job/1',
      maySolve: true,
      runsAlone: true,
      proxy: { ...proxy, credentials: {} },
    });
    expect(request?.identity).toEqual(identity);
    expect(request?.proxy?.credentials?.password).toBe('hunter2');
    expect(JSON.stringify(request?.proxy)).not.toContain('hunter2');
    expect(JSON.parse(messages[0] ?? '').needs).toEqual(expect.arrayContaining(['proxy', 'key', 'maySolve']));
    expect(`${messages[1]} ${troubles.join()}`).not.toContain('hunter2');
  });

  test('and cannot do what is asked says so, and repeats no secret', async () => {
    const { origin } = await site();
    const { remote, queue, messages, troubles } = await openRemotePair(testEngine());
    await get(remote, origin, { proxy }).catch(() => undefined);
    const request = JSON.parse(messages[0] ?? '');
    const how = { rank: 0, timeoutMs: 10_000 };
    const newer = { ...request, needs: ['proxy', 'telepathy'] };
    await expect(queue.call('scrape-browser', newer, how)).rejects.toMatchObject({
      code: 'NO_WORKER',
      message: expect.stringContaining('telepathy'),
    });
    for (const wrong of [
      { proxy: { ...request.proxy, port: 0 } },
      { proxy: { ...request.proxy, login: 'ann:hunter2' } },
      { task: { inline: { render: { actions: [{ type: 'dance', text: 'hunter2' }] } } } },
      { task: { inline: { storage: { cookies: 'hunter2', localStorage: {} } } } },
      { identity: { kind: 'hunter2' } },
    ]) {
      const failure = await queue
        .call('scrape-browser', { ...request, ...wrong }, how)
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'INTERNAL' });
      expect(`${failure}`).not.toContain('hunter2');
    }
    expect(troubles.join()).not.toContain('hunter2');
  });

  test('gets actions too long for a message by blob', async () => {
    const { origin } = await site();
    const { remote, messages } = await openRemotePair(browser.engine);
    const actions = Array.from({ length: 40 }, (_, index) => ({
      type: 'evaluate' as const,
      script: `${index} /* ${'y'.repeat(20_000)} */`,
    }));
    const response = await show(remote, `${origin}/arrived`, { actions });
    expect(renderedOf(response).extra.actions.map(({ value }) => value)).toEqual(actions.map((_, at) => at));
    for (const message of messages) expect(message.length).toBeLessThan(4_000);
  });

  test('has only pages to give: a browser does not ask for heads', async () => {
    const { origin } = await site();
    const { remote } = await openRemotePair(browser.engine);
    expect(await codeOfFailure(get(remote, origin, { method: 'HEAD' }))).toBe('UNSUPPORTED_OPTION');
  });
});
