import { describe, expect, it, onTestFinished } from 'vitest';
import { ScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { ProxyCredentials, type ProxyEndpoint } from '../../src/core/model/proxy.ts';
import { createCookieJar } from '../../src/fetch/cookies/cookie-jar.ts';
import type { FetchRequest } from '../../src/fetch/engine.ts';
import {
  createFlareSolverrEngine,
  type FlareSolverrEngine,
  type FlareSolverrOptions,
} from '../../src/fetch/flaresolverr/flaresolverr-engine.ts';
import { codeOfFailure, get, textOf } from '../../src/fetch/http/loopback.fixture.ts';
import { failureOf } from '../proxies/fetch-through.ts';
import { type FlareSolverrServer, startFlareSolverr } from './flaresolverr-server.ts';
import { startGuardedSite } from './guarded-site.ts';
import { bodyOf, sendJson, serving, until } from './local-server.ts';

function engineFor(server: Pick<FlareSolverrServer, 'url'>, more: Partial<FlareSolverrOptions> = {}) {
  const engine = createFlareSolverrEngine({ url: server.url, allowPrivate: true, ...more });
  onTestFinished(() => engine.close());
  return engine;
}

async function stage(more: Partial<FlareSolverrOptions> = {}) {
  const other = await startGuardedSite();
  const [server, site] = await Promise.all([startFlareSolverr(), startGuardedSite(`${other.origin}/plain`)]);
  return { server, site, other, engine: engineFor(server, more) };
}

const FORM: Partial<FetchRequest> = {
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
};

const proxy = (more: Partial<ProxyEndpoint> = {}): ProxyEndpoint => ({
  id: 'plain/1',
  provider: 'plain',
  tier: 'datacenter',
  protocol: 'http',
  host: 'proxy.example',
  port: 8080,
  credentials: null,
  country: null,
  isPrivateAllowed: false,
  ...more,
});

const commandsOf = (server: FlareSolverrServer, cmd: string) =>
  server.commands.filter((command) => command.cmd === cmd);

describe('a page by FlareSolverr', () => {
  it('is what is behind the challenge, in UTF-8', async () => {
    const { engine, site } = await stage();
    const response = await get(engine, `${site.origin}/guarded`);
    expect(textOf(response)).toContain('What was behind: ä€😀');
    expect(response).toMatchObject({
      statusCode: 200,
      finalUrl: `${site.origin}/guarded`,
      contentType: 'text/html; charset=utf-8',
      redirects: [],
      redirectedTo: null,
      rendered: { failure: null },
    });
    expect(response.wireBytes).toBe(response.body.byteLength);
  });

  it('is given the time that is left', async () => {
    const { engine, site, server } = await stage();
    await get(engine, `${site.origin}/plain`, { timeoutMs: 7_000, render: { wait: { ms: 10 } } });
    const [command] = commandsOf(server, 'request.get');
    expect(command?.maxTimeout).toBeGreaterThan(0);
    expect(command?.maxTimeout).toBeLessThanOrEqual(6_500);
    expect(command?.waitInSeconds).toBe(0.01);
  });

  it('can be the answer to a form, whose spaces stay spaces', async () => {
    const { engine, site } = await stage();
    await get(engine, `${site.origin}/plain`, { ...FORM, body: 'q=a+b%2Bc&name=%C3%A4' });
    expect([...new URLSearchParams(site.posts[0])]).toEqual([
      ['q', 'a b+c'],
      ['name', 'ä'],
    ]);
  });

  it('tells the service who asks, where the service wants to know', async () => {
    const seen: string[] = [];
    const origin = await serving((request, response) => {
      seen.push(request.headers.authorization ?? '', request.url ?? '');
      response.end('{"status":"ok","message":"","sessions":["a"],"version":"3.5.0"}');
    });
    const engine = engineFor({ url: origin.replace('//', '//user:p%40ss@') });
    expect(await engine.check(AbortSignal.timeout(5_000))).toEqual({ sessions: 1, version: '3.5.0' });
    expect(seen).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`, '/v1']);
  });
});

describe('redirects', () => {
  it('are asked about afterwards, and followed where that is wanted', async () => {
    const { engine, site } = await stage();
    const asked: [string, number][] = [];
    const response = await get(engine, `${site.origin}/moved`, {
      onRedirect: async (target, hop) => {
        asked.push([target, hop]);
        return 'follow';
      },
    });
    expect(asked).toEqual([[`${site.origin}/plain?from=moved`, 1]]);
    expect(response.finalUrl).toBe(`${site.origin}/plain?from=moved`);
    expect(response.redirects).toEqual([{ url: `${site.origin}/moved`, statusCode: 302 }]);
  });

  it('that are not wanted come back as redirects without a body', async () => {
    const { engine, site, other } = await stage();
    const wish: Partial<FetchRequest> = { onRedirect: async () => 'stop', wantsStorage: true };
    const response = await get(engine, `${site.origin}/away`, wish);
    expect(response.rendered?.extra.storage).toEqual({ cookies: [], localStorage: {} });
    expect(response).toMatchObject({
      statusCode: 302,
      finalUrl: `${site.origin}/away`,
      redirectedTo: `${other.origin}/plain`,
      headers: { location: `${other.origin}/plain` },
      redirects: [],
    });
    expect(response.body.byteLength).toBe(0);
  });

  it('are one too many when none is allowed, and what onRedirect throws ends the attempt', async () => {
    const { engine, site } = await stage();
    expect(await codeOfFailure(get(engine, `${site.origin}/moved`, { maxRedirects: 0 }))).toBe(
      'TOO_MANY_REDIRECTS',
    );
    const refused = new ScrapifieError('DOMAIN_DENIED', 'no');
    const attempt = get(engine, `${site.origin}/moved`, { onRedirect: () => Promise.reject(refused) });
    expect(await failureOf(attempt)).toBe(refused);
  });
});

describe('sessions', () => {
  it('keep what was solved: the next page of the key needs no challenge', async () => {
    const { engine, site, server } = await stage();
    await get(engine, `${site.origin}/guarded`, { key: 'job' });
    const before = site.visits.length;
    await get(engine, `${site.origin}/guarded`, { key: 'job' });
    expect(site.visits.slice(before).map(({ path }) => path)).toEqual(['/guarded']);
    expect(server.sessions()).toHaveLength(1);
  });

  it('of different keys, proxies, cookies and jars are different browsers', async () => {
    const { engine, site, server } = await stage({ maxSessions: 10 });
    const url = `${site.origin}/plain`;
    const variants: Partial<FetchRequest>[] = [
      {},
      { key: 'a' },
      { key: 'b' },
      { key: 'a', proxy: proxy() },
      { key: 'a', cookies: { who: 'me' } },
      { jar: createCookieJar() },
    ];
    for (const variant of [...variants, ...variants]) await get(engine, url, variant);
    expect(server.sessions()).toHaveLength(variants.length);
  });

  it('are bounded, and the one that was used longest ago ends', async () => {
    const { engine, site, server } = await stage({ maxSessions: 2 });
    const open = (key: string) => get(engine, `${site.origin}/plain`, { key });
    await open('a');
    await open('b');
    const [first, second] = server.sessions();
    await open('a');
    await open('c');
    await until(() => server.sessions().length === 2);
    expect(server.sessions()).toContain(first);
    expect(server.sessions()).not.toContain(second);
  });

  it('are used by one request at a time, also when many come at once', async () => {
    const { engine, site, server } = await stage({ maxSessions: 2 });
    const urls = Array.from({ length: 24 }, (_, index) => `${site.origin}/plain?n=${index}`);
    const pages = await Promise.all(urls.map((url, index) => get(engine, url, { key: `k${index % 4}` })));
    for (const [index, response] of pages.entries()) expect(textOf(response)).toContain(`/plain?n=${index}<`);
    expect(server.collisions()).toBe(0);
  });

  it('are replaced when they are old', async () => {
    let now = 0;
    const { engine, site, server } = await stage({ sessionMaxAgeMs: 1_000, now: () => now });
    await get(engine, `${site.origin}/plain`);
    const [first] = server.sessions();
    now = 1_001;
    await get(engine, `${site.origin}/plain`);
    await until(() => server.sessions().length === 1);
    expect(server.sessions()).not.toContain(first);
  });

  it('are made again with their proxy after FlareSolverr was restarted', async () => {
    const { engine, site, server } = await stage();
    const credentials = new ProxyCredentials('user', 'secret');
    const through = { proxy: proxy({ credentials }) };
    await get(engine, `${site.origin}/plain`, through);
    server.restart();
    await get(engine, `${site.origin}/plain`, through);
    const created = commandsOf(server, 'sessions.create').map((command) => command.proxy);
    const wanted = { url: 'http://proxy.example:8080', username: 'user', password: 'secret' };
    expect(created).toEqual([wanted, wanted]);
  });

  it('end with the engine', async () => {
    const { engine, site, server } = await stage();
    await get(engine, `${site.origin}/plain`, { key: 'a' });
    await get(engine, `${site.origin}/plain`, { key: 'b' });
    await engine.close();
    expect(server.sessions()).toEqual([]);
    expect(await codeOfFailure(get(engine, `${site.origin}/plain`))).toBe('SHUTTING_DOWN');
  });
});

describe('cookies', () => {
  it('of the jar and the request are sent, and what the page sets or ends is in the jar', async () => {
    const { engine, site } = await stage();
    const jar = createCookieJar();
    const url = new URL(`${site.origin}/cookies`);
    jar.store(url, ['old=1; Path=/', 'mine=2; Path=/'], Date.now());
    const response = await get(engine, url.href, { jar, cookies: { given: '3' } });
    for (const pair of ['old=1', 'mine=2', 'given=3']) expect(textOf(response)).toContain(pair);
    expect(Object.fromEntries(jar.cookiesFor(url, Date.now()))).toMatchObject({ mine: '2', seen: '1' });
    const names = jar.cookiesFor(url, Date.now()).map(([name]) => name);
    expect(names).not.toContain('old');
    expect(names).not.toContain('given');
  });

  it('that the browser has already do not make it load the page twice', async () => {
    const { engine, site } = await stage();
    const wish = { cookies: { given: '3' } };
    await get(engine, `${site.origin}/plain`, wish);
    expect(site.visits).toHaveLength(2);
    await get(engine, `${site.origin}/plain`, wish);
    expect(site.visits).toHaveLength(3);
    expect(site.visits[2]?.cookie).toBe('given=3');
  });

  it('are not given to another host that the page leads to without them', async () => {
    const [server, site] = await Promise.all([
      startFlareSolverr(),
      startGuardedSite('http://localhost:1/login'),
    ]);
    const login = await startGuardedSite();
    const leading = await startGuardedSite(login.origin.replace('127.0.0.1', 'localhost'));
    const engine = engineFor(server);
    const failure = await failureOf(
      get(engine, `${leading.origin}/login-first`, { cookies: { member: '1' } }),
    );
    expect(failure.code).toBe('BAD_REDIRECT');
    expect(login.visits.map(({ cookie }) => cookie)).toEqual(['']);
    expect(site.visits).toEqual([]);
  });

  it('of a session go in and come out', async () => {
    const { engine, site } = await stage();
    const cookie = { path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' } as const;
    const storage = {
      cookies: [
        { ...cookie, name: 'here', value: '1', domain: '127.0.0.1' },
        { ...cookie, name: 'there', value: '2', domain: '.elsewhere.example' },
      ],
      localStorage: { 'https://elsewhere.example': { a: 'b' } },
    };
    const response = await get(engine, `${site.origin}/cookies`, { storage, wantsStorage: true });
    expect(textOf(response)).toContain('here=1');
    const after = response.rendered?.extra.storage;
    expect(after?.localStorage).toEqual(storage.localStorage);
    expect(after?.cookies.map(({ name }) => name).toSorted()).toEqual(['here', 'seen', 'there']);
  });
});

describe('what FlareSolverr says went wrong has a code', () => {
  it.each([
    ['Message: unknown error: net::ERR_NAME_NOT_RESOLVED\\n', 'DNS_FAILED'],
    ['Message: unknown error: net::ERR_CERT_DATE_INVALID\\n', 'TLS_FAILED'],
    ['Captcha detected but no automatic solver is configured.', 'CAPTCHA'],
    ['Something that nobody has seen before', 'CAPTCHA'],
    ['Message: invalid session id\\n', 'BROWSER_CRASHED'],
    ['Message: tab crashed\\n', 'BROWSER_CRASHED'],
    ['Message: session not created: Chrome failed to start\\n', 'BROWSER_UNAVAILABLE'],
  ])('%s', async (said, code) => {
    const { engine, site, server } = await stage();
    server.nextError = said;
    const failure = await failureOf(get(engine, `${site.origin}/plain`));
    expect(failure.code).toBe(code);
    // Its browser may be in any state: the next request gets another.
    await until(() => server.sessions().length === 0);
    expect((await get(engine, `${site.origin}/plain`)).statusCode).toBe(200);
  });

  it('a challenge that never ends', async () => {
    const { engine, site } = await stage();
    expect(await codeOfFailure(get(engine, `${site.origin}/never`, { timeoutMs: 900 }))).toBe('TASK_TIMEOUT');
  });

  it('an address that is banned', async () => {
    const { engine, site } = await stage();
    expect(await codeOfFailure(get(engine, `${site.origin}/denied`))).toBe('BLOCKED');
  });

  it('a host that takes no connections', async () => {
    const { engine } = await stage();
    expect(await codeOfFailure(get(engine, 'http://127.0.0.1:1/'))).toBe('CONNECT_FAILED');
  });

  it('a page that is too large', async () => {
    const { engine, site } = await stage();
    const attempt = get(engine, `${site.origin}/large`, { maxBodyBytes: 50_000 });
    expect(await codeOfFailure(attempt)).toBe('BODY_LIMIT_EXCEEDED');
  });

  it('an answer that has no end', async () => {
    const origin = await serving(async (request, response) => {
      if ((await bodyOf(request)).includes('sessions.')) {
        sendJson(response, { status: 'ok', message: '' });
        return;
      }
      const chunk = 'x'.repeat(1_000_000);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const engine = engineFor({ url: origin });
    expect(await codeOfFailure(get(engine, 'http://127.0.0.1:1/'))).toBe('BODY_LIMIT_EXCEEDED');
  });
});

describe('a FlareSolverr that is not there', () => {
  it('makes no browser available: not reached, a gateway, another service', async () => {
    const { engine, site, server } = await stage();
    const url = `${site.origin}/plain`;
    const dead = engineFor({ url: 'http://127.0.0.1:1/v1' });
    const failure = await failureOf(get(dead, url));
    expect(failure.code).toBe('BROWSER_UNAVAILABLE');
    expect(failure.message).toContain('127.0.0.1:1');
    for (const outage of [
      { status: 502, text: '<h1>Bad gateway</h1>' },
      { status: 200, text: '{"hello":"world"}' },
      { status: 200, text: '' },
    ]) {
      server.outage = outage;
      expect(await codeOfFailure(get(engine, url))).toBe('BROWSER_UNAVAILABLE');
    }
    expect(await failureOf(engine.check(AbortSignal.timeout(5_000)))).toMatchObject({
      code: 'BROWSER_UNAVAILABLE',
    });
    server.outage = null;
    expect((await get(engine, url)).statusCode).toBe(200);
  });
});

describe('what ends an attempt', () => {
  async function held(more: Partial<FetchRequest> = {}) {
    const stand = await stage();
    const { promise, resolve } = Promise.withResolvers<void>();
    onTestFinished(() => resolve());
    stand.server.gate = promise;
    const attempt = failureOf(get(stand.engine, `${stand.site.origin}/plain`, more));
    await until(() => commandsOf(stand.server, 'request.get').length === 1);
    return { ...stand, attempt, release: resolve };
  }

  it('the caller, whose reason is kept, and the browser at work is ended', async () => {
    const caller = new AbortController();
    const { attempt, server } = await held({ signal: caller.signal });
    caller.abort();
    expect((await attempt).code).toBe('CANCELLED');
    await until(() => server.sessions().length === 0);
  });

  it('the time limit, while it is silent', async () => {
    const { attempt } = await held({ timeoutMs: 400 });
    expect((await attempt).code).toBe('TASK_TIMEOUT');
  });

  it('the end of the engine', async () => {
    const { attempt, engine, server } = await held();
    await engine.close();
    expect((await attempt).code).toBe('SHUTTING_DOWN');
    expect(server.sessions()).toEqual([]);
  });

  it('the time limit, while another has the session', async () => {
    const { engine, site, server } = await held({ key: 'a' });
    expect(await codeOfFailure(get(engine, `${site.origin}/plain`, { key: 'a', timeoutMs: 100 }))).toBe(
      'TASK_TIMEOUT',
    );
    expect(commandsOf(server, 'request.get')).toHaveLength(1);
  });

  it('who may not start any more, and then nothing was sent', async () => {
    const { engine, site } = await stage();
    expect(await codeOfFailure(get(engine, `${site.origin}/plain`, { mayStart: () => false }))).toBe(
      'CANCELLED',
    );
    expect(site.visits).toEqual([]);
  });

  it('a signal that was aborted before', async () => {
    const { engine, site } = await stage();
    const reason = new ScrapifieError('BUDGET_SPENT', 'spent');
    expect(await failureOf(get(engine, `${site.origin}/plain`, { signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    );
    expect(site.visits).toEqual([]);
  });
});

describe('addresses', () => {
  const resolving = (...addresses: string[]): Pick<FlareSolverrOptions, 'resolve'> => ({
    resolve: (_host, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      ),
  });
  const closed = { allowPrivate: false } as const;

  it.each([
    ['http://127.0.0.1/', []],
    ['http://169.254.169.254/latest', []],
    ['http://[::1]/', []],
    ['http://inside.example/', ['10.0.0.1']],
    ['http://mixed.example/', ['93.184.216.34', '10.0.0.1']],
  ])('%s is refused before FlareSolverr hears of it', async (url, addresses) => {
    const { engine, server } = await stage({ ...closed, ...resolving(...addresses) });
    expect(await codeOfFailure(get(engine, url))).toBe('ADDRESS_REFUSED');
    expect(server.commands).toEqual([]);
  });

  it('behind a proxy are refused by their looks, and resolved where the proxy stands inside', async () => {
    const { engine, server } = await stage({ ...closed, ...resolving('10.0.0.1') });
    const outside = { proxy: proxy() };
    for (const url of ['http://10.0.0.1/', 'http://localhost/', 'http://db.internal/']) {
      expect(await codeOfFailure(get(engine, url, outside))).toBe('ADDRESS_REFUSED');
    }
    const inside = { proxy: proxy({ isPrivateAllowed: true }) };
    expect(await codeOfFailure(get(engine, 'http://rebound.example/', inside))).toBe('ADDRESS_REFUSED');
    expect(server.commands).toEqual([]);
  });

  it.each([
    ['169.254.169.254', 'http'],
    ['10.0.0.1', 'socks5'],
    ['inside.example', 'http'],
    ['inside.example', 'socks5'],
    ['metadata.internal', 'https'],
  ] as const)('of proxies that are private are not handed on: %s by %s', async (host, protocol) => {
    const { engine, server } = await stage({ ...closed, ...resolving('93.184.216.34', '10.0.0.1') });
    const asked = get(engine, 'http://93.184.216.34/', { proxy: proxy({ host, protocol }) });
    expect(await failureOf(asked)).toMatchObject({ code: 'ADDRESS_REFUSED', details: { fault: 'proxy' } });
    expect(server.commands).toEqual([]);
  });

  it("of proxies are what FlareSolverr is told of a caller's proxy, so that it resolves no name again", async () => {
    const { engine, server } = await stage({ ...closed, ...resolving('93.184.216.34') });
    const own = proxy({ id: 'own/1', provider: 'own' });
    await codeOfFailure(get(engine, 'http://93.184.216.34:9/', { proxy: own }));
    expect(commandsOf(server, 'sessions.create')[0]?.proxy).toEqual({ url: 'http://93.184.216.34:8080' });
    const before = server.commands.length;
    const secure = get(engine, 'http://93.184.216.34:9/', { proxy: { ...own, protocol: 'https' } });
    expect(await codeOfFailure(secure)).toBe('UNSUPPORTED_OPTION');
    expect(server.commands).toHaveLength(before);
  });

  it('that a page leads to are looked at, too, and what was seen there is thrown away', async () => {
    const inside = await startGuardedSite();
    const target = inside.origin.replace('127.0.0.1', 'localhost');
    const [server, site] = await Promise.all([startFlareSolverr(), startGuardedSite(`${target}/plain`)]);
    const engine = engineFor(server, {
      allowPrivate: (address) => address === '127.0.0.1',
      ...resolving('10.0.0.1'),
    });
    expect(await codeOfFailure(get(engine, `${site.origin}/away`))).toBe('ADDRESS_REFUSED');
    await until(() => server.sessions().length === 0);
  });

  it('that cannot be found out are not fetched', async () => {
    const gone = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    const { engine, server } = await stage({ ...closed, resolve: (_host, done) => done(gone, []) });
    expect(await codeOfFailure(get(engine, 'http://nowhere.example/'))).toBe('DNS_FAILED');
    expect(server.commands).toEqual([]);
  });
});

describe('what FlareSolverr cannot do is refused, not left out', () => {
  const json = { 'content-type': 'application/json' };
  it.each<[string, Partial<FetchRequest>]>([
    ['a HEAD', { method: 'HEAD' }],
    ['a header', { headers: { 'X-Mine': '1' } }],
    ['a body that is no form', { method: 'POST', headers: json, body: '{}' }],
    ['a form of unknown type', { method: 'POST', body: 'a=b' }],
    ['a form without fields', { ...FORM, body: '' }],
    ['a field that it drops', { ...FORM, body: 'a=b&submit=1' }],
    ['a picture', { render: { screenshot: {} } }],
    ['an action', { render: { actions: [{ type: 'click', selector: 'a' }] } }],
    ['a device', { render: { device: { isMobile: true } } }],
    ['a wait for a selector', { render: { wait: { selector: '#a' } } }],
    [
      'a login to a SOCKS proxy',
      { proxy: proxy({ protocol: 'socks5', credentials: new ProxyCredentials('u', 'p') }) },
    ],
  ])('%s', async (_what, more) => {
    const { engine, site, server } = await stage();
    expect(await codeOfFailure(get(engine, `${site.origin}/plain`, more))).toBe('UNSUPPORTED_OPTION');
    expect(server.commands).toEqual([]);
  });

  it('a form to a URL that it would read wrongly, local storage, and URLs that are none', async () => {
    const { engine, site } = await stage();
    const codes = [
      get(engine, `${site.origin}/a%2Fb`, { ...FORM, body: 'a=b' }),
      get(engine, `${site.origin}/a`, {
        storage: { cookies: [], localStorage: { [site.origin]: { a: 'b' } } },
      }),
      get(engine, 'ftp://127.0.0.1/'),
      get(engine, 'http://user:secret@127.0.0.1/'),
    ].map(codeOfFailure);
    const refused = ['UNSUPPORTED_OPTION', 'UNSUPPORTED_OPTION', 'INVALID_URL', 'INVALID_URL'];
    expect(await Promise.all(codes)).toEqual(refused);
  });
});

it('no secret of the request or the service is in an error', async () => {
  const secrets = ['s3cret-query', 's3cret-cookie', 's3cret-proxy', 's3cret-login'];
  const server = await startFlareSolverr();
  const credentials = new ProxyCredentials('user', 's3cret-proxy');
  const request = { cookies: { id: 's3cret-cookie' }, proxy: proxy({ credentials }), timeoutMs: 3_000 };
  const login = (url: string) => url.replace('//', '//me:s3cret-login@');
  const failures = async (engine: FlareSolverrEngine) => {
    const url = 'http://127.0.0.1:1/?token=s3cret-query';
    return [await failureOf(get(engine, url, request))];
  };
  const engine = engineFor({ url: login(server.url) });
  const found = [
    ...(await failures(engine)),
    ...(await failures(engineFor({ url: login('http://127.0.0.1:1/v1') }))),
  ];
  for (const said of [
    'Message: invalid argument http://127.0.0.1:1/?token=s3cret-query http://user:s3cret-proxy@proxy.example',
    'Message: session not created from http://user:s3cret-proxy@proxy.example:8080',
  ]) {
    server.nextError = said;
    found.push(...(await failures(engine)));
  }
  for (const failure of found) {
    const text = JSON.stringify([
      failure,
      failure.message,
      failure.details,
      String(failure.cause),
      failure.stack,
    ]);
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
  expect(found.map(({ code }) => code)).toEqual([
    'CONNECT_FAILED',
    'BROWSER_UNAVAILABLE',
    'CAPTCHA',
    'BROWSER_UNAVAILABLE',
  ]);
});
