import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBusLocal } from '../drivers/bus-local/bus-local.ts';
import { createQueueLocal } from '../drivers/queue-local/queue-local.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { createByteBudget } from '../fetch/byte-budget.ts';
import { serve, testEngine } from '../fetch/http/loopback.fixture.ts';
import { createKnownUrls } from '../frontier/known-urls.ts';
import { createLedger } from '../ledger/ledger.ts';
import type { Job } from '../model/job.ts';
import { createMetrics } from '../observe/metrics.ts';
import { compileRules } from '../pages/find-tasks.ts';
import type { PageReader } from '../pages/page-reading.ts';
import { readPage } from '../pages/read-page.ts';
import type { Store } from '../ports/store.ts';
import { addJob, hostOf, listeningLogger, openStore } from './claimed-task.fixture.ts';
import { createHostWorker, type HostWorkerOptions } from './host-worker.ts';
import { httpMeans } from './means.fixture.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from './policies.ts';
import { createRobotsCache } from './robots-cache.ts';
import { createRunningJobs } from './running-job.ts';
import { createSlots, type Slots } from './slots.ts';

const NEVER_MS = 1_000_000;
const LONG_MS = 20_000;
/** Renewed three times as often; a busy machine must not lose it by itself. */
const SHORT_LEASE_MS = 600;

/** One store per test: what one worker leaves behind must not be another's work. */
let store: Store;
const stores: Store[] = [];
beforeEach(async () => {
  store = await openStore();
  stores.push(store);
});
afterAll(() => Promise.all(stores.map((each) => each.close())));

const here: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  close: async () => {},
  read: async (request) => ({ ...readPage(request, compileRules(request.job)), ms: 1 }),
};

/** A worker over the real parts, as wiring puts them together; it sweeps only when told to. */
function worker(changes: Partial<HostWorkerOptions> = {}) {
  const { logger, lines } = listeningLogger();
  const onError = (error: unknown) => void lines.push(String(error));
  const queue = createQueueLocal({ onHandlerError: onError });
  const bus = createBusLocal({ onListenerError: onError });
  const metrics = createMetrics({ withProcess: false });
  const engine = testEngine();
  const jobs = createRunningJobs(store);
  const policies = buildPolicies({ ...EMPTY_POLICY_FILE, default: { ratePerSecond: null, concurrency: 8 } });
  const ledger = createLedger({
    store,
    now: Date.now,
    known: createKnownUrls(),
    logger,
    metrics,
    companyMs: 1,
    onCommit(receipt) {
      const hosts = receipt.readyHosts.map(({ key }) => key);
      if (hosts.length > 0) bus.publish('host.ready', { hosts });
    },
  });
  const it = createHostWorker({
    store,
    queue,
    bus,
    ledger,
    means: httpMeans(engine),
    reader: here,
    robots: createRobotsCache({ store, engine, now: Date.now }),
    jobs,
    slots: createSlots(64),
    policies: () => policies,
    isContended: () => false,
    now: Date.now,
    random: Math.random,
    logger,
    metrics,
    owner: 'this one',
    maxHosts: 16,
    sweepMs: NEVER_MS,
    ...changes,
  });
  onTestFinished(() => it.stop(1));
  return { worker: it, queue, bus, lines };
}

/** A site whose paths that begin with /held are answered when the test says so. */
async function site() {
  const paths: string[] = [];
  const held: ServerResponse[] = [];
  const gone: string[] = [];
  const { origin } = await serve((request, response) => {
    const { url: path = '' } = request;
    response.on('close', () => {
      if (!response.writableFinished) gone.push(path);
    });
    if (path === '/robots.txt') return void response.writeHead(404).end();
    paths.push(path);
    if (path.startsWith('/held')) held.push(response);
    else response.end(`<title>${path}</title>`);
  });
  const letGo = () => {
    for (const response of held.splice(0)) response.end('<title>at last</title>');
  };
  return { origin, host: hostOf(origin), paths, held, gone, letGo };
}

