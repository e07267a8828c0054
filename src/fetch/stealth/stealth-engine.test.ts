import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Identity } from '../../core/model/identity.ts';
import { createIdentity, seededRandom } from '../../crawl/plan/identity/identity.ts';
import { render, requestFor } from '../browser/browser.fixture.ts';
import { serve } from '../http/loopback.fixture.ts';
import { expectedLook, type Look, lookingSite, type PageLook } from './look-around.fixture.ts';
import { BROWSER_VERSION, lastingStealth } from './stealth.fixture.ts';

const { engine } = lastingStealth({ maxBrowsers: 1, pagesAtOnce: 4, pagesEach: 4 });
afterAll(() => engine.close());

const identityOf = (region: string, system: 'windows' | 'macos' | 'linux', seed = region): Identity =>
  createIdentity({ region, system, browserVersion: BROWSER_VERSION, random: seededRandom(seed) });

const evaluate = (script: string) => [{ type: 'evaluate' as const, script, timeoutMs: 20_000 }];
const foundBy = async (url: string, identity: Identity, script: string): Promise<unknown> => {
  const { extra, failure } = await render(engine, url, {
    identity,
    key: `${url}${identity.region}`,
    actions: evaluate(script),
  });
  expect(failure).toBeNull();
  return extra.actions[0]?.value;
};

describe.each([
  ['de', 'windows'],
  ['us', 'macos'],
  ['jp', 'linux'],
  ['br', 'windows'],
] as const)('an identity of %s on %s', (region, system) => {
  const identity = identityOf(region, system);

  test('is what scripts find in the page, its frames and all its workers, and what servers are sent', async () => {
    const site = await lookingSite();
    const looks = (await foundBy(`${site.origin}/`, identity, 'look()')) as Record<string, Look> & {
      page: PageLook;
    };
    const expected = expectedLook(identity);
    for (const [place, look] of Object.entries(looks))
      expect({ place, ...look }).toMatchObject({ place, ...expected });
    expect(Object.keys(looks)).toHaveLength(10);
    for (const place of ['page', 'blankFrame', 'frame', 'writtenFrame']) {
      const { screen, viewport, platform } = identity;
      expect({ place, ...looks[place] }).toMatchObject({
        place,
        webdriver: false,
        maxTouchPoints: 0,
        screen,
        viewport,
        outer: [
          viewport.width,
          screen.availHeight,
          0,
          platform === 'Win32' ? 0 : screen.height - screen.availHeight,
        ],
      });
    }
    expect(looks.page.position).toEqual(identity.geolocation);

    for (const { url, headers } of site.asked) {
      expect({ url, ...headers }).toMatchObject({
        url,
        'user-agent': identity.userAgent,
        'accept-language': identity.acceptLanguage,
      });
      const hints = identity.headers.filter(([name]) => name.startsWith('sec-ch-ua'));
      for (const [name, value] of hints)
        expect([name, undefined, value]).toContain(headers[name] ?? undefined);
      const wanted = headers['sec-ch-ua-platform-version'];
      if (wanted !== undefined) expect(wanted).toBe(`"${identity.clientHints.platformVersion}"`);
    }
    const framed = site.asked.find(({ url }) => url === '/frame');
    expect(framed?.headers).toMatchObject({
      'sec-ch-ua-full-version-list': identity.clientHints.fullVersionList
        .map(({ brand, version }) => `"${brand}";v="${version}"`)
        .join(', '),
      'sec-ch-ua-arch': `"${identity.clientHints.architecture}"`,
      'sec-ch-ua-bitness': '"64"',
      'device-memory': String(identity.deviceMemory),
      'sec-fetch-dest': 'iframe',
    });
  });

  test('sends the headers of a page in the order and with the values of the plan', async () => {
    const site = await lookingSite();
    await render(engine, `${site.origin}/plain`, { identity, headers: { 'X-Mine': '1' }, key: 'order' });
    const raw = site.asked[0]?.rawHeaders ?? [];
    const sent = raw.flatMap((name, at) =>
      at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1]] as const] : [],
    );
    // The first two are the connection's. Priority is of HTTP/2 alone.
    const planned = identity.headers.filter(([name]) => name !== 'priority');
    expect(sent.filter(([name]) => name !== 'host' && name !== 'connection')).toEqual([
      ...planned,
      ['x-mine', '1'],
    ]);
    expect(raw.filter((_, at) => at % 2 === 0)).toEqual(
      expect.arrayContaining(['User-Agent', 'sec-ch-ua', 'Sec-Fetch-Site']),
    );
  });
});

