import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMetrics } from '../../../core/observe/metrics.ts';
import type { HostState } from '../../../core/ports/host-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import { serve, testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { createKnownUrls } from '../../frontier/known-urls.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../../policy/policies.ts';
import { noteFailure } from '../../politeness/host-state.ts';
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
  own,
} from '../process/claimed-task.fixture.ts';
import { httpResources } from '../process/fetch-resources.fixture.ts';
import { createQuarantine } from '../process/quarantine.ts';
import { createRunningJobs } from '../process/running-job.ts';
import { createSlots } from '../process/slots.ts';
import { createSlice } from './slice.ts';

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 5, timeout: 20_000 });

const reader: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  isHolding: false,
  close: async () => {},
  read: async (request) => ({ ...readPageTask(request, compileRules(request.job)), ms: 1 }),
};

interface Changes {
  readonly paths: readonly string[];
  readonly job?: JobChanges;
  readonly deny?: boolean;
  readonly store?: (store: Store) => Partial<Store>;
  /** What else stopping a job waits for. */
  readonly stopping?: Promise<void>;
  readonly state?: Partial<HostState>;
  /** Paths that have failed and opened the breaker, which lets a probe pass now. */
  readonly failed?: readonly string[];
}

/** A slice of a site that answers `held` paths only when it is closed. */
async function sliceOf({
  paths,
  job = {},
  deny = false,
  store: changes = () => ({}),
  stopping = Promise.resolve(),
  state = {},
  failed = [],
}: Changes) {
  const inner = await openStore(Date.now);
  onTestFinished(() => inner.close());
  const store: Store = { ...inner, ...changes(inner) };
  const asked: string[] = [];
  const held: ServerResponse[] = [];
  const { origin } = await serve((request, response) => {
    const { url: path = '' } = request;
    if (path === '/robots.txt') return void response.end('User-agent: *\nDisallow: /closed');
    asked.push(path);
    if (path.startsWith('/broken')) response.statusCode = 500;
    if (path.startsWith('/members')) response.statusCode = 401;
    if (path.startsWith('/held')) held.push(response);
    else response.end(`<title>${path}</title>`);
  });
  const letGo = () => {
    for (const response of held.splice(0)) response.end('<title>at last</title>');
  };
  const created = await addJob(
    store,
    paths.map((path) => origin + path),
    { kind: 'batch', ...job },
  );
  const owned = await own(store, hostOf(origin));
  const known = failed.reduce<HostState>(
    (before, path) => noteFailure(before, origin + path, 0),
    owned.state,
  );
  const lease = { ...owned, state: { ...known, ...state } };
  const { logger } = listeningLogger();
  const metrics = createMetrics({ withProcess: false });
  const engine = testEngine();
  const policies = buildPolicies({
    ...EMPTY_POLICY_FILE,
    default: { ratePerSecond: null, concurrency: 8, deny },
  });
  const slots = createSlots(64);
  const losses: string[] = [];
  const slice = createSlice(lease, {
    ...{ store, reader, logger, metrics, slots, now: Date.now, random: () => 0.5 },
    taskTimeoutMs: 60_000,
    ledger: createLedger({
      ...{ store, logger, metrics, now: Date.now, known: createKnownUrls() },
      batchDelayMs: 1,
      onCommit: () => undefined,
    }),
    async stopJob(id, reason) {
      await store.stopJob(id, reason);
      await stopping;
    },
    resources: httpResources(engine),
    robots: createRobotsCache({ store, engine, now: Date.now }),
    jobs: createRunningJobs(store),
    quarantine: createQuarantine(Date.now),
    policies: () => policies,
    // Other hosts wait, so the slice ends as soon as it has nothing to do.
    isContended: () => true,
    isOurs: () => true,
    onLeaseLost: () => void losses.push('lost'),
  });
  const counters = async () => (await store.getJob(created.id))?.counters;
  const host = () => store.getHost(lease.key);
  return { asked, counters, created, host, lease, letGo, losses, slice, slots, store };
}

