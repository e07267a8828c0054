import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type CheckedRecord, checkedRecords } from '../../../test/archives/warc-check.ts';
import type { Job } from '../../core/model/job.ts';
import { exchangeLike } from './exchange.fixture.ts';
import type { Exchange } from './exchange.ts';
import { createKnownPayloads } from './exchange-records.ts';
import { infoRecord, written, writtenRecords } from './write-archive.ts';

const job = { id: 'job-1', options: { page: { obeyRobots: true } } } as unknown as Job;

async function* bytesOf(exchanges: readonly Exchange[]): AsyncGenerator<Uint8Array> {
  yield* written(infoRecord({ job, version: '1.2.3', fileName: 'a.warc.gz', at: 0 })).chunks;
  const each = (async function* () {
    yield* exchanges;
  })();
  for await (const { chunks } of writtenRecords(each, createKnownPayloads())) yield* chunks;
}

/** Read by warcio, digests and lengths verified. */
const recordsFor = (...exchanges: readonly Exchange[]): Promise<CheckedRecord[]> =>
  Array.fromAsync(checkedRecords(bytesOf(exchanges)));

const ofType = (records: readonly CheckedRecord[], type: string) =>
  records.filter((each) => each.type === type);
const factsOf = (records: readonly CheckedRecord[]) =>
  JSON.parse(String(ofType(records, 'metadata')[0]?.payload)) as Record<string, unknown>;

