import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { maxInWindow } from '../site/max-in-window.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import type { LogEntry } from '../site/request-log.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 180_000;
const HOUR_MS = 3_600_000;
const LEASE_MS = 12_000;
const PAGES = 240;
const RATE = 8;
const until = <T>(condition: () => Promise<T>, timeout = 60_000) =>
  vi.waitFor(condition, { timeout, interval: 100 });

let site: RemoteSite;
let crew: Crew;
let client: ApiClient;
let api: CrewMember;
let scheduler: CrewMember;
beforeAll(async () => {
  site = await spawnSite({ pages: PAGES });
  const quicker = [5, 6, 7, 8].map((n) => `"${new URL(site.hostUrl(n)).host}": { rate: ${2 * RATE} }`);
  crew = await gatherCrew({
    policy: `default: { rate: ${RATE}, burst: 1, concurrency: 2 }\ndomains: { ${quicker.join(', ')} }\n`,
    settings: { hostLeaseMs: LEASE_MS },
  });
  api = await crew.add('api', {}, { canStep: true });
  client = createApiClient(() => api.origin, crew.apiKey);
  scheduler = await crew.add('scheduler', {}, { canStep: true });
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await site?.close();
}, LIMIT_MS);

const addWorker = (name: string) =>
  crew.add('http-worker', { maxHosts: 8, contact: `https://${name}.example/` }, { canStep: true });
const crawlOf = (hosts: readonly number[]) =>
  client.accept('/v1/crawl', {
    urls: hosts.map((n) => `${site.hostUrl(n)}/big/`),
    sitemap: 'skip',
    maxPages: null,
    // Half an hour: a clock that is an hour ahead would end it.
    maxDurationMs: HOUR_MS / 2,
  });

interface Held {
  readonly key: string;
  readonly pid: number;
  readonly leaseUntil: number;
  /** By the clock of the database. */
  readonly leftMs: number;
}

async function heldHosts(): Promise<Held[]> {
  const rows = await crew.sql(`
    SELECT key, owner, lease_until, lease_until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS left_ms
    FROM hosts WHERE owner IS NOT NULL`);
  return rows.map(({ key, owner, lease_until, left_ms }) => ({
    key: String(key),
    pid: Number(String(owner).split(':')[1]),
    leaseUntil: Number(lease_until),
    leftMs: Number(left_ms),
  }));
}

const ownsAll = (worker: CrewMember, count: number) =>
  until(async () => {
    const held = (await heldHosts()).filter(({ pid }) => pid === worker.pid);
    expect(held).toHaveLength(count);
    return held;
  });

/** Resolves when the worker has written every one of these leases again; returns them as they are then. */
function renewed(worker: CrewMember, before: readonly Held[]): Promise<Held[]> {
  const was = new Map(before.map(({ key, leaseUntil }) => [key, leaseUntil]));
  return until(async () => {
    const held = (await heldHosts()).filter(({ pid }) => pid === worker.pid);
    for (const { key, leaseUntil } of held) expect(leaseUntil).not.toBe(was.get(key));
    expect(held).toHaveLength(before.length);
    return held;
  });
}

/** Empties the fleet's part of Redis, as a flush would all of it. */
async function flushRedis(): Promise<void> {
  const redis = new Redis(crew.place.redisUrl);
  try {
    const script = `for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end`;
    await redis.eval(script, 0, `${crew.place.redisPrefix}*`);
  } finally {
    redis.disconnect();
  }
}

const heardBy = (log: readonly LogEntry[], n: number) =>
  log.filter(({ host }) => host === new URL(site.hostUrl(n)).host);

/** Pairs of requests to one host that two workers had under way at the same time. */
function sharedMoments(entries: readonly LogEntry[]): string[] {
  const agentOf = ({ headers }: LogEntry) => String(headers['user-agent']);
  return entries.flatMap((one, index) =>
    entries
      .slice(index + 1)
      .filter((other) => agentOf(other) !== agentOf(one) && other.at < (one.endedAt ?? other.at))
      .map((other) => `${one.path} and ${other.path}`),
  );
}

async function expectWhole(job: string, hosts: readonly number[]): Promise<void> {
  expect(await client.ended(job, 150_000)).toMatchObject({
    status: 'completed',
    stopReason: null,
    progress: { known: hosts.length * PAGES, open: 0, pages: hosts.length * PAGES, failed: 0 },
  });
}

describe('wall clocks that are set by an hour while the processes run', { timeout: LIMIT_MS }, () => {
  it('cost no living lease, no page and no politeness, also when Redis is emptied', async () => {
    const hosts = [1, 2, 3, 4];
    const owner = await addWorker('owner');
    const job = await crawlOf(hosts);
    let held = await ownsAll(owner, hosts.length);
    // Has nothing to do, and looks for hosts without an owner.
    const other = await addWorker('other');
    for (const aheadMs of [-HOUR_MS, HOUR_MS]) {
      owner.stepClock(-aheadMs);
      for (const one of [other, scheduler, api]) one.stepClock(aheadMs);
      await flushRedis();
      held = await renewed(owner, held);
      for (const { leftMs } of held) {
        expect(leftMs).toBeGreaterThan(0);
        expect(leftMs).toBeLessThanOrEqual(LEASE_MS);
      }
      expect(new Set((await heldHosts()).map(({ pid }) => pid))).toEqual(new Set([owner.pid]));
    }
    await expectWhole(job, hosts);
    for (const worker of [owner, other]) expect(worker.output()).not.toMatch(/lease (?:lost|not renewed)/);
    const { urls } = await site.counts();
    expect(Object.values(urls).filter((count) => count > 1)).toEqual([]);
    const log = await site.entries();
    for (const n of hosts) {
      const entries = heardBy(log, n);
      expect(entries).toHaveLength(PAGES + 1);
      expect(sharedMoments(entries)).toEqual([]);
      // Over five seconds: a busy machine holds single requests up, which crowds one second and not five.
      expect(maxInWindow(entries, 5_000)).toBeLessThanOrEqual(5 * RATE + 1);
    }
    for (const worker of [owner, other]) worker.signal('SIGTERM');
    await Promise.all([owner.ended, other.ended]);
  });

  it('leave no host leased for longer than a lease when their process is killed', async () => {
    const hosts = [5, 6, 7, 8];
    const doomed = await addWorker('doomed');
    const job = await crawlOf(hosts);
    const held = await ownsAll(doomed, hosts.length);
    doomed.stepClock(HOUR_MS);
    const after = await renewed(doomed, held);
    doomed.signal('SIGKILL');
    await doomed.ended;
    for (const { leftMs } of after) expect(leftMs).toBeLessThanOrEqual(LEASE_MS);
    await addWorker('heir');
    await expectWhole(job, hosts);
    const log = await site.entries();
    for (const n of hosts) expect(sharedMoments(heardBy(log, n))).toEqual([]);
  });
});
