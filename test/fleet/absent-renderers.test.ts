import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Crew, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 240_000;
const PAGES = 12;
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 90_000, interval: 100 });

let crew: Crew;
let client: ApiClient;
let site: Server;
let origin: string;
let shown: string[];

beforeAll(async () => {
  site = createServer((request, response) => {
    const path = request.url ?? '';
    if (path === '/robots.txt' || path === '/favicon.ico') return void response.writeHead(404).end();
    shown.push(path);
    response.setHeader('content-type', 'text/html').end('<title>Page</title><p>Some words of a page.</p>');
  });
  await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}, LIMIT_MS);
beforeEach(async () => {
  shown = [];
  crew = await gatherCrew({
    policy: `
default: { rate: unlimited, concurrency: 4 }
domains:
  "${new URL(origin).host}": { consent: [stealth] }
`,
    settings: { browserPages: 2 },
  });
  const api = await crew.add('api');
  await crew.add('http-worker');
  client = createApiClient(() => api.origin, crew.apiKey);
}, LIMIT_MS);
afterEach(async () => {
  await endMembers();
  await crew.close();
}, LIMIT_MS);
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const urls = (what: string) => Array.from({ length: PAGES }, (_, at) => `${origin}/${what}/${at}`);
const batch = (what: string, options: object) => client.accept('/v1/batch', { urls: urls(what), options });
const dataOf = async (id: string) => (await client.get(`/v1/jobs/${id}`)).body.data;

test.each(['browser', 'stealth'] as const)(
  'pages for the engine %s wait without a charge while no worker shows them, and plain pages of the host go on',
  async (engine) => {
    const rendered = await batch('rendered', { engine, maxAttempts: 1 });
    await until(async () =>
      expect((await dataOf(rendered))?.waitingFor).toMatchObject([{ code: 'NO_WORKER', tasks: PAGES }]),
    );
    const plain = await client.ended(await batch('plain', { engine: 'http' }));
    expect(plain).toMatchObject({ status: 'completed' });
    const answer = await client.post('/v1/scrape', { url: `${origin}/now`, engine, timeoutMs: 12_000 });
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'NO_WORKER' } } });
    expect(answer.body.error?.message).toContain('No worker');
    expect(shown.filter((path) => !path.startsWith('/plain'))).toEqual([]);

    await crew.add(`${engine}-worker`);
    expect(await client.ended(rendered, 120_000)).toMatchObject({ status: 'completed' });
    for (const url of urls('rendered')) {
      const found = await client.get(`/v1/jobs/${rendered}/why?url=${encodeURIComponent(url)}`);
      expect(found.body.data).toMatchObject({ entry: { attempts: [{ engine, outcome: 'ok' }] } });
    }
  },
  LIMIT_MS,
);

test(
  'a worker that is killed in the middle of its pages costs no page, and another one shows them',
  async () => {
    const first = await crew.add('browser-worker');
    const job = await batch('rendered', { engine: 'browser', maxAttempts: 1 });
    await until(() => expect(shown.length).toBeGreaterThan(1));
    first.signal('SIGKILL');
    await until(async () => expect((await dataOf(job))?.waitingFor).toMatchObject([{ code: 'NO_WORKER' }]));
    await crew.add('browser-worker');
    expect(await client.ended(job, 120_000)).toMatchObject({ status: 'completed' });
  },
  LIMIT_MS,
);
