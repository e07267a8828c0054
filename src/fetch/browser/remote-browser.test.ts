import { createServer, type IncomingMessage, type Server } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { createIdentity, seededRandom } from '../../crawl/plan/identity/identity.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import type { Resolve } from '../guard/guarded-lookup.ts';
import { serve } from '../http/loopback.fixture.ts';
import { BROWSER_VERSION, lastingStealth } from '../stealth/stealth.fixture.ts';
import { failureOf, render, type TestBrowser, testBrowser, textOf, until } from './browser.fixture.ts';
import type { BrowserRuntimeOptions } from './browser-runtime.ts';
import { remoteAddressOf, withoutAddresses } from './pool/pool-options.ts';
import { cdpPort, playwrightServer } from './remote.fixture.ts';

const NO_PROGRAM = { executablePath: null } as const;
const browserAt = (url: string, more: Partial<BrowserRuntimeOptions> = {}): TestBrowser =>
  testBrowser({ ...NO_PROGRAM, remote: { url }, pagesAtOnce: 3, launchTimeoutMs: 10_000, ...more });
const page = (body: string): string => `<!doctype html><title>t</title><body>${body}`;
const html = (body: string) =>
  serve((_, response) => response.setHeader('content-type', 'text/html').end(page(body)));

describe.each([
  ['playwright', playwrightServer],
  ['cdp', cdpPort],
] as const)('a browser elsewhere (%s)', (kind, start) => {
  test('shows pages as ours does: headers, cookies, forms, redirects, actions, pictures and what scripts fetch', async () => {
    const { url } = await start();
    const { engine, runtime } = browserAt(url);
    expect(runtime.kind).toBe(kind);
    const { origin } = await serve(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      if (request.url === '/data') response.setHeader('content-type', 'application/json').end('{"a":1}');
      else if (request.url === '/hop') response.writeHead(302, { location: '/end' }).end();
      else if (request.url === '/bye') response.writeHead(204).end();
      else if (request.url === '/file') {
        const headers = { 'content-type': 'application/zip', 'content-disposition': 'attachment' };
        response.writeHead(200, headers).end(Buffer.from([0, 1]));
      } else {
        const { cookie, 'x-mine': mine, 'user-agent': agent } = request.headers;
        response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'server=1' });
        response.end(
          page(
            `<p id=a>${[request.method, body, cookie, mine, agent].join('|')}</p><button id=b onclick="a.dataset.clicked = 1">b</button><script>fetch('/data').then((r) => r.json()).then((d) => { a.dataset.a = d.a; }); document.cookie = 'script=2'; localStorage.kept = localStorage.given;</script>`,
          ),
        );
      }
    });
    const jar = createCookieJar();
    jar.store(new URL(origin), 'known=0', Date.now());
    const response = await render(engine, `${origin}/`, {
      method: 'POST',
      body: 'form=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'X-Mine': 'yes' },
      crossOriginHeaders: ['x-mine'],
      jar,
      storage: { cookies: [], localStorage: { [origin]: { given: 'g' } } },
      wantsStorage: true,
      captureXhr: true,
      screenshot: {},
      actions: [
        { type: 'click', selector: '#b' },
        { type: 'evaluate', script: 'a.dataset.clicked' },
      ],
    });
    expect(response).toMatchObject({ failure: null, statusCode: 200, finalUrl: `${origin}/` });
    expect(textOf(response)).toContain('POST|form=1|known=0|yes|TestBot/1');
    expect(textOf(response)).toContain('data-a="1"');
    expect(response.extra.actions[1]?.value).toBe('1');
    expect(response.extra.screenshot?.bytes.length).toBeGreaterThan(500);
    expect(response.extra.xhr).toMatchObject([{ url: `${origin}/data`, statusCode: 200, method: 'GET' }]);
    expect(response.extra.storage?.localStorage[origin]).toEqual({ given: 'g', kept: 'g' });
    expect(response.wireBytes).toBeGreaterThan(100);
    expect(Object.fromEntries(jar.cookiesFor(new URL(origin), Date.now()))).toMatchObject({
      known: '0',
      server: '1',
      script: '2',
    });

    const asked: string[] = [];
    const onRedirect = async (target: string, hop: number) => {
      asked.push(`${hop} ${target}`);
      return 'follow' as const;
    };
    const hopped = await render(engine, `${origin}/hop`, { onRedirect });
    expect(hopped).toMatchObject({
      finalUrl: `${origin}/end`,
      redirects: [{ url: `${origin}/hop`, statusCode: 302 }],
    });
    expect(asked).toEqual([`1 ${origin}/end`]);
    const stopped = await render(engine, `${origin}/hop`, { onRedirect: async () => 'stop' });
    expect(stopped).toMatchObject({ statusCode: 302, redirectedTo: `${origin}/end` });
    expect(stopped.body).toHaveLength(0);
    const none = render(engine, `${origin}/hop`, { maxRedirects: 0 });
    expect((await failureOf(none)).code).toBe('TOO_MANY_REDIRECTS');

    expect(textOf(await render(engine, `${origin}/data`))).toBe('{"a":1}');
    expect(await render(engine, `${origin}/bye`)).toMatchObject({ statusCode: 204 });
    expect((await failureOf(render(engine, `${origin}/`, { maxBodyBytes: 50 }))).code).toBe(
      'BODY_LIMIT_EXCEEDED',
    );
    const file = render(engine, `${origin}/file`);
    if (kind === 'cdp') expect([...(await file).body]).toEqual([0, 1]);
    else expect((await failureOf(file)).code).toBe('UNSUPPORTED_OPTION');
    expect(runtime.running?.pool.stats).toMatchObject({ browsers: 1, pagesInUse: 0, launched: 1 });
  });

  test('on this machine goes out through our proxy, so nothing private is reached', async () => {
    const { url } = await start();
    const { engine, runtime } = browserAt(url, { allowPrivate: (address) => address === '127.0.0.1' });
    let reached = 0;
    const inside = createServer((_, response) => {
      reached += 1;
      response.end('secret');
    });
    const port = await listenInside(inside);
    expect((await failureOf(render(engine, `http://127.0.0.2:${port}/`))).code).toBe('ADDRESS_REFUSED');
    const { origin } = await html(
      `<iframe src="http://127.0.0.2:${port}/"></iframe><script>fetch('http://127.0.0.2:${port}/').catch(() => {})</script>`,
    );
    await render(engine, `${origin}/`, { wait: { until: 'networkidle' } });
    expect(reached).toBe(0);
    expect(runtime.running?.proxy.admitted).toBeGreaterThan(0);
  });

  test('that cannot reach our proxy has each request looked at', async () => {
    const { url } = await start();
    const resolve: Resolve = (host, done) =>
      done(null, [{ address: host === 'inside.example' ? '127.0.0.2' : '127.0.0.1', family: 4 }]);
    const { engine, runtime } = browserAt(url, {
      remote: { url, guardBy: 'requests' },
      allowPrivate: (address) => address === '127.0.0.1',
      resolve,
    });
    const reached: string[] = [];
    const inside = createServer((request, response) => {
      reached.push(request.url ?? '');
      response.setHeader('access-control-allow-origin', '*').end('secret');
    });
    inside.on('upgrade', (request, socket) => {
      reached.push(`socket ${request.url}`);
      socket.destroy();
    });
    const port = await listenInside(inside);
    const secret = `127.0.0.2:${port}`;
    for (const target of [`http://${secret}/page`, `http://inside.example:${port}/named`]) {
      expect((await failureOf(render(engine, target))).code).toBe('ADDRESS_REFUSED');
    }
    const { origin } = await serve((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: `http://${secret}/redirected` }).end();
      else {
        response
          .setHeader('content-type', 'text/html')
          .end(
            page(
              `<iframe src="http://${secret}/frame"></iframe><img src="http://${secret}/image"><script>fetch('http://${secret}/fetch').catch(() => {}); new WebSocket('ws://${secret}/socket'); new Worker(URL.createObjectURL(new Blob(["fetch('http://${secret}/worker').catch(() => {})"])));</script><p>shown`,
            ),
          );
      }
    });
    const response = await render(engine, `${origin}/`, { wait: { ms: 500 } });
    expect(textOf(response)).toContain('shown');
    const away = await failureOf(render(engine, `${origin}/away`));
    expect(away.code).toBe('ADDRESS_REFUSED');
    // Where there is only Playwright's interface, a server's redirect is heard of when it is followed.
    const late = kind === 'cdp' ? [] : ['/redirected', '/favicon.ico'];
    expect(reached.filter((path) => !late.includes(path))).toEqual([]);
    expect(runtime.running?.pool.stats.pagesInUse).toBe(0);
  });

  test('that connects to proxies by itself is given none that is private, and no name of one', async () => {
    const { url } = await start();
    const resolve: Resolve = (host, done) =>
      done(null, [{ address: host === 'inside.example' ? '127.0.0.2' : '127.0.0.1', family: 4 }]);
    const { engine } = browserAt(url, {
      remote: { url, guardBy: 'requests' },
      allowPrivate: (address) => address === '127.0.0.1',
      resolve,
    });
    const reached: string[] = [];
    const proxyServer = (name: string) =>
      createServer((request, response) => {
        reached.push(`${name} ${request.url}`);
        response.setHeader('content-type', 'text/html').end(page(`by ${name}`));
      });
    const inside = await listenInside(proxyServer('inside'));
    const endpoint = (host: string, port: number): ProxyEndpoint => ({
      ...{ id: 'own/1', provider: 'own', tier: 'datacenter', protocol: 'http', country: null },
      ...{ host, port, credentials: null, isPrivateAllowed: false },
    });
    for (const host of ['127.0.0.2', 'inside.example']) {
      const failure = await failureOf(
        render(engine, 'http://127.0.0.1:8000/', { proxy: endpoint(host, inside) }),
      );
      expect(failure).toMatchObject({ code: 'ADDRESS_REFUSED', details: { fault: 'proxy' } });
    }
    expect(reached).toEqual([]);
    // The browser itself cannot resolve the name.
    const outside = await listenInside(proxyServer('outside'), '127.0.0.1');
    const proxy = endpoint('proxy.example', outside);
    expect(textOf(await render(engine, 'http://127.0.0.1:8000/', { proxy }))).toContain('by outside');
    const secure = failureOf(
      render(engine, 'http://127.0.0.1:8000/', { proxy: { ...proxy, protocol: 'https' } }),
    );
    expect((await secure).code).toBe('UNSUPPORTED_OPTION');
  });

  test('that ends in the middle is an error, and when it is back it is used again', async () => {
    const first = await start(await freePort());
    const { engine, runtime } = browserAt(first.url);
    const hanging = await serve((request, response) => {
      if (request.url === '/slow') return;
      response.setHeader('content-type', 'text/html').end(page('well'));
    });
    await render(engine, `${hanging.origin}/`);
    const under = failureOf(render(engine, `${hanging.origin}/slow`));
    await until(() => hanging.accepted() > 0 && runtime.running?.pool.stats.pagesInUse === 1);
    await first.kill();
    expect((await under).code).toBe('BROWSER_LOST');
    const gone = await failureOf(render(engine, `${hanging.origin}/`));
    expect(gone.code).toBe('BROWSER_UNAVAILABLE');
    // A Playwright server that is still shutting down accepts the connection and closes it.
    expect(gone.message).toMatch(/ECONNREFUSED|ECONNRESET|has been closed|ended before/);

    await start(Number(new URL(first.url).port));
    await until(async () => {
      const again = await render(engine, `${hanging.origin}/`).catch(() => null);
      return again !== null && textOf(again).includes('well');
    });
    const { replaced, ...stats } = runtime.running?.pool.stats ?? {};
    expect(stats).toMatchObject({ browsers: 1, pagesInUse: 0 });
    // Whichever is heard of first: that the connection has ended, or that the browser at its end does nothing more.
    expect((replaced?.ended ?? 0) + (replaced?.unresponsive ?? 0)).toBe(1);
  });
});

