import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { JobId } from '../model/ids.ts';
import type { Bus } from '../ports/bus.ts';
import { createWaitEstimate } from './wait-estimate.ts';

/** How a wait came out. `aborted`: the caller lost interest. `closed`: this process is stopping. */
export type WaitOutcome = 'ended' | 'timeout' | 'aborted' | 'closed';

export interface JobWait {
  /** Never rejects. */
  readonly outcome: Promise<WaitOutcome>;
  /** For a job that has ended or does not exist: its waits are removed. */
  stop(): void;
}

export interface JobWaits {
  /**
   * Waits from now on, so begin before you create the job or look at it: an end in between is not missed. Throws
   * QUEUE_FULL when too many wait already, for this server or for the time limit.
   */
  begin(job: JobId, timeoutMs: number, signal?: AbortSignal): JobWait;
  /** Waits under way. */
  count(): number;
  /** Ends every wait as `closed`, and every later one at once. */
  close(): void;
}

export interface JobWaitsOptions {
  readonly bus: Bus;
  /** Asks the store, because the bus may lose messages. */
  readonly hasEnded: (job: JobId) => Promise<boolean>;
  readonly pollMs?: number;
  readonly maxWaits?: number;
  /** Any clock in milliseconds that only goes forward. */
  readonly now?: () => number;
}

/** Each holds a connection and what was sent on it, some 40 KB. */
const MAX_WAITS = 10_000;

type Settle = (outcome: WaitOutcome) => void;
/** So few are no crowd, however slow their pages are. */
const FEW_WAITS = 100;
/** Share of the time limit: a request expected to wait longer than this in the queue is refused at once. */
const HOPEFUL_SHARE = 0.6;
const LONGEST_RETRY_MS = 10_000;
/**
 * Store look-ups per poll: a lost message costs a waiter some polls, never the store its calm. A poll that finds an
 * end without a bus message shows that the bus is away, and then many requests wait for the next look-up only.
 */
const LOOKUPS_PER_POLL = { usual: 50, withoutBus: 500 };
const LOOKUPS_AT_ONCE = 4;

/** All waits of a process share one subscription and one slow poll. */
export function createJobWaits(options: JobWaitsOptions): JobWaits {
  const pollMs = options.pollMs ?? 1_000;
  const pace = createWaitEstimate(options.now ?? (() => performance.now()));
  const maxWaits = options.maxWaits ?? MAX_WAITS;
  /** Oldest look-up first: a job that was asked about moves to the end. */
  const waits = new Map<JobId, Set<Settle>>();
  let waiting = 0;
  let isClosed = false;
  let isPolling = false;
  let lookups = LOOKUPS_PER_POLL.usual;
  let timer: NodeJS.Timeout | undefined;

  function settleAll(job: JobId, outcome: WaitOutcome): void {
    for (const settle of waits.get(job) ?? []) settle(outcome);
  }

  const unsubscribe = options.bus.subscribe('job.changed', ({ finished }) => {
    for (const job of finished) settleAll(job as JobId, 'ended');
  });

  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    try {
      const due = waits.keys().take(lookups).toArray();
      const jobs = due.values();
      const found = await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, () => lookUp(jobs)));
      lookups = found.some((count) => count > 0) ? LOOKUPS_PER_POLL.withoutBus : LOOKUPS_PER_POLL.usual;
    } catch {
      // The store is away for the moment; the next poll asks again, and every wait has its own time limit.
    } finally {
      isPolling = false;
    }
  }

  /** Asks about one job after the other; resolves to how many had ended without a word. */
  async function lookUp(jobs: Iterable<JobId>): Promise<number> {
    let found = 0;
    for (const job of jobs) {
      const those = waits.get(job);
      if (those === undefined) continue;
      waits.delete(job);
      waits.set(job, those);
      if (!(await options.hasEnded(job)) || !waits.has(job)) continue;
      found += 1;
      settleAll(job, 'ended');
    }
    return found;
  }

  function add(job: JobId, settle: Settle): void {
    const those = waits.get(job);
    if (those === undefined) waits.set(job, new Set([settle]));
    else those.add(settle);
    waiting += 1;
    timer ??= setInterval(poll, pollMs).unref();
  }

  function remove(job: JobId, settle: Settle): void {
    const those = waits.get(job);
    if (!those?.delete(settle)) return;
    waiting -= 1;
    if (those.size === 0) waits.delete(job);
    if (waits.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  return {
    begin(job, timeoutMs, signal) {
      if (isClosed) return { outcome: Promise.resolve('closed'), stop: () => undefined };
      if (signal?.aborted) return { outcome: Promise.resolve('aborted'), stop: () => undefined };
      if (waiting >= maxWaits) {
        throw new ScrapifieError('QUEUE_FULL', 'Too many requests are waiting for their result already.', {
          retryAfterMs: 1_000,
        });
      }
      const expectedMs = pace.expectedMs(waiting);
      if (waiting > FEW_WAITS && expectedMs > timeoutMs * HOPEFUL_SHARE) {
        throw new ScrapifieError(
          'QUEUE_FULL',
          `${waiting} requests are waiting for their result; this one would not get it in time.`,
          { retryAfterMs: Math.min(LONGEST_RETRY_MS, Math.ceil(expectedMs)) },
        );
      }
      const { promise, resolve } = Promise.withResolvers<WaitOutcome>();
      const settle: Settle = (outcome) => {
        clearTimeout(limit);
        if (outcome === 'ended') pace.ended();
        signal?.removeEventListener('abort', abort);
        remove(job, settle);
        resolve(outcome);
      };
      const abort = () => settle('aborted');
      const limit = setTimeout(settle, timeoutMs, 'timeout');
      signal?.addEventListener('abort', abort, { once: true });
      add(job, settle);
      return { outcome: promise, stop: () => settle('ended') };
    },
    count: () => waiting,
    close() {
      isClosed = true;
      unsubscribe();
      for (const job of [...waits.keys()]) settleAll(job, 'closed');
    },
  };
}