const addNow = (urls: readonly string[], changes: Parameters<typeof addJob>[2] = {}) =>
  addJob(store, urls, { kind: 'batch', createdAt: Date.now(), ...changes });
async function look(job: Job): Promise<Job> {
  const found = await store.getJob(job.id);
  if (found === null) throw new Error('The job is gone.');
  return found;
}
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 5, timeout: 10_000 });
const ended = (job: Job) =>
  soon(async () => {
    const now = await look(job);
    expect(now.finishedAt).not.toBeNull();
    return now;
  });

describe('a host worker', () => {
  it('takes up what was left over when it starts', async () => {
    const { origin, paths } = await site();
    const job = await addNow(['/a', '/b', '/c'].map((path) => origin + path));
    await worker().worker.start();
    expect(await ended(job)).toMatchObject({ status: 'completed', counters: { done: 3, claimed: 0 } });
    expect(paths.toSorted()).toEqual(['/a', '/b', '/c']);
  });

  it('takes hosts that the queue offers, and passes over those with nothing due', async () => {
    const { origin, host } = await site();
    const { worker: it, queue, lines } = worker();
    await it.start();
    await queue.offer('scrape-http', [{ id: 'nobody.test', rank: 0 }]);
    const job = await addNow([`${origin}/a`]);
    await queue.offer('scrape-http', [{ id: host, rank: 0 }]);
    expect((await ended(job)).status).toBe('completed');
    expect(lines).toEqual([]);
  });

  it('sweeps the store for what no wake-up told it of', async () => {
    const { origin } = await site();
    const { worker: it } = worker({ sweepMs: 5 });
    await it.start();
    expect((await ended(await addNow([`${origin}/a`]))).status).toBe('completed');
  });

  it('notices by a wake-up that a host it owns has new tasks', async () => {
    const { origin, host } = await site();
    const first = await addNow([`${origin}/a`]);
    const { worker: it, bus } = worker();
    await it.start();
    await ended(first);
    expect([it.owns(host), it.activeSlices]).toEqual([true, 1]);
    const second = await addNow([`${origin}/b`]);
    bus.publish('host.ready', { hosts: [host, 'nobody.test'] });
    await ended(second);
  });

  it('gives a host back once a store that was away takes it, not when the lease has run out', async () => {
    const { origin, host } = await site();
    const job = await addNow([`${origin}/a`]);
    let refusals = 0;
    const away: Store = {
      ...store,
      releaseHost: (...args) => {
        refusals += 1;
        if (refusals < 3) return Promise.reject(new ScrapifieError('STORE_UNAVAILABLE', 'away'));
        return store.releaseHost(...args);
      },
    };
    await worker({ store: away }).worker.start();
    await ended(job);
    await soon(async () => expect(await store.getHost(host)).toMatchObject({ owner: null }));
    expect(refusals).toBe(3);
  });

  it('goes on after a sweep that failed', async () => {
    const { origin } = await site();
    let failures = 0;
    const flaky: Store = {
      ...store,
      offerHosts: (...call) => {
        failures += 1;
        if (failures === 2) return Promise.reject(new Error('the store hiccups'));
        return store.offerHosts(...call);
      },
    };
    const { worker: it, lines } = worker({ store: flaky, sweepMs: 5 });
    await it.start();
    await soon(() => expect(failures).toBeGreaterThan(2));
    await ended(await addNow([`${origin}/a`]));
    expect(lines.filter((line) => line.includes('sweeping for hosts failed'))).toHaveLength(1);
  });
});

