import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DONE, type Ending, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { pageSchema } from '../capabilities/views/page-schemas.ts';
import type { JobId } from '../core/model/ids.ts';
import type { Task } from '../core/model/task.ts';

const url = 'https://shop.example/hat';
const HAT = `<!doctype html><html lang="en"><head><title>Hat – Shop</title>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Hat",
"offers":{"@type":"Offer","price":"19.90","priceCurrency":"EUR","availability":"https://schema.org/InStock"}}</script></head>
<body><nav><a href="/">Home</a></nav><main><h1>Hat</h1><p>${'A hat for long walks in the wind and the rain. '.repeat(8)}</p>
<p class="price">19,90 €</p></main></body></html>`;
const FORMATS = ['html', 'rawHtml', 'text', 'links', 'metadata', 'markdown', 'content', 'structured'];

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({ bodyLimitBytes: 67_108_864 });
  await platform.work(endOf);
});
afterAll(() => platform.close());

function endOf({ url: asked }: Task): Ending {
  const name = new URL(asked).pathname.slice(1);
  if (name === 'failed')
    return {
      end: { state: 'failed', rule: null, errorCode: 'HTTP_ERROR' },
      statusCode: 404,
      body: '<h1>Gone',
    };
  const { body: _, ...bodiless } = DONE;
  if (name === 'bodiless') return bodiless;
  return { ...DONE, body: `<title>${name}</title><h1>Page ${name}</h1>` };
}

const post = (path: string, payload: unknown) =>
  platform.call({ method: 'POST', url: path, payload: payload as object });
const linesOf = (payload: string) =>
  payload
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a page that the caller has', () => {
  it('is read as one that was fetched, and answered as documented', async () => {
    const extract = { type: 'product', rules: { headline: 'h1', price: { css: '.price', type: 'number' } } };
    const answer = await post('/v1/extract', { html: HAT, url, formats: FORMATS, extract });
    expect(answer.statusCode).toBe(200);
    z.strictObject({ success: z.literal(true), data: pageSchema.strict() }).parse(JSON.parse(answer.payload));
    expect(answer.at('data')).toMatchObject({
      url,
      finalUrl: url,
      statusCode: null,
      contentType: 'text/html',
      title: 'Hat – Shop',
      metadata: { title: 'Hat – Shop' },
      links: [{ url: 'https://shop.example/' }],
      rawHtml: HAT,
      text: expect.stringContaining('long walks'),
      markdown: expect.stringContaining('long walks'),
      content: { title: 'Hat', language: 'en' },
      extracted: { name: 'Hat', currency: 'EUR', availability: 'InStock', headline: 'Hat', price: 19.9 },
      extractedType: 'product',
      extractedBy: { name: { source: expect.any(String), confidence: expect.any(Number) } },
    });
    expect(answer.at('data.text')).not.toContain('Home');
  });

  it('is not kept', async () => {
    const before = (await platform.call({ url: '/v1/jobs' })).payload;
    await post('/v1/extract', { html: HAT, url });
    expect((await platform.call({ url: '/v1/jobs' })).payload).toBe(before);
    expect(await Array.fromAsync(platform.blobs.list())).toEqual([]);
  });

  it('may be JSON, which rules look into', async () => {
    const answer = await post('/v1/extract', {
      html: '{"items":[{"sku":"A1"},{"sku":"B2"}]}',
      url: 'https://api.example/items',
      contentType: 'application/json; charset=latin1',
      formats: ['text'],
      extract: { rules: { skus: { jsonpath: '$.items[*].sku', list: true } } },
    });
    expect(answer.at('data.extracted')).toEqual({ skus: ['A1', 'B2'] });
  });

  it('keeps its own charset out of what is text already', async () => {
    const html = '<meta charset="iso-8859-1"><h1>Größe</h1>';
    const answer = await post('/v1/extract', { html, url, formats: [], extract: { rules: { h: 'h1' } } });
    expect(answer.at('data.extracted')).toEqual({ h: 'Größe' });
  });

  it.each([
    [{ html: '', url: 'nonsense:' }, 'INVALID_URL', ['url']],
    [{ html: HAT }, 'VALIDATION_FAILED', ['url']],
    [{ html: HAT, url, formats: ['screenshot'] }, 'VALIDATION_FAILED', ['formats.0']],
    [{ html: HAT, url, extract: {} }, 'VALIDATION_FAILED', ['extract']],
    [{ html: HAT, url, extract: { type: 'hat' } }, 'VALIDATION_FAILED', ['extract.type']],
    [{ html: HAT, url, extract: { schema: {} } }, 'VALIDATION_FAILED', ['extract']],
    [
      { html: HAT, url, extract: { rules: { a: { csss: 'p' } } } },
      'VALIDATION_FAILED',
      ['extract.rules.a.csss'],
    ],
    [{ html: HAT, url, extract: { rules: { a: 'regex:(' } } }, 'VALIDATION_FAILED', ['extract.rules.a']],
  ])('%# is refused with the place of what is wrong', async (payload, code, fields) => {
    const answer = await post('/v1/extract', payload);
    expect([answer.statusCode, answer.at('error.code')]).toEqual([422, code]);
    const details = (answer.at('error.details') ?? []) as { field: string }[];
    expect(details.map(({ field }) => field)).toEqual(fields);
  });

  it('is refused with the column in a selector', async () => {
    const answer = await post('/v1/extract', {
      html: HAT,
      url,
      extract: { rules: { a: { css: 'p >> b' } } },
    });
    expect(answer.statusCode).toBe(422);
    expect(answer.at('error.message')).toMatch(/^`extract\.rules\.a\.css` column \d+: /);
  });

  it('may be as strange as it likes: the next one is read all the same', async () => {
    const strange = [
      '<div>'.repeat(10_000_000),
      [...HAT].join('\0'),
      '\0'.repeat(1_000_000),
      '<'.repeat(1_000_000),
      `<table>${'<tr><td><table>'.repeat(100_000)}`,
      '',
    ];
    for (const html of strange) {
      const answer = await post('/v1/extract', { html, url, formats: FORMATS, extract: { type: 'auto' } });
      if (answer.statusCode !== 200) expect(answer.at('error.code')).toBe('EXTRACTION_FAILED');
    }
    const answer = await post('/v1/extract', { html: HAT, url, formats: ['metadata'] });
    expect(answer.at('data.metadata.title')).toBe('Hat – Shop');
  }, 240_000);
});

