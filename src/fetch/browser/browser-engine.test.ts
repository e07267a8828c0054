import { afterAll, describe, expect, test } from 'vitest';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import { serve } from '../http/loopback.fixture.ts';
import { failureOf, lastingBrowser, render, testBrowser, textOf } from './browser.fixture.ts';

const { engine, runtime } = lastingBrowser({ pagesAtOnce: 4, pagesEach: 4, maxBrowsers: 1 });
afterAll(() => engine.close());

const page = (body: string): string =>
  `<!doctype html><html><head><title>t</title></head><body>${body}</body></html>`;
const site = (paths: Readonly<Record<string, string>>) =>
  serve((request, response) => {
    const body = paths[request.url ?? ''];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(body ?? page('nothing here'));
  });

describe('what a rendered page is', () => {
  test('the body is the document after its scripts, in UTF-8, and the raw one is kept beside it', async () => {
    const { origin } = await site({
      '/': page('<p id=a>before</p><script>a.textContent = "größer ✓"</script>'),
    });
    const response = await render(engine, `${origin}/`);
    expect(response).toMatchObject({ statusCode: 200, finalUrl: `${origin}/`, failure: null, redirects: [] });
    expect(response.contentType).toBe('text/html; charset=utf-8');
    expect(textOf(response)).toMatch(/^<!DOCTYPE html><html>/);
    expect(textOf(response)).toContain('<p id="a">größer ✓</p>');
    expect(Buffer.from(response.rawBody ?? []).toString()).toContain('before');
    expect(response.wireBytes).toBeGreaterThan(100);
    expect(response.httpVersion).toBe('1.1');
  });

  test('the URL is that of the document, also after scripts have changed it', async () => {
    const { origin } = await site({
      '/': page('<script>history.pushState(null, "", "/shop/list?page=2#top")</script>'),
      '/replaced': page('<script>history.replaceState(null, "", "./a/b")</script>'),
      '/fragment': page('<script>location.hash = "x"</script>'),
    });
    expect((await render(engine, `${origin}/`)).finalUrl).toBe(`${origin}/shop/list?page=2`);
    expect((await render(engine, `${origin}/replaced`)).finalUrl).toBe(`${origin}/a/b`);
    expect((await render(engine, `${origin}/fragment`)).finalUrl).toBe(`${origin}/fragment`);
  });

  test('an address that scripts have made enormous is not that of the document, and the page is kept', async () => {
    const long = (chars: number) => `"/x?" + "y".repeat(${chars})`;
    const { origin } = await site({
      '/pushed': page(`<p>kept</p><script>history.pushState(null, "", ${long(1_900_000)})</script>`),
      '/replaced': page(`<p>kept</p><script>history.replaceState(null, "", ${long(9_000)})</script>`),
      '/left': page(`<p>left</p><script>location.href = ${long(100_000)}</script>`),
    });
    for (const path of ['/pushed', '/replaced']) {
      const response = await render(engine, origin + path);
      expect(response.finalUrl).toBe(origin + path);
      expect(textOf(response)).toContain('kept');
    }
    await expect(render(engine, `${origin}/left`)).rejects.toMatchObject({ code: 'BAD_REDIRECT' });
  });

  test('any status is an answer', async () => {
    const { origin } = await site({});
    const response = await render(engine, `${origin}/missing`);
    expect(response.statusCode).toBe(404);
    expect(textOf(response)).toContain('nothing here');
  });

  test.each([
    ['declared', { 'content-length': '0' }],
    ['in no chunk', { 'transfer-encoding': 'chunked' }],
    ['until the connection ends', { connection: 'close' }],
  ])('an error status without a body is an answer with its headers (%s)', async (_, length) => {
    const { origin } = await serve((request, response) => {
      const status = request.url === '/gone' ? 410 : 503;
      const type = request.url === '/gone' ? { 'content-type': 'text/html' } : {};
      response.writeHead(status, { ...type, 'retry-after': '60', ...length }).end();
    });
    for (const [path, statusCode] of [
      ['/busy', 503],
      ['/gone', 410],
    ] as const) {
      const response = await render(engine, origin + path);
      expect(response).toMatchObject({ statusCode, failure: null, headers: { 'retry-after': '60' } });
      expect(response.body).toHaveLength(0);
    }
  });

  test('what is no page comes as it is', async () => {
    const json = '{"a": 1}';
    const { origin } = await serve((request, response) => {
      const isFile = request.url === '/file';
      response.writeHead(200, {
        'content-type': isFile ? 'application/octet-stream' : 'application/json',
        ...(isFile ? { 'content-disposition': 'attachment' } : {}),
      });
      response.end(isFile ? Buffer.from([0, 255, 1]) : json);
    });
    const response = await render(engine, `${origin}/data`);
    expect(textOf(response)).toBe(json);
    expect(response.contentType).toBe('application/json');
    expect([...(await render(engine, `${origin}/file`)).body]).toEqual([0, 255, 1]);
  });

  test.each([204, 304])('status %i has no body', async (status) => {
    const { origin } = await serve((_, response) => response.writeHead(status).end());
    const conditional = { etag: '"1"', lastModified: null };
    const response = await render(engine, `${origin}/`, { conditional });
    expect(response.statusCode).toBe(status);
    expect(response.body).toHaveLength(0);
  });

  test('a body over the limit is refused, declared or not', async () => {
    const { origin } = await serve((request, response) => {
      const type = request.url === '/json' ? 'application/json' : 'text/html';
      response.writeHead(200, { 'content-type': type });
      response.write('x'.repeat(30_000));
      response.end();
    });
    for (const path of ['/', '/json']) {
      const attempt = render(engine, `${origin}${path}`, { maxBodyBytes: 10_000 });
      expect((await failureOf(attempt)).code).toBe('BODY_LIMIT_EXCEEDED');
    }
  });

  test('a document is asked for anew, what it needs comes from the cache', async () => {
    const asked: string[] = [];
    const { origin } = await serve((request, response) => {
      asked.push(request.url ?? '');
      const isScript = request.url === '/a.js';
      response.writeHead(200, {
        'content-type': isScript ? 'text/javascript' : 'text/html',
        'cache-control': 'max-age=1000',
      });
      response.end(isScript ? '1' : page('<script src=/a.js></script>'));
    });
    for (let count = 0; count < 3; count += 1) await render(engine, `${origin}/`);
    expect(asked.filter((path) => path === '/')).toHaveLength(3);
    expect(asked.filter((path) => path === '/a.js')).toHaveLength(1);
  });

  test('errors of scripts and of the console are reported', async () => {
    const { origin } = await site({
      '/': page('<script>console.error("oops", 7)</script><script>nope()</script>'),
    });
    const { extra } = await render(engine, `${origin}/`);
    expect(extra.consoleErrors.join('\n')).toMatch(/oops 7/);
    expect(extra.consoleErrors.join('\n')).toMatch(/nope is not defined/);
  });
});

