import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { unzipSync } from 'fflate';
import { parquetReadObjects } from 'hyparquet';
import readXlsxFile from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ExportView } from '../../src/capabilities/views/export-view.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { isFleetProfile } from './fleet-place.ts';

const FULL_HEAD =
  'url,final_url,http_status,fetched_at,title,h1,price,currency,availability,sku,brand,category,breadcrumbs,images,attrs_json,text_hash';
const SEO_HEAD =
  'url,fetched_at,title,meta_description,h1,og_title,og_description,og_image,twitter_title,twitter_description,canonical,robots,hreflang,images_alt_joined';
const WAIT = { timeout: 60_000, interval: 50 };

let world: ApiWorld;
let jobId: string;
beforeAll(async () => {
  world = await openApiWorld({ site: { pages: 150 } });
  const job = await world.crawlNow({
    sitemapUrls: [world.site.urlOf('shop', '/shop/sitemap.xml')],
    sitemap: 'only',
  });
  expect(job.status).toBe('completed');
  jobId = job.id;
});
afterAll(() => world.close());

const one = async (id: string) =>
  (await world.call({ url: `/v1/exports/${id}` })).body.data as unknown as ExportView;

async function exported(job: string, spec: object): Promise<ExportView> {
  const { status, body } = await world.post(`/v1/jobs/${job}/exports`, spec);
  expect([status, body.error]).toEqual([202, undefined]);
  const { id } = body.data as unknown as ExportView;
  return vi.waitFor(async () => {
    const now = await one(id);
    expect(['ready', 'failed']).toContain(now.status);
    expect(now.error).toBeNull();
    return now;
  }, WAIT);
}

/** By the signed link, without a key. */
const download = (url: string, headers: Record<string, string> = {}) =>
  world.api.inject({ url: url.replace(/^https?:\/\/[^/]+/, ''), headers });

async function fileOf(job: string, spec: object): Promise<Buffer> {
  const made = await exported(job, spec);
  const answer = await download(made.url ?? '');
  expect(answer.statusCode).toBe(200);
  const bytes = answer.rawPayload;
  expect(bytes.length).toBe(made.sizeBytes);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(made.sha256);
  return bytes;
}

const table = (csv: Buffer) =>
  parse(csv, { columns: true, record_delimiter: '\r\n', relax_quotes: false }) as Record<string, string>[];

