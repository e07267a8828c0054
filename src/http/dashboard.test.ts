import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';

const SCRIPT = `console.log(${JSON.stringify('dashboard '.repeat(500))});`;
const INDEX =
  '<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__"><script src="/assets/app-1a2b.js"></script>';
const HTML = { accept: 'text/html,application/xhtml+xml' };

let folder: string;
let platform: Platform;
let without: Platform;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scrapifie-dashboard-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), INDEX);
  await writeFile(join(folder, 'mark.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(folder, 'assets', 'app-1a2b.js'), SCRIPT);
  await writeFile(join(folder, 'assets', 'app-1a2b.js.map'), '{}');
  await mkdir(join(folder, '.vite'));
  await writeFile(join(folder, '.vite', 'manifest.json'), '{}');
  platform = await openPlatform({}, { dashboardDir: folder });
  without = await openPlatform({ dashboard: false });
});
afterAll(async () => {
  await Promise.all([platform.close(), without.close()]);
  await rm(folder, { recursive: true, force: true });
});

const get = (url: string, headers: Record<string, string> = {}) => platform.api.inject({ url, headers });

describe('the dashboard', () => {
  it('is at / and at every path that belongs to no route, for browsers that ask for a page', async () => {
    for (const url of ['/', '/jobs/0192', '/sign-in', '/jobs/x?state=failed', '/nothing.html']) {
      const answer = await get(url, HTML);
      expect([url, answer.statusCode, answer.headers['content-type']]).toEqual([
        url,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(answer.payload).toContain('/assets/app-1a2b.js');
    }
    const head = await platform.api.inject({ method: 'HEAD', url: '/jobs/0192', headers: HTML });
    expect([head.statusCode, head.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it('leaves unknown paths of the API, and requests of programs, their envelope', async () => {
    for (const url of [
      '/v1/nothing',
      '/v2/nothing',
      '/docs/nothing',
      '/healthz/nothing',
      '/assets/nothing.js',
      '/dashboard/nothing',
      '/.well-known/nothing',
    ]) {
      const answer = await get(url, HTML);
      expect([url, answer.statusCode, answer.json().error?.code]).toEqual([url, 404, 'NOT_FOUND']);
    }
    expect((await get('/jobs')).json().error.code).toBe('NOT_FOUND');
    const posted = await platform.api.inject({ method: 'POST', url: '/jobs', headers: HTML });
    expect(posted.json().error.code).toBe('NOT_FOUND');
    expect((await get('/help/nothing', HTML)).payload).toContain('There is no such page');
  });

  it('has a policy without inline code, and a nonce for styles that each answer has anew', async () => {
    const answers = [await get('/', HTML), await get('/', HTML)];
    const nonces = answers.map(({ payload }) => /content="([^"]+)"/.exec(payload)?.[1]);
    expect(new Set(nonces).size).toBe(2);
    for (const [at, { headers }] of answers.entries()) {
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonces[at]}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'`,
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cache-control']).toBe('no-cache');
    }
  });

  it('sends its files compressed, with a tag, and those with a hash in their name to be kept for ever', async () => {
    const url = '/assets/app-1a2b.js';
    const plain = await get(url);
    expect(plain.payload).toBe(SCRIPT);
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const brotli = await get(url, { 'accept-encoding': 'gzip, deflate, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe(SCRIPT);
    const gzip = await get(url, { 'accept-encoding': 'gzip, br;q=0' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(SCRIPT);
    const again = await get(url, { 'if-none-match': String(plain.headers.etag) });
    expect([again.statusCode, again.payload]).toEqual([304, '']);
    const head = await platform.api.inject({ method: 'HEAD', url });
    expect([head.statusCode, head.payload, head.headers.etag]).toEqual([200, '', plain.headers.etag]);
    const mark = await get('/mark.svg');
    expect(mark.headers['cache-control']).toBe('no-cache');
    expect(mark.headers['content-type']).toBe('image/svg+xml; charset=utf-8');
  });

  it('answers each request once, so that the log has no errors', async () => {
    platform.lines.length = 0;
    for (const url of ['/', '/mark.svg', '/assets/app-1a2b.js', '/jobs']) await get(url, HTML);
    const levels = platform.lines.map((line) => JSON.parse(line).level);
    expect(levels).toContain('info');
    expect(levels).not.toContain('error');
  });

  it('gives out no file from outside its folder, and none of the build alone', async () => {
    for (const url of [
      '/assets/../index.html',
      '/assets/..%2findex.html',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/assets/app-1a2b.js.map',
      '/.vite/manifest.json',
      '/assets/',
    ]) {
      expect((await get(url)).statusCode, url).toBe(404);
    }
  });

  it('is read again after another build, and says how to build it where it is not', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'scrapifie-dashboard-'));
    const unbuilt = await openPlatform({}, { dashboardDir: empty });
    const text = async () => (await unbuilt.api.inject({ url: '/', headers: HTML })).payload;
    try {
      expect(await text()).toContain('make dashboard');
      await writeFile(join(empty, 'index.html'), '<p>built</p>');
      expect(await text()).toBe('<p>built</p>');
    } finally {
      await unbuilt.close();
      await rm(empty, { recursive: true, force: true });
    }
  });

  it('can be switched off: then / leads to the reference of the API, and no browser signs in', async () => {
    const root = await without.api.inject({ url: '/', headers: HTML });
    expect([root.statusCode, root.headers.location]).toEqual([302, '/docs']);
    for (const url of ['/jobs', '/dashboard/session']) {
      const answer = await without.api.inject({ url, headers: HTML });
      expect(answer.json().error.code).toBe('NOT_FOUND');
    }
  });
});