describe('a slice', () => {
  it('fetches the tasks of its host, stores their ends, and releases the host', async () => {
    const { asked, counters, host, slice, slots } = await sliceOf({ paths: ['/a', '/b', '/closed'] });
    await slice.run();
    expect(asked.toSorted()).toEqual(['/a', '/b']);
    expect(await counters()).toMatchObject({ open: 0, done: 2, denied: 1 });
    expect(await host()).toMatchObject({ owner: null, state: { requests: 3, failures: 0 } });
    expect([slots.taken, slice.isLost]).toEqual([0, false]);
  });

  it('keeps its host until the page that asks to log in is stored, however long stopping the crawl takes', async () => {
    const { promise: stopping, resolve: stop } = Promise.withResolvers<void>();
    const { counters, created, host, slice, store } = await sliceOf({
      ...{ paths: ['/members'], stopping },
      job: { kind: 'crawl', options: { maxLoginWalls: 1 } },
    });
    const running = slice.run();
    await soon(async () => expect((await store.getJob(created.id))?.stopReason).toBe('login-walls'));
    // A slice that believed all of its tasks were stored would be over after as many turns.
    for (let turn = 0; turn < 50; turn += 1) expect((await host())?.owner).not.toBeNull();
    stop();
    await running;
    expect(await counters()).toMatchObject({ known: 1, open: 0, skipped: 0 });
    expect(await host()).toMatchObject({ owner: null });
  });

  it('sends nothing to a host that the policy denies', async () => {
    const { asked, counters, host, slice } = await sliceOf({ paths: ['/a', '/b'], deny: true });
    await slice.run();
    expect(asked).toEqual([]);
    expect(await counters()).toMatchObject({ open: 0, denied: 2 });
    expect(await host()).toMatchObject({ owner: null, state: { requests: 0 } });
  });

  it('starts nothing more once it is stopped, and gives aborted tasks back', async () => {
    const { asked, counters, host, slice, slots } = await sliceOf({
      paths: ['/held-1', '/b'],
      job: { options: { concurrency: 1 } },
    });
    const ended = slice.run();
    await soon(() => expect(asked).toEqual(['/held-1']));
    slice.stop();
    slice.abort();
    await ended;
    expect(asked).toEqual(['/held-1']);
    expect(await counters()).toMatchObject({ open: 2, done: 0, failed: 0 });
    expect(await host()).toMatchObject({ owner: null });
    expect(slots.taken).toBe(0);
  });

  it('gives the claimed tasks of a cancelled job back before their request', async () => {
    const { asked, counters, created, letGo, slice, store } = await sliceOf({
      paths: ['/held-1', '/b', '/c'],
      job: { options: { concurrency: 1 } },
    });
    const ended = slice.run();
    await soon(() => expect(asked).toEqual(['/held-1']));
    expect(await counters()).toMatchObject({ open: 3, claimed: 3 });
    await store.cancelJob(created.id);
    slice.drop(new Set([created.id]));
    await soon(async () => expect(await counters()).toMatchObject({ open: 1, cancelled: 2 }));
    letGo();
    await ended;
    expect(asked).toEqual(['/held-1']);
    expect(await counters()).toMatchObject({ open: 0, done: 1, cancelled: 2 });
  });

  it('stores why it holds the host, and names the jobs whose tasks went back', async () => {
    const { created, host, lease, slice, store } = await sliceOf({
      paths: ['/a'],
      state: { blockedUntil: Date.now() + 3_600_000 },
    });
    await slice.run();
    expect(slice.heldJobs).toEqual([created.id]);
    const released = await host();
    expect(released?.state.hold).toEqual({ rule: 'rate.retry-after', until: lease.state.blockedUntil });
    expect(await store.listWaits(created.id)).toMatchObject([
      { hostKey: lease.key, state: 'ready', tasks: 1, hold: released?.state.hold },
    ]);
  });

  it('tries a host that has failed with a URL that has not', async () => {
    const failed = Array.from({ length: 5 }, (_, index) => `/broken-${index}`);
    const { asked, slice } = await sliceOf({ paths: [...failed, '/well'], failed });
    expect(slice.state.breaker.phase).toBe('open');
    await slice.run();
    expect(asked[0]).toBe('/well');
  });

  it('that loses its lease ends its requests, reports the loss once, and changes nothing', async () => {
    const { asked, counters, losses, slice, slots } = await sliceOf({ paths: ['/held-1'] });
    const ended = slice.run();
    await soon(() => expect(asked).toEqual(['/held-1']));
    slice.lose();
    slice.lose();
    await ended;
    expect([slice.isLost, losses, slots.taken]).toEqual([true, ['lost'], 0]);
    expect(await counters()).toMatchObject({ done: 0, failed: 0 });
  });

  it('whose tasks cannot be claimed by a fault of the program leaves the host alone for a while', async () => {
    const { asked, host, slice } = await sliceOf({
      paths: ['/a'],
      store: () => ({ claimTasks: () => Promise.reject(new TypeError('claim broke')) }),
    });
    await slice.run();
    expect(asked).toEqual([]);
    const released = await host();
    expect(released).toMatchObject({ owner: null, state: { faults: 1 } });
    expect(released?.nextAt ?? 0).toBeGreaterThan(Date.now());
  });
});