describe('what is sent', () => {
  test('headers go with the document, and those that are secret not to another host', async () => {
    const seen: Record<string, Record<string, unknown>> = {};
    const other = await serve((request, response) => {
      seen.other = request.headers;
      response.setHeader('content-type', 'text/html').end(page('there'));
    });
    const { origin } = await serve((request, response) => {
      seen[request.url ?? ''] = request.headers;
      if (request.url === '/away') response.writeHead(302, { location: other.origin }).end();
      else {
        response
          .setHeader('content-type', 'text/html')
          .end(page(`<img src=/picture><img src=${other.origin}/picture>`));
      }
    });
    const headers = { Authorization: 'Bearer 1', 'X-Mine': 'yes', 'X-Trace': 'yes', 'Accept-Language': 'de' };
    const crossOriginHeaders = ['x-trace'];
    await render(engine, `${origin}/`, { headers });
    expect(seen['/']).toMatchObject({
      authorization: 'Bearer 1',
      'x-mine': 'yes',
      'user-agent': 'TestBot/1',
    });
    for (const part of ['/picture', 'other']) {
      expect(seen[part]).not.toHaveProperty('authorization');
      expect(seen[part]).not.toHaveProperty('x-mine');
    }
    expect(seen['/']).not.toHaveProperty('proxy-authorization');
    await render(engine, `${origin}/away`, { headers, crossOriginHeaders });
    expect(seen['/away']).toMatchObject({ authorization: 'Bearer 1' });
    expect(seen.other).toMatchObject({ 'x-trace': 'yes', 'accept-language': 'de' });
    expect(seen.other).not.toHaveProperty('x-mine');
    expect(seen.other).not.toHaveProperty('authorization');
  });

  test('a form is posted', async () => {
    const { origin } = await serve(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      response.setHeader('content-type', 'text/html').end(page(`${request.method} ${body}`));
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await render(engine, `${origin}/`, { method: 'POST', body: 'a=1&b=2', headers });
    expect(textOf(response)).toContain('POST a=1&amp;b=2');
  });

  test('cookies of the request and of the jar are sent, and the jar learns what page and server set', async () => {
    const { origin } = await serve((request, response) => {
      response.writeHead(200, {
        'content-type': 'text/html',
        'set-cookie': ['server=1; HttpOnly', 'gone=; Max-Age=0'],
      });
      response.end(page(`<p>${request.headers.cookie}</p><script>document.cookie = "script=2"</script>`));
    });
    const jar = createCookieJar();
    const url = new URL(`${origin}/`);
    jar.store(url, ['known=0', 'gone=1'], Date.now());
    const response = await render(engine, url.href, { jar, cookies: { extra: 'x' } });
    expect(textOf(response)).toContain('known=0; gone=1; extra=x');
    const kept = Object.fromEntries(jar.cookiesFor(url, Date.now()));
    expect(kept).toMatchObject({ known: '0', server: '1', script: '2' });
    expect(kept).not.toHaveProperty('gone');
  });

  test('storage goes in before the page runs and comes out as it is at the end', async () => {
    const { origin } = await site({
      '/': page('<p id=a></p><script>a.textContent = localStorage.theme; localStorage.next = "n"</script>'),
    });
    const storage = { cookies: [], localStorage: { [origin]: { theme: '</script>"dark"' } } };
    const response = await render(engine, `${origin}/`, { storage, wantsStorage: true, key: 'storage' });
    expect(textOf(response)).toContain('&lt;/script&gt;"dark"');
    expect(response.extra.storage?.localStorage[origin]).toEqual({ theme: '</script>"dark"', next: 'n' });
  });

  test('the page sees the viewport, language, time zone and agent that were asked for', async () => {
    const { origin } = await site({ '/': page('') });
    const response = await render(engine, `${origin}/`, {
      device: { viewport: { width: 1_000, height: 700 }, locale: 'de-DE', timezone: 'Asia/Tokyo' },
      userAgent: 'Other/2',
      actions: [
        {
          type: 'evaluate',
          script:
            '[innerWidth, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent, navigator.webdriver]',
        },
      ],
    });
    expect(response.extra.actions[0]?.value).toEqual([1_000, 'de-DE', 'Asia/Tokyo', 'Other/2', false]);
  });

  test.each([
    [{ method: 'HEAD' as const }, 'UNSUPPORTED_OPTION'],
    [{ headers: { Host: 'x' } }, 'VALIDATION_FAILED'],
    [{ url: 'file:///etc/passwd' }, 'INVALID_URL'],
    [{ url: 'http://user:secret@127.0.0.1/' }, 'INVALID_URL'],
    [{ url: 'chrome://version' }, 'INVALID_URL'],
    [{ mayStart: () => false }, 'CANCELLED'],
  ])('%o is refused with %s', async (more, code) => {
    expect((await failureOf(render(engine, 'http://127.0.0.1:8000/', more))).code).toBe(code);
  });
});

describe('redirects', () => {
  const hops = () =>
    serve((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step > 0) response.writeHead(302, { location: `/${step - 1}` }).end();
      else response.setHeader('content-type', 'text/html').end(page('arrived'));
    });

  test('each is asked about before it is followed', async () => {
    const { origin } = await hops();
    const asked: string[] = [];
    const response = await render(engine, `${origin}/2`, {
      onRedirect: async (target, hop) => {
        asked.push(`${hop} ${target}`);
        return 'follow';
      },
    });
    expect(asked).toEqual([`1 ${origin}/1`, `2 ${origin}/0`]);
    expect(response.finalUrl).toBe(`${origin}/0`);
    expect(response.redirects).toEqual([
      { url: `${origin}/2`, statusCode: 302 },
      { url: `${origin}/1`, statusCode: 302 },
    ]);
  });

  test('one that is not wanted is the answer', async () => {
    const site = await hops();
    const response = await render(engine, `${site.origin}/2`, { onRedirect: async () => 'stop' });
    expect(response).toMatchObject({
      statusCode: 302,
      redirectedTo: `${site.origin}/1`,
      finalUrl: `${site.origin}/2`,
    });
    expect(response.body).toHaveLength(0);
  });

  test('what the one who is asked throws ends the attempt', async () => {
    const { origin } = await hops();
    const onRedirect = async () => {
      throw Object.assign(new Error('no'), { name: 'Odd' });
    };
    expect((await failureOf(render(engine, `${origin}/1`, { onRedirect }))).code).toBe('INTERNAL');
  });

  test('the time that asking takes is not counted', async () => {
    const { origin } = await hops();
    const onRedirect = () => new Promise<'follow'>((resolve) => setTimeout(resolve, 6_500, 'follow'));
    const response = await render(engine, `${origin}/1`, { onRedirect, timeoutMs: 6_000 });
    expect(textOf(response)).toContain('arrived');
  });

  test('too many, circles and bad ones are errors', async () => {
    const { origin } = await hops();
    const many = render(engine, `${origin}/4`, { maxRedirects: 3 });
    expect((await failureOf(many)).code).toBe('TOO_MANY_REDIRECTS');
    const circle = await serve((_, response) => response.writeHead(301, { location: '/' }).end());
    expect((await failureOf(render(engine, `${circle.origin}/`))).code).toBe('REDIRECT_LOOP');
    const bad = await serve((_, response) =>
      response.writeHead(301, { location: 'file:///etc/passwd' }).end(),
    );
    expect((await failureOf(render(engine, `${bad.origin}/`))).code).toBe('BAD_REDIRECT');
  });

  test.each([
    ['a script', '<script>location.replace("/next")</script>'],
    ['a script once loaded', '<script>onload = () => { location.href = "/next" }</script>'],
    ['a meta refresh', '<meta http-equiv=refresh content="0; url=/next">'],
  ])('%s that leads elsewhere is asked about too', async (_, body) => {
    const { origin } = await site({ '/': page(body), '/next': page('the next page') });
    const asked: string[] = [];
    const onRedirect = async (target: string) => {
      asked.push(target);
      return 'follow' as const;
    };
    const followed = await render(engine, `${origin}/`, { onRedirect });
    expect(textOf(followed)).toContain('the next page');
    expect(followed.finalUrl).toBe(`${origin}/next`);
    expect(asked).toEqual([`${origin}/next`]);
    const stopped = await render(engine, `${origin}/`, { onRedirect: async () => 'stop' });
    expect(stopped).toMatchObject({
      statusCode: 200,
      finalUrl: `${origin}/`,
      redirectedTo: `${origin}/next`,
    });
  });
});

