import type { WebhookId } from '../../core/model/ids.ts';
import type { Bus } from '../../core/ports/bus.ts';
import { createNotifier, type Notifier, waitAtMost } from '../../lib/waits.ts';
import { type DeliveryWorkerDeps, LEASE_MS, workLane } from './delivery-worker.ts';
import { readOutbox } from './outbox-reader.ts';

/** Reads the outbox and sends deliveries, in each process that has the duty; any number of them may. */
export interface Deliveries {
  start(): void;
  /** Takes nothing more and waits for attempts under way, up to `limitMs`. */
  stop(limitMs: number): Promise<void>;
  /** There may be something to send. */
  wake(): void;
}

export interface DeliveriesDeps extends Omit<DeliveryWorkerDeps, 'isStopping'> {
  readonly bus: Bus;
  /** How long ended deliveries are kept. */
  readonly keepMs: number;
}

/** How often to look when nothing happens. */
const IDLE_MS = 1_000;
const READ_PAUSE_MS = 50;
const UNUSED_PAUSE_MS = 500;
const ERROR_MS = 5_000;
/** For a look at the store that is under way when the process stops. */
const LOOK_MS = 2_000;
const SWEEP_MS = 3_600_000;
const SWEEP_STEP = 1_000;
/** Lanes that this process works on at once, over all webhooks. */
const MOST_LANES = 64;
/** Over all processes: one receiver that takes its ten seconds each time holds no more than these. */
const LANES_PER_WEBHOOK = 4;
const LANES_PER_ACCOUNT = 8;

export function createDeliveries(deps: DeliveriesDeps): Deliveries {
  const { store, bus, clock, logger, now } = deps;
  const working = new Set<Promise<void>>();
  const notifiers = { read: createNotifier(), send: createNotifier(), stop: createNotifier() };
  let isStopping = false;
  let hasToldGap = false;
  let after: WebhookId | null = null;
  let sweptAt = clock();
  let loops: Promise<unknown> = Promise.resolve();
  let unsubscribe: () => void = () => undefined;
  const worker: DeliveryWorkerDeps = { ...deps, isStopping: () => isStopping };

  /** Runs a step again and again: at once while it has something to do, otherwise when it is notified or a second is over. */
  async function loop(name: string, notifier: Notifier, step: () => Promise<boolean>): Promise<void> {
    while (!isStopping) {
      try {
        if (!(await step())) await notifier.wait(IDLE_MS);
      } catch (error) {
        if (isStopping) return;
        logger.warn({ err: error }, `webhooks: ${name}`);
        await notifier.wait(ERROR_MS);
      }
    }
  }

  async function read(): Promise<boolean> {
    const { deliveries, isMore, hasGap } = await readOutbox(store);
    if (hasGap && !hasToldGap) logger.error('webhooks: events were removed before they were read');
    hasToldGap = hasGap;
    if (deliveries > 0) notifiers.send.notify();
    if (isMore) return true;
    // A crawl tells of every commit: a few of them are read together, and more where no webhook wants to know.
    await notifiers.stop.wait(deliveries > 0 ? READ_PAUSE_MS : UNUSED_PAUSE_MS);
    return false;
  }

  async function send(): Promise<boolean> {
    await sweep();
    const limit = MOST_LANES - working.size;
    if (limit === 0) return false;
    const claimedAt = clock();
    const claim = {
      limit,
      leaseMs: LEASE_MS,
      perWebhook: LANES_PER_WEBHOOK,
      perAccount: LANES_PER_ACCOUNT,
      after,
    };
    const { lanes, next } = await store.claimLanes(claim);
    after = next;
    for (const lane of lanes) {
      const work = workLane(lane, claimedAt, worker)
        // The lane is due again when its lease ends.
        .catch((error) =>
          logger.warn({ err: error, webhookId: lane.webhook.id }, 'webhooks: a delivery was not made'),
        )
        .finally(() => {
          working.delete(work);
          notifiers.send.notify();
        });
      working.add(work);
    }
    return lanes.length > 0 || next !== null;
  }

  async function sweep(): Promise<void> {
    if (clock() - sweptAt < SWEEP_MS) return;
    sweptAt = clock();
    while (!isStopping && (await store.sweepDeliveries(now() - deps.keepMs, SWEEP_STEP)) >= SWEEP_STEP);
  }

  return {
    start() {
      unsubscribe = bus.subscribe('job.changed', () => notifiers.read.notify());
      loops = Promise.all([
        loop('events were not read', notifiers.read, read),
        loop('deliveries were not claimed', notifiers.send, send),
      ]);
    },
    wake: () => notifiers.send.notify(),
    async stop(limitMs) {
      isStopping = true;
      unsubscribe();
      for (const notifier of Object.values(notifiers)) notifier.notify();
      // A store that is away may hold a look at it for long; lanes that are leased meanwhile are due again later.
      await waitAtMost(Math.min(limitMs, LOOK_MS), loops);
      await waitAtMost(limitMs, Promise.all(working));
    },
  };
}
