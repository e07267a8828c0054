import { createServer, type RequestListener, type Server } from 'node:http';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Job } from '../../../core/model/job.ts';
import { createMetrics } from '../../../core/observe/metrics.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { Store } from '../../../core/ports/store.ts';
import { createBusLocal } from '../../../drivers/bus-local/bus-local.ts';
import { createQueueLocal } from '../../../drivers/queue-local/queue-local.ts';
import { createByteBudget } from '../../../fetch/byte-budget.ts';
import { serve, testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { proxyEndpointFromUrl } from '../../../fetch/proxy/checked-proxy.ts';
import { createSteadyClock } from '../../../lib/steady-clock.ts';
import { createKnownUrls } from '../../frontier/known-urls.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../../policy/policies.ts';
import { compileRules } from '../../read/find-tasks.ts';
import type { PageReader } from '../../read/page-reading.ts';
import { readPageTask } from '../../read/read-page.ts';
import { createRobotsCache } from '../../robots/robots-cache.ts';
import {
  addJob,
  hostOf,
  type JobChanges,
  listeningLogger,
  openStore,
} from '../process/claimed-task.fixture.ts';
import { httpResources } from '../process/fetch-resources.fixture.ts';
import { createQuarantine } from '../process/quarantine.ts';
import { createRunningJobs } from '../process/running-job.ts';
import { createSlots } from '../process/slots.ts';
import { createHostWorker } from './host-worker.ts';

const LONG_MS = 30_000;
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 5, timeout: 20_000 });

let store: Store;
const stores: Store[] = [];
beforeEach(async () => {
  store = await openStore(() => Date.now());
  stores.push(store);
});
afterAll(() => Promise.all(stores.map((each) => each.close())));

const reader: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  isHolding: false,
  close: async () => {},
  read: async (request) => ({ ...readPageTask(request, compileRules(request.job)), ms: 1 }),
};

/** A worker that may use callers' proxies. The policy allows one request at a time, as fast as they are answered. */
async function startWorker(): Promise<Bus> {
  const { logger, lines } = listeningLogger();
  const onError = (error: unknown) => void lines.push(String(error));
  const bus = createBusLocal({ onListenerError: onError });
  const metrics = createMetrics({ withProcess: false });
  const engine = testEngine();
  const policies = buildPolicies({ ...EMPTY_POLICY_FILE, default: { ratePerSecond: 1_000, concurrency: 1 } });
  const worker = createHostWorker({
    ...{ store, bus, reader, logger, metrics, now: Date.now, random: Math.random, taskTimeoutMs: 60_000 },
    queue: createQueueLocal({ onHandlerError: onError }),
    ledger: createLedger({
      ...{ store, logger, metrics, now: Date.now },
      known: createKnownUrls(),
      batchDelayMs: 1,
      onCommit(receipt) {
        const hosts = receipt.readyHosts.map(({ key }) => key);
        if (hosts.length > 0) bus.publish('host.ready', { hosts });
      },
    }),
    resources: { ...httpResources(engine, createByteBudget(1_000_000_000)), ownProxy: proxyEndpointFromUrl },
    robots: createRobotsCache({ store, engine, now: Date.now }),
    jobs: createRunningJobs(store),
    slots: createSlots(64),
    quarantine: createQuarantine(Date.now),
    policies: () => policies,
    isContended: () => false,
    owner: 'this one',
    maxHosts: 16,
    clock: createSteadyClock(),
    leaseMs: 600_000,
    sweepMs: 50,
  });
  onTestFinished(() => worker.stop(1));
  await worker.start();
  return bus;
}

/** A proxy that opens no connection and answers in the name of every host. */
async function lyingProxy(answer: RequestListener): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const behind = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  const server: Server = createServer();
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    behind.emit('connection', socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    behind.closeAllConnections();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, asked };
}

/** Serves the real host, which the proxy of the caller pretends to be. */
const realSite = () =>
  serve((request, response) => {
    if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /closed\n');
    else response.end(`<title>real ${request.url}</title>`);
  });

const own = (url: string): NonNullable<JobChanges['page']> => ({ proxy: { url, tier: null, country: null } });
const add = (urls: readonly string[], page: JobChanges['page'] = {}) =>
  addJob(store, urls, { kind: 'batch', createdAt: Date.now(), page: { maxAttempts: 1, ...page } });
const ended = (job: Job) => soon(async () => expect((await store.getJob(job.id))?.finishedAt).not.toBeNull());
const titlesOf = async (job: Job) =>
  (await store.listPages({ jobId: job.id, limit: 10 })).items.map(({ title }) => title);