describe('exports of a crawl', () => {
  test('full.csv and seo.csv begin with the promised columns and have a row for each page', async () => {
    const full = await fileOf(jobId, { type: 'full', format: 'csv' });
    expect(full.toString().split('\r\n', 1)[0]?.startsWith(`${FULL_HEAD},`)).toBe(true);
    const rows = table(full);
    const pages = await world.pages({ id: jobId as never });
    expect(rows.map(({ url }) => url)).toEqual(pages.map(({ url }) => url).sort());
    const kettle = rows.find(({ url }) => url?.endsWith('/product/tern-kettle'));
    expect(kettle).toMatchObject({ http_status: '200', currency: 'EUR' });
    expect(Number(kettle?.price)).toBeGreaterThan(0);
    expect(kettle?.text_hash).toMatch(/^[0-9a-f]{16,64}$/);
    const seo = await fileOf(jobId, { type: 'seo', format: 'csv' });
    expect(seo.toString().split('\r\n', 1)[0]?.startsWith(`${SEO_HEAD},`)).toBe(true);
    expect(table(seo)).toHaveLength(rows.length);
  });

  test('every format of tables holds the same rows, by readers of other makers', async () => {
    const csv = table(await fileOf(jobId, { type: 'full', format: 'csv' }));
    const urls = csv.map(({ url }) => url);
    const json = JSON.parse((await fileOf(jobId, { type: 'full', format: 'json' })).toString());
    expect(json.map(({ url }: { url: string }) => url)).toEqual(urls);
    const ndjson = (await fileOf(jobId, { type: 'full', format: 'ndjson' })).toString().trimEnd().split('\n');
    expect(ndjson.map((line) => JSON.parse(line))).toEqual(json);
    const [sheet] = await readXlsxFile(await fileOf(jobId, { type: 'full', format: 'xlsx' }));
    const [head, ...xlsx] = sheet?.data ?? [];
    expect(head).toEqual(Object.keys(csv[0] ?? {}));
    expect(xlsx.map(([url]) => url)).toEqual(urls);
    const parquet = await fileOf(jobId, { type: 'full', format: 'parquet' });
    const file = parquet.buffer.slice(
      parquet.byteOffset,
      parquet.byteOffset + parquet.byteLength,
    ) as ArrayBuffer;
    const read = await parquetReadObjects({ file });
    expect(read.map(({ url }) => url)).toEqual(urls);
    expect(read.map(({ price }) => price ?? null)).toEqual(
      json.map(({ price }: { price: number | null }) => price),
    );
  });

  test('raw has records and bodies, links a row per link, and language models get Markdown and chunks', async () => {
    const raw = (await fileOf(jobId, { type: 'raw', format: 'ndjson' })).toString().trimEnd().split('\n');
    const first = JSON.parse(raw[0] ?? '{}');
    expect(first.html).toContain('<html');
    expect(first.record.metadata.title).toBe(first.title);
    const links = table(await fileOf(jobId, { type: 'links', format: 'csv' }));
    expect(links.length).toBeGreaterThan(raw.length);
    const files = unzipSync(await fileOf(jobId, { type: 'raw', format: 'markdown' }));
    const names = Object.keys(files);
    expect(names.slice(0, 2)).toEqual(['llms.txt', 'llms-full.txt']);
    const index = Buffer.from(files['llms.txt'] ?? []).toString();
    for (const name of names.slice(2)) expect(index).toContain(`](${name})`);
    const chunks = (await fileOf(jobId, { type: 'raw', format: 'chunks' })).toString().trimEnd().split('\n');
    expect(JSON.parse(chunks[0] ?? '{}')).toMatchObject({ chunk: 0, tokens: expect.any(Number) });
  });

  test('a download gives parts, tags and a name, and its link needs no key', async () => {
    const made = await exported(jobId, { type: 'seo', format: 'csv', excel: true });
    const url = made.url ?? '';
    const whole = await download(url);
    expect(whole.headers).toMatchObject({
      etag: `"${made.sha256}"`,
      'accept-ranges': 'bytes',
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="[a-z0-9.-]+-seo-\d{4}-\d\d-\d\d-[0-9a-f]{12}\.csv"$/,
      ),
    });
    expect([...whole.rawPayload.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const part = await download(url, { range: 'bytes=3-9' });
    expect(part.statusCode).toBe(206);
    expect(part.headers['content-range']).toBe(`bytes 3-9/${made.sizeBytes}`);
    expect(part.rawPayload).toEqual(whole.rawPayload.subarray(3, 10));
    expect((await download(url, { range: 'bytes=-5' })).rawPayload).toEqual(whole.rawPayload.subarray(-5));
    const beyond = await download(url, { range: `bytes=${made.sizeBytes}-` });
    expect([beyond.statusCode, beyond.headers['content-range']]).toEqual([416, `bytes */${made.sizeBytes}`]);
    expect((await download(url, { range: 'bytes=0-1', 'if-range': '"other"' })).statusCode).toBe(200);
    expect((await download(url, { 'if-none-match': `"${made.sha256}"` })).statusCode).toBe(304);
    // The last two bits of the signature's last character mean nothing: `A` and `Q` differ in the others.
    expect((await download(url.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')))).statusCode).toBe(404);
    expect((await download(url.replace(/expires=\d+/, 'expires=9999999999'))).statusCode).toBe(404);
    expect((await download(`/v1/exports/${made.id}/download`)).statusCode).toBe(401);
    expect((await world.send({ url: `/v1/exports/${made.id}/download` })).rawPayload).toEqual(
      whole.rawPayload,
    );
  });

  test('the same key makes one export, which is listed, and is gone with its file when it is deleted', async () => {
    const request = {
      method: 'POST' as const,
      url: `/v1/jobs/${jobId}/exports`,
      headers: { 'idempotency-key': 'export-once' },
      payload: { type: 'full', format: 'ndjson' },
    };
    const [first, second] = [await world.call(request), await world.call(request)];
    expect(second.body.data?.id).toBe(first.body.data?.id);
    const id = String(first.body.data?.id);
    await vi.waitFor(async () => expect((await one(id)).status).toBe('ready'), WAIT);
    for (const url of [`/v1/jobs/${jobId}/exports`, '/v1/exports']) {
      const { items } = (await world.call({ url })).body.data as { items: ExportView[] };
      expect(items.filter((each) => each.id === id)).toHaveLength(1);
    }
    const { url } = await one(id);
    expect((await world.call({ method: 'DELETE', url: `/v1/exports/${id}` })).status).toBe(200);
    expect((await download(url ?? '')).statusCode).toBe(404);
    expect((await world.call({ url: `/v1/exports/${id}` })).status).toBe(404);
    if (!isFleetProfile()) {
      const names = await readdir(join(world.dataDir, 'exports'));
      expect(names.filter((name) => name.startsWith(id))).toEqual([]);
    }
  });

  test('a job that is deleted takes the files of its exports with it', async () => {
    const [url] = (await world.pages({ id: jobId as never })).map((page) => page.url);
    const job = await world.batchNow({ urls: [url ?? ''] });
    const { id } = await exported(job.id, { type: 'full', format: 'csv' });
    const names = async () =>
      (await world.platform.exportFiles.list()).map(({ name }) => name).filter((name) => name.startsWith(id));
    expect(await names()).toHaveLength(1);
    expect((await world.call({ method: 'DELETE', url: `/v1/jobs/${job.id}` })).status).toBe(200);
    expect(await names()).toEqual([]);
  });

  test('refuses what cannot be, with the field', async () => {
    const refusal = async (spec: object) => {
      const { status, body } = await world.post(`/v1/jobs/${jobId}/exports`, spec);
      const [detail] = (body.error?.details ?? []) as { field: string }[];
      return [status, detail?.field];
    };
    expect(await refusal({ type: 'full', format: 'doc' })).toEqual([422, 'format']);
    expect(await refusal({ type: 'full', format: 'markdown' })).toEqual([422, 'format']);
    expect(await refusal({ type: 'full', format: 'csv', against: jobId })).toEqual([422, 'against']);
    expect(await refusal({ type: 'full', format: 'json', excel: true })).toEqual([422, 'excel']);
    expect(await refusal({ type: 'full', format: 'csv', to: { folder: '/etc' } })).toEqual([422, 'to']);
    expect((await world.post('/v1/jobs/01900000-0000-7000-8000-000000000000/exports', {})).status).toBe(422);
  });

  test('a job that asks for exports has them at its end', async () => {
    const exports = [
      { type: 'full', format: 'csv' },
      { type: 'seo', format: 'ndjson' },
    ] as const;
    const urls = [world.site.urlOf('shop', '/shop/product/dusk-lamp')];
    const { id } = await world.batchNow({ urls, exports: [...exports] });
    await vi.waitFor(async () => {
      const { items } = (await world.call({ url: `/v1/jobs/${id}/exports` })).body.data as {
        items: ExportView[];
      };
      expect(items.map(({ type, format, status, rows }) => [type, format, status, rows])).toEqual([
        ['seo', 'ndjson', 'ready', 1],
        ['full', 'csv', 'ready', 1],
      ]);
    }, WAIT);
    // In PostgreSQL a transaction of another test delays readers of events for a moment.
    await vi.waitFor(async () => {
      const { items } = await world.platform.store.listEvents({ after: null, jobId: id, limit: 100 });
      expect(items.filter(({ type }) => type === 'export.ready')).toHaveLength(2);
    }, WAIT);
  });

  test('a crawl that was cancelled and resumed gives the same full.csv as one that was not', async () => {
    const seeds = { urls: [world.site.urlOf('default', '/big/1')], include: ['/big/**'], concurrency: 2 };
    const withoutTimes = (csv: Buffer) => csv.toString().replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
    const undisturbed = await world.crawlNow(seeds);
    const disturbed = await world.crawl(seeds);
    await vi.waitFor(
      async () => expect((await world.look(disturbed)).counters.pages).toBeGreaterThan(2),
      WAIT,
    );
    await world.platform.jobs.cancel(disturbed.id, world.account);
    const stopped = await world.ended(disturbed);
    expect(stopped.counters.cancelled).toBeGreaterThan(0);
    expect(stopped.counters.pages).toBeLessThan(undisturbed.counters.pages);
    await world.platform.jobs.resume(disturbed.id, world.account);
    const resumed = await world.ended(disturbed);
    expect(resumed.counters.pages).toBe(undisturbed.counters.pages);
    const spec = { type: 'full', format: 'csv' };
    const [one, other] = [await fileOf(undisturbed.id, spec), await fileOf(disturbed.id, spec)];
    expect(withoutTimes(other)).toBe(withoutTimes(one));
  });
});