describe('what is replaced', () => {
  const identity = identityOf('de', 'windows');

  test('cannot be told from what it replaces', async () => {
    const { origin } = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('<p>x'),
    );
    const probe = `(() => {
      const getter = (owner, name) => Object.getOwnPropertyDescriptor(owner, name).get;
      const functions = [
        getter(Navigator.prototype, 'deviceMemory'),
        getter(Screen.prototype, 'availHeight'),
        getter(window, 'outerHeight'),
        WebGLRenderingContext.prototype.getParameter,
        WebGL2RenderingContext.prototype.getParameter,
        Function.prototype.toString,
      ];
      const frame = document.body.appendChild(document.createElement('iframe')).contentWindow;
      const attempt = (work) => { try { work(); return 'fine'; } catch (error) { return [error.constructor.name, error.message, error instanceof Error, error.stack.split('\\n').length, /s[0-9a-f]{18}/.test(error.stack)]; } };
      const own = (object) => Object.getOwnPropertyNames(object).concat(Object.getOwnPropertySymbols(object).map(String));
      return {
        texts: functions.map((each) => each.toString()),
        seenFromFrame: functions.map((each) => frame.Function.prototype.toString.call(each)),
        framesSeenHere: [getter(frame.Navigator.prototype, 'deviceMemory'), frame.Function.prototype.toString].map((each) => Function.prototype.toString.call(each)),
        shapes: functions.map((each) => [each.name, each.length, own(each).join(), 'prototype' in each, Object.getPrototypeOf(each) === Function.prototype]),
        constructed: functions.map((each) => attempt(() => new each())),
        misused: [
          attempt(() => Navigator.prototype.deviceMemory),
          attempt(() => Navigator.prototype.hardwareConcurrency),
          attempt(() => Function.prototype.toString.call({})),
          attempt(() => WebGLRenderingContext.prototype.getParameter.call({}, 1)),
          attempt(() => WebGLRenderingContext.prototype.getExtension.call({}, 'x')),
        ],
        onInstances: [own(navigator), own(screen)],
        likeOthers: ['deviceMemory', 'hardwareConcurrency'].map((name) => JSON.stringify(Object.getOwnPropertyDescriptor(Navigator.prototype, name))),
        order: own(Navigator.prototype).indexOf('deviceMemory') < own(Navigator.prototype).length - 1,
        left: own(window).filter((name) => /secret|disguise|facts|^s[0-9a-f]{18}/.test(name)),
      };
    })()`;
    const found = (await foundBy(`${origin}/`, identity, probe)) as Record<string, unknown[]>;
    const names = [
      'get deviceMemory',
      'get availHeight',
      'get outerHeight',
      'getParameter',
      'getParameter',
      'toString',
    ];
    const texts = names.map((name) => `function ${name}() { [native code] }`);
    expect(found.texts).toEqual(texts);
    expect(found.seenFromFrame).toEqual(texts);
    expect(found.framesSeenHere).toEqual([texts[0], texts[5]]);
    expect(found.shapes).toEqual(
      names.map((name) => [name, name === 'getParameter' ? 1 : 0, 'length,name', false, true]),
    );
    for (const constructed of found.constructed ?? [])
      expect(constructed).toMatchObject({ 0: 'TypeError', 4: false });
    const [ours, theirs, text, parameter, extension] = found.misused ?? [];
    expect(ours).toEqual(theirs);
    expect(parameter).toEqual(extension);
    const message = "Function.prototype.toString requires that 'this' be a Function";
    expect(text).toMatchObject({ 0: 'TypeError', 1: message, 2: true, 4: false });
    expect(found.onInstances).toEqual([[], []]);
    expect(found.likeOthers?.[0]).toBe(found.likeOthers?.[1]);
    expect(found.left).toEqual([]);
  });

  test('leaves a page that asks for nothing as it is, and no trace of a driver', async () => {
    const { origin } = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('<p>x'),
    );
    const found = await foundBy(
      `${origin}/`,
      identity,
      `({
        webdriver: [navigator.webdriver, 'webdriver' in navigator],
        globals: Object.getOwnPropertyNames(window).filter((name) => /playwright|puppeteer|patchright|__pw|cdc_|webdriver/i.test(name)),
        plugins: navigator.plugins.length > 0,
        chrome: typeof chrome,
        consoleIsRead: (() => { let isRead = false; console.debug(Object.defineProperty(new Error('x'), 'stack', { get: () => { isRead = true; return ''; } })); return isRead; })(),
      })`,
    );
    expect(found).toEqual({
      webdriver: [false, true],
      globals: [],
      plugins: true,
      chrome: 'object',
      consoleIsRead: false,
    });
  });
});

