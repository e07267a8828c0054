import { setTimeout as pause } from 'node:timers/promises';
import { isScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey, Incarnation, JobId } from '../../../core/model/ids.ts';
import type { StopReason } from '../../../core/model/task-reasons.ts';
import { type Logger, levelOfError } from '../../../core/observe/logger.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { HostLease } from '../../../core/ports/host-store.ts';
import type { Consumer, Queue } from '../../../core/ports/queue.ts';
import { traceJobEnd } from '../../../core/tracing/tracing.ts';
import type { SteadyClock } from '../../../lib/steady-clock.ts';
import { type HeldLease, HeldLeases } from './held-leases.ts';
import { createSlice, type Slice, type SliceParts } from './slice.ts';

export interface HostWorkerOptions extends SliceParts {
  readonly queue: Queue;
  readonly bus: Bus;
  /** Names this process among the owners. */
  readonly owner: string;
  readonly maxHosts: number;
  /** Leases are counted by it. */
  readonly clock: Pick<SteadyClock, 'cautiousMs' | 'onJump'>;
  readonly leaseMs?: number;
  readonly sweepMs?: number;
}

/**
 * Takes host slices from the queue and works on them; renews leases; sweeps the store for hosts that no message announced,
 * as the scheduler does, so that work goes on without one.
 */
interface HostWorker {
  start(): Promise<void>;
  /** Finishes the tasks under way, up to the deadline; then gives them back. Loses nothing either way. */
  stop(deadlineMs: number): Promise<void>;
  /** Whether this process owns the host right now: then its slice notices new tasks by itself. */
  owns(host: HostKey): boolean;
  readonly activeSlices: number;
}

/** Aborted tasks have this long to end. */
const ABORT_MS = 3_000;

/** The store has this long to grant a lease; a slower store counts as unavailable. */
const PATIENCE_MS = 5_000;

export function createHostWorker(options: HostWorkerOptions): HostWorker {
  const { store, queue, bus, owner, clock, logger, maxHosts, leaseMs = 30_000, sweepMs = 1_000 } = options;
  const hostQueue = createHostQueue({
    consume: () => queue.consume('scrape-http', maxHosts, ({ id }) => runSlice(id as HostKey)),
    reach: () => store.clock(),
    logger,
  });
  const leases = new HeldLeases({ store, clock, leaseMs, logger, onOverdue: () => hostQueue.suspend() });
  const { slices } = leases;
  let isStopping = false;
  /** The incarnation of the store, as the last lease named it. */
  let incarnation: Incarnation | null = null;
  const timers: NodeJS.Timeout[] = [];
  const subscriptions: (() => void)[] = [];

  async function runSlice(key: HostKey): Promise<void> {
    if (isStopping || slices.has(key)) return;
    let former = await runOnce(key, null);
    while (former !== null) former = await runOnce(key, former);
  }

  /**
   * Owns the host once. Resolves with the slice when the store has called its lease lost before the lease had run out:
   * that is so when the store is another incarnation, and the host is still this process's alone to ask for.
   */
  async function runOnce(key: HostKey, former: Slice | null): Promise<Slice | null> {
    const askedAt = clock.cautiousMs();
    const acquired = await acquire(key, former);
    if (acquired === null) return null;
    noteIncarnation(acquired.incarnation);
    // A store that went back in time has older notes about the host than its owner.
    const lease = former === null ? acquired : { ...acquired, state: former.state };
    const { promise: over, resolve: endQueueEntry } = Promise.withResolvers<void>();
    const heldLease: HeldLease = {
      until: askedAt + leaseMs,
      isOver: false,
      endQueueEntry,
      savedRequests: lease.state.requests,
    };
    // The leases of an incarnation are lost together: the others need not find out one by one.
    const onLeaseLost = () => void leases.renew().catch(() => undefined);
    const slice = createSlice(lease, {
      ...options,
      isOurs: () => leases.isOurs(heldLease),
      onLeaseLost,
      stopJob,
    });
    leases.add(slice, heldLease);
    if (isStopping) slice.stop();
    const ended = slice
      .run()
      .then(() => publishHeld(slice))
      .finally(() => leases.delete(key));
    await Promise.race([ended, over]);
    return slice.isLost && !isStopping && !heldLease.isOver && leases.isOurs(heldLease) ? slice : null;
  }

  /** After the release is stored: callers that wait for these jobs look how long the host is held. */
  function publishHeld({ heldJobs }: Slice): void {
    if (heldJobs.length > 0) bus.publish('job.changed', { jobs: heldJobs, finished: [] });
  }

  async function stopJob(id: JobId, reason: StopReason): Promise<void> {
    const job = await store.stopJob(id, reason);
    if (job === null) return;
    traceJobEnd(job);
    const finished = job.finishedAt === null ? [] : [id];
    options.jobs.forget(finished);
    bus.publish('job.changed', { jobs: [id], finished });
  }

  function noteIncarnation(current: Incarnation): void {
    if (incarnation !== null && incarnation !== current) {
      logger.warn('store incarnation changed: caches of the former one are dropped');
    }
    incarnation = current;
  }

  /** Null also when the store does not answer: the host is then for others to take. */
  async function acquire(key: HostKey, former: Slice | null): Promise<HostLease | null> {
    const late = Symbol('late');
    const asked = store.acquireHost(key, owner, leaseMs, former?.lease);
    const { promise: limit, resolve } = Promise.withResolvers<typeof late>();
    const timer = setTimeout(resolve, PATIENCE_MS, late);
    try {
      const lease = await Promise.race([asked, limit]);
      if (lease !== late) return lease;
      // A lease that is granted after all is given back.
      asked.then((lease) => lease && store.releaseHost(lease, lease.state, 0)).catch(() => undefined);
      hostQueue.suspend();
      return null;
    } catch (error) {
      if (isScrapifieError(error) && error.spec.retry === 'later') hostQueue.suspend();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function sweep(): Promise<void> {
    if (isStopping) return;
    if (slices.size >= maxHosts) return;
    const hosts = await store.offerHosts(2 * maxHosts);
    if (hosts.length === 0) return;
    await queue.offer(
      'scrape-http',
      hosts.map(({ key, rank }) => ({ id: key, rank })),
    );
  }

  /** Repeats, one at a time; a failure is logged and the next round tries again. */
  function every(ms: number, what: string, action: () => Promise<void>): void {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      action()
        .catch((error: unknown) => logger[levelOfError(error)]({ err: error }, `${what} failed`))
        .finally(() => {
          isRunning = false;
        });
    }, ms);
    timers.push(timer);
  }

  return {
    async start() {
      subscriptions.push(
        bus.subscribe('host.ready', ({ hosts }) => {
          for (const host of hosts) slices.get(host as HostKey)?.wake();
        }),
      );
      subscriptions.push(
        bus.subscribe('job.changed', ({ cancelled = [] }) => {
          if (cancelled.length === 0) return;
          for (const slice of slices.values()) slice.drop(new Set(cancelled));
        }),
      );
      subscriptions.push(clock.onJump(() => leases.confirm()));
      await hostQueue.start();
      every(leaseMs / 3, 'renewing leases', () => leases.renew());
      every(leaseMs / 3, 'saving the states of hosts', () => leases.saveStates());
      every(leaseMs / 30, 'giving up overdue leases', () => leases.giveUpOverdue());
      every(sweepMs, 'sweeping for hosts', sweep);
      await sweep();
    },
    async stop(deadlineMs) {
      isStopping = true;
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const slice of slices.values()) slice.stop();
      const abort = setTimeout(() => {
        for (const slice of slices.values()) slice.abort();
      }, deadlineMs);
      // A store that does not answer keeps a slice from ending; its lease then runs out by itself.
      const endEntries = setTimeout(() => leases.endQueueEntries(), deadlineMs + ABORT_MS);
      await hostQueue.stop();
      clearTimeout(abort);
      clearTimeout(endEntries);
      for (const timer of timers) clearInterval(timer);
    },
    owns: (host) => slices.has(host),
    get activeSlices() {
      return slices.size;
    },
  };
}