describe('stopping', () => {
  it('finishes what is under way, starts nothing more and gives the hosts back', async () => {
    const { origin, host, held, letGo, paths } = await site();
    const urls = ['/held/1', '/held/2', '/later'].map((path) => origin + path);
    const job = await addNow(urls, { options: { concurrency: 2 } });
    const { worker: it } = worker();
    await it.start();
    await soon(() => expect(held).toHaveLength(2));
    const stopped = it.stop(LONG_MS);
    letGo();
    await stopped;
    expect([it.owns(host), it.activeSlices, paths.length]).toEqual([false, 0, 2]);
    expect((await store.getHost(host))?.owner).toBeNull();
    expect((await look(job)).counters).toMatchObject({ done: 2, open: 1, claimed: 0 });
  });

  it('gives back what is not finished in time, untried', async () => {
    const { origin, held, gone } = await site();
    const job = await addNow([`${origin}/held`]);
    const { worker: it } = worker();
    await it.start();
    await soon(() => expect(held).toHaveLength(1));
    await it.stop(1);
    expect((await look(job)).counters).toMatchObject({ open: 1, claimed: 0, failed: 0 });
    const { items } = await store.listTasks({ jobId: job.id, limit: 10 });
    expect(items).toMatchObject([{ state: 'ready', attempts: [] }]);
    await soon(() => expect(gone).toEqual(['/held']));
  });

  it('leaves work for the next worker to take up', async () => {
    const { origin, held, letGo } = await site();
    const job = await addNow([`${origin}/held`]);
    const first = worker().worker;
    await first.start();
    await soon(() => expect(held).toHaveLength(1));
    await first.stop(1);
    held.length = 0;
    await worker({ owner: 'the next one' }).worker.start();
    await soon(() => expect(held).toHaveLength(1));
    letGo();
    expect(await ended(job)).toMatchObject({ status: 'completed', counters: { done: 1 } });
  });
});

describe('a lease that is lost', () => {
  /** Another process takes the host, in one step, so that no renewal comes in between. */
  async function takeAway(host: ReturnType<typeof hostOf>) {
    const now = Date.now();
    const [, lease] = await Promise.all([
      store.releaseAllHosts(now),
      store.acquireHost(host, 'another', now, LONG_MS),
    ]);
    if (lease === null) throw new Error('The host could not be taken.');
    return lease;
  }

  it('stops the slice, and what it fetched changes nothing', async () => {
    const { origin, host, held, gone } = await site();
    const job = await addNow([`${origin}/held`]);
    const { worker: it, lines } = worker({ leaseMs: SHORT_LEASE_MS });
    await it.start();
    await soon(() => expect(held).toHaveLength(1));
    const lease = await takeAway(host);
    const [task] = await store.claimTasks(lease, 10, Date.now(), []);
    await soon(() => expect(it.owns(host)).toBe(false));
    await soon(() => expect(gone).toEqual(['/held']));
    expect(lines.join()).toContain('the lease on a host was lost');
    expect(await store.getHost(host)).toMatchObject({ owner: 'another' });
    expect(task?.url).toBe(`${origin}/held`);
    expect((await look(job)).counters).toMatchObject({ claimed: 1, open: 1 });
  });

  it('is noticed at the next write at the latest', async () => {
    const { origin, host, held, letGo } = await site();
    const job = await addNow([`${origin}/held`]);
    const { worker: it } = worker({ leaseMs: NEVER_MS });
    await it.start();
    await soon(() => expect(held).toHaveLength(1));
    await takeAway(host);
    letGo();
    await soon(() => expect(it.owns(host)).toBe(false));
    expect((await look(job)).counters).toMatchObject({ done: 0, open: 1 });
  });
});

