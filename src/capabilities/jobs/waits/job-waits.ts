import { guarded } from '../../../core/errors/guarded.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../../core/model/attempt.ts';
import { isRendering } from '../../../core/model/engine-traits.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { PageOptions } from '../../../core/model/job.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { Waiting } from './waiting.ts';

/**
 * How a wait came out. `aborted`: the caller lost interest. `closed`: this process is stopping. An object: what keeps
 * the job from ending within the caller's time.
 */
export type WaitOutcome = 'ended' | 'timeout' | 'aborted' | 'closed' | Waiting;

/** Where a job stands. `hopeless` says what keeps it from ending within that time; null: it may end in time. */
type JobLook = 'ended' | { readonly hopeless: (withinMs: number) => Waiting | null };

interface JobWait {
  /** How the wait ended; the promise never rejects. */
  readonly outcome: Promise<WaitOutcome>;
  /** For a job that has ended or does not exist: its waits are removed. */
  stop(): void;
  /** Looks at the job now: it is known to wait for something. */
  look(): void;
}

interface JobWaits {
  /**
   * Waits from now on, so begin before you create the job or look at it: an end in between is not missed. Throws
   * QUEUE_FULL when too many wait already, for this server or for the time limit.
   */
  begin(job: JobId, timeoutMs: number, signal?: AbortSignal): JobWait;
  /** Returns the number of waits under way. */
  count(): number;
  /** Ends every wait as `closed`, and every later one at once. */
  close(): void;
}

interface JobWaitsOptions {
  readonly bus: Bus;
  /** Asks the store: the bus may lose messages, and does not say what a job waits for. */
  readonly look: (job: JobId) => Promise<JobLook>;
  readonly pollMs?: number;
  readonly maxWaits?: number;
  /** Any clock in milliseconds that only goes forward. */
  readonly now?: () => number;
}

/** Each holds a connection and what was sent on it, some 40 KB. */
const MAX_WAITS = 10_000;

interface Waiter {
  settle(outcome: WaitOutcome): void;
  /** How long the caller still waits. */
  leftMs(): number;
}
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

const WINDOW_MS = 5_000;

