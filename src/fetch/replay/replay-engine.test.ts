import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import {
  gzipWarc,
  http,
  plainRecord,
  plainWarc,
  type Sample,
  zipOf,
} from '../../lib/warc/samples.fixture.ts';
import type { FetchRequest, FetchResponse } from '../engine.ts';
import { openReplayEngine } from './replay-engine.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-replay-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
let files = 0;

function put(bytes: Uint8Array, ending = 'warc.gz'): string {
  files += 1;
  const path = join(dir, `${files}.${ending}`);
  writeFileSync(path, bytes);
  return path;
}

const request = (url: string, more: Partial<FetchRequest> = {}): FetchRequest => ({
  url,
  method: 'GET',
  headers: {},
  cookies: {},
  body: null,
  timeoutMs: 5_000,
  maxBodyBytes: 1_000_000,
  maxRedirects: 5,
  conditional: null,
  onRedirect: async () => 'follow',
  ...more,
});

async function replay(
  path: string,
  url: string,
  more: Partial<FetchRequest> = {},
): Promise<FetchResponse & { text: string }> {
  const engine = await openReplayEngine(path);
  try {
    const response = await engine.fetch(request(url, more));
    return { ...response, text: Buffer.from(response.body).toString() };
  } finally {
    await engine.close();
  }
}

const URL_A = 'https://a.example/page';
const page = (
  head: readonly string[] = [],
  body: string | Uint8Array = '<p>Hello</p>',
  url = URL_A,
): Sample => ({
  type: 'response',
  url,
  block: http(['HTTP/1.1 200 OK', 'Content-Type: text/html', ...head], body),
});