describe('a page', () => {
  const identity = identityOf('fr', 'macos');

  test('is asked for as somebody does who has not been there, and then as one who comes again', async () => {
    const seen: (string | undefined)[] = [];
    const { origin } = await serve((request, response) => {
      if (request.url === '/') seen.push(request.headers['cache-control']);
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'max-age=1000' }).end('<p>x');
    });
    for (let count = 0; count < 2; count += 1) await render(engine, `${origin}/`, { identity, key: 'again' });
    expect(seen).toEqual([undefined, 'max-age=0']);
  });

  test.each(['gzip', 'br', 'zstd'] as const)('that comes in %s is read', async (encoding) => {
    const { brotliCompressSync, gzipSync, zstdCompressSync } = await import('node:zlib');
    const pack = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync }[encoding];
    const { origin } = await serve((_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding })
        .end(pack('<p>packed')),
    );
    const { body } = await render(engine, `${origin}/`, { identity });
    expect(Buffer.from(body).toString()).toContain('<p>packed');
  });

  test('is touched by a pointer that travels there, and typed into key by key', async () => {
    const { origin } = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end(`<!doctype html><body style="margin:0">
        <input id=name style="position:absolute;left:700px;top:400px"><button id=go style="position:absolute;left:100px;top:90px">Go</button>
        <script>window.seen = []; for (const kind of ['mousemove', 'mousedown', 'click', 'keydown'])
          addEventListener(kind, (event) => seen.push([kind, event.clientX, event.clientY, event.isTrusted, event.target.id]), true);</script>`),
    );
    const { extra, failure } = await render(engine, `${origin}/`, {
      identity,
      actions: [
        { type: 'type', selector: '#name', text: 'hello' },
        { type: 'click', selector: '#go' },
        ...evaluate('seen'),
      ],
    });
    expect(failure).toBeNull();
    const seen = extra.actions[2]?.value as [string, number, number, boolean, string][];
    expect(seen.every(([, , , isTrusted]) => isTrusted)).toBe(true);
    expect(seen.filter(([kind]) => kind === 'keydown')).toHaveLength(5);
    const clicks = seen.filter(([kind]) => kind === 'click');
    expect(clicks.map(([, , , , target]) => target)).toEqual(['name', 'go']);
    const between = seen.slice(seen.indexOf(clicks[0] as never), seen.indexOf(clicks[1] as never));
    const travelled = between.filter(([kind]) => kind === 'mousemove');
    expect(travelled.length).toBeGreaterThan(6);
    // The pointer ends where it clicks, and moves there in steps.
    expect(travelled.at(-1)?.slice(1, 3)).toEqual(clicks[1]?.slice(1, 3));
    const steps = travelled
      .slice(1)
      .map(([, x, y], at) => Math.hypot(x - (travelled[at]?.[1] ?? 0), y - (travelled[at]?.[2] ?? 0)));
    expect(Math.max(...steps)).toBeLessThan(150);
  });

  test('whose action is impossible says so, in the time of that action', async () => {
    const { origin } = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('<p>x'),
    );
    const { failure } = await render(engine, `${origin}/`, {
      identity,
      actions: [{ type: 'click', selector: '#missing', timeoutMs: 400 }],
    });
    expect(failure).toMatchObject({ code: 'ACTION_FAILED', details: { step: 'actions.0 click #missing' } });
  });
});

test('a site that asks for a login is shown as it is, and is not sent the one of our own proxy', async () => {
  const sent: (string | undefined)[] = [];
  const site = await serve((request, response) => {
    sent.push(request.headers.authorization);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="site"', 'content-type': 'text/html' });
    response.end('<!doctype html><body>members only');
  });
  const { statusCode, body } = await render(engine, `${site.origin}/`, {
    identity: identityOf('de', 'windows'),
  });
  expect(statusCode).toBe(401);
  expect(Buffer.from(body).toString()).toContain('members only');
  expect(sent.filter((login) => login !== undefined)).toEqual([]);
});

test('identities do not share a context, and one identity keeps its own', async () => {
  const { origin } = await serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>x'),
  );
  const { engine, runtime } = lastingStealth({ maxBrowsers: 1, pagesAtOnce: 4, pagesEach: 4 });
  onTestFinished(() => engine.close());
  const [one, two] = [identityOf('it', 'windows', 'one'), identityOf('it', 'windows', 'two')];
  for (const identity of [one, two, one, { ...two }])
    await render(engine, `${origin}/`, { identity, key: 'who' });
  expect(runtime.running?.pool.stats).toMatchObject({ contexts: 2, pagesOpen: 2 });
});

test('without an identity the page is told who we are', async () => {
  const { origin } = await serve((request, response) =>
    response.setHeader('content-type', 'text/html').end(`<p>${request.headers['user-agent']}`),
  );
  const response = await engine.fetch(requestFor(`${origin}/`));
  expect(Buffer.from(response.body).toString()).toContain('TestBot/1');
  expect(engine.name).toBe('stealth');
});