/** All waits of a process share one subscription and one slow poll. */
export function createJobWaits(options: JobWaitsOptions): JobWaits {
  const pollMs = options.pollMs ?? 1_000;
  const now = options.now ?? (() => performance.now());
  const pace = createWaitEstimate(now);
  const maxWaits = options.maxWaits ?? MAX_WAITS;
  /** Oldest look-up first: a job that was asked about moves to the end. */
  const waits = new Map<JobId, Set<Waiter>>();
  /** Jobs that are being looked at because the bus told of a change. */
  const looking = new Set<JobId>();
  let waiting = 0;
  let isClosed = false;
  let isPolling = false;
  let lookups = LOOKUPS_PER_POLL.usual;
  let timer: NodeJS.Timeout | undefined;

  function settleAll(job: JobId, outcome: WaitOutcome): void {
    for (const waiter of waits.get(job) ?? []) waiter.settle(outcome);
  }

  const unsubscribe = options.bus.subscribe('job.changed', ({ jobs, finished }) => {
    for (const job of finished) settleAll(job as JobId, 'ended');
    for (const job of jobs) if (waits.has(job as JobId)) lookSoon(job as JobId);
  });

  /** A job that changes all the time, as a map does, is looked at by the poll. */
  function lookSoon(job: JobId): void {
    if (looking.has(job)) return;
    looking.add(job);
    lookAt(job)
      // The store is away for the moment; the poll asks again.
      .catch(() => undefined)
      .finally(() => setTimeout(() => looking.delete(job), pollMs).unref());
  }

  /** Settles the waits of a job that has ended, or cannot end in time. True when it has ended. */
  async function lookAt(job: JobId): Promise<boolean> {
    const found = await options.look(job);
    const waiters = waits.get(job);
    if (waiters === undefined) return false;
    if (found === 'ended') {
      settleAll(job, 'ended');
      return true;
    }
    for (const waiter of waiters) {
      const hopeless = found.hopeless(waiter.leftMs());
      if (hopeless !== null) waiter.settle(hopeless);
    }
    return false;
  }

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
      if (await lookAt(job)) found += 1;
    }
    return found;
  }

  function add(job: JobId, waiter: Waiter): void {
    const those = waits.get(job);
    if (those === undefined) waits.set(job, new Set([waiter]));
    else those.add(waiter);
    waiting += 1;
    timer ??= setInterval(poll, pollMs).unref();
  }

  function remove(job: JobId, waiter: Waiter): void {
    const those = waits.get(job);
    if (!those?.delete(waiter)) return;
    waiting -= 1;
    if (those.size === 0) waits.delete(job);
    if (waits.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  return {
    begin(job, timeoutMs, signal) {
      if (isClosed) return over('closed');
      if (signal?.aborted) return over('aborted');
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
      const endsAt = now() + timeoutMs;
      const waiter: Waiter = {
        leftMs: () => endsAt - now(),
        settle(outcome) {
          clearTimeout(limit);
          if (outcome === 'ended') pace.ended();
          signal?.removeEventListener('abort', abort);
          remove(job, waiter);
          resolve(outcome);
        },
      };
      const abort = guarded(() => waiter.settle('aborted'));
      const limit = setTimeout(waiter.settle, timeoutMs, 'timeout');
      signal?.addEventListener('abort', abort, { once: true });
      add(job, waiter);
      return { outcome: promise, stop: () => waiter.settle('ended'), look: () => lookSoon(job) };
    },
    count: () => waiting,
    close() {
      isClosed = true;
      unsubscribe();
      for (const job of [...waits.keys()]) settleAll(job, 'closed');
    },
  };
}

const over = (outcome: WaitOutcome): JobWait => ({
  outcome: Promise.resolve(outcome),
  stop: () => undefined,
  look: () => undefined,
});

/** Estimates waiting times from the rate at which waits ended in the last seconds. */
interface WaitEstimate {
  ended(): void;
  /** The expected wait behind `waiting` others; 0 when there is no recent rate. */
  expectedMs(waiting: number): number;
}

export function createWaitEstimate(now: () => number): WaitEstimate {
  let since = now();
  let count = 0;
  /** Rate of the last full window; null when there was none recently. */
  let perMs: number | null = null;

  function turn(): void {
    const elapsedMs = now() - since;
    if (elapsedMs < WINDOW_MS) return;
    perMs = elapsedMs < 2 * WINDOW_MS ? count / elapsedMs : null;
    since = now();
    count = 0;
  }

  return {
    ended() {
      turn();
      count += 1;
    },
    expectedMs(waiting) {
      turn();
      return perMs === null || perMs === 0 ? 0 : waiting / perMs;
    },
  };
}

/** Why a wait ended before its job did. */
export function stoppedWaiting(outcome: 'closed' | 'aborted', jobId: JobId): ScrapifieError {
  const details = { jobId };
  return outcome === 'closed'
    ? new ScrapifieError('SHUTTING_DOWN', 'The server is stopping; the job goes on when it is back.', {
        details,
      })
    : new ScrapifieError('CANCELLED', 'The client no longer waits for the answer.', { details });
}

/** The error of a wait that took too long, with the reason why the last attempt failed; one that took all its time is the reason itself. */
export function notReady(jobId: JobId, limitMs: number, attempts: readonly Attempt[] = []): ScrapifieError {
  const last = attempts.at(-1);
  const reason = last?.errorCode ?? last?.outcome;
  const why =
    reason === undefined ? '' : ` The last attempt ended with ${reason}: ${last?.evidence ?? 'no page'}`;
  const code = reason === 'TASK_TIMEOUT' ? reason : 'REQUEST_TIMEOUT';
  return new ScrapifieError(code, `Not ready within ${limitMs} ms; the job goes on.${why}`, {
    details: attempts.length === 0 ? { jobId } : { jobId, attempts },
  });
}

/** Reading what there is of a page whose time is up takes a moment more. */
const LAST_LOOK_MS = 5_000;

/** How long to wait for a single page. */
export function patienceFor({ engine, render, timeoutMs }: PageOptions): number {
  const mayBeShown = render !== null || isRendering(engine);
  return mayBeShown ? timeoutMs + LAST_LOOK_MS : timeoutMs;
}