describe("what a caller's own proxy answers in the name of a host", () => {
  it(
    'as robots.txt keeps no other job out, and is not stored',
    async () => {
      const { origin } = await realSite();
      const { url } = await lyingProxy((request, response) => {
        if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /\n');
        else response.end('<title>lie</title>');
      });
      await startWorker();
      const liar = await add([`${origin}/a`], own(url));
      await ended(liar);
      expect((await store.getJob(liar.id))?.counters).toMatchObject({ denied: 1 });
      expect(await store.getRobots(origin)).toBeNull();
      const other = await add([`${origin}/b`, `${origin}/closed`]);
      await ended(other);
      expect(await titlesOf(other)).toEqual(['real /b']);
      expect((await store.getRobots(origin))?.body).toContain('/closed');
    },
    LONG_MS,
  );

  it(
    'cannot lift the rules of a robots.txt that is known from the host itself',
    async () => {
      const { origin } = await realSite();
      const { url, asked } = await lyingProxy((_, response) => void response.end('<title>lie</title>'));
      await startWorker();
      await ended(await add([`${origin}/a`]));
      const liar = await add([`${origin}/closed`], own(url));
      await ended(liar);
      expect((await store.getJob(liar.id))?.counters).toMatchObject({ denied: 1, pages: 0 });
      expect(asked).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'as 429 with Retry-After pauses that job and no other, and neither slows the host down nor opens its breaker',
    async () => {
      const { origin } = await realSite();
      const { url, asked } = await lyingProxy((request, response) => {
        if (request.url === '/robots.txt') response.writeHead(404).end();
        else response.writeHead(429, { 'retry-after': '86400' }).end();
      });
      await startWorker();
      const liar = await add(
        ['/1', '/2', '/3', '/4', '/5', '/6'].map((path) => origin + path),
        own(url),
      );
      await soon(async () => {
        const { items } = await store.listTasks({ jobId: liar.id, limit: 10 });
        expect(items.filter(({ state }) => state === 'waiting')).toHaveLength(5);
      });
      expect(asked.filter((path) => path !== '/robots.txt')).toHaveLength(1);
      const other = await add([`${origin}/b`]);
      await ended(other);
      expect(await titlesOf(other)).toEqual(['real /b']);
      await soon(async () => {
        const host = await store.getHost(hostOf(origin));
        expect(host?.state).toMatchObject({ blockedUntil: 0, rateFactor: 1, failures: 0 });
        expect(host?.state.breaker.phase).toBe('closed');
        // Robots.txt and a page of each job.
        expect(host?.state.requests).toBe(4);
      });
    },
    LONG_MS,
  );

  it(
    'as failures opens a breaker for that job alone',
    async () => {
      const { origin } = await realSite();
      const { url, asked } = await lyingProxy((_, response) => void response.writeHead(500).end());
      await startWorker();
      const paths = Array.from({ length: 12 }, (_, index) => `${origin}/${index}`);
      const liar = await add(paths, { ...own(url), obeyRobots: true });
      await soon(() => expect(asked.length).toBeGreaterThan(0));
      const other = await add([`${origin}/b`]);
      await ended(other);
      expect(await titlesOf(other)).toEqual(['real /b']);
      await soon(async () => expect((await store.getHost(hostOf(origin)))?.state.failures).toBe(0));
      expect((await store.getJob(liar.id))?.counters.pages).toBe(0);
    },
    LONG_MS,
  );

  it(
    'never keeps other jobs of the host waiting, though the host takes one request at a time',
    async () => {
      const { origin } = await realSite();
      const { url, asked } = await lyingProxy(() => undefined);
      const bus = await startWorker();
      await add([`${origin}/a`, `${origin}/c`], { ...own(url), timeoutMs: 600_000 });
      await soon(() => expect(asked).toEqual(['/robots.txt']));
      for (const path of ['/b', '/d']) {
        const other = await add([origin + path]);
        bus.publish('host.ready', { hosts: [hostOf(origin)] });
        await ended(other);
        expect(await titlesOf(other)).toEqual([`real ${path}`]);
      }
    },
    LONG_MS,
  );
});

describe("a caller's own time limit", () => {
  it(
    'that a slow host does not keep opens a breaker for that job alone',
    async () => {
      const { origin } = await serve((request, response) => {
        if (request.url === '/robots.txt') response.writeHead(404).end();
        else if (request.url?.startsWith('/slow') !== true)
          response.end(`<title>real ${request.url}</title>`);
      });
      await startWorker();
      const paths = Array.from({ length: 8 }, (_, index) => `${origin}/slow/${index}`);
      const hasty = await add(paths, { timeoutMs: 100 });
      await soon(async () => {
        const { items } = await store.listTasks({ jobId: hasty.id, limit: 10 });
        const waiting = items.filter(({ rule }) => rule === 'own-time-limit.paused');
        expect([items.filter(({ state }) => state === 'failed').length, waiting.length]).toEqual([5, 3]);
      });
      const other = await add([`${origin}/b`]);
      await ended(other);
      expect(await titlesOf(other)).toEqual(['real /b']);
      await soon(async () => {
        const host = await store.getHost(hostOf(origin));
        expect(host?.state).toMatchObject({ failures: 0, breaker: { phase: 'closed' } });
      });
    },
    LONG_MS,
  );
});
