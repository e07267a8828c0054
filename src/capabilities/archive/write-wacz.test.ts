import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkedRecords } from '../../../test/archives/warc-check.ts';
import type { Job } from '../../core/model/job.ts';
import { exchangeLike } from './exchange.fixture.ts';
import type { Exchange } from './exchange.ts';
import { waczEntries } from './write-archive.ts';

const job = { id: 'job-1', options: { page: { obeyRobots: true } } } as unknown as Job;
const AT = Date.UTC(2026, 0, 2);

async function unpacked(exchanges: readonly Exchange[], maxWarcBytes?: number) {
  const each = (async function* () {
    yield* exchanges;
  })();
  const options = { job, version: '1.2.3', title: 'A crawl', at: AT };
  const files: Record<string, Uint8Array> = {};
  const given = maxWarcBytes === undefined ? options : { ...options, maxWarcBytes };
  for await (const { name, data } of waczEntries(each, given)) {
    files[name] = data instanceof Uint8Array ? data : Buffer.concat(await Array.fromAsync(data));
  }
  return { files, text: (name: string) => Buffer.from(files[name] ?? []).toString('utf8') };
}

const pageAt = (n: number) =>
  exchangeLike({
    key: ['page', 'job-1', n],
    url: `https://www.b.example/page/${n}`,
    finalUrl: `https://www.b.example/page/${n}`,
    body: Buffer.from(`page ${n} `.repeat(200)),
  });

interface Described {
  readonly wacz_version: string;
  readonly resources: readonly { readonly path: string; readonly hash: string; readonly bytes: number }[];
}

describe('a WACZ file', () => {
  it('has archive, index, pages and a description whose hashes are right', async () => {
    const { files, text } = await unpacked([pageAt(2), pageAt(1), exchangeLike({ page: null })]);
    expect(Object.keys(files)).toEqual([
      'archive/data-00000.warc.gz',
      'indexes/index.cdx.gz',
      'indexes/index.idx',
      'pages/pages.jsonl',
      'datapackage.json',
      'datapackage-digest.json',
    ]);
    const described = JSON.parse(text('datapackage.json')) as Described;
    expect(described.wacz_version).toBe('1.1.1');
    for (const { path, hash, bytes } of described.resources) {
      const file = files[path] ?? new Uint8Array();
      expect(file.length).toBe(bytes);
      expect(hash).toBe(`sha256:${createHash('sha256').update(file).digest('hex')}`);
    }
    const digest = JSON.parse(text('datapackage-digest.json')) as { hash: string };
    const expected = createHash('sha256')
      .update(files['datapackage.json'] ?? '')
      .digest('hex');
    expect(digest.hash).toBe(`sha256:${expected}`);
    const [head, ...pages] = text('pages/pages.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(head).toMatchObject({ format: 'json-pages-1.0' });
    // In the order in which they were given, and without records that are not pages.
    expect(pages.map(({ url }) => url)).toEqual([
      'https://www.b.example/page/2',
      'https://www.b.example/page/1',
    ]);
  });

  it('has an index in order whose entries lead to their records, over several files', async () => {
    const { files, text } = await unpacked(
      Array.from({ length: 30 }, (_, n) => pageAt(n)),
      2_000,
    );
    expect(files).toHaveProperty('archive/data-00002.warc.gz');
    const lines = gunzipSync(files['indexes/index.cdx.gz'] ?? '')
      .toString()
      .trim()
      .split('\n');
    expect(lines).toHaveLength(30);
    expect(lines).toEqual(lines.toSorted());
    for (const line of lines) {
      const [key, time, json] = [line.split(' ', 2), line.slice(line.indexOf('{'))].flat();
      const entry = JSON.parse(json ?? '') as Record<string, string>;
      expect(key).toBe(`example,b)${new URL(entry.url ?? '').pathname}`);
      expect(time).toBe('20260102030405');
      const from = Number(entry.offset);
      const file = files[`archive/${entry.filename}`] ?? new Uint8Array();
      const member = file.subarray(from, from + Number(entry.length));
      const [record] = await Array.fromAsync(checkedRecords(one(member)));
      expect(record).toMatchObject({ type: 'response', url: entry.url, statusCode: Number(entry.status) });
      expect(record?.fields['WARC-Payload-Digest']).toBe(entry.digest);
    }
    const [meta, block] = text('indexes/index.idx').trim().split('\n');
    expect(meta).toContain('cdxj-gzip-1.0');
    expect(block).toContain('"offset":0');
  });
});

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
