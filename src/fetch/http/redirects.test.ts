import { describe, expect, test } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { createIdentity, seededRandom } from '../../crawl/plan/identity/identity.ts';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import { codeOfFailure, get, type Loopback, serve, testEngine, textOf } from './loopback.fixture.ts';
import { isPortable } from './request-headers.ts';

/** Redirects as the query says: /go?status=302&to=… ; everything else echoes the request. */
async function redirector(): Promise<Loopback> {
  return serve((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x.example');
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      if (url.pathname === '/go') {
        const to = url.searchParams.get('to');
        response.statusCode = Number(url.searchParams.get('status') ?? 302);
        if (to !== null) response.setHeader('location', Buffer.from(to).toString('latin1'));
        const cookie = url.searchParams.get('cookie');
        if (cookie !== null) response.setHeader('set-cookie', cookie);
        // A string would take the head along into UTF-8.
        response.end(Buffer.from('moved'));
        return;
      }
      const { method, headers } = request;
      response.end(JSON.stringify({ method, headers, body, path: request.url }));
    });
  });
}

const go = (site: Loopback, to: string, status = 302) =>
  `${site.origin}/go?status=${status}&to=${encodeURIComponent(to)}`;
const seen = (response: Parameters<typeof textOf>[0]) => JSON.parse(textOf(response));

test('redirects are followed and told', async () => {
  const site = await redirector();
  const asked: string[] = [];
  const response = await get(testEngine(), go(site, go(site, '/end', 301), 307), {
    onRedirect: async (target, hop) => {
      asked.push(`${hop} ${new URL(target).pathname}`);
      return 'follow';
    },
  });
  expect(asked).toEqual(['1 /go', '2 /end']);
  expect(response.finalUrl).toBe(`${site.origin}/end`);
  expect(response.redirects.map(({ statusCode }) => statusCode)).toEqual([307, 301]);
  expect(response.redirectedTo).toBeNull();
  expect(response.wireBytes).toBeGreaterThan(10);
  expect(site.accepted()).toBe(1);
});

test('one that is not wanted is returned itself', async () => {
  const site = await redirector();
  const response = await get(testEngine(), go(site, 'http://other.example/x#y', 301), {
    onRedirect: async () => 'stop',
  });
  expect(response).toMatchObject({
    statusCode: 301,
    redirectedTo: 'http://other.example/x',
    redirects: [],
    finalUrl: go(site, 'http://other.example/x#y', 301),
  });
  expect(response.body.byteLength).toBe(0);
});

test('what onRedirect throws ends the attempt', async () => {
  const site = await redirector();
  const onRedirect = async () => {
    throw new ScrapifieError('ROBOTS_DISALLOWED', 'no');
  };
  expect(await codeOfFailure(get(testEngine(), go(site, '/end'), { onRedirect }))).toBe('ROBOTS_DISALLOWED');
});

test('the time that onRedirect takes is not counted', async () => {
  const site = await redirector();
  let clockMs = 0;
  const onRedirect = async () => {
    clockMs += 3_600_000;
    return 'follow' as const;
  };
  const response = await get(testEngine({ now: () => clockMs }), go(site, '/end'), { onRedirect });
  expect(response.statusCode).toBe(200);
  expect(response.ms).toBe(3_600_000);
});

describe('method and body', () => {
  test.each([
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'a=1'],
    [308, 'POST', 'a=1'],
  ])('a POST that gets %i goes on as %s with body %j', async (status, method, body) => {
    const site = await redirector();
    const response = await get(testEngine(), go(site, '/end', status), {
      method: 'POST',
      body: 'a=1',
      headers: { 'content-type': 'text/x-test' },
    });
    expect(seen(response)).toMatchObject({ method, body });
    expect(seen(response).headers['content-type']).toBe(method === 'POST' ? 'text/x-test' : undefined);
  });

  test('HEAD stays HEAD', async () => {
    const site = await redirector();
    const response = await get(testEngine(), go(site, '/end', 303), { method: 'HEAD' });
    expect(response.statusCode).toBe(200);
    expect(response.body.byteLength).toBe(0);
  });
});

