import type { HostId, HostKey, JobId } from '../model/ids.ts';
import type { Bus } from '../ports/bus.ts';
import type { Consumer, Queue } from '../ports/queue.ts';
import { createSlice, type Slice, type SliceParts } from './slice.ts';

export interface HostWorkerOptions extends SliceParts {
  readonly queue: Queue;
  readonly bus: Bus;
  /** Names this process among the owners. */
  readonly owner: string;
  readonly maxHosts: number;
  readonly leaseMs?: number;
  readonly sweepMs?: number;
}

/** Takes host slices from the queue and works on them; renews leases; sweeps the store for what no wake-up told. */
export interface HostWorker {
  start(): Promise<void>;
  /** Finishes what is under way, up to the deadline; then gives it back. Loses nothing either way. */
  stop(deadlineMs: number): Promise<void>;
  /** Whether this process owns the host right now: then its slice notices new tasks by itself. */
  owns(host: HostKey): boolean;
  readonly activeSlices: number;
}

export function createHostWorker(options: HostWorkerOptions): HostWorker {
  const { store, queue, bus, owner, now, logger, maxHosts, leaseMs = 30_000, sweepMs = 1_000 } = options;
  const slices = new Map<HostKey, Slice>();
  let consumer: Consumer | null = null;
  let isStopping = false;
  const timers: NodeJS.Timeout[] = [];
  const subscriptions: (() => void)[] = [];

  async function runSlice(key: HostKey): Promise<void> {
    if (isStopping || slices.has(key)) return;
    const lease = await store.acquireHost(key, owner, now(), leaseMs);
    if (lease === null) return;
    const slice = createSlice(lease, options);
    slices.set(key, slice);
    if (isStopping) slice.stop();
    try {
      await slice.run();
    } finally {
      slices.delete(key);
    }
  }

  async function renew(): Promise<void> {
    const held = [...slices.values()];
    if (held.length === 0) return;
    const lost = new Set<HostId>(
      await store.renewHosts(
        held.map(({ lease }) => lease),
        now(),
        leaseMs,
      ),
    );
    for (const slice of held) {
      if (!lost.has(slice.lease.hostId)) continue;
      logger.warn({ host: slice.lease.key }, 'the lease on a host was lost');
      slice.stop();
      slice.abort();
    }
  }

  /** Stops jobs whose time is over; one with pages under way has not ended yet, and its last commit will say so. */
  async function expire(): Promise<void> {
    const stopped: readonly JobId[] = await store.expireJobs(now());
    if (stopped.length === 0) return;
    const jobs = await Promise.all(stopped.map((id) => store.getJob(id)));
    const finished = jobs.filter((job) => job?.finishedAt != null).map((job) => job?.id as JobId);
    bus.publish('job.changed', { jobs: stopped, finished });
  }

  async function sweep(): Promise<void> {
    if (isStopping) return;
    await expire();
    if (slices.size >= maxHosts) return;
    for (const { key, rank } of await store.offerHosts(now(), 2 * maxHosts)) {
      await queue.offer('scrape-http', { id: key, rank });
    }
  }

  /** Repeats, one at a time; a failure is logged and the next round tries again. */
  function every(ms: number, what: string, action: () => Promise<void>): void {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      action()
        .catch((error: unknown) => logger.error({ err: error }, `${what} failed`))
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
      consumer = await queue.consume('scrape-http', maxHosts, ({ id }) => runSlice(id as HostKey));
      every(leaseMs / 3, 'renewing leases', renew);
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
      await consumer?.stop();
      clearTimeout(abort);
      for (const timer of timers) clearInterval(timer);
    },
    owns: (host) => slices.has(host),
    get activeSlices() {
      return slices.size;
    },
  };
}