describe('a replay answers from archives of other tools', () => {
  it.each([
    ['compressed', gzipWarc(page()), 'warc.gz'],
    ['not compressed', plainWarc({ type: 'warcinfo', block: 'a: b\r\n' }, page()), 'warc'],
    ['of version 1.1', plainWarc({ ...page(), version: '1.1' }), 'warc'],
    ['with its URL in brackets', plainWarc({ ...page(), url: `<${URL_A}>` }), 'warc'],
    ['in a WACZ file', zipOf([{ name: 'archive/data.warc.gz', bytes: gzipWarc(page()) }]), 'wacz'],
  ])('%s', async (_name, bytes, ending) => {
    const response = await replay(put(bytes, ending), URL_A);
    expect(response).toMatchObject({ statusCode: 200, contentType: 'text/html', text: '<p>Hello</p>' });
  });

  it('of all files of a folder', async () => {
    const folder = join(dir, 'folder');
    mkdirSync(folder);
    writeFileSync(join(folder, 'one.warc.gz'), gzipWarc(page()));
    writeFileSync(join(folder, 'two.warc'), plainWarc(page([], 'two', 'https://b.example/')));
    expect((await replay(folder, URL_A)).text).toBe('<p>Hello</p>');
    expect((await replay(folder, 'https://b.example/')).text).toBe('two');
  });

  const text = 'word '.repeat(10_000);
  const chunked = `5\r\nHello\r\n6;ext=1\r\n World\r\n0\r\nTrailer: x\r\n\r\n`;
  it.each([
    ['gzip', ['Content-Encoding: gzip'], gzipSync(text), text],
    ['brotli', ['Content-Encoding: br'], brotliCompressSync(text), text],
    ['a gzip header over a body that is decoded', ['Content-Encoding: gzip'], text, text],
    ['chunks', ['Transfer-Encoding: chunked'], chunked, 'Hello World'],
    ['chunks in the header alone', ['Transfer-Encoding: chunked'], 'no chunks here', 'no chunks here'],
    [
      'gzip in chunks',
      ['Transfer-Encoding: chunked', 'Content-Encoding: gzip'],
      Buffer.concat([
        Buffer.from(`${gzipSync(text).length.toString(16)}\r\n`),
        gzipSync(text),
        Buffer.from('\r\n0\r\n\r\n'),
      ]),
      text,
    ],
  ])('with bodies in %s', async (_name, head, body, expected) => {
    expect((await replay(put(gzipWarc(page(head, body))), URL_A)).text).toBe(expected);
  });

  it('with the headers that were renamed under their own names', async () => {
    const head = ['X-Orig-Content-Encoding: br', 'X-Archive-Orig-Content-Length: 7', 'Content-Length: 12'];
    const { headers, text: body } = await replay(put(gzipWarc(page(head))), URL_A);
    expect(headers).toMatchObject({ 'content-encoding': 'br', 'content-length': '7' });
    expect(body).toBe('<p>Hello</p>');
  });

  it('by the newest record of the URL', async () => {
    const newer = { ...page([], 'newer'), fields: { 'WARC-Date': '2025-01-01T00:00:00.123456Z' } };
    expect((await replay(put(gzipWarc(newer, page())), URL_A)).text).toBe('newer');
  });

  it('follows redirects, and asks before each', async () => {
    const moved: Sample = {
      type: 'response',
      url: 'https://a.example/old',
      block: http(['HTTP/1.1 301 Moved', 'Location: /page']),
    };
    const asked: string[] = [];
    const onRedirect = async (target: string) => {
      asked.push(target);
      return 'follow' as const;
    };
    const response = await replay(put(gzipWarc(moved, page())), 'https://a.example/old', { onRedirect });
    expect(response).toMatchObject({
      finalUrl: URL_A,
      redirects: [{ url: 'https://a.example/old', statusCode: 301 }],
      text: '<p>Hello</p>',
    });
    expect(asked).toEqual([URL_A]);
  });

  it.each([
    ['URL and time', { 'WARC-Refers-To-Target-URI': URL_A, 'WARC-Refers-To-Date': '2024-05-06T07:08:09Z' }],
    ['id', { 'WARC-Refers-To': '<urn:uuid:1>' }],
    ['digest', { 'WARC-Payload-Digest': 'sha1:AAAA' }],
  ])('resolves a revisit by %s', async (_name, fields) => {
    const original = {
      ...page(),
      fields: { 'WARC-Record-ID': '<urn:uuid:1>', 'WARC-Payload-Digest': 'sha1:AAAA' },
    };
    const revisit: Sample = {
      type: 'revisit',
      url: 'https://a.example/copy',
      fields: {
        'WARC-Profile': 'http://netpreserve.org/warc/1.0/revisit/identical-payload-digest',
        ...fields,
      },
      block: http(['HTTP/1.1 200 OK', 'Content-Type: text/html', 'X-Own: yes']),
    };
    const response = await replay(put(gzipWarc(original, revisit)), 'https://a.example/copy');
    expect(response).toMatchObject({ statusCode: 200, text: '<p>Hello</p>', headers: { 'x-own': 'yes' } });
  });

  it('finds what was posted apart from what was asked for', async () => {
    const posted = { ...page([], 'posted'), fields: { 'WARC-Record-ID': '<urn:uuid:7>' } };
    const asked: Sample = {
      type: 'request',
      url: URL_A,
      fields: { 'WARC-Concurrent-To': '<urn:uuid:7>' },
      block: http(['POST /page HTTP/1.1']),
    };
    const path = put(gzipWarc(asked, posted, page()));
    expect((await replay(path, URL_A, { method: 'POST' })).text).toBe('posted');
    expect((await replay(path, URL_A)).text).toBe('<p>Hello</p>');
  });

  it('up to where a file breaks off', async () => {
    const whole = gzipWarc(page(), page([], 'x'.repeat(5_000), 'https://a.example/second'));
    const path = put(whole.subarray(0, -20));
    expect((await replay(path, URL_A)).text).toBe('<p>Hello</p>');
    await expect(replay(path, 'https://a.example/second')).rejects.toMatchObject({ code: 'NOT_IN_ARCHIVE' });
  });
});

