import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { JobId } from '../../src/core/model/ids.ts';
import { startChatServer } from '../llm/chat-server.ts';
import { type FirecrawlWorld, openFirecrawlWorld } from './firecrawl-world.ts';
import { type SearxngOptions, startSearxng } from './searxng-server.ts';

let world: FirecrawlWorld;
afterEach(() => world.close());

interface Answer {
  readonly success: boolean;
  readonly id: JobId;
  readonly code?: string;
  readonly error?: string;
  readonly data: {
    readonly web: readonly { readonly title: string }[];
    readonly news: readonly object[];
    readonly images: readonly object[];
    readonly json?: unknown;
  };
}

async function post(path: string, body: object) {
  const answer = await fetch(`${world.origin}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

async function searchWorld(options: Partial<SearxngOptions> = {}) {
  const searxng = await startSearxng({
    formats: ['html', 'json'],
    hits: 25,
    origin: 'http://127.0.0.1:1',
    ...options,
  });
  onTestFinished(() => searxng.close());
  world = await openFirecrawlWorld({ settings: { searxngUrl: searxng.url } });
  return searxng;
}

it('searches the web through a SearXNG, by its pages, categories and times', async () => {
  const searxng = await searchWorld();
  const { body } = await post('/v2/search', {
    query: 'turnips',
    limit: 15,
    sources: ['web', { type: 'news' }, 'images'],
    includeDomains: ['garden.example', 'farm.example'],
    tbs: 'qdr:w',
    lang: 'en',
    country: 'us',
  });
  expect(body.success).toBe(true);
  expect(body.data.web).toHaveLength(15);
  expect(body.data.web[14]).toMatchObject({ title: 'Hit 14', position: 15 });
  expect(body.data.news[0]).toMatchObject({
    snippet: expect.stringContaining('turnips'),
    date: '2026-11-01T00:00:00',
  });
  expect(body.data.images[0]).toMatchObject({
    imageUrl: expect.stringContaining('picture-0'),
    imageWidth: 640,
    imageHeight: 480,
  });
  expect(searxng.asked[0]).toMatchObject({
    q: 'turnips (site:garden.example OR site:farm.example)',
    format: 'json',
    time_range: 'week',
    language: 'en-US',
  });
  expect(new Set(searxng.asked.map(({ categories }) => categories))).toEqual(
    new Set(['general', 'news', 'images']),
  );
});

it('leaves out results of a SearXNG that have no web address', async () => {
  const broken = [
    null,
    'text',
    { title: 'None' },
    { url: 5 },
    { url: 'javascript:alert(1)' },
    { url: 'http://' },
  ];
  await searchWorld({ broken, hits: 2 });
  const { status, body } = await post('/v2/search', { query: 'turnips' });
  expect(status).toBe(200);
  expect(body.data.web.map(({ title }) => title)).toEqual(['Hit 0', 'Hit 1']);
});

it('says why a SearXNG cannot be used', async () => {
  await searchWorld({ formats: ['html'] });
  const { status, body } = await post('/v2/search', { query: 'turnips' });
  expect([status, body.success, body.code]).toEqual([503, false, 'SEARCH_UNAVAILABLE']);
  expect(body.error).toContain('search.formats');
});

it('has a language model fill the fields of a schema, of one page and of several', async () => {
  const server = await startChatServer({
    answer: () => ({
      values: { crop: 'turnips', chapters: [{ name: 'One' }] },
      evidence: { crop: 'turnips', chapters: null },
    }),
  });
  world = await openFirecrawlWorld({ settings: { llmUrl: server.url, llmModel: 'test-model' } });
  const schema = {
    type: 'object',
    properties: {
      crop: { type: 'string' },
      chapters: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    },
    required: ['crop'],
  };
  const site = world.small.origin;
  const formats = [{ type: 'json', schema, prompt: 'What is grown here?' }];
  const { body } = await post('/v2/scrape', { url: `${site}/docs/one`, formats });
  expect(body.data.json).toEqual({ crop: 'turnips', chapters: [{ name: 'One' }] });
  expect(JSON.stringify(server.asked[0]?.body)).toContain('What is grown here?');
  const started = await post('/v1/extract', {
    urls: [`${site}/docs/one`, `${site}/docs/two`],
    schema,
    showSources: true,
  });
  await world.platform.jobs.waitFor(started.body.id, 60_000);
  const answer = await fetch(`${world.origin}/v1/extract/${started.body.id}`, {
    headers: { authorization: `Bearer ${world.secret}` },
  });
  expect(await answer.json()).toMatchObject({
    success: true,
    status: 'completed',
    data: { crop: 'turnips', chapters: [{ name: 'One' }, { name: 'One' }] },
    sources: { urls: [`${site}/docs/one`, `${site}/docs/two`] },
  });
});