describe('secrets', () => {
  const secrets = {
    headers: {
      Authorization: 'Bearer s',
      'Proxy-Authorization': 'p',
      Cookie: 'h=1',
      'X-Api-Key': 'k',
      'x-other': '1',
      'Accept-Language': 'de',
    },
    cookies: { given: '1' },
  };

  test('go along within an origin', async () => {
    const site = await redirector();
    const { headers } = seen(await get(testEngine(), go(site, '/end'), secrets));
    expect(headers).toMatchObject({ authorization: 'Bearer s', 'x-api-key': 'k', cookie: 'h=1; given=1' });
  });

  test('do not go to another origin, nor come back from it', async () => {
    const [site, other] = await Promise.all([redirector(), redirector()]);
    const away = seen(await get(testEngine(), go(site, `${other.origin}/end`), secrets));
    const back = seen(await get(testEngine(), go(site, go(other, `${site.origin}/end`)), secrets));
    for (const { headers } of [away, back]) {
      expect(headers.authorization).toBeUndefined();
      expect(headers['proxy-authorization']).toBeUndefined();
      expect(headers.cookie).toBeUndefined();
      expect(headers['x-api-key']).toBeUndefined();
      expect(headers['x-other']).toBeUndefined();
      expect(headers['accept-language']).toBe('de');
    }
  });

  test('go where the request says, by name', async () => {
    const [site, other] = await Promise.all([redirector(), redirector()]);
    const asked = { ...secrets, crossOriginHeaders: ['x-other'] };
    const { headers } = seen(await get(testEngine(), go(site, `${other.origin}/end`), asked));
    expect(headers['x-other']).toBe('1');
    expect(headers['x-api-key']).toBeUndefined();
  });

  test("stand in place of the engine's own headers at home, and the engine's own are sent elsewhere", async () => {
    const [site, other] = await Promise.all([redirector(), redirector()]);
    const identity = createIdentity({
      region: 'jp',
      system: 'windows',
      browserVersion: '140.0.0.0',
      random: seededRandom('headers'),
    });
    const asked = { identity, headers: { 'X-Api-Key': 'k' } };
    const { headers } = seen(await get(testEngine(), go(site, `${other.origin}/end`), asked));
    expect(headers['user-agent']).toBe(identity.userAgent);
    expect(headers['x-api-key']).toBeUndefined();
  });

  test.each([
    'Accept',
    'accept-language',
    'User-Agent',
    'Referer',
    'Sec-CH-UA',
    'Sec-Fetch-Mode',
    'DNT',
    'Content-Type',
  ])('%s is none', (name) => expect(isPortable(name)).toBe(true));

  test.each([
    'Authorization',
    'Cookie',
    'X-Api-Key',
    'Proxy-Authorization',
    'X-Auth-Token',
    'Api-Key',
    'From',
    'If-None-Match',
  ])('%s may be one', (name) => expect(isPortable(name)).toBe(false));
});

describe('cookies on the way', () => {
  test('are sent on, and kept by the jar', async () => {
    const site = await redirector();
    const jar = createCookieJar();
    const url = `${go(site, '/end')}&cookie=${encodeURIComponent('session=1; Path=/')}`;
    const response = await get(testEngine(), url, { jar });
    expect(seen(response).headers.cookie).toBe('session=1');
    expect(jar.size).toBe(1);
  });

  test('last for the attempt when there is no jar', async () => {
    const site = await redirector();
    const engine = testEngine();
    const url = `${go(site, '/end')}&cookie=${encodeURIComponent('session=1; Path=/')}`;
    expect(seen(await get(engine, url)).headers.cookie).toBe('session=1');
    expect(seen(await get(engine, `${site.origin}/end`)).headers.cookie).toBeUndefined();
  });

  test('make a redirect to the same URL no loop', async () => {
    const site = await serve((request, response) => {
      if (request.headers.cookie === 'seen=1') response.end('welcome');
      else response.writeHead(302, { location: '/', 'set-cookie': 'seen=1' }).end();
    });
    expect(textOf(await get(testEngine(), `${site.origin}/`))).toBe('welcome');
  });
});

describe('an end that is no page', () => {
  test('a circle', async () => {
    const site = await serve((request, response) => {
      response.writeHead(302, { location: request.url === '/a' ? '/b' : '/a' }).end();
    });
    expect(await codeOfFailure(get(testEngine(), `${site.origin}/a`))).toBe('REDIRECT_LOOP');
    expect(await codeOfFailure(get(testEngine(), `${site.origin}/self`, { maxRedirects: 99 }))).toBe(
      'REDIRECT_LOOP',
    );
  });

  test('a way that is too long', async () => {
    let requests = 0;
    const site = await serve((_, response) => {
      requests += 1;
      response.writeHead(302, { location: `/${requests}` }).end();
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('TOO_MANY_REDIRECTS');
    expect(requests).toBe(6);
    expect(await codeOfFailure(get(testEngine(), site.origin, { maxRedirects: 0 }))).toBe(
      'TOO_MANY_REDIRECTS',
    );
  });

  test.each([
    '',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ftp://a.example/',
    'http://[bad',
    'mailto:a@b',
    `http://${'a'.repeat(64)}.test/`,
    `http://${'a.'.repeat(150)}test/`,
  ])('a location that is %j', async (to) => {
    const site = await redirector();
    expect(await codeOfFailure(get(testEngine(), go(site, to)))).toBe('BAD_REDIRECT');
  });

  test('no location at all', async () => {
    const site = await redirector();
    expect(await codeOfFailure(get(testEngine(), `${site.origin}/go?status=301`))).toBe('BAD_REDIRECT');
  });
});

test('a location in raw UTF-8 is understood', async () => {
  const site = await redirector();
  expect(seen(await get(testEngine(), go(site, '/grüße/日本'))).path).toBe(
    '/gr%C3%BC%C3%9Fe/%E6%97%A5%E6%9C%AC',
  );
});

test('the body of a redirect does not matter: endless, broken or cut off', async () => {
  const site = await serve((request, response) => {
    if (request.url === '/end') {
      response.end('arrived');
      return;
    }
    response.writeHead(302, { location: '/end', 'content-length': 900_000_000 });
    if (request.url === '/endless') {
      const pump = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
      };
      response.on('drain', pump);
      pump();
    } else {
      response.write('x', () => response.socket?.resetAndDestroy());
    }
  });
  expect(textOf(await get(testEngine(), `${site.origin}/endless`))).toBe('arrived');
  expect(textOf(await get(testEngine(), `${site.origin}/cut`))).toBe('arrived');
});