describe('what goes wrong on the way', () => {
  test('has a code', async () => {
    const reset = await serve((request) => request.socket.destroy());
    expect((await failureOf(render(engine, `${reset.origin}/`))).code).toBe('CONNECTION_RESET');
    expect((await failureOf(render(engine, 'http://127.0.0.1:2/'))).code).toBe('CONNECT_FAILED');
    expect((await failureOf(render(engine, 'http://no-such-host.invalid/'))).code).toBe('DNS_FAILED');
    const plain = await serve((_, response) => response.end('x'));
    const tls = render(engine, `https://127.0.0.1:${plain.port}/`);
    expect((await failureOf(tls)).code).toBe('TLS_FAILED');
  });

  test('a server that never answers takes no longer than allowed', async () => {
    const { origin } = await serve(() => {});
    expect((await failureOf(render(engine, `${origin}/`, { timeoutMs: 4_000 }))).code).toBe('TASK_TIMEOUT');
    const more = { navigationTimeoutMs: 500 };
    expect((await failureOf(render(engine, `${origin}/`, more))).code).toBe('TASK_TIMEOUT');
  });

  test('a page that never finishes loading is kept as far as it came', async () => {
    const { origin } = await serve((request, response) => {
      if (request.url === '/')
        response.setHeader('content-type', 'text/html').end(page('<p>here<img src=/never>'));
    });
    const response = await render(engine, `${origin}/`, { navigationTimeoutMs: 1_000 });
    expect(response.failure?.code).toBe('TASK_TIMEOUT');
    expect(textOf(response)).toContain('here');
  });

  test('the caller can end it', async () => {
    const { origin } = await serve(() => {});
    const controller = new AbortController();
    const attempt = failureOf(render(engine, `${origin}/`, { signal: controller.signal }));
    controller.abort();
    expect((await attempt).code).toBe('CANCELLED');
  });

  test('closing ends what is under way, and nothing begins afterwards', async () => {
    const own = testBrowser();
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const { origin } = await serve(() => resolve());
    const attempt = failureOf(render(own.engine, `${origin}/`));
    await isAsked;
    await own.engine.close();
    expect((await attempt).code).toBe('SHUTTING_DOWN');
    expect((await failureOf(render(own.engine, `${origin}/`))).code).toBe('SHUTTING_DOWN');
  });

  test('all of this left no page in use and one browser', async () => {
    expect(runtime.running?.pool.stats).toMatchObject({
      pagesInUse: 0,
      waiting: 0,
      browsers: 1,
      crashed: 0,
      launched: 1,
    });
  });
});
