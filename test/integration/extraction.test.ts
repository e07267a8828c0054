import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PageResult } from '../../src/capabilities/jobs/results/page-result.ts';
import type { ApiWorld } from './api-world.ts';
import { openBrowserWorld } from './browser-world.ts';

const LIMIT_MS = 90_000;
const KETTLE = '/shop/product/tern-kettle';
const RULES = { title: 'h1', price: { css: '.two .price', type: 'price' }, missing: '.nowhere' };

let world: ApiWorld;
let host: string;
beforeAll(async () => {
  world = await openBrowserWorld({ site: { pages: 20 } });
  host = world.site.hostUrl(1);
});
afterAll(() => world.close(), LIMIT_MS);

describe('what is read out of a page', () => {
  test.each(['http', 'browser'])(
    'is the same by the engine %s',
    async (engine) => {
      const { status, body } = await world.post('/v1/scrape', {
        url: host + KETTLE,
        engine,
        formats: ['markdown', 'text', 'content', 'structured'],
        extract: { type: 'auto', rules: RULES, schema: { required: ['title'] } },
        timeoutMs: 60_000,
      });
      expect([status, body.error]).toEqual([200, undefined]);
      const { data = {} } = body;
      expect(data).toMatchObject({
        extractedType: 'product',
        extracted: {
          name: 'Tern Kettle',
          currency: 'EUR',
          availability: 'InStock',
          sku: 'tern-kettle',
          title: 'Tern Kettle',
        },
        extractedBy: { name: { confidence: expect.any(Number) } },
        content: { text: data.text, language: 'en' },
      });
      expect(data.markdown).toContain('sings in a major third');
      expect(data.structured).toBeTypeOf('object');
    },
    LIMIT_MS,
  );

  test('is there for a page that is an error, too', async () => {
    const { body } = await world.post('/v1/scrape', {
      url: `${host}/shop/journal/nowhere`,
      extract: { rules: { h: 'h1' } },
    });
    expect(body.data).toMatchObject({ statusCode: 404, error: { code: 'HTTP_ERROR' } });
    expect(body.data).toHaveProperty('extracted');
  });
});

test('rules that cannot be used are refused with their place before anything is asked for', async () => {
  const other = world.site.hostUrl(2);
  for (const path of ['/v1/scrape', '/v1/batch', '/v1/crawl']) {
    const extract = { rules: { price: { css: '.price:nope' }, more: { regex: '(a' } } };
    const urls = [`${other}${KETTLE}`];
    const payload = path === '/v1/scrape' ? { url: urls[0], extract } : { urls, options: { extract } };
    const { status, body } = await world.post(path, payload);
    expect([status, body.error?.code]).toEqual([422, 'VALIDATION_FAILED']);
    const within = path === '/v1/scrape' ? '' : 'options.';
    expect(body.error?.details).toEqual([
      { field: `${within}extract.rules.price.css`, message: expect.stringMatching(/^`\S+` column \d+: /) },
      { field: `${within}extract.rules.more.regex`, message: expect.any(String) },
    ]);
  }
  expect(world.heard(other)).toEqual([]);
});

test('a language model that nobody has set up is refused wherever it is asked for', async () => {
  const url = world.site.hostUrl(4) + KETTLE;
  const { body: scraped } = await world.post('/v1/scrape', { url });
  const extract = { rules: { title: { css: 'h6', required: true } }, llm: true };
  const asked = [
    ['/v1/scrape', { url, extract }],
    ['/v1/extract', { html: '<h1>x', url, extract }],
    [`/v1/jobs/${scraped.data?.id}/reextract`, { extract }],
  ] as const;
  for (const [path, payload] of asked) {
    const { status, body } = await world.post(path, payload);
    expect([path, status, body.error?.code]).toEqual([path, 422, 'UNSUPPORTED_OPTION']);
  }
});

test('the stored pages of a crawl are read once more without a single request', async () => {
  const shop = world.site.hostUrl(3);
  const job = await world.crawlNow({
    urls: [`${shop}/shop/`],
    include: ['/shop/*'],
    sitemap: 'skip',
    options: { extract: { type: 'breadcrumbs' } },
  });
  const stored = await world.pages(job);
  expect(stored.length).toBeGreaterThan(20);
  const asked = world.site.log.length;
  const answer = await world.send({
    method: 'POST',
    url: `/v1/jobs/${job.id}/reextract`,
    payload: { formats: ['markdown'], extract: { type: 'auto', rules: { title: 'h1' } } },
  });
  expect(answer.statusCode).toBe(200);
  const again = answer.payload
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as PageResult);
  expect(world.site.log.length).toBe(asked);
  expect(again.map(({ url }) => url)).toEqual(stored.map(({ url }) => url));
  const kettle = again.find(({ url }) => url.endsWith(KETTLE));
  expect(kettle).toMatchObject({
    extractedType: 'product',
    extracted: { title: 'Tern Kettle', price: 64.9 },
    markdown: expect.stringContaining('sings in a major third'),
  });
  // What was stored is as it was.
  expect(await world.pages(job)).toEqual(stored);
});
