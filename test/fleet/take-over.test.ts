import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { maxInWindow } from '../site/max-in-window.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import type { LogEntry } from '../site/request-log.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 150_000;
const RATE = 4;
const PAGES = 100;
const until = (condition: () => void | Promise<void>, timeout = 90_000) =>
  vi.waitFor(condition, { timeout, interval: 100 });

let site: RemoteSite;
let crew: Crew;
let api: CrewMember;
let client: ApiClient;
/** The worker that is left after the others have failed. */
let heir: CrewMember;
beforeAll(async () => {
  site = await spawnSite({ pages: PAGES });
  const host = (n: number) => new URL(site.hostUrl(n)).host;
  crew = await gatherCrew({
    policy: `
default: { rate: ${RATE}, burst: 1, concurrency: 2 }
domains:
  "${host(10)}": { rate: unlimited, concurrency: 1 }
  "${host(11)}": { rate: unlimited, concurrency: 32 }
  "${host(12)}": { rate: unlimited, concurrency: 4 }
  "${host(13)}": { rate: unlimited, concurrency: 4 }
`,
    settings: { hostLeaseMs: 12_000 },
  });
  api = await crew.add('api');
  client = createApiClient(() => api.origin, crew.apiKey);
  await crew.add('scheduler');
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await site?.close();
}, LIMIT_MS);

const heardBy = (log: readonly LogEntry[], n: number) =>
  log.filter(({ host }) => host === new URL(site.hostUrl(n)).host);
const crawlOf = (hosts: readonly number[]) =>
  client.accept('/v1/crawl', {
    urls: hosts.map((n) => `${site.hostUrl(n)}/big/`),
    sitemap: 'skip',
    maxPages: null,
  });

/** Which process owns each host that has work, by its process id. One without any needs no other owner. */
async function owners(): Promise<Map<string, number>> {
  const rows = await crew.sql(`SELECT key, owner FROM hosts h WHERE owner IS NOT NULL AND EXISTS (
    SELECT FROM tasks t WHERE t.host_id = h.id AND t.state IN ('ready', 'waiting', 'claimed'))`);
  return new Map(rows.map(({ key, owner }) => [String(key), Number(String(owner).split(':')[1])]));
}

function longestPauseMs(entries: readonly LogEntry[]): number {
  return Math.max(...entries.slice(1).map(({ at }, index) => at - (entries[index]?.at ?? at)));
}

/**
 * As many requests as the policy allows, as the server saw them, both owners together. Over five seconds: a busy machine
 * holds single requests up for longer than the pauses between them, which crowds one second and not five. Two owners at
 * once for the time of two requests would show.
 */
function expectPolite(entries: readonly LogEntry[]): void {
  const times = entries.map(({ at }) => at);
  const gaps = times.slice(1).map((at, index) => Math.round(at - (times[index] ?? at)));
  expect(maxInWindow(entries, 5_000), `gaps in ms: ${gaps.join(' ')}`).toBeLessThanOrEqual(5 * RATE + 1);
}

/** Every page once in the job, counters that agree with it. */
async function expectWhole(job: string, hosts: number): Promise<void> {
  const ended = await client.ended(job, 120_000);
  expect(ended).toMatchObject({
    status: 'completed',
    progress: { known: hosts * PAGES, open: 0, pages: hosts * PAGES, failed: 0 },
  });
  const urls = (await client.pages(job)).map(({ url }) => url);
  expect(urls).toHaveLength(hosts * PAGES);
  expect(new Set(urls).size).toBe(hosts * PAGES);
}

