import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../fleet/servers/postgres.ts';
import { maxInWindow } from '../site/max-in-window.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 240_000;
/** Many and slowly: the copy has to be taken before most URLs are known. */
const PAGES = 500;
const HOSTS = 2;
const RATE = 25;
const until = (condition: () => void | Promise<void>, timeout = 90_000) =>
  vi.waitFor(condition, { timeout, interval: 50 });

let dir: string;
let site: RemoteSite;
let postgres: PostgresServer;
let crew: Crew;
let client: ApiClient;
const workers: CrewMember[] = [];
let others: readonly CrewMember[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-time-travel-'));
  [site, postgres] = await Promise.all([
    spawnSite({ pages: PAGES }),
    startPostgres({ dir: join(dir, 'postgres') }),
  ]);
  crew = await gatherCrew({
    policy: `default: { rate: ${RATE}, burst: 1, concurrency: 2 }\n`,
    place: { databaseUrl: postgres.url },
    // Hosts that the store knows of as owned by a process that has forgotten it wait for so long.
    settings: { hostLeaseMs: 12_000 },
  });
  const api = await crew.add('api');
  client = createApiClient(() => api.origin, crew.apiKey);
  workers.push(...(await Promise.all([crew.add('http-worker'), crew.add('http-worker')])));
  others = [api, await crew.add('scheduler')];
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await Promise.all([postgres?.stop(), site?.close()]);
  await rm(dir, { recursive: true, force: true });
}, LIMIT_MS);

const crawlOf = (n: number) => ({ urls: [`${site.hostUrl(n)}/big/`], sitemap: 'skip' });

async function progressOf(job: string): Promise<{ pages: number; known: number }> {
  const { body } = await client.get(`/v1/jobs/${job}`);
  return (body.data as { progress: { pages: number; known: number } }).progress;
}

async function expectWhole(job: string): Promise<void> {
  const ended = await client.ended(job);
  const urls = (await client.pages(job)).map(({ url }) => url);
  expect(new Set(urls).size).toBe(PAGES);
  expect(urls).toHaveLength(PAGES);
  expect(ended).toMatchObject({
    status: 'completed',
    progress: { known: PAGES, open: 0, pages: PAGES, failed: 0 },
  });
}

describe.each(['restored', 'promoted'] as const)('a PostgreSQL that is %s', { timeout: LIMIT_MS }, (how) => {
  it('has every URL of every job in the end, though the workers knew more than it', async () => {
    const first = how === 'restored' ? 0 : HOSTS;
    const jobs = await Promise.all(
      Array.from({ length: HOSTS }, (_, n) => client.accept('/v1/crawl', crawlOf(first + n))),
    );
    for (const job of jobs) await until(async () => expect((await progressOf(job)).pages).toBeGreaterThan(0));
    // However long it takes, the workers must not get on meanwhile.
    for (const worker of workers) worker.signal('SIGSTOP');
    const copy = await postgres.takeCopy();
    for (const worker of workers) worker.signal('SIGCONT');
    for (const job of jobs) {
      await until(async () => expect((await progressOf(job)).known).toBeGreaterThan(0.95 * PAGES));
    }
    const later = await client.accept('/v1/crawl', crawlOf(first));
    await postgres.goBackTo(copy, how);
    // The workers have found more than this by now, and are not told.
    const [restored] = await crew.sql('SELECT sum(known)::int AS known FROM jobs WHERE finished_at IS NULL');
    expect(Number(restored?.known)).toBeLessThan(0.8 * HOSTS * PAGES);

    await Promise.all(jobs.map(expectWhole));
    await until(async () => expect((await client.get(`/v1/jobs/${later}`)).status).toBe(404));
    // Over five seconds, because a busy machine crowds single requests. Two owners at once would show.
    const log = await site.entries();
    for (const n of jobs.keys()) {
      const { host } = new URL(site.hostUrl(first + n));
      const entries = log.filter((entry) => entry.host === host);
      expect(maxInWindow(entries, 5_000)).toBeLessThanOrEqual(5 * RATE + 1);
    }
    for (const member of [...workers, ...others]) expect(member.exitCode, member.output()).toBeNull();
  });
});
