import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, lookUp, openPlatform, type Platform } from '../../test/property/api-platform.ts';

const url = 'https://example.com/';
let platform: Platform;
let port: number;
const { promise: released, resolve: release } = Promise.withResolvers<void>();
beforeAll(async () => {
  platform = await openPlatform({ bodyLimitBytes: 10_485_760, corsOrigins: 'https://app.example' });
  await platform.work((task) =>
    task.url.endsWith('/denied')
      ? { end: { state: 'denied', rule: 'robots: disallow: / (line 2)' } }
      : task.url.includes('/never')
        ? released.then(() => DONE)
        : DONE,
  );
  await platform.api.listen({ port: 0, host: '127.0.0.1' });
  port = (platform.api.server.address() as AddressInfo).port;
});
afterAll(() => {
  release();
  return platform.close();
});

const post = (path: string, payload: unknown, headers: Record<string, string> = {}) =>
  platform.call({ method: 'POST', url: path, payload: payload as object, headers });

async function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

describe('scraping', () => {
  it('answers with the page', async () => {
    const answer = await post('/v1/scrape', {
      url,
      formats: ['metadata', 'links', 'html', 'rawHtml', 'text'],
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.at('data')).toMatchObject({
      url,
      finalUrl: url,
      statusCode: 200,
      contentType: 'text/html',
      metadata: null,
      links: [{ text: 'next' }],
      html: '<p>body</p>',
      rawHtml: '<p>body</p>',
      text: 'body',
      trace: { attempts: [{ outcome: 'ok' }] },
    });
    expect(answer.at('data.fetchedAt')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('answers with a job when asked not to wait', async () => {
    const answer = await post('/v1/scrape', { url, async: true });
    expect(answer.statusCode).toBe(202);
    expect(answer.at('data')).toMatchObject({ kind: 'scrape', status: 'queued', url, urls: 1 });
    expect(answer.headers.location).toBe(answer.at('data.links.self'));
  });

  it('says why a page was not fetched', async () => {
    const answer = await post('/v1/scrape', { url: `${url}denied` });
    expect(answer.statusCode).toBe(403);
    expect(answer.at('error')).toMatchObject({ code: 'ROBOTS_DISALLOWED', retryable: false });
  });

  it('says which job goes on when time is up', async () => {
    const answer = await post('/v1/scrape', { url: 'https://slow.example/never', timeoutMs: 1_000 });
    expect(answer.statusCode).toBe(504);
    expect(answer.at('error.code')).toBe('REQUEST_TIMEOUT');
    const job = await platform.call({ url: `/v1/jobs/${answer.at('error.details.jobId')}` });
    expect(job.at('data.progress.open')).toBe(1);
  });

  it('works over a real connection, and leaves no wait behind when the client goes', async () => {
    const headers = { 'x-api-key': platform.secret, 'content-type': 'application/json' };
    const sent = httpRequest({ port, method: 'POST', path: '/v1/scrape', headers });
    sent.end(JSON.stringify({ url: `${url}real`, formats: ['text'] }));
    const answer = await answerTo(sent);
    expect(answer.statusCode).toBe(200);
    expect(lookUp(JSON.parse(await text(answer)), 'data.text')).toBe('body');
    const leaving = httpRequest({ port, method: 'POST', path: '/v1/scrape', headers });
    leaving.on('error', () => undefined);
    const before = platform.lines.length;
    leaving.end(JSON.stringify({ url: 'https://slow.example/never?2' }));
    await expect
      .poll(async () => (await platform.call({ url: '/v1/jobs?limit=1' })).payload)
      .toContain('slow.example/never?2');
    leaving.destroy();
    const isNoticed = () => platform.lines.slice(before).some((line) => line.includes('"status":499'));
    await expect.poll(isNoticed, { timeout: 20_000 }).toBe(true);
  });
});

describe('bad requests', () => {
  it('get one entry per bad field', async () => {
    const answer = await post('/v1/scrape', { url, formats: ['doc'], timeout: 3 });
    expect(answer.statusCode).toBe(422);
    expect(answer.at('error.code')).toBe('VALIDATION_FAILED');
    expect((answer.at('error.details') as { field: string }[]).map(({ field }) => field).sort()).toEqual([
      'formats.0',
      'timeout',
    ]);
  });

  it.each([
    ['/v1/scrape', { url: 'nonsense' }, 422, 'INVALID_URL'],
    ['/v1/scrape', { url: `https://${'a'.repeat(64)}.test/` }, 422, 'INVALID_URL'],
    ['/v1/crawl', { urls: [`https://${'a'.repeat(64)}.test/`] }, 422, 'INVALID_URL'],
    ['/v1/map', { url: `https://${'a'.repeat(64)}.test/` }, 422, 'INVALID_URL'],
    ['/v1/batch', { urls: [url, `https://${'a'.repeat(64)}.test/`] }, 422, 'INVALID_URL'],
    ['/v1/scrape', { url, engine: 'stealth' }, 403, 'CONSENT_REQUIRED'],
    ['/v1/scrape', { url, identity: 'browser' }, 403, 'CONSENT_REQUIRED'],
    ['/v1/scrape', { url, engine: 'http', wait: { selector: '#a' } }, 422, 'VALIDATION_FAILED'],
    ['/v1/scrape', { url, obeyRobots: false }, 403, 'CONSENT_REQUIRED'],
    ['/v1/scrape', [], 422, 'VALIDATION_FAILED'],
    ['/v1/batch', { urls: [url, 'ftp://x'] }, 422, 'INVALID_URL'],
    ['/v1/crawl', { urls: [url], include: ['('] }, 422, 'VALIDATION_FAILED'],
    ['/v1/jobs/nonsense/cancel', undefined, 404, 'NOT_FOUND'],
  ])('to %s with %j get %i %s', async (path, payload, status, code) => {
    const answer = await post(path, payload);
    expect([answer.statusCode, answer.at('error.code'), answer.at('success')]).toEqual([status, code, false]);
  });

  it('that are not JSON, or not said to be, are told so', async () => {
    const raw = (payload: string, type: string) =>
      platform.call({ method: 'POST', url: '/v1/scrape', payload, headers: { 'content-type': type } });
    const malformed = await raw('{"url":', 'application/json');
    expect([malformed.statusCode, malformed.at('error.code')]).toEqual([400, 'MALFORMED_JSON']);
    const poisoned = await raw('{"url":"https://example.com/","__proto__":{"x":1}}', 'application/json');
    expect([poisoned.statusCode, poisoned.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    expect(poisoned.at('error.details.0.field')).toBe('__proto__');
    const typed = await raw('url=x', 'application/x-www-form-urlencoded');
    expect([typed.statusCode, typed.at('error.code')]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const packed = await platform.call({
      method: 'POST',
      url: '/v1/scrape',
      payload: gzipSync('{"url":"https://example.com/"}'),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect([packed.statusCode, packed.at('error.code')]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const empty = await raw('', 'application/json');
    expect([empty.statusCode, empty.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
  });

  it('to unknown paths and with other methods get 404 and 405', async () => {
    const unknown = await platform.call({ url: '/v1/nothing' });
    expect([unknown.statusCode, unknown.at('error.code')]).toEqual([404, 'NOT_FOUND']);
    const other = await platform.call({ method: 'PUT', url: '/v1/jobs/x/results?a=b' });
    expect([other.statusCode, other.at('error.code')]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(other.headers.allow).toContain('GET');
    const broken = await platform.call({ url: '/v1/jobs/%E0%A4%A' });
    expect([broken.statusCode, broken.at('error.code')]).toEqual([404, 'NOT_FOUND']);
    expect(broken.headers['x-request-id']).toBeTruthy();
  });

  it.each(['announced', 'chunked'])(
    'with 11 MB get 413 and a connection that still works (%s)',
    async (way) => {
      const body = Buffer.alloc(11 * 1_048_576, 0x20);
      const length = way === 'announced' ? { 'content-length': String(body.length) } : {};
      const headers = { 'x-api-key': platform.secret, 'content-type': 'application/json', ...length };
      const sent = httpRequest({ port, method: 'POST', path: '/v1/scrape', headers });
      const answering = answerTo(sent);
      for (let at = 0; at < body.length; at += 262_144) sent.write(body.subarray(at, at + 262_144));
      sent.end();
      const answer = await answering;
      expect(answer.statusCode).toBe(413);
      expect(lookUp(JSON.parse(await text(answer)), 'error.code')).toBe('BODY_TOO_LARGE');
    },
  );

  it('that are no HTTP get an envelope too', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.end('NONSENSE\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/X-Request-ID: /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({ success: false });
  });
});

describe('every answer', () => {
  it('carries the request id that the caller gave, if it is sane', async () => {
    const given = await platform.call({ url: '/healthz', headers: { 'x-request-id': 'trace-1.a:b/c' } });
    expect(given.headers['x-request-id']).toBe('trace-1.a:b/c');
    for (const bad of ['with space', 'x'.repeat(129), 'line"quote']) {
      const answer = await platform.call({ url: '/healthz', headers: { 'x-request-id': bad } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('tells browsers what they may do', async () => {
    const origin = 'https://app.example';
    const preflight = await platform.api.inject({
      method: 'OPTIONS',
      url: '/v1/scrape',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers['access-control-allow-origin']).toBe(origin);
    const refused = await platform.api.inject({ url: '/v1/account', headers: { origin } });
    expect(refused.statusCode).toBe(401);
    expect(refused.headers['access-control-allow-origin']).toBe(origin);
    expect(refused.headers['content-security-policy']).toContain("default-src 'none'");
    const stranger = await platform.api.inject({
      url: '/healthz',
      headers: { origin: 'https://evil.example' },
    });
    expect(stranger.headers['access-control-allow-origin']).not.toBe('https://evil.example');
  });

  it('leaves one line in the log, without the key', async () => {
    const before = platform.lines.length;
    const headers = { 'x-request-id': 'logged-1' };
    await platform.call({ url: '/v1/jobs/nonsense', headers });
    const lines = platform.lines.slice(before).filter((line) => line.includes('logged-1'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      requestId: 'logged-1',
      route: '/v1/jobs/:id',
      status: 404,
    });
    expect(platform.lines.join('')).not.toContain(platform.secret);
  });
});
