import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
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
import { createQuarantine } from '../process/quarantine.ts';
import { createRunningJobs } from '../process/running-job.ts';
import { createSlots } from '../process/slots.ts';
import { createHostWorker } from './host-worker.ts';

/** Far longer than the test may take: whatever waits for the end of a lease fails it. */
const LEASE_MS = 600_000;
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 5, timeout: 20_000 });

const reader: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  isHolding: false,
  close: async () => {},
  read: async (request) => ({ ...readPageTask(request, compileRules(request.job)), ms: 1 }),
};

/** A store that becomes another incarnation when it is told to: the same file, opened again. */
async function changingStore(): Promise<{ store: Store; change(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-incarnation-'));
  const path = join(dir, 'scrapifie.db');
  const opened = [await openStore(Date.now, path)];
  onTestFinished(async () => {
    for (const each of opened) await each.close();
    await rm(dir, { recursive: true, force: true });
  });
  const store = new Proxy({} as Store, { get: (_, method) => Reflect.get(opened.at(-1) ?? {}, method) });
  return { store, change: async () => void opened.push(await openStore(Date.now, path)) };
}

function startWorker(store: Store) {
  const { logger, lines } = listeningLogger();
  const onError = (error: unknown) => void lines.push(String(error));
  const metrics = createMetrics({ withProcess: false });
  const engine = testEngine();
  const policies = buildPolicies({ ...EMPTY_POLICY_FILE, default: { ratePerSecond: null, concurrency: 8 } });
  const worker = createHostWorker({
    ...{ store, reader, logger, metrics, now: Date.now, random: Math.random, taskTimeoutMs: 60_000 },
    queue: createQueueLocal({ onHandlerError: onError }),
    bus: createBusLocal({ onListenerError: onError }),
    ledger: createLedger({
      ...{ store, logger, metrics, now: Date.now },
      known: createKnownUrls(),
      batchDelayMs: 1,
      onCommit: () => undefined,
    }),
    resources: httpResources(engine),
    robots: createRobotsCache({ store, engine, now: Date.now }),
    jobs: createRunningJobs(store),
    slots: createSlots(64),
    quarantine: createQuarantine(Date.now),
    policies: () => policies,
    isContended: () => false,
    owner: 'this one',
    maxHosts: 16,
    clock: createSteadyClock(),
    leaseMs: LEASE_MS,
    sweepMs: 50,
  });
  onTestFinished(() => worker.stop(1));
  return { worker, lines };
}

it('a worker whose store is another incarnation fetches again what was under way, and keeps its hosts', async () => {
  const asked: string[] = [];
  const held: ServerResponse[] = [];
  const { origin } = await serve((request, response) => {
    const { url: path = '' } = request;
    if (path === '/robots.txt') return void response.writeHead(404).end();
    asked.push(path);
    if (asked.length <= 2) held.push(response);
    else response.end(`<title>${path}</title>`);
  });
  const { store, change } = await changingStore();
  const { worker, lines } = startWorker(store);
  const urls = ['/a', '/b'].map((path) => origin + path);
  const job = await addJob(store, urls, { kind: 'batch', createdAt: Date.now() });
  await worker.start();
  await soon(() => expect(held).toHaveLength(2));
  await change();
  // One page is answered; the other one is under way for as long as the worker lets it.
  held[0]?.end('<title>of the former incarnation</title>');
  await soon(async () => expect(await store.getJob(job.id)).toMatchObject({ status: 'completed' }));
  expect(asked.sort()).toEqual(['/a', '/a', '/b', '/b']);
  const { items } = await store.listPages({ jobId: job.id, limit: 10 });
  expect(items.map(({ title }) => title).sort()).toEqual(['/a', '/b']);
  expect(lines.join('')).toContain('store incarnation changed');
  await soon(() => expect(worker.owns(hostOf(origin))).toBe(false));
});
