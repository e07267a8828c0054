import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, type ApiWorld, openApiWorld } from './api-world.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld({ site: { pages: 30 } });
});
afterAll(() => world.close());

function expectRefusal(answer: ApiAnswer, status: number, code: string, words: RegExp): void {
  expect(answer).toMatchObject({ status, body: { success: false, error: { code } } });
  expect(answer.body.error?.message).toMatch(words);
  expect(answer.body.error?.message).not.toMatch(/\bat .*\.ts:\d+|node_modules/);
}

/** Nothing of what was refused may be left behind. */
async function countJobs(): Promise<number> {
  const { items } = await world.platform.jobs.list({ accountId: world.account, limit: 100 });
  return items.length;
}

describe('a request that cannot be meant', () => {
  test.each([
    ['no URL at all', 'not a url at all'],
    ['another scheme', 'ftp://example.org/'],
    ['a script', 'javascript:alert(1)'],
    ['a file', 'file:///etc/passwd'],
    ['no host', 'http://'],
    ['a broken address', 'http://[::1'],
    ['an impossible port', 'http://example.org:99999/'],
    ['an empty string', ''],
    ['spaces', '   '],
  ])('because its URL is %s is refused as such', async (_, url) => {
    const before = await countJobs();
    for (const [path, payload] of [
      ['/v1/scrape', { url }],
      ['/v1/map', { url }],
      ['/v1/batch', { urls: ['http://127.0.0.1/', url] }],
      ['/v1/crawl', { urls: [url] }],
    ] as const) {
      const answer = await world.post(path, payload);
      expect(answer.status).toBe(422);
      expect(['INVALID_URL', 'VALIDATION_FAILED']).toContain(answer.body.error?.code);
      expect(JSON.stringify(answer.body.error)).toContain('url');
    }
    expect(await countJobs()).toBe(before);
  });

  test('because of an option nobody knows is refused by its name', async () => {
    const url = `${world.site.url}/big/`;
    expectRefusal(
      await world.post('/v1/scrape', { url, formts: ['text'] }),
      422,
      'VALIDATION_FAILED',
      /formts/,
    );
    expectRefusal(
      await world.post('/v1/crawl', { urls: [url], maxPagse: 3 }),
      422,
      'VALIDATION_FAILED',
      /maxPagse/,
    );
  });

  test('because of values out of range is refused with each of them', async () => {
    const answer = await world.post('/v1/crawl', {
      urls: [world.site.url],
      maxPages: -1,
      maxDepth: 'deep',
      include: ['(unclosed'],
      options: { timeoutMs: 1 },
    });
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_FAILED' } } });
    const details = JSON.stringify(answer.body.error?.details);
    for (const field of ['maxPages', 'maxDepth', 'timeoutMs']) expect(details).toContain(field);
    const pattern = await world.post('/v1/crawl', { urls: [world.site.url], include: ['(unclosed'] });
    expectRefusal(pattern, 422, 'VALIDATION_FAILED', /include/);
  });

  test('because this installation cannot do it is refused with the reason', async () => {
    const answer = await world.post('/v1/scrape', { url: world.site.url, engine: 'flaresolverr' });
    expectRefusal(answer, 403, 'CONSENT_REQUIRED', /policy/);
  });

  test('because it is no JSON, or none we read, is refused', async () => {
    const send = (payload: string, type: string) =>
      world.call({ method: 'POST', url: '/v1/scrape', payload, headers: { 'content-type': type } });
    expectRefusal(await send('{"url": ', 'application/json'), 400, 'MALFORMED_JSON', /JSON/);
    expectRefusal(await send('<url/>', 'text/xml'), 415, 'UNSUPPORTED_MEDIA_TYPE', /json/i);
  });

  test('because its body has 11 MB is refused, and the server goes on', async () => {
    const payload = JSON.stringify({ urls: ['x'.repeat(11 * 1_048_576)] });
    const headers = { 'content-type': 'application/json' };
    const answer = await world.call({ method: 'POST', url: '/v1/batch', payload, headers });
    expectRefusal(answer, 413, 'BODY_TOO_LARGE', /large/i);
    expect((await world.call({ method: 'GET', url: '/v1/jobs' })).status).toBe(200);
  });

  test('because of its key is refused without a word about whether it was close', async () => {
    const url = '/v1/jobs';
    const keys = ['Bearer wrong', 'Bearer ', 'Basic abc', `Bearer sk_${'x'.repeat(40)}`];
    const messages = new Set<string>();
    for (const authorization of keys) {
      const answer = await world.call({ method: 'GET', url, headers: { authorization } });
      expectRefusal(answer, 401, 'UNAUTHENTICATED', /key/i);
      messages.add(answer.body.error?.message ?? '');
    }
    expect(JSON.stringify([...messages])).not.toContain('wrong');
  });

  test('because there is no such job, or path, or method, is refused', async () => {
    const get = (url: string) => world.call({ method: 'GET', url });
    expectRefusal(await get('/v1/jobs/no-such-job'), 404, 'NOT_FOUND', /job/);
    expectRefusal(await get('/v1/jobs/01890000-0000-7000-8000-000000000000'), 404, 'NOT_FOUND', /job/);
    expectRefusal(await get('/v1/nothing'), 404, 'NOT_FOUND', /./);
    expectRefusal(await world.call({ method: 'DELETE', url: '/v1/scrape' }), 405, 'METHOD_NOT_ALLOWED', /./);
  });
});

test('a page that cannot be had is told with its code, in the time that was given', async () => {
  const scrape = (path: string, more = {}) =>
    world.post('/v1/scrape', {
      url: world.site.hostUrl(5) + path,
      maxAttempts: 1,
      timeoutMs: 30_000,
      ...more,
    });
  expect((await scrape('/redirects/self')).body.error?.code).toBe('REDIRECT_LOOP');
  expect((await scrape('/slow/flood')).body.error?.code).toBe('BODY_LIMIT_EXCEEDED');
  const late = await scrape('/slow/no-head', { timeoutMs: 1_000 });
  expect(late.status).toBe(504);
  expect(['REQUEST_TIMEOUT', 'TASK_TIMEOUT', 'HEADERS_TIMEOUT']).toContain(late.body.error?.code);
});

test('a scrape through the API answers with the page', async () => {
  const { status, body } = await world.post('/v1/scrape', { url: `${world.site.hostUrl(6)}/big/3` });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ statusCode: 200, url: `${world.site.hostUrl(6)}/big/3` });
});
