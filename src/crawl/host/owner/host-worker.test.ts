import type { ServerResponse } from 'node:http';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSessions } from '../../../capabilities/sessions/sessions.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Job } from '../../../core/model/job.ts';
import { createMetrics } from '../../../core/observe/metrics.ts';
import type { Completion } from '../../../core/ports/ledger-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import { createBusLocal } from '../../../drivers/bus-local/bus-local.ts';
import { createQueueLocal } from '../../../drivers/queue-local/queue-local.ts';
import { createByteBudget } from '../../../fetch/byte-budget.ts';
import { createHttpEngine } from '../../../fetch/http/http-engine.ts';
import { serve, testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { createSteadyClock } from '../../../lib/steady-clock.ts';
import { createKnownUrls } from '../../frontier/known-urls.ts';
import { createLedger, type Ledger } from '../../ledger/ledger.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../../policy/policies.ts';
import { sentPoints } from '../../politeness/sent-requests.ts';
import { compileRules } from '../../read/find-tasks.ts';
import type { PageReader } from '../../read/page-reading.ts';
import { readPageTask } from '../../read/read-page.ts';
import { createRobotsCache } from '../../robots/robots-cache.ts';
import { addJob, hostOf, listeningLogger, openStore } from '../process/claimed-task.fixture.ts';
import { httpResources } from '../process/fetch-resources.fixture.ts';
import { createQuarantine } from '../process/quarantine.ts';
import { createRunningJobs } from '../process/running-job.ts';
import { createSlots, type Slots } from '../process/slots.ts';
import { createHostWorker, type HostWorkerOptions } from './host-worker.ts';

const NEVER_MS = 1_000_000;
const LONG_MS = 20_000;
/** Renewed three times as often; a busy machine must not lose it by itself. */
const SHORT_LEASE_MS = 600;

/** One store per test: what one worker leaves behind must not be another's work. */
let store: Store;
/** What the store's clock is ahead by. */
let storeAheadMs = 0;
/** The store's clock; a test may put another in its place. */
let storeNow: () => number;
const stores: Store[] = [];
beforeEach(async () => {
  storeAheadMs = 0;
  storeNow = () => Date.now() + storeAheadMs;
  store = await openStore(() => storeNow());
  stores.push(store);
});
afterAll(() => Promise.all(stores.map((each) => each.close())));

const here: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  isHolding: false,
  close: async () => {},
  read: async (request) => ({ ...readPageTask(request, compileRules(request.job)), ms: 1 }),
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
    batchDelayMs: 1,
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
    resources: httpResources(engine),
    reader: here,
    robots: createRobotsCache({ store, engine, now: Date.now }),
    jobs,
    slots: createSlots(64),
    quarantine: createQuarantine(Date.now),
    policies: () => policies,
    isContended: () => false,
    now: Date.now,
    clock: createSteadyClock(),
    random: Math.random,
    taskTimeoutMs: 60_000,
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
  addJob(store, urls, { kind: 'batch', ...changes });
async function look(job: Job): Promise<Job> {
  const found = await store.getJob(job.id);
  if (found === null) throw new Error('The job is gone.');
  return found;
}
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 5, timeout: 20_000 });
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

  it('stores how many requests it has sent while it goes on with the host, and when it releases it', async () => {
    const { origin, host, paths, held, letGo } = await site();
    const job = await addNow(['/a', '/b', '/held'].map((path) => origin + path));
    // Stored after a second for the first time; a lease that a busy machine loses would mean further requests.
    const { worker: it } = worker({ leaseMs: 3_000 });
    await it.start();
    const counted = async () => {
      const points = sentPoints((await store.getHost(host))?.state.sent, Date.now());
      return points.reduce((sum, { requests }) => sum + requests, 0);
    };
    await soon(() => expect(held).toHaveLength(1));
    // The request for robots.txt counts as well.
    await soon(async () => expect(await counted()).toBe(4));
    expect([it.owns(host), paths.toSorted()]).toEqual([true, ['/a', '/b', '/held']]);
    letGo();
    await ended(job);
    await soon(() => expect(it.owns(host)).toBe(false));
    expect([await counted(), (await store.getHost(host))?.state.requests]).toEqual([4, 4]);
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

describe('an unexpected error', () => {
  const POISON = '/poison';
  const bug = () => new TypeError('a bug that no part foresaw');
  let engine: ReturnType<typeof testEngine>;
  beforeEach(() => {
    engine = createHttpEngine({ userAgent: 'TestBot/1', allowPrivate: true });
    return () => engine.close();
  });

  /** Parts of a worker with a bug that only the poisonous URL meets, by the place of the bug. */
  const bugs: Readonly<Record<string, () => Partial<HostWorkerOptions>>> = {
    'in the engine': () => ({
      resources: httpResources({
        ...engine,
        fetch: (request) => (request.url.endsWith(POISON) ? Promise.reject(bug()) : engine.fetch(request)),
      }),
    }),
    'in the reader': () => ({
      reader: {
        ...here,
        read: (request) => (request.task.url.endsWith(POISON) ? Promise.reject(bug()) : here.read(request)),
      },
    }),
    'in the rules of robots.txt': () => {
      const robots = createRobotsCache({ store, engine, now: Date.now });
      return {
        robots: {
          ...robots,
          recall(origin) {
            const known = robots.recall(origin);
            if (known === null) return null;
            const allows: typeof known.allows = (path) => {
              if (path === POISON) throw bug();
              return known.allows(path);
            };
            return { ...known, allows };
          },
        },
      };
    },
  };

  const noDelay = { random: () => 0 };
  const entryOf = async (job: Job, path: string) => {
    const { items } = await store.listTasks({ jobId: job.id, limit: 100 });
    return items.find(({ url }) => url.endsWith(path));
  };
  const INTERNAL = { outcome: 'error', errorCode: 'INTERNAL' };

  it.each(Object.keys(bugs))('%s counts as an attempt of its task, and the others go on', async (place) => {
    const { origin, paths } = await site();
    const urls = [POISON, ...Array.from({ length: 40 }, (_, index) => `/${index}`)].map(
      (path) => origin + path,
    );
    const slots = createSlots(64);
    const job = await addNow(urls);
    const { worker: it, lines } = worker({ ...noDelay, slots, ...bugs[place]?.() });
    await it.start();
    expect((await ended(job)).counters).toMatchObject({ done: 40, failed: 1, claimed: 0 });
    const entry = await entryOf(job, POISON);
    expect(entry).toMatchObject({
      state: 'failed',
      errorCode: 'INTERNAL',
      attempts: [INTERNAL, INTERNAL, INTERNAL],
    });
    expect(entry?.attempts[0]?.evidence).toContain('the log has the details');
    expect(paths.filter((path) => path === POISON).length).toBeLessThanOrEqual(3);
    const told = lines.filter((line) => line.includes('task failed unexpectedly'));
    expect(told).toHaveLength(3);
    expect(told[0]).toContain('a bug that no part foresaw');
    expect(told[0]).toContain('host-worker.test.ts');
    const { items } = await store.listPages({ jobId: job.id, limit: 100 });
    const page = items.find(({ url }) => url.endsWith(POISON));
    expect(page).toMatchObject({ errorCode: 'INTERNAL', statusCode: null });
    await soon(() => expect(slots.taken).toBe(0));
  });

  it('before a way is chosen counts too, and jobs on the same host that do not meet it go on', async () => {
    const { origin } = await site();
    const poisoned = await addNow([origin + POISON], { page: { session: 'poison' } });
    const other = await addNow(['/a', '/b'].map((path) => origin + path));
    const real = httpResources(engine);
    const begin = () => Promise.reject(bug());
    const resources = { ...real, sessions: { ...real.sessions, begin } };
    await worker({ ...noDelay, resources }).worker.start();
    expect((await ended(other)).counters).toMatchObject({ done: 2 });
    expect((await ended(poisoned)).counters).toMatchObject({ failed: 1 });
    expect(await entryOf(poisoned, POISON)).toMatchObject({
      errorCode: 'INTERNAL',
      attempts: [INTERNAL, INTERNAL, INTERNAL],
    });
  });

  it('gives the place of its request at the host back', async () => {
    const { origin } = await site();
    const urls = [POISON, '/a', '/b'].map((path) => origin + path);
    const one = buildPolicies({ ...EMPTY_POLICY_FILE, default: { ratePerSecond: null, concurrency: 1 } });
    const job = await addNow(urls);
    await worker({ ...noDelay, ...bugs['in the engine']?.(), policies: () => one }).worker.start();
    expect((await ended(job)).counters).toMatchObject({ done: 2, failed: 1 });
  });

  it('is counted by the next owner too', async () => {
    const { origin } = await site();
    const job = await addNow([origin + POISON], { page: { maxAttempts: 2 } });
    const later = { random: () => 0.999 };
    const first = worker({ ...later, ...bugs['in the engine']?.() }).worker;
    await first.start();
    await soon(async () => expect((await entryOf(job, POISON))?.attempts).toHaveLength(1));
    await first.stop(LONG_MS);
    expect(await entryOf(job, POISON)).toMatchObject({ state: 'waiting', rule: 'retry:INTERNAL' });
    const second = worker({ owner: 'the next one', sweepMs: 20, ...bugs['in the engine']?.() }).worker;
    await second.start();
    expect((await ended(job)).counters).toMatchObject({ failed: 1 });
    expect(await entryOf(job, POISON)).toMatchObject({
      errorCode: 'INTERNAL',
      attempts: [INTERNAL, INTERNAL],
    });
  });

  it('of a commit counts as well, where nothing else can be written of the task', async () => {
    const { origin } = await site();
    const job = await addNow([POISON, '/a', '/b'].map((path) => origin + path));
    const { worker: it } = worker({
      ...noDelay,
      ledger: buggyLedger(({ page }) => page?.url.endsWith(POISON) === true && page.errorCode === null),
    });
    await it.start();
    expect((await ended(job)).counters).toMatchObject({ done: 2, failed: 1 });
    expect(await entryOf(job, POISON)).toMatchObject({ errorCode: 'INTERNAL' });
  });

  /** A ledger that fails before it hands on what is chosen. */
  function buggyLedger(isHit: (completion: Completion) => boolean): Ledger {
    const { logger } = listeningLogger();
    const ledger = createLedger({
      store,
      now: Date.now,
      known: createKnownUrls(),
      logger,
      metrics: createMetrics({ withProcess: false }),
      batchDelayMs: 1,
      onCommit: () => undefined,
    });
    return {
      ...ledger,
      get backlog() {
        return ledger.backlog;
      },
      write: (completion, isAwaited) =>
        isHit(completion) ? Promise.reject(bug()) : ledger.write(completion, isAwaited),
    };
  }

  it('that every task meets makes the host wait, and longer each time', async () => {
    const { origin } = await site();
    await addNow(
      Array.from({ length: 60 }, (_, index) => `${origin}/${index}`),
      { page: { maxAttempts: 10 } },
    );
    const releases: { faults: number | undefined; pauseMs: number }[] = [];
    const watched: Store = {
      ...store,
      releaseHost(lease, state, notBefore) {
        releases.push({ faults: state.faults, pauseMs: notBefore - time });
        return store.releaseHost(lease, state, notBefore);
      },
    };
    const broken = httpResources({ ...engine, fetch: () => Promise.reject(bug()) });
    let time = Date.now();
    storeNow = () => time;
    const parts = { store: watched, resources: broken, policies: noRobots, now: () => time };
    const { worker: first } = worker(parts);
    await first.start();
    await soon(() => expect(releases).toHaveLength(1));
    time += 999;
    expect(await store.offerHosts(10)).toEqual([]);
    await first.stop(1);
    time += 10_000;
    await worker(parts).worker.start();
    await soon(() => expect(releases).toHaveLength(2));
    expect(releases).toEqual([
      { faults: 1, pauseMs: 1_000 },
      { faults: 2, pauseMs: 2_000 },
    ]);
  });

  const unobeyed = buildPolicies({
    ...EMPTY_POLICY_FILE,
    default: { ratePerSecond: null, concurrency: 8, robots: 'ignore' },
  });
  const noRobots = () => unobeyed;

  it('in the slice itself makes the host wait and gives it back', async () => {
    const { origin, host } = await site();
    await addNow([`${origin}/a`]);
    const policies = buildPolicies(EMPTY_POLICY_FILE);
    const broken = {
      ...policies,
      policyFor: () => {
        throw bug();
      },
    };
    const { worker: it, lines } = worker({ policies: () => broken });
    await it.start();
    await soon(async () => expect((await store.getHost(host))?.state.faults).toBe(1));
    expect(await store.getHost(host)).toMatchObject({ owner: null });
    expect(lines.join()).toContain('slice failed unexpectedly');
  });

  it('that keeps robots.txt from being read ends its tasks instead of asking for ever', async () => {
    const { origin } = await site();
    const robots = createRobotsCache({ store, engine, now: Date.now });
    const broken = { ...robots, ask: () => Promise.reject(bug()) };
    const job = await addNow([`${origin}/a`], { kind: 'scrape' });
    await worker({ robots: broken }).worker.start();
    expect((await ended(job)).counters).toMatchObject({ failed: 1 });
    expect(await entryOf(job, '/a')).toMatchObject({ errorCode: 'INTERNAL' });
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
    const [, lease] = await Promise.all([
      store.releaseAllHosts(),
      store.acquireHost(host, 'another', LONG_MS),
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
    const [task] = await store.claimTasks(lease, 10, []);
    await soon(() => expect(it.owns(host)).toBe(false));
    await soon(() => expect(gone).toEqual(['/held']));
    expect(lines.join()).toContain('lease lost');
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
    expect(lines.join()).toContain('lease not renewed in time');
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

describe('a wall clock that is set while hosts are owned', () => {
  const HOUR_MS = 3_600_000;

  /** A machine whose wall clock the test sets. */
  function machine() {
    const wall = { aheadMs: 0 };
    const clock = createSteadyClock({
      monotonicMs: () => performance.now(),
      wallMs: () => Date.now() + wall.aheadMs,
      sinceBootMs: () => performance.now(),
    });
    return { wall, clock };
  }

  /** A store whose renewals wait until the test lets them. */
  function heldRenewals() {
    const waiting: (() => void)[] = [];
    const held: Store = {
      ...store,
      async renewHosts(...call) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return store.renewHosts(...call);
      },
    };
    return { store: held, waiting };
  }

  it.each([HOUR_MS, -HOUR_MS])(
    'by %i ms ends nothing that is under way, and the work goes on',
    async (stepMs) => {
      const { origin, host, held, gone, letGo, paths } = await site();
      const first = await addNow([`${origin}/held`]);
      const { wall, clock } = machine();
      const { worker: it, bus, lines } = worker({ clock });
      await it.start();
      await soon(() => expect(held).toHaveLength(1));
      wall.aheadMs = stepMs;
      const second = await addNow([`${origin}/b`]);
      bus.publish('host.ready', { hosts: [host] });
      expect((await ended(second)).status).toBe('completed');
      letGo();
      expect((await ended(first)).status).toBe('completed');
      expect([gone, paths, lines]).toEqual([[], ['/held', '/b'], []]);
    },
  );

  it('forward: nothing is sent before the store has confirmed the lease', async () => {
    const { origin, host, held, gone, letGo, paths } = await site();
    const first = await addNow([`${origin}/held`]);
    const { wall, clock } = machine();
    const renewals = heldRenewals();
    const { worker: it, bus } = worker({ clock, store: renewals.store });
    await it.start();
    await soon(() => expect(held).toHaveLength(1));
    wall.aheadMs = HOUR_MS;
    const second = await addNow([`${origin}/b`]);
    bus.publish('host.ready', { hosts: [host] });
    await soon(async () => expect((await look(second)).counters.claimed).toBe(1));
    await soon(() => expect(renewals.waiting).toHaveLength(1));
    expect([paths, gone]).toEqual([['/held'], []]);
    renewals.waiting[0]?.();
    expect((await ended(second)).status).toBe('completed');
    letGo();
    expect((await ended(first)).status).toBe('completed');
    expect(gone).toEqual([]);
  });

  it('forward: what is under way ends when the store does not confirm the lease', async () => {
    const { origin, host, held, gone, paths } = await site();
    await addNow([`${origin}/held`]);
    const { wall, clock } = machine();
    const cutOff: Store = { ...store, renewHosts: () => Promise.reject(new Error('no way to the store')) };
    const { worker: it, bus, lines } = worker({ clock, store: cutOff });
    await it.start();
    await soon(() => expect(held).toHaveLength(1));
    wall.aheadMs = HOUR_MS;
    const second = await addNow([`${origin}/b`]);
    bus.publish('host.ready', { hosts: [host] });
    await soon(() => expect(gone).toEqual(['/held']));
    await soon(() => expect(it.owns(host)).toBe(false));
    expect(lines.join()).toContain('lease not renewed in time');
    expect(paths).toEqual(['/held']);
    expect((await look(second)).counters).toMatchObject({ done: 0, open: 1 });
  });

  it('back: a lease that cannot be renewed still ends in time', async () => {
    const { origin, host, held, gone } = await site();
    await addNow([`${origin}/held`]);
    const { wall, clock } = machine();
    const cutOff: Store = { ...store, renewHosts: () => Promise.reject(new Error('no way to the store')) };
    const { worker: it } = worker({ clock, store: cutOff, leaseMs: SHORT_LEASE_MS });
    await it.start();
    await soon(() => expect(held).toHaveLength(1));
    wall.aheadMs = -HOUR_MS;
    await soon(() => expect(gone).toEqual(['/held']));
    await soon(() => expect(it.owns(host)).toBe(false));
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
      whenFree(listener, account) {
        asked.push(listener);
        slots.whenFree(listener, account);
      },
    };
    const engine = testEngine({});
    const { worker: it, queue } = worker({ slots: watched, resources: httpResources(engine, budget) });
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

describe('a request that the store keeps waiting after the gate has admitted it', () => {
  const PAUSE_MS = 50;
  const paced = buildPolicies({
    ...EMPTY_POLICY_FILE,
    default: { ratePerSecond: 1_000 / PAUSE_MS, concurrency: 8 },
  });

  it('is admitted again before it leaves, so that requests do not leave together', async () => {
    const { origin, host, paths } = await site();
    const answers = Promise.withResolvers<void>();
    let waiting = 0;
    let lastAt = 0;
    const stalling: Store = {
      ...store,
      async openSession(session) {
        waiting += 1;
        lastAt = Date.now();
        await answers.promise;
        return store.openSession(session);
      },
    };
    const real = httpResources(testEngine());
    const sessions = createSessions({ store: stalling, vault: null, now: Date.now, hours: 1 });
    const resources = { ...real, sessions, credentials: { forSession: async () => null } };
    const job = await addNow(
      ['/a', '/b', '/c'].map((path) => origin + path),
      { page: { session: 'one' } },
    );
    const { worker: it } = worker({ resources, policies: () => paced });
    await it.start();
    await soon(() => expect(waiting).toBe(3));
    await soon(() => expect(Date.now() - lastAt).toBeGreaterThan(2 * PAUSE_MS));
    answers.resolve();
    expect((await ended(job)).counters).toMatchObject({ done: 3 });
    expect(paths).toHaveLength(3);
    await soon(async () => {
      expect(await store.getHost(host)).toMatchObject({ owner: null });
    });
    // The requests are one for robots.txt, and for each page two admissions: the one that was too old and the one it
    // left with.
    expect(await store.getHost(host)).toMatchObject({ state: { requests: 1 + 3 + 3 } });
  });

  it('robots.txt leaves without another look at the store', async () => {
    const { origin, paths } = await site();
    let looks = 0;
    const looked = Promise.withResolvers<null>();
    const stalling: Store = {
      ...store,
      getRobots: (at) => {
        looks += 1;
        return looks === 1 ? store.getRobots(at) : looked.promise;
      },
    };
    const asked: string[] = [];
    const inner = testEngine();
    const engine: typeof inner = {
      ...inner,
      fetch: (request) => {
        asked.push(new URL(request.url).pathname);
        return inner.fetch(request);
      },
    };
    const robots = createRobotsCache({ store: stalling, engine, now: Date.now });
    const job = await addNow([`${origin}/a`]);
    await worker({ robots }).worker.start();
    await soon(() => expect([asked, looks]).toEqual([['/robots.txt'], 2]));
    looked.resolve(null);
    expect((await ended(job)).counters).toMatchObject({ done: 1 });
    expect(paths).toEqual(['/a']);
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
      whenFree(listener, account) {
        asked += 1;
        slots.whenFree(listener, account);
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
    storeAheadMs = LONG_MS;
    const taken = store.acquireHost(lost.host, 'another', LONG_MS);
    storeAheadMs = 0;
    expect(await taken).not.toBeNull();
    await soon(() => expect(it.owns(lost.host)).toBe(false));
    busy.letGo();
    await soon(() => expect(patient.held).toHaveLength(1));
    patient.letGo();
    for (const job of [jobs[0], jobs[2]]) if (job !== undefined) await ended(job);
  });
});