describe('hosts whose owner fails', { timeout: LIMIT_MS }, () => {
  it('are taken over in under a minute, politely, and the owner that comes back changes nothing', async () => {
    // Each worker has room for one host, so that it leaves the others to the other workers.
    const workers = await Promise.all([1, 2, 3, 4].map(() => crew.add('http-worker', { maxHosts: 1 })));
    const job = await crawlOf([1, 2, 3, 4]);
    let byPid = new Map<number, number>();
    await until(async () => {
      const owned = await owners();
      byPid = new Map([1, 2, 3, 4].map((n) => [owned.get(new URL(site.hostUrl(n)).host) ?? 0, n] as const));
      expect([...byPid.keys()].toSorted()).toEqual(workers.map(({ pid }) => pid).toSorted());
    });
    await until(async () => expect((await site.counts()).total).toBeGreaterThan(4 * 10));
    heir = await crew.add('http-worker');
    const [killed, stopped, withoutStore, withoutRedis] = workers;
    if (!killed || !stopped || !withoutStore || !withoutRedis) throw new Error('too few workers');
    killed.signal('SIGKILL');
    stopped.signal('SIGSTOP');
    withoutStore.to.postgres.set('silent');
    withoutRedis.to.redis.set('silent');

    // Each of the first three hosts gets another owner; the one without Redis can go on, and does.
    const firstOwners = new Map([...byPid].map(([pid, n]) => [new URL(site.hostUrl(n)).host, pid]));
    const failed = new Set([killed.pid, stopped.pid, withoutStore.pid]);
    await until(async () => {
      const owned = await owners();
      const waiting = [...firstOwners].filter(([key, pid]) => failed.has(pid) && owned.get(key) === pid);
      expect(waiting).toEqual([]);
    });
    // The former owners come back while the new one is at work.
    stopped.signal('SIGCONT');
    withoutStore.to.postgres.set('open');
    withoutRedis.to.redis.set('open');
    await expectWhole(job, 4);

    const log = await site.entries();
    for (const n of [1, 2, 3, 4]) {
      const entries = heardBy(log, n);
      expect(longestPauseMs(entries)).toBeLessThan(60_000);
      expectPolite(entries);
    }
    for (const one of workers) if (one !== killed) expect(one.exitCode).toBeNull();
    for (const one of workers) one.signal('SIGKILL');
  });
});

describe('a restart of every process in turn', { timeout: LIMIT_MS }, () => {
  it('fetches nothing twice, loses nothing and keeps nobody waiting', async () => {
    await site.reset();
    const hosts = [5, 6];
    const second = await crew.add('http-worker');
    const job = await crawlOf(hosts);
    await until(async () => expect((await site.counts()).total).toBeGreaterThan(hosts.length * 5));
    for (const old of [heir, second]) {
      old.signal('SIGTERM');
      expect(await old.ended, old.output()).toBe(0);
      expect(old.lines('stopped')).toHaveLength(1);
      // The process has released its hosts, so that the next owner need not wait for its leases.
      expect([...(await owners()).values()]).not.toContain(old.pid);
      heir = await crew.add('http-worker');
    }
    const newApi = await crew.add('api');
    const oldApi = api;
    api = newApi;
    oldApi.signal('SIGTERM');
    expect(await oldApi.ended).toBe(0);
    expect((await client.get(`/v1/jobs/${job}`)).status).toBe(200);

    await expectWhole(job, hosts.length);
    const { urls } = await site.counts();
    // Each owner reads the rules of a host for itself when they are not in the store yet.
    const twice = Object.entries(urls).filter(([url, count]) => count > 1 && !url.endsWith('/robots.txt'));
    expect(twice).toEqual([]);
    const log = await site.entries();
    for (const n of hosts) expectPolite(heardBy(log, n));
  });
});

describe('hosts beside each other', { timeout: LIMIT_MS }, () => {
  const slowPages = (n: number, count: number, ms: number) =>
    Array.from({ length: count }, (_, at) => `${site.hostUrl(n)}/slow/late/${ms}?page=${at}`);

  it('a huge slow one does not keep the others from being crawled', async () => {
    const slow = await client.accept('/v1/batch', { urls: slowPages(10, 2_000, 1_000) });
    await until(async () => expect(heardBy(await site.entries(), 10)).not.toEqual([]));
    const quick = await crawlOf([12, 13]);
    await expectWhole(quick, 2);
    const { body } = await client.get(`/v1/jobs/${slow}`);
    expect(body.data).toMatchObject({ status: 'running', progress: { known: 2_000, failed: 0 } });
  });

  it('one that the policy allows 32 connections has 32 at once, and never more', async () => {
    const job = await client.accept('/v1/batch', { urls: slowPages(11, 128, 1_000) });
    expect(await client.ended(job)).toMatchObject({ status: 'completed', progress: { pages: 128 } });
    const most = heardBy(await site.entries(), 11).map(({ inFlight }) => inFlight);
    expect(Math.max(...most)).toBe(32);
  });
});