describe('the pages of a job', () => {
  let id: string;
  const names = [...Array.from({ length: 40 }, (_, at) => `p${at}`), 'failed', 'bodiless'];
  beforeAll(async () => {
    const urls = names.map((name) => `https://again.example/${name}`);
    id = (await post('/v1/batch', { urls })).at('data.id') as string;
    await platform.jobs.waitFor(id as JobId, 60_000);
  });

  it('are read once more in the order they were stored', async () => {
    const stored = (await platform.call({ url: `/v1/jobs/${id}/results` })).at('data.items') as {
      url: string;
    }[];
    const answer = await post(`/v1/jobs/${id}/reextract`, {
      formats: ['text'],
      extract: { rules: { heading: 'h1' } },
    });
    expect(answer.headers['content-type']).toContain('application/x-ndjson');
    const lines = linesOf(answer.payload);
    for (const line of lines) pageSchema.strict().parse(line);
    expect(lines.map((line) => line.url)).toEqual(stored.map((page) => page.url));
    const byName = new Map(lines.map((line) => [new URL(String(line.url)).pathname.slice(1), line]));
    expect(byName.get('p7')).toMatchObject({ statusCode: 200, extracted: { heading: 'Page p7' } });
    expect(byName.get('failed')).toMatchObject({
      statusCode: 404,
      extracted: { heading: 'Gone' },
      error: { code: 'HTTP_ERROR' },
    });
    expect(byName.get('bodiless')).toMatchObject({ text: null, extracted: null });
  });

  it('whose body is gone say so', async () => {
    const { items } = await platform.store.listPages({ jobId: id as JobId, limit: 1 });
    const [first] = items;
    const body = first?.contentHash == null ? null : await platform.blobs.get(first.contentHash);
    if (first?.contentHash == null || body === null) throw new Error('The first page has no body.');
    await platform.blobs.delete([first.contentHash]);
    const answer = await post(`/v1/jobs/${id}/reextract`, { extract: { rules: { heading: 'h1' } } });
    const [line, ...others] = linesOf(answer.payload);
    expect(line).toMatchObject({ url: first.url, extracted: null, error: { code: 'NOT_FOUND' } });
    expect(others).toHaveLength(names.length - 1);
    await platform.blobs.put([{ hash: first.contentHash, bytes: body }]);
  });

  it.each([
    [{}, [{ field: '', message: 'Needs `extract` or `formats`.' }]],
    [{ formats: ['pdf'] }, [expect.objectContaining({ field: 'formats.0' })]],
    [{ extract: { rules: { a: 'xpath:nope()' } } }, [expect.objectContaining({ field: 'extract.rules.a' })]],
  ])('are not touched for %j', async (payload, details) => {
    const answer = await post(`/v1/jobs/${id}/reextract`, payload);
    expect(answer.statusCode).toBe(422);
    expect(answer.at('error.details')).toEqual(details);
  });

  it('are found for their own account only', async () => {
    const answer = await post('/v1/jobs/nonsense/reextract', { formats: ['text'] });
    expect([answer.statusCode, answer.at('error.code')]).toEqual([404, 'NOT_FOUND']);
  });

  it('are not read on for a client that has gone', async () => {
    await platform.api.listen({ port: 0, host: '127.0.0.1' });
    const { port } = platform.api.server.address() as AddressInfo;
    const headers = { 'x-api-key': platform.secret, 'content-type': 'application/json' };
    const before = platform.lines.length;
    // More than may be read again at once: each that stays open would be missed later.
    for (let round = 0; round < 20; round += 1) {
      const sent = httpRequest({ port, method: 'POST', path: `/v1/jobs/${id}/reextract`, headers });
      sent.on('error', () => undefined);
      sent.end(JSON.stringify({ formats: FORMATS }));
      await once(sent, 'response');
      sent.destroy();
    }
    const ended = () => platform.lines.slice(before).filter((line) => line.includes('reextract'));
    await expect.poll(() => ended().length, { timeout: 20_000 }).toBe(20);
    const answer = await post(`/v1/jobs/${id}/reextract`, { formats: ['text'] });
    expect(answer.statusCode).toBe(200);
  });
});
