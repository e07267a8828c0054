import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PageRecord } from '../../core/model/page.ts';
import { unpackRecord } from '../../core/model/page-record.ts';
import { compileRules } from './find-tasks.ts';
import type { PageReading } from './page-reading.ts';
import { readPageTask } from './read-page.ts';
import { FETCHED_AT, type RequestChanges, requestFor } from './read-request.fixture.ts';

function read(changes: RequestChanges = {}) {
  const request = requestFor(changes);
  return readPageTask(request, compileRules(request.job));
}

function recordOf({ page }: Pick<PageReading, 'page'>): PageRecord {
  if (page.record === null) throw new Error('The page has no record.');
  return JSON.parse(unpackRecord(page.record).toString('utf8')) as PageRecord;
}

const NO_EXTRA = { screenshot: null, pdf: null, xhr: [], actions: [], consoleErrors: [] };
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

it('says what of a page it has left out, and nothing of a page that it has read whole', () => {
  const warningsOf = (body: string, headers = {}) =>
    recordOf(read({ body, response: { headers } })).warnings?.map(({ code }) => code);
  const links = Array.from({ length: 10_050 }, (_, n) => `<a href=/${n}>x</a>`).join('');
  const cookies = Array.from({ length: 101 }, (_, n) => `c${n}=1`);
  expect(warningsOf('<p>Text')).toBeUndefined();
  expect(warningsOf(links)).toEqual(['links-cut']);
  expect(warningsOf('<img src=a>'.repeat(2_100))).toEqual(['page-cut']);
  expect(warningsOf('<iframe srcdoc="<p>Framed"></iframe>'.repeat(30))).toEqual(['frames-cut']);
  expect(warningsOf('<p>Text', { 'set-cookie': cookies })).toEqual(['response-cut']);
});

