import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Task } from '../../../core/model/task.ts';
import { createMetrics } from '../../../core/observe/metrics.ts';
import type { Store } from '../../../core/ports/store.ts';
import { createBusLocal } from '../../../drivers/bus-local/bus-local.ts';
import { createQueueLocal } from '../../../drivers/queue-local/queue-local.ts';
import { serve, testEngine } from '../../../fetch/http/loopback.fixture.ts';
import { createSteadyClock } from '../../../lib/steady-clock.ts';
import { createKnownUrls } from '../../frontier/known-urls.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { buildPolicies, EMPTY_POLICY_FILE } from '../../policy/policies.ts';
import { compileRules } from '../../read/find-tasks.ts';
import type { PageReader } from '../../read/page-reading.ts';
import { readPageTask } from '../../read/read-page.ts';
import { createRobotsCache } from '../../robots/robots-cache.ts';
import { addJob, hostOf, listeningLogger, openStore } from '../process/claimed-task.fixture.ts';
import { httpResources } from '../process/fetch-resources.fixture.ts';
import { CALM_MS, createQuarantine } from '../process/quarantine.ts';
import { createRunningJobs } from '../process/running-job.ts';
import { createSlots } from '../process/slots.ts';
import { createHostWorker } from './host-worker.ts';

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 5, timeout: 20_000 });

const reader: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  isHolding: false,
  close: async () => {},
  read: async (request) => ({ ...readPageTask(request, compileRules(request.job)), ms: 1 }),
};

/** A site that answers when the test says so. */
async function heldSite() {
  const held = new Map<string, ServerResponse>();
  const asked: string[] = [];
  const { origin } = await serve((request, response) => {
    const { url: path = '' } = request;
    if (path === '/robots.txt') return void response.writeHead(404).end();
    asked.push(path);
    held.set(path, response);
  });
  const answer = (path: string) => held.get(path)?.end(`<title>${path}</title>`);
  return { origin, asked, answer };
}

/** A worker whose process is `ageMs` old, on a store in which tasks have the counts that stand in their paths. */
async function startWorker(ageMs: number) {
  const store = await openStore(Date.now);
  onTestFinished(() => store.close());
  const starts: { path: string; isAlone: boolean }[] = [];
  const paths = new Map<Task['id'], string>();
  const counted: Store = {
    ...store,
    async claimTasks(...call) {
      const tasks = await store.claimTasks(...call);
      return tasks.map((task) => {
        paths.set(task.id, new URL(task.url).pathname);
        const [, interruptions, lone] = /-(\d)-(\d)/.exec(task.url) ?? [];
        return { ...task, interruptions: Number(interruptions ?? 0), loneInterruptions: Number(lone ?? 0) };
      });
    },
    startTask(lease, task, isAlone) {
      starts.push({ path: paths.get(task) ?? '', isAlone });
      return store.startTask(lease, task, isAlone);
    },
  };
  const { logger, lines } = listeningLogger();
  const onError = (error: unknown) => void lines.push(String(error));
  const metrics = createMetrics({ withProcess: false });
  const engine = testEngine();
  const policies = buildPolicies({ ...EMPTY_POLICY_FILE, default: { ratePerSecond: null, concurrency: 8 } });
  let isOlder = false;
  const quarantine = createQuarantine(() => Date.now() + (isOlder ? ageMs : 0));
  isOlder = true;
  const worker = createHostWorker({
    ...{
      store: counted,
      reader,
      logger,
      metrics,
      now: Date.now,
      random: Math.random,
      taskTimeoutMs: 60_000,
      quarantine,
    },
    queue: createQueueLocal({ onHandlerError: onError }),
    bus: createBusLocal({ onListenerError: onError }),
    ledger: createLedger({
      ...{ store: counted, logger, metrics, now: Date.now },
      known: createKnownUrls(),
      batchDelayMs: 1,
      onCommit: () => undefined,
    }),
    resources: httpResources(engine),
    robots: createRobotsCache({ store, engine, now: Date.now }),
    jobs: createRunningJobs(counted),
    slots: createSlots(64),
    policies: () => policies,
    isContended: () => false,
    owner: 'this one',
    maxHosts: 16,
    clock: createSteadyClock(),
    sweepMs: 20,
  });
  onTestFinished(() => worker.stop(1));
  await worker.start();
  const add = (origin: string, names: readonly string[]) =>
    addJob(
      store,
      names.map((path) => origin + path),
      { kind: 'batch', createdAt: Date.now() },
    );
  const isDone = (id: Awaited<ReturnType<typeof add>>['id']) =>
    soon(async () => expect(await store.getJob(id)).toMatchObject({ counters: { open: 0 } }));
  return { worker, store, starts, add, isDone, quarantine };
}

it('a task with two interruptions is fetched when nothing else is under way, and nothing else beside it', async () => {
  const { starts, add, isDone, quarantine } = await startWorker(10 * CALM_MS);
  const [one, other] = [await heldSite(), await heldSite()];
  const job = await add(one.origin, ['/fresh', '/beside-1-0', '/alone-2-0']);
  await soon(() => expect(one.asked.toSorted()).toEqual(['/beside-1-0', '/fresh']));
  await soon(() => expect(quarantine.isOpen).toBe(false));
  one.answer('/beside-1-0');
  const later = await add(other.origin, ['/later']);
  one.answer('/fresh');
  await soon(() => expect(one.asked).toContain('/alone-2-0'));
  expect(other.asked).toEqual([]);
  one.answer('/alone-2-0');
  await soon(() => expect(other.asked).toEqual(['/later']));
  other.answer('/later');
  await isDone(job.id);
  await isDone(later.id);
  expect(starts).toEqual([
    { path: '/beside-1-0', isAlone: false },
    { path: '/alone-2-0', isAlone: true },
  ]);
});

it('of tasks that must be alone, those with the fewest deaths are fetched first, one at a time', async () => {
  const { starts, add, isDone } = await startWorker(10 * CALM_MS);
  const site = await heldSite();
  const order = ['/a-2-0', '/b-4-0', '/c-3-1'];
  const job = await add(site.origin, order.toReversed());
  for (const [at, path] of order.entries()) {
    await soon(() => expect(site.asked).toEqual(order.slice(0, at + 1)));
    site.answer(path);
  }
  await isDone(job.id);
  expect(starts.map(({ path }) => path)).toEqual(order);
});

it('a task with two lone interruptions ends with WORKER_DIED and is not fetched', async () => {
  const { store, add, isDone } = await startWorker(0);
  const site = await heldSite();
  const job = await add(site.origin, ['/deadly-4-2', '/fresh']);
  await soon(() => expect(site.asked).toEqual(['/fresh']));
  site.answer('/fresh');
  await isDone(job.id);
  expect(site.asked).toEqual(['/fresh']);
  const { items } = await store.listPages({ jobId: job.id, limit: 10 });
  expect(items.map(({ errorCode }) => errorCode).sort()).toEqual(['WORKER_DIED', null]);
});

it('a worker that stops gives a task that waits for its turn back, as it was', async () => {
  const { worker, store, starts, add } = await startWorker(0);
  const site = await heldSite();
  const job = await add(site.origin, ['/alone-2-0']);
  await soon(() => expect(worker.owns(hostOf(site.origin))).toBe(true));
  await soon(async () => expect((await store.getJob(job.id))?.counters.claimed).toBe(1));
  await worker.stop(60_000);
  expect((await store.getJob(job.id))?.counters).toMatchObject({ claimed: 0, open: 1 });
  expect([starts, site.asked]).toEqual([[], []]);
});
