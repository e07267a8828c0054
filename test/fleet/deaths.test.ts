import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const PAGES = 60;
const LIMIT_MS = 400_000;
/** After each of the four deaths the next owner waits until the lease of the last one has run out. */
const LEASE_MS = 8_000;

let site: RemoteSite;
let crew: Crew;
let client: ApiClient;
beforeAll(async () => {
  site = await spawnSite({ pages: PAGES });
  crew = await gatherCrew({ settings: { hostLeaseMs: LEASE_MS } });
  const api = await crew.add('api');
  client = createApiClient(() => api.origin, crew.apiKey);
  await crew.add('scheduler');
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await site?.close();
}, LIMIT_MS);

/** Two workers that die of the URL, each started again when it has died. */
async function keepWorkersUp(url: string) {
  const poison = { url, way: 'OOM kill' };
  const add = () => crew.add('http-worker', {}, { poison });
  const workers = await Promise.all([add(), add()]);
  let deaths = 0;
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const keepUp = async (worker: CrewMember) => {
    for (let current = worker; ; current = await add()) {
      await current.ended;
      if (isOver) return;
      deaths += 1;
    }
  };
  for (const worker of workers) void keepUp(worker);
  return { deaths: () => deaths };
}

describe('a URL that kills workers of a fleet', { timeout: LIMIT_MS }, () => {
  it('ends after four deaths, whichever workers die; all other URLs are fetched and stored once', async () => {
    const url = `${site.hostUrl(1)}/big/${PAGES - 1}`;
    const workers = await keepWorkersUp(url);
    const jobs = await Promise.all(
      [1, 2].map((n) =>
        client.accept('/v1/crawl', {
          urls: [`${site.hostUrl(n)}/big/`],
          sitemap: 'skip',
          maxPages: null,
        }),
      ),
    );
    const [poisoned = '', other = ''] = jobs;
    const ended = await client.ended(poisoned, LIMIT_MS);
    expect(ended).toMatchObject({ progress: { known: PAGES, open: 0, failed: 1 } });
    expect(await client.ended(other, LIMIT_MS)).toMatchObject({ progress: { pages: PAGES, failed: 0 } });
    for (const job of jobs) {
      const urls = (await client.pages(job)).map((page) => page.url);
      expect(new Set(urls).size).toBe(PAGES);
      expect(urls).toHaveLength(PAGES);
    }
    const rows = await crew.sql(`SELECT url, error_code FROM tasks WHERE state <> 'done'`);
    expect(rows).toEqual([{ url, error_code: 'WORKER_DIED' }]);
    expect((await site.counts()).urls[url]).toBe(4);
    expect(workers.deaths()).toBe(4);
  });
});