describe('reading a page', () => {
  it('keeps what the ledger stores about it', () => {
    const body = '<title>Hello</title><p>Some text.';
    const headers = { etag: '"v1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
    const finalUrl = 'http://site.test/moved';
    expect(read({ body, response: { headers, finalUrl } }).page).toMatchObject({
      url: 'http://site.test/page',
      finalUrl,
      statusCode: 200,
      contentType: 'text/html; charset=utf-8',
      charset: expect.stringMatching(/^utf-8$/i),
      fetchedAt: FETCHED_AT,
      depth: 1,
      contentHash: sha256(body),
      bytes: body.length,
      title: 'Hello',
      etag: '"v1"',
      lastModified: 'Thu, 01 Jan 2026 00:00:00 GMT',
      duplicateOf: null,
      errorCode: null,
    });
  });

  it('keeps what the response was: outcome, headers, cookies and redirects', () => {
    const headers = {
      server: 'test',
      vary: ['a', 'b'],
      'x-long': 'x'.repeat(5_000),
      'set-cookie': ['sid=1; Path=/; HttpOnly', 'theme=dark'],
    };
    const redirects = [{ url: 'http://site.test/old', statusCode: 301 }];
    const record = recordOf(read({ response: { headers, redirects } }));
    expect(record).toMatchObject({
      outcome: 'ok',
      headers: { server: 'test', vary: ['a', 'b'], 'x-long': expect.stringMatching(/^x{2048}…$/) },
      cookies: [
        { name: 'sid', value: '1', path: '/', isHttpOnly: true },
        { name: 'theme', value: 'dark', path: null, isHttpOnly: false },
      ],
      redirects,
    });
    expect(record.headers).not.toHaveProperty('set-cookie');
    expect(record).not.toHaveProperty('evidence');
    const secret = recordOf(read({ response: { headers, hasSecretCookies: true } }));
    expect(secret.cookies?.map(({ name, value }) => [name, value])).toEqual([
      ['sid', '[hidden]'],
      ['theme', '[hidden]'],
    ]);
  });

  it('keeps the outcome of a page that is not plainly ok with its evidence', () => {
    expect(recordOf(read({ response: { statusCode: 429 } }))).toMatchObject({ outcome: 'rate-limited' });
    const body = '<title>Page not found</title><h1>Page not found</h1>';
    expect(recordOf(read({ body }))).toMatchObject({ outcome: 'soft-404', evidence: expect.any(String) });
  });

  it('packs metadata and links whatever was asked for', () => {
    const record = recordOf(
      read({ body: '<title>T</title><p>Text <a href="/x">there</a>', page: { formats: ['text'] } }),
    );
    expect(record.metadata?.title).toBe('T');
    expect(record.links).toMatchObject([{ url: 'http://site.test/x', text: 'there' }]);
    expect(record.html).toBeUndefined();
  });

  it('keeps beside them what was read more deeply', () => {
    const deep = { text: 'Main', extracted: { name: 'Hat' }, extractedBy: {} };
    const request = requestFor({ body: '<title>T</title>' });
    const record = recordOf(readPageTask(request, compileRules(request.job), null, deep));
    expect(record).toMatchObject({ metadata: { title: 'T' }, links: [], ...deep });
  });

  it('knows UTF-16 by its zeros where nobody says so', () => {
    const html = '<!doctype html><title>Straße</title><p>x';
    for (const contentType of ['text/html', 'text/html; charset=utf-8', null]) {
      const little = new Uint8Array(Buffer.from(html, 'utf16le'));
      const big = new Uint8Array(Buffer.from(html, 'utf16le').swap16());
      expect(read({ body: little, response: { contentType } }).page).toMatchObject({
        title: 'Straße',
        charset: 'utf-16le',
      });
      expect(read({ body: big, response: { contentType } }).page.charset).toBe('utf-16be');
    }
  });

  it('decodes the body as the header says', () => {
    const body = new Uint8Array([...Buffer.from('<title>Stra'), 0xdf, ...Buffer.from('e</title><p>x')]);
    const { page } = read({ body, response: { contentType: 'text/html; charset=iso-8859-1' } });
    expect(page.title).toBe('Straße');
    expect(page.contentHash).toBe(sha256(body));
  });

  it('stores what is no text without reading it', () => {
    const body = new TextEncoder().encode('<title>not a title</title><a href="/x">no link</a>');
    for (const contentType of ['image/png', 'application/pdf', 'application/zip', 'video/mp4']) {
      const reading = read({ body: body.slice(), response: { contentType } });
      expect(reading).toMatchObject({ outcome: 'ok', discovered: [] });
      expect(reading.page).toMatchObject({ title: null, charset: null, contentHash: sha256(body) });
    }
  });

  it('has no content hash for nothing, and says that it is empty', () => {
    const reading = read({ body: '' });
    expect(reading.page).toMatchObject({ contentHash: null, textHash: null, bytes: 0 });
    expect(reading.outcome).toBe('empty');
  });

  it('gives the same text hash to the same text in other markup, and another content hash', () => {
    const [one, other] = ['<p>Same  text', '<div class=x><b>Same</b> text</div>'].map((body) =>
      read({ body }),
    );
    expect(one?.page.textHash).toBe(other?.page.textHash);
    expect(one?.page.contentHash).not.toBe(other?.page.contentHash);
  });

  it('says what the response turned out to be, with the evidence', () => {
    expect(read({ response: { statusCode: 404 } })).toMatchObject({
      outcome: 'error',
      evidence: 'status: 404',
    });
    expect(read({ body: '<title>Page not found</title><p>Sorry.' }).outcome).toBe('soft-404');
    expect(read()).toMatchObject({ outcome: 'ok', evidence: null });
  });

  it('takes a page that a browser has rendered for what it is, although it looks like an empty shell', () => {
    const body = '<title>App</title><div id="root"></div><script src="/main.js"></script>';
    const rendered = { rawBody: null, extra: NO_EXTRA, failure: null };
    expect(read({ body }).outcome).toBe('needs-javascript');
    expect(read({ body, response: { rendered } })).toMatchObject({ outcome: 'ok', evidence: null });
  });

  it('notices a challenge by its frame on a page that a browser has rendered', () => {
    const body =
      '<h1>shop.test</h1><script src="/a.js"></script><iframe width=300 height=65 src="https://geo.captcha-delivery.com/captcha/?initialCid=x"></iframe>';
    const rendered = { rawBody: null, extra: NO_EXTRA, failure: null };
    expect(read({ body, response: { rendered } })).toMatchObject({ outcome: 'captcha', vendor: 'datadome' });
  });

  it('notices that a page asks not to be kept, in its markup or its header', () => {
    expect(read({ body: '<meta name=robots content="noindex">' }).isNoindex).toBe(true);
    const headers = { 'x-robots-tag': ['otherbot: nofollow', 'noindex'] };
    expect(read({ response: { headers } }).isNoindex).toBe(true);
    expect(read().isNoindex).toBe(false);
  });

  it('finds the next URLs and the page it repeats', () => {
    const { page, discovered } = read({ body: '<link rel=canonical href="/o"><a href="/next">x</a>' });
    expect(page.duplicateOf).toBe('http://site.test/o');
    expect(discovered.map(({ url, state }) => [url, state])).toEqual([
      ['http://site.test/o', 'skipped'],
      ['http://site.test/next', 'ready'],
    ]);
  });

  it('reads links from the Link header, also where it comes several times', () => {
    const headers = { link: ['</o>; rel="canonical"', '</n>; rel="next"'] };
    expect(read({ response: { headers } }).page.duplicateOf).toBe('http://site.test/o');
  });
});