/**
 * Takes hosts from the queue while the store can be reached. A process that is cut off from the store could only keep
 * the hosts from other processes.
 */
interface HostQueue {
  start(): Promise<void>;
  /** The store does not answer: takes nothing until it does. */
  suspend(): void;
  /** Takes nothing more; resolves when the running handlers are done. */
  stop(): Promise<void>;
}

interface HostQueueOptions {
  readonly consume: () => Promise<Consumer>;
  /** Rejects while the store cannot be reached. */
  readonly reach: () => Promise<unknown>;
  readonly logger: Logger;
  readonly lookMs?: number;
}

export function createHostQueue({ consume, reach, logger, lookMs = 1_000 }: HostQueueOptions): HostQueue {
  let consumer: Consumer | null = null;
  /** Consumers that take nothing more and may still have handlers running. */
  const leaving = new Set<Promise<void>>();
  let isStopping = false;

  function leave({ stop }: Consumer): void {
    const left: Promise<void> = stop()
      .catch((error: unknown) =>
        logger[levelOfError(error)]({ err: error }, 'closing a queue consumer failed'),
      )
      .finally(() => leaving.delete(left));
    leaving.add(left);
  }

  async function resume(): Promise<void> {
    while (!isStopping && consumer === null) {
      await pause(lookMs, undefined, { ref: false });
      try {
        await Promise.race([reach(), pause(2 * lookMs, undefined, { ref: false }).then(tookTooLong)]);
        const next = await consume();
        if (isStopping) leave(next);
        else consumer = next;
      } catch {
        // The queue is still away, so the loop tries again.
      }
    }
    if (!isStopping) logger.info('store available: hosts are taken again');
  }

  return {
    async start() {
      consumer = await consume();
    },
    suspend() {
      if (consumer === null || isStopping) return;
      logger.warn('store unavailable: no hosts are taken until it answers');
      leave(consumer);
      consumer = null;
      void resume();
    },
    async stop() {
      isStopping = true;
      if (consumer !== null) leave(consumer);
      consumer = null;
      await Promise.all(leaving);
    },
  };
}

function tookTooLong(): never {
  throw new Error('no answer in time');
}