describe('a lease that cannot be renewed', () => {
  const cutOff = (): Store => ({
    ...store,
    renewHosts: () => Promise.reject(new Error('no way to the store')),
  });

  it('is not used up to its end: nothing more is sent, and what is under way is given up', async () => {
    const { origin, host, held, gone, paths } = await site();
    await addNow([`${origin}/held`]);
    const { worker: it, lines } = worker({ store: cutOff(), leaseMs: SHORT_LEASE_MS });
    await it.start();
    await soon(() => expect(held).toHaveLength(1));
    const until = Date.now() + SHORT_LEASE_MS;
    await soon(() => expect(Date.now()).toBeGreaterThan(until));
    // News of a task makes it look; it must not send.
    await addNow([`${origin}/b`]);
    await soon(() => expect(it.owns(host)).toBe(false));
    expect(gone).toEqual(['/held']);
    expect(paths).toEqual(['/held']);
    expect(lines.join()).toContain('was not renewed in time');
  });

  it('lets nothing out that was on its way to a connection', async () => {
    const { origin, paths } = await site();
    const engine = testEngine();
    const attempt = engine.fetch({
      url: `${origin}/late`,
      method: 'GET',
      headers: {},
      cookies: {},
      body: null,
      timeoutMs: LONG_MS,
      maxBodyBytes: 1_000,
      maxRedirects: 0,
      conditional: null,
      onRedirect: async () => 'stop',
      mayStart: () => false,
    });
    await expect(attempt).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(paths).toEqual([]);
  });
});

describe('the bytes in flight', () => {
  it('hold back new requests while there are too many, and are given back with each page', async () => {
    const { origin, host, paths } = await site();
    const budget = createByteBudget(1_000);
    const other = budget.open();
    other.take(900);
    const asked: (() => void)[] = [];
    const slots = createSlots(4, budget);
    const watched: Slots = {
      ...slots,
      whenFree(listener) {
        asked.push(listener);
        slots.whenFree(listener);
      },
    };
    const engine = testEngine({});
    const { worker: it, queue } = worker({ slots: watched, means: httpMeans(engine, budget) });
    await it.start();
    const job = await addNow(['/a', '/b', '/c'].map((path) => origin + path));
    await queue.offer('scrape-http', [{ id: host, rank: 0 }]);
    await soon(() => expect(asked.length).toBeGreaterThan(0));
    expect(paths).toEqual([]);
    other.close();
    expect((await ended(job)).counters.done).toBe(3);
    await soon(() => expect(budget.heldBytes).toBe(0));
  });
});

describe('the places of the process', () => {
  /** Slots that count who has asked to be told. */
  function watchedSlots(places: number): Slots & { readonly asked: () => number } {
    const slots = createSlots(places);
    let asked = 0;
    return {
      take: slots.take,
      give: slots.give,
      decline: slots.decline,
      whenFree(listener) {
        asked += 1;
        slots.whenFree(listener);
      },
      get taken() {
        return slots.taken;
      },
      asked: () => asked,
    };
  }

  it('are enough for all hosts, one after the other', async () => {
    const sites = await Promise.all([site(), site(), site()]);
    const urls = sites.flatMap(({ origin }) => ['/a', '/b', '/c'].map((path) => origin + path));
    const job = await addNow(urls);
    const slots = createSlots(1);
    await worker({ slots }).worker.start();
    expect((await ended(job)).counters.done).toBe(9);
    expect(slots.taken).toBe(0);
  });

  it('are not kept for a slice that has ended while it waited for one', async () => {
    const [busy, lost, patient] = [await site(), await site(), await site()];
    const slots = watchedSlots(1);
    const { worker: it, queue } = worker({ slots, leaseMs: SHORT_LEASE_MS });
    await it.start();
    const jobs: Job[] = [];
    for (const [index, each] of [busy, lost, patient].entries()) {
      jobs.push(await addNow([`${each.origin}/held`]));
      await queue.offer('scrape-http', [{ id: each.host, rank: 0 }]);
      if (index === 0) await soon(() => expect(busy.held).toHaveLength(1));
      else await soon(() => expect(slots.asked()).toBeGreaterThanOrEqual(index));
    }
    const now = Date.now();
    const lease = await store.acquireHost(lost.host, 'another', now + LONG_MS, LONG_MS);
    expect(lease).not.toBeNull();
    await soon(() => expect(it.owns(lost.host)).toBe(false));
    busy.letGo();
    await soon(() => expect(patient.held).toHaveLength(1));
    patient.letGo();
    for (const job of [jobs[0], jobs[2]]) if (job !== undefined) await ended(job);
  });
});
