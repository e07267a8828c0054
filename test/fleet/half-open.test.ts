import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  isListening,
  type KeepAliveClient,
  openKeepAliveClient,
  startHeldSite,
} from '../integration/held-site.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { type ApiClient, createApiClient, look } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew, type Lines } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 240_000;
const PAGES = 60;
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 90_000, interval: 100 });

let site: RemoteSite;
let crew: Crew;
let api: CrewMember;
let worker: CrewMember;
let client: ApiClient;
let hosts = 0;
beforeAll(async () => {
  site = await spawnSite({ pages: PAGES });
  crew = await gatherCrew({ policy: 'default: { rate: 20, burst: 1, concurrency: 2 }\n' });
  [api, worker] = await Promise.all([crew.add('api'), crew.add('http-worker')]);
  client = createApiClient(() => api.origin, crew.apiKey);
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await site?.close();
}, LIMIT_MS);

const crawl = () => {
  hosts += 1;
  return client.accept('/v1/crawl', { urls: [`${site.hostUrl(hosts)}/big/`], sitemap: 'skip' });
};
const pagesOf = async (job: string) => {
  const { progress } = (await client.get(`/v1/jobs/${job}`)).body.data as { progress: { pages: number } };
  return progress.pages;
};

async function expectWhole(job: string): Promise<void> {
  expect(await client.ended(job)).toMatchObject({
    status: 'completed',
    progress: { known: PAGES, open: 0, pages: PAGES, failed: 0 },
  });
  const urls = (await client.pages(job)).map(({ url }) => url);
  expect(new Set(urls).size).toBe(PAGES);
  expect(urls).toHaveLength(PAGES);
}

describe('a worker whose connections swallow bytes', { timeout: LIMIT_MS }, () => {
  const SERVERS = ['redis', 'postgres', 's3'] as const satisfies readonly (keyof Lines)[];

  it.each(SERVERS)(
    'to %s: works again when only the old ones stay deaf, and no page is lost',
    async (name) => {
      const { proxy } = worker.to[name];
      const running = await crawl();
      await until(async () => expect(await pagesOf(running)).toBeGreaterThan(5));
      proxy.set('swallow', 'open');
      const later = await crawl();
      await expectWhole(running);
      await expectWhole(later);
      await until(async () => expect((await look(worker.origin, '/readyz')).status).toBe(200));
      expect(worker.exitCode, worker.output()).toBeNull();
    },
  );

  it.each(SERVERS)('to %s: works again when the deafness ends', async (name) => {
    const { proxy } = worker.to[name];
    const running = await crawl();
    await until(async () => expect(await pagesOf(running)).toBeGreaterThan(5));
    proxy.set('swallow');
    const { made } = proxy.counts();
    await until(() => expect(proxy.counts().made).toBeGreaterThan(made + 1));
    proxy.set('pass', 'new');
    await expectWhole(running);
    await expectWhole(await crawl());
    await until(async () => expect((await look(worker.origin, '/readyz')).status).toBe(200));
    expect(worker.exitCode, worker.output()).toBeNull();
  });
});

describe('SIGTERM to an API with clients that keep their connections', { timeout: LIMIT_MS }, () => {
  it('ends idle connections, answers the scrape that another process works on, and ends with 0', async () => {
    const held = await startHeldSite();
    const clients: KeepAliveClient[] = [];
    const open = () => {
      const made = openKeepAliveClient(api.origin, crew.apiKey);
      clients.push(made);
      return made;
    };
    try {
      const [idle, busy] = [open(), open()];
      expect((await idle.ask('GET', '/v1/jobs')).connection).toBe('keep-alive');
      const scrape = busy.ask('POST', '/v1/scrape', { url: `${held.origin}/held/page` });
      await until(() => expect(held.waiting()).toBe(1));
      api.signal('SIGTERM');
      await until(async () => expect(await isListening(api.origin)).toBe(false));
      await idle.disconnected;
      held.release();
      expect(await scrape).toMatchObject({ status: 200, connection: 'close', body: { success: true } });
      expect(await api.ended, api.output()).toBe(0);
    } finally {
      for (const each of clients) each.close();
      await held.close();
    }
  });
});