/** 127.0.0.1 plays the outside world, and this the inside. */
async function listenInside(server: Server, address = '127.0.0.2'): Promise<number> {
  await new Promise<void>((done) => server.listen(0, address, done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = server.address();
  return typeof place === 'object' && place !== null ? place.port : 0;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('an address that leads nowhere', () => {
  test.each([
    'ws://somebody:s3cret@127.0.0.1:1/s3cret?token=s3cret',
    'http://somebody:s3cret@127.0.0.1:1/s3cret',
    'ws://somebody:s3cret@127.0.0.1:1/devtools/browser/s3cret',
  ])('(%s) is named without what is secret in it', async (url) => {
    const { engine } = browserAt(url);
    const failure = await failureOf(render(engine, 'http://127.0.0.1:8000/'));
    expect(failure.code).toBe('BROWSER_UNAVAILABLE');
    expect(failure.message).toContain(`${new URL(url).protocol}//127.0.0.1:1 cannot be reached`);
    expect(failure.message).toContain('ECONNREFUSED');
    expect(failure.retryAfterMs).toBeGreaterThan(0);
    expect(
      JSON.stringify([failure.message, failure.details, String(failure.cause), failure.stack]),
    ).not.toMatch(/s3cret|somebody/);
  });

  test('or to something else is said to', async () => {
    const { port } = await html('not a browser');
    for (const url of [`http://127.0.0.1:${port}`, `ws://127.0.0.1:${port}/s3cret`]) {
      const failure = await failureOf(render(browserAt(url).engine, 'http://127.0.0.1:8000/'));
      expect(failure.code).toBe('BROWSER_UNAVAILABLE');
      expect(failure.message).not.toContain('s3cret');
    }
  });

  test('or to a Playwright of another version says which is needed', async () => {
    const { chromium } = await import('playwright-core');
    const { url } = await playwrightServer(0, chromium as never);
    const failure = await failureOf(render(browserAt(url).engine, 'http://127.0.0.1:8000/'));
    expect(failure.code).toBe('BROWSER_UNAVAILABLE');
    expect(failure.message).toMatch(/it runs Playwright \d+\.\d+; only \d+\.\d+ will do/);
  });

  test('or is none at all is a wrong setting', () => {
    for (const url of ['somewhere', 'ftp://127.0.0.1/', 'ws://']) {
      expect(() => browserAt(url)).toThrow(expect.objectContaining({ code: 'INVALID_SETTINGS' }));
    }
  });
});

test('a Playwright server is not asked for what only Chromium can', async () => {
  const { engine } = browserAt('ws://127.0.0.1:1/');
  const refused = [
    { pdf: true },
    { headers: { Authorization: 'Bearer 1' } },
    { headers: { 'X-Api-Key': '1' } },
  ];
  for (const more of refused) {
    const failure = await failureOf(render(engine, 'http://127.0.0.1:8000/', more));
    expect(failure.code).toBe('UNSUPPORTED_OPTION');
    expect(failure.message).toMatch(/^(?:pdf|headers\.Authorization|headers\.X-Api-Key): /);
  }
});

test('where no browser is installed the reason says what to do', async () => {
  const { engine } = testBrowser(NO_PROGRAM);
  const failure = await failureOf(render(engine, 'http://127.0.0.1:8000/'));
  expect(failure.code).toBe('NO_BROWSER');
  expect(failure.message).toMatch(/No Chromium, Chrome or Edge was found on this machine; .*doctor/);
});

test.each([
  ['ws://h:1/x', 'playwright', false],
  ['wss://h/', 'playwright', false],
  ['ws://127.0.0.1:9222/devtools/browser/1', 'cdp', true],
  ['http://localhost:9222', 'cdp', true],
  ['https://browsers.example/', 'cdp', false],
  ['http://[::1]:9222', 'cdp', true],
])('%s is %s', (url, kind, isNear) => {
  expect(remoteAddressOf(url)).toMatchObject({ kind, isNear });
});

test('messages lose addresses but for their hosts', () => {
  expect(withoutAddresses('tried ws://me:pw@h.example:1/a?b#c and http://x/y, failed')).toBe(
    'tried ws://h.example:1 and http://x failed',
  );
});

describe('a disguise', () => {
  const identity = createIdentity({
    region: 'jp',
    system: 'windows',
    browserVersion: BROWSER_VERSION,
    random: seededRandom('remote'),
  });
  const script =
    '[navigator.userAgent, navigator.platform, navigator.webdriver, navigator.hardwareConcurrency, Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language]';
  const look = async (url: string): Promise<unknown> => {
    const { engine } = lastingStealth({ ...NO_PROGRAM, remote: { url } });
    onTestFinished(() => engine.close());
    const { origin } = await html('x');
    const { extra, failure } = await render(engine, `${origin}/`, {
      identity,
      actions: [{ type: 'evaluate', script }],
    });
    expect(failure).toBeNull();
    return extra.actions[0]?.value;
  };

  test('is put on a Chromium behind its port', async () => {
    const { userAgent, platform, hardwareConcurrency, timeZone, languages } = identity;
    expect(await look((await cdpPort()).url)).toEqual([
      userAgent,
      platform,
      false,
      hardwareConcurrency,
      timeZone,
      languages[0],
    ]);
  });

  test('is of the version of the Chromium behind its port, whichever the one is that it was drawn for', async () => {
    const drawn = createIdentity({
      region: 'jp',
      system: 'windows',
      browserVersion: '120.0.6099.71',
      random: seededRandom('remote'),
    });
    const asked: IncomingMessage[] = [];
    const { origin } = await serve((request, response) => {
      asked.push(request);
      response.setHeader('content-type', 'text/html').end('<p>x');
    });
    const { engine, runtime } = lastingStealth({ ...NO_PROGRAM, remote: { url: (await cdpPort()).url } });
    onTestFinished(() => engine.close());
    const hints =
      'navigator.userAgentData.getHighEntropyValues(["fullVersionList", "uaFullVersion", "platformVersion"])';
    const look = async (path: string) => {
      const { extra, failure } = await render(engine, origin + path, {
        identity: drawn,
        key: 'one',
        actions: [{ type: 'evaluate', script: `${hints}.then((hints) => [navigator.userAgent, hints])` }],
      });
      expect(failure).toBeNull();
      return extra.actions[0]?.value;
    };
    // What an identity would be that was drawn for this browser.
    const { userAgent, clientHints, headers } = identity;
    const { brands, fullVersionList, fullVersion: uaFullVersion } = clientHints;
    const { platform, platformVersion, mobile } = drawn.clientHints;
    const expected = [
      userAgent,
      { brands, fullVersionList, uaFullVersion, platform, platformVersion, mobile },
    ];
    expect(await look('/first')).toEqual(expected);
    expect(await look('/again')).toEqual(expected);
    expect(runtime.running?.pool.stats).toMatchObject({ contexts: 1, launched: 1, crashed: 0 });
    for (const path of ['/first', '/again']) {
      const sent = asked.filter(({ url }) => url === path);
      expect(sent).toHaveLength(1);
      expect(sent[0]?.headers['user-agent']).toBe(userAgent);
      expect(sent[0]?.headers['sec-ch-ua']).toBe(new Map(headers).get('sec-ch-ua'));
    }
  });

  test('is left to a Playwright server, but for the place', async () => {
    const [userAgent, platform, , , timeZone, language] = (await look(
      (
        await playwrightServer()
      ).url,
    )) as string[];
    expect(userAgent).not.toBe(identity.userAgent);
    expect(userAgent).not.toContain('TestBot');
    expect(platform).not.toBe(identity.platform);
    expect([timeZone, language]).toEqual([identity.timeZone, identity.languages[0]]);
  });
});
