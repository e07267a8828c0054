import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostId, HostKey, Incarnation, JobId } from '../../core/model/ids.ts';
import type { StopReason } from '../../core/model/task-reasons.ts';
import { levelOfError } from '../../core/observe/logger.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { Queue } from '../../core/ports/queue.ts';
import type { HostLease, HostState } from '../../core/ports/store.ts';
import { traceJobEnd } from '../../core/tracing/tracing.ts';
import type { SteadyClock } from '../../lib/steady-clock.ts';
import { createIntake } from './intake.ts';
import { createSlice, type Slice } from './slice.ts';
import type { SliceParts } from './slice-parts.ts';

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
export interface HostWorker {
  start(): Promise<void>;
  /** Finishes the tasks under way, up to the deadline; then gives them back. Loses nothing either way. */
  stop(deadlineMs: number): Promise<void>;
  /** Whether this process owns the host right now: then its slice notices new tasks by itself. */
  owns(host: HostKey): boolean;
  readonly activeSlices: number;
}

/** Share of a lease, at its end, in which nothing is sent: the last request must arrive before the next owner sends one. */
const SAFETY_SHARE = 1 / 15;

/** Aborted tasks have this long to end. */
const ABORT_MS = 3_000;

/** The store has this long to grant a lease; a slower store counts as unavailable. */
const PATIENCE_MS = 5_000;

/** For the store to confirm leases after the wall clock has jumped. Nothing is sent meanwhile. */
const CONFIRM_MS = 2_000;

/** A lease of this process, by its own clock. */
interface HeldLease {
  /** Until when it is ours: `leaseMs` after the moment before the store was asked, by the cautious clock. */
  until: number;
  isOver: boolean;
  /** Ends the queue's entry for the host. */
  readonly letGo: () => void;
  /** `requests` of the state that was stored last. */
  savedRequests: number;
}