describe('a replay of what is missing', () => {
  it('fails with NOT_IN_ARCHIVE', async () => {
    const path = put(gzipWarc(page()));
    await expect(replay(path, 'https://a.example/other')).rejects.toMatchObject({ code: 'NOT_IN_ARCHIVE' });
  });

  it('takes a missing robots.txt for one without rules', async () => {
    expect(await replay(put(gzipWarc(page())), 'https://a.example/robots.txt')).toMatchObject({
      statusCode: 404,
    });
  });

  it('says that the body of a revisit is missing', async () => {
    const lost: Sample = { type: 'revisit', url: URL_A, block: http(['HTTP/1.1 200 OK']) };
    await expect(replay(put(gzipWarc(lost)), URL_A)).rejects.toMatchObject({ code: 'NOT_IN_ARCHIVE' });
  });
});

describe('a hostile archive is refused with a code', () => {
  const bomb = gzipSync(
    Buffer.concat([
      Buffer.from(`WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 90000000\r\n\r\n`),
      Buffer.alloc(90_000_000),
    ]),
    { level: 9 },
  );
  it.each([
    ['no archive', Buffer.from('%PDF-1.7 and so on'), 'warc.gz'],
    ['gzip that is no archive', gzipSync('hello'), 'warc.gz'],
    ['a bomb', bomb, 'warc.gz'],
    ['a Content-Length that is too small', gzipWarc({ ...page(), contentLength: '3' }), 'warc.gz'],
    ['a Content-Length that is too large', gzipWarc({ ...page(), contentLength: '99999' }), 'warc.gz'],
    ['a Content-Length of 10 GB', plainWarc({ ...page(), contentLength: '10000000000' }), 'warc'],
    ['a Content-Length that is no number', plainWarc({ ...page(), contentLength: '-1' }), 'warc'],
    [
      'a length that leads into the next record',
      plainWarc({ ...page(), contentLength: '30' }, page()),
      'warc',
    ],
    ['a head without end', Buffer.from(`WARC/1.0\r\n${'X-A: b\r\n'.repeat(20_000)}`), 'warc'],
    ['a compressed head without end', gzipSync(`WARC/1.0\r\n${'X-A: b\r\n'.repeat(20_000)}`), 'warc.gz'],
    ['records that are compressed as one', gzipSync(plainWarc(page(), page())), 'warc.gz'],
    ['a wrong checksum', flipped(gzipWarc(page()), -6), 'warc.gz'],
    [
      'a path out of a WACZ',
      zipOf([
        { name: 'archive/data.warc.gz', bytes: gzipWarc(page()) },
        { name: '../../etc/passwd', bytes: Buffer.from('x') },
      ]),
      'wacz',
    ],
    ['a WACZ without archives', zipOf([{ name: 'readme.txt', bytes: Buffer.from('hi') }]), 'wacz'],
    [
      'a WACZ whose archive is packed',
      zipOf([{ name: 'archive/data.warc.gz', bytes: gzipWarc(page()), isDeflated: true }]),
      'wacz',
    ],
    [
      'a WACZ that is cut off',
      zipOf([{ name: 'archive/a.warc', bytes: plainWarc(page()) }]).subarray(0, -30),
      'wacz',
    ],
  ])('%s', async (_name, bytes, ending) => {
    await expect(openReplayEngine(put(bytes, ending))).rejects.toMatchObject({ code: 'BAD_ARCHIVE' });
  });

  it('a body beyond the limit of the request', async () => {
    const path = put(gzipWarc(page(['Content-Encoding: gzip'], gzipSync(Buffer.alloc(3_000_000)))));
    await expect(replay(path, URL_A)).rejects.toMatchObject({ code: 'BODY_LIMIT_EXCEEDED' });
    const cut = await replay(path, URL_A, { maxBodyBytes: 2_000, isCutAtLimit: true });
    expect(cut.body.byteLength).toBe(2_000);
  });

  it('headers of a response without end', async () => {
    const path = put(
      plainRecord({ type: 'response', url: URL_A, block: `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(60_000)}` }),
      'warc',
    );
    await expect(replay(path, URL_A)).rejects.toMatchObject({ code: 'BAD_ARCHIVE' });
  });

  it('a path that is not there', async () => {
    await expect(openReplayEngine(join(dir, 'none'))).rejects.toMatchObject({ code: 'BAD_ARCHIVE' });
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  const index = copy.length + at;
  copy[index] = (copy[index] ?? 0) ^ 0xff;
  return copy;
}
