import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildIndex, sweepIndex } from '../../src/capabilities/query/search/search-reader.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { QUICK_POLICY } from './world.ts';

const PAGES: Readonly<Record<string, string>> = {
  '/': '<title>Start</title><h1>Welcome</h1><nav><a href="/solar">Solar</a> <a href="/pumps">Pumps</a></nav>',
  '/solar':
    '<title>Solar power</title><p>Roof panels &amp; inverters.</p><script>var hidden = "scriptword";</script><p>Größe &lt;b&gt; XL</p>',
  '/pumps': '<title>Heat pumps</title><p>A heat pump takes warmth from the air.</p>',
};

let world: ApiWorld;
let server: Server;
let origin: string;
let jobId: string;

interface Hit {
  readonly url: string;
  readonly jobId: string;
  readonly title: { readonly text: string; readonly marks: [number, number][] } | null;
  readonly snippet: { readonly text: string; readonly marks: [number, number][] };
}

async function search(query: string): Promise<{ items: Hit[]; nextCursor: string | null }> {
  const answer = await world.call({ method: 'GET', url: `/v1/search?${query}` });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data as never;
}

const found = async (query: string) => (await search(query)).items.map(({ url }) => url.replace(origin, ''));

beforeAll(async () => {
  server = createServer((request, response) => {
    const page = PAGES[request.url ?? ''];
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? '<title>Not found</title>solar');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await openApiWorld({ policy: QUICK_POLICY });
  await world.crawlNow({ urls: [`${origin}/pumps`], maxPages: 1 });
  const job = await world.crawlNow({ urls: [`${origin}/`], search: true });
  jobId = job.id;
  await world.settled(job);
});
afterAll(async () => {
  await world.close();
  server.close();
});

describe('GET /v1/search', () => {
  it('finds the pages of jobs with `search`, by their visible text', async () => {
    expect(await found('q=solar')).toEqual(['/solar', '/']);
    expect(await found('q=%22heat%20pump%22')).toEqual(['/pumps']);
    expect(await found('q=grosse')).toEqual(['/solar']);
    expect(await found('q=scriptword')).toEqual([]);
    expect(await found('q=welcome%20-panels')).toEqual(['/']);
    expect(await found(`q=solar&host=${new URL(origin).host}`)).toEqual(['/solar', '/']);
    expect(await found('q=solar&host=other.test')).toEqual([]);
    expect(await found(`q=solar&job=${jobId}`)).toEqual(['/solar', '/']);
  });

  it('shows plain text with marks, never markup', async () => {
    const [hit] = (await search('q=solar%20roof%20grosse')).items;
    expect(hit?.title).toEqual({ text: 'Solar power', marks: [[0, 5]] });
    expect(hit?.snippet.text).toBe('Roof panels & inverters. Größe <b> XL');
    const marked = hit?.snippet.marks.map(([start, end]) => hit.snippet.text.slice(start, end));
    expect(marked).toEqual(['Roof', 'Größe']);
  });

  it('goes on by a cursor of the same search', async () => {
    const first = await search('q=solar&limit=1');
    const second = await search(`q=solar&limit=1&cursor=${first.nextCursor}`);
    expect([...first.items, ...second.items].map(({ url }) => url)).toEqual([
      `${origin}/solar`,
      `${origin}/`,
    ]);
    expect(second.nextCursor).toBeNull();
    const other = await world.call({ method: 'GET', url: `/v1/search?q=pumps&cursor=${first.nextCursor}` });
    expect(other.status).toBe(422);
  });

  it.each([
    'q=',
    'q=%20',
    'q=-solar',
    'q=...',
    `q=${'a%20'.repeat(40)}`,
    'q=a&host=a/b',
    'q=a&limit=0',
    'q=a&x=1',
  ])('refuses %s by its field', async (query) => {
    const answer = await world.call({ method: 'GET', url: `/v1/search?${query}` });
    expect(answer.status).toBe(422);
    expect(answer.body.error?.details).toHaveLength(1);
  });

  it.each(['"', 'a" OR', '* : ^ NEAR( "b', "') --", 'title:', 'a AND', '{x}', '\u0000 solar'])(
    'has no syntax that can be wrong: %j',
    async (q) => {
      const answer = await world.call({ method: 'GET', url: `/v1/search?q=${encodeURIComponent(q)}` });
      expect([200, 422]).toContain(answer.status);
    },
  );

  it('does not know jobs of others', async () => {
    const answer = await world.call({
      method: 'GET',
      url: '/v1/search?q=solar&job=0190a1b2-0000-7000-8000-000000000000',
    });
    expect(answer.status).toBe(404);
  });
});

describe('the index', () => {
  it('is made anew from what is stored', async () => {
    const { store, search: index } = world.platform;
    await index.remove({ jobId: jobId as never, before: null, limit: 100 });
    expect(await found('q=solar')).toEqual([]);
    expect(await rebuildIndex({ store, index })).toBe(3);
    expect(await found('q=solar')).toEqual(['/solar', '/']);
  });

  it('shows nothing of a deleted job, and forgets it with the next cleanup', async () => {
    const { store, search: index } = world.platform;
    const deleted = await world.call({ method: 'DELETE', url: `/v1/jobs/${jobId}` });
    expect(deleted.status).toBe(200);
    expect(await found('q=solar')).toEqual([]);
    expect(await index.listJobs({ after: null, limit: 10 })).toEqual([jobId]);
    expect(await sweepIndex({ store, index })).toBe(3);
    expect(await index.listJobs({ after: null, limit: 10 })).toEqual([]);
  });
});