describe('the records of a page', () => {
  it('are information, response, request and facts, as another reader reads them', async () => {
    const records = await recordsFor(exchangeLike());
    expect(records.map(({ type }) => type)).toEqual(['warcinfo', 'response', 'request', 'metadata']);
    const [info, response, request] = records;
    expect(String(info?.payload)).toContain('software: Scrapifie/1.2.3\r\n');
    expect(response).toMatchObject({
      url: 'https://a.example/',
      date: '2026-01-02T03:04:05.678Z',
      statusLine: 'HTTP/1.1 200 OK',
      httpHeaders: [['content-type', 'text/html; charset=utf-8']],
    });
    expect(String(response?.payload)).toBe('<p>Hello</p>');
    expect(request).toMatchObject({
      statusLine: 'GET / HTTP/1.1',
      httpHeaders: [
        ['host', 'a.example'],
        ['accept', 'text/html'],
      ],
    });
    expect(request?.fields['WARC-Concurrent-To']).toBe(response?.id);
    expect(factsOf(records)).toMatchObject({
      url: 'https://a.example/',
      isPage: true,
      depth: 0,
      title: 'Hello',
    });
  });

  it('say of the stored body what is true of it', async () => {
    const headers = [
      ['content-encoding', 'gzip'],
      ['transfer-encoding', 'chunked'],
      ['content-length', '3'],
    ] as const;
    const [, response] = await recordsFor(exchangeLike({ headers }));
    expect(response?.httpHeaders).toEqual([
      ['x-archive-orig-content-encoding', 'gzip'],
      ['x-archive-orig-transfer-encoding', 'chunked'],
      ['x-archive-orig-content-length', '3'],
      ['content-length', '12'],
    ]);
  });

  it('have a response for each redirect', async () => {
    const records = await recordsFor(
      exchangeLike({
        url: 'http://a.example/',
        finalUrl: 'https://a.example/en',
        redirects: [
          { url: 'http://a.example/', statusCode: 301 },
          { url: 'https://a.example/', statusCode: 302 },
        ],
      }),
    );
    const responses = ofType(records, 'response').map(({ url, statusCode, httpHeaders }) => [
      url,
      statusCode,
      Object.fromEntries(httpHeaders).location,
    ]);
    expect(responses).toEqual([
      ['http://a.example/', 301, 'https://a.example/'],
      ['https://a.example/', 302, 'https://a.example/en'],
      ['https://a.example/en', 200, undefined],
    ]);
    expect(ofType(records, 'request')).toHaveLength(3);
  });

  it('refer to a body that the file has already', async () => {
    const body = Buffer.from('the same words '.repeat(100));
    const records = await recordsFor(
      exchangeLike({ body }),
      exchangeLike({ body, url: 'https://a.example/copy', finalUrl: 'https://a.example/copy' }),
    );
    const [first] = ofType(records, 'response');
    const [revisit] = ofType(records, 'revisit');
    expect(revisit?.fields).toMatchObject({
      'WARC-Profile': 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest',
      'WARC-Refers-To': first?.id,
      'WARC-Refers-To-Target-URI': 'https://a.example/',
      'WARC-Refers-To-Date': first?.date,
      'WARC-Payload-Digest': first?.fields['WARC-Payload-Digest'],
    });
    expect(revisit).toMatchObject({ statusCode: 200, payload: Buffer.alloc(0) });
  });

  it('tell that a page had not changed, with the stored body as a resource', async () => {
    const records = await recordsFor(exchangeLike({ isNotModified: true }));
    const [revisit] = ofType(records, 'revisit');
    const [stored] = ofType(records, 'resource');
    expect(revisit?.statusCode).toBe(304);
    expect(revisit?.fields).toMatchObject({
      'WARC-Profile': 'http://netpreserve.org/warc/1.1/revisit/server-not-modified',
      'WARC-Refers-To': stored?.id,
    });
    expect(String(stored?.payload)).toBe('<p>Hello</p>');
  });

  it('have the raw document, the rendered one, pictures, and the answers that scripts got', async () => {
    const records = await recordsFor(
      exchangeLike({
        rendered: {
          raw: Buffer.from('<script src=a.js></script>'),
          artifacts: [{ name: 'view', contentType: 'image/png', bytes: Buffer.from('PNG') }],
          xhr: [
            {
              url: 'https://a.example/api',
              method: 'POST',
              statusCode: 201,
              contentType: 'application/json',
              isTooLarge: false,
              body: Buffer.from('{"a":1}'),
            },
          ],
          consoleErrors: ['oh'],
          actions: [],
          failure: null,
        },
      }),
    );
    const [raw, api] = ofType(records, 'response');
    expect(String(raw?.payload)).toBe('<script src=a.js></script>');
    const [conversion] = ofType(records, 'conversion');
    expect(conversion?.fields['WARC-Refers-To']).toBe(raw?.id);
    expect(String(conversion?.payload)).toBe('<p>Hello</p>');
    expect(ofType(records, 'resource')).toMatchObject([{ url: 'urn:view:https://a.example/' }]);
    expect(api).toMatchObject({ url: 'https://a.example/api', statusCode: 201 });
    expect(ofType(records, 'request').at(-1)?.statusLine).toBe('POST /api HTTP/1.1');
  });

  it('of one that no response came for are its facts alone', async () => {
    const error = { code: 'DNS_FAILED', message: 'No such host.' } as const;
    const records = await recordsFor(exchangeLike({ statusCode: null, body: Buffer.alloc(0), error }));
    expect(records.map(({ type }) => type)).toEqual(['warcinfo', 'metadata']);
    expect(factsOf(records)).toMatchObject({ statusCode: null, error });
  });

  it('say that a body is no longer kept', async () => {
    const [, response] = await recordsFor(exchangeLike({ body: null }));
    expect(response).toMatchObject({ statusCode: 200, fields: { 'WARC-Truncated': 'unspecified' } });
  });

  it('are not confused by values with line ends, nor by bytes that do not compress', async () => {
    const body = randomBytes(3_000_000);
    const records = await recordsFor(
      exchangeLike({ headers: [['x-odd', 'one\r\nWARC-Type: two\u0000']], body }),
    );
    const [, response] = records;
    expect(response?.httpHeaders).toEqual([['x-odd', 'one WARC-Type: two']]);
    expect(response?.payload.equals(body)).toBe(true);
  });
});
