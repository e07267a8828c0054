import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Messages } from '../../../core/ports/bus.ts';
import type { Store } from '../../../core/ports/store.ts';
import { addJob, openStore } from '../../../crawl/host/process/claimed-task.fixture.ts';
import { createBusLocal } from '../../../drivers/bus-local/bus-local.ts';
import { createQueueLocal } from '../../../drivers/queue-local/queue-local.ts';
import { createMaintenance } from './maintenance.ts';

const failures: unknown[] = [];
const onError = (error: unknown) => void failures.push(error);
const URL_A = 'http://site.test/a';

let store: Store;
const clock = { now: 0 };
const queue = createQueueLocal({ onHandlerError: onError });
const bus = createBusLocal({ onListenerError: onError });
beforeEach(async () => {
  clock.now = Date.now();
  store = await openStore(() => clock.now);
});
afterEach(() => store.close());

const soon = (check: () => void) => vi.waitFor(check, { interval: 20, timeout: 20_000 });

it('ends jobs whose time is over, and says so', async () => {
  const job = await addJob(store, [URL_A], {
    options: { budgets: { maxPages: null, maxBytes: null, maxDurationMs: 1_000 } },
  });
  clock.now += 1_000;
  const told: Messages['job.changed'][] = [];
  bus.subscribe('job.changed', (message) => void told.push(message));
  const maintenance = createMaintenance({
    store,
    queue,
    bus,
    now: Date.now,
    sweepSessions: async () => 0,
    stopFullAccounts: async () => 0,
    purge: async () => 0,
    cleanup: null,
    backups: null,
  });
  await maintenance.start();
  await soon(() => expect(told).toContainEqual({ jobs: [job.id], finished: [job.id] }));
  await maintenance.stop();
  expect((await store.getJob(job.id))?.stopReason).toBe('budget.duration');
});

it('offers hosts that have work and no owner, whoever forgot to', async () => {
  await addJob(store, [URL_A]);
  const offered: string[] = [];
  const consumer = await queue.consume('scrape-http', 1, async ({ id }) => void offered.push(id));
  const maintenance = createMaintenance({
    store,
    queue,
    bus,
    now: Date.now,
    sweepSessions: async () => 0,
    stopFullAccounts: async () => 0,
    purge: async () => 0,
    cleanup: null,
    backups: null,
  });
  await maintenance.start();
  await soon(() => expect(offered).toContain('site.test'));
  await maintenance.stop();
  await consumer.stop();
  expect(failures).toEqual([]);
});

it('removes unreferenced blobs by a timer of its own, and ends that when it stops', async () => {
  const signals: AbortSignal[] = [];
  const run = async (signal: AbortSignal) => void signals.push(signal);
  const cleanup = { everyMs: 20, run };
  const maintenance = createMaintenance({
    store,
    queue,
    bus,
    now: Date.now,
    sweepSessions: async () => 0,
    stopFullAccounts: async () => 0,
    purge: async () => 0,
    cleanup,
    backups: null,
  });
  await maintenance.start();
  await soon(() => expect(signals.length).toBeGreaterThan(2));
  expect(signals.map(({ aborted }) => aborted)).not.toContain(true);
  await maintenance.stop();
  expect(signals[0]?.aborted).toBe(true);
  expect(failures).toEqual([]);
});