export function createHostWorker(options: HostWorkerOptions): HostWorker {
  const { store, queue, bus, owner, clock, logger, maxHosts, leaseMs = 30_000, sweepMs = 1_000 } = options;
  const slices = new Map<HostKey, Slice>();
  const heldLeases = new WeakMap<Slice, HeldLease>();
  const intake = createIntake({
    consume: () => queue.consume('scrape-http', maxHosts, ({ id }) => runSlice(id as HostKey)),
    reach: () => store.clock(),
    logger,
  });
  let isStopping = false;
  /** The incarnation of the store, as the last lease named it. */
  let incarnation: Incarnation | null = null;
  const timers: NodeJS.Timeout[] = [];
  const subscriptions: (() => void)[] = [];
  /** The renewal under way, or the last one. */
  let renewal: Promise<void> = Promise.resolve();
  /** Until when leases that the clock has ended by a jump are not given up, by the cautious clock. */
  let confirmUntil = 0;

  /** Whether a request that is sent now arrives while the host is certainly ours. */
  const isOurs = ({ until }: HeldLease) => clock.cautiousMs() < until - leaseMs * SAFETY_SHARE;

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
    const { promise: over, resolve: letGo } = Promise.withResolvers<void>();
    const heldLease: HeldLease = {
      until: askedAt + leaseMs,
      isOver: false,
      letGo,
      savedRequests: lease.state.requests,
    };
    // The leases of an incarnation are lost together: the others need not find out one by one.
    const onLeaseLost = () => void renewNext().catch(() => undefined);
    const slice = createSlice(lease, {
      ...options,
      isOurs: () => isOurs(heldLease),
      onLeaseLost,
      stopJob,
    });
    heldLeases.set(slice, heldLease);
    slices.set(key, slice);
    if (isStopping) slice.stop();
    const ended = slice
      .run()
      .then(() => tellHeld(slice))
      .finally(() => slices.delete(key));
    await Promise.race([ended, over]);
    return slice.isLost && !isStopping && !heldLease.isOver && isOurs(heldLease) ? slice : null;
  }

  /** After the release is stored: callers that wait for these jobs look how long the host is held. */
  function tellHeld({ heldJobs }: Slice): void {
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
      intake.suspend();
      return null;
    } catch (error) {
      if (isScrapifieError(error) && error.spec.retry === 'later') intake.suspend();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Another process may own a host whose lease has run out: its requests under way are aborted. The slice may have to wait
   * for the store with its last writes; the queue must not keep the host for this process meanwhile.
   */
  async function letGoOverdue(): Promise<void> {
    for (const slice of slices.values()) {
      const heldLease = heldLeases.get(slice);
      if (
        heldLease === undefined ||
        heldLease.isOver ||
        isOurs(heldLease) ||
        clock.cautiousMs() < confirmUntil
      )
        continue;
      logger.warn({ host: slice.lease.key }, 'lease not renewed in time');
      slice.stop();
      slice.abort();
      heldLease.isOver = true;
      intake.suspend();
      heldLease.letGo();
    }
  }

  async function renew(): Promise<void> {
    // One incarnation at a time: the same number may be another host in the next.
    const held = Map.groupBy(slices.values(), ({ lease }) => lease.incarnation);
    await Promise.all(held.values().map(renewThese));
  }

  async function renewThese(held: readonly Slice[]): Promise<void> {
    const askedAt = clock.cautiousMs();
    const lost = new Set<HostId>(
      await store.renewHosts(
        held.map(({ lease }) => lease),
        leaseMs,
      ),
    );
    for (const slice of held) {
      const heldLease = heldLeases.get(slice);
      // A slice that has given its host back meanwhile has lost nothing.
      if (slices.get(slice.lease.key) !== slice) continue;
      if (!lost.has(slice.lease.hostId)) {
        if (heldLease !== undefined) heldLease.until = askedAt + leaseMs;
        continue;
      }
      logger.warn({ host: slice.lease.key }, 'lease lost');
      slice.lose();
    }
  }

  function renewNext(): Promise<void> {
    renewal = renewal.catch(() => undefined).then(renew);
    return renewal;
  }

  /**
   * The wall clock has jumped: the machine was suspended, or the clock was set. Only the store knows whether the leases
   * still hold. Until it says so nothing is sent; requests under way are aborted when it does not say so soon.
   */
  function confirmLeases(): void {
    confirmUntil = clock.cautiousMs() + CONFIRM_MS;
    renewNext()
      .catch((error: unknown) => logger[levelOfError(error)]({ err: error }, 'renewing leases failed'))
      .finally(() => {
        confirmUntil = 0;
      });
  }

  /** Hosts that are owned for long have their states stored meanwhile, for those who look at them and for the next owner. */
  async function saveStates(): Promise<void> {
    const changed: { lease: HostLease; state: HostState }[] = [];
    for (const slice of slices.values()) {
      const { lease, state } = slice;
      const heldLease = heldLeases.get(slice);
      if (heldLease === undefined || heldLease.savedRequests === state.requests) continue;
      heldLease.savedRequests = state.requests;
      changed.push({ lease, state });
    }
    if (changed.length > 0) await store.saveHosts(changed);
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
      subscriptions.push(clock.onJump(confirmLeases));
      await intake.start();
      every(leaseMs / 3, 'renewing leases', renewNext);
      every(leaseMs / 3, 'saving the states of hosts', saveStates);
      every(leaseMs / 30, 'letting go of hosts', letGoOverdue);
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
      const letGo = setTimeout(() => {
        for (const slice of slices.values()) heldLeases.get(slice)?.letGo();
      }, deadlineMs + ABORT_MS);
      await intake.stop();
      clearTimeout(abort);
      clearTimeout(letGo);
      for (const timer of timers) clearInterval(timer);
    },
    owns: (host) => slices.has(host),
    get activeSlices() {
      return slices.size;
    },
  };
}
