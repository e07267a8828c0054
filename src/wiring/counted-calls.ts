import type { ErrorCode } from '../core/errors/registry.ts';
import { isScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Job } from '../core/model/job.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { CountedPart, WorkMetrics } from '../core/observe/metrics/work-metrics.ts';
import type { Store } from '../core/ports/store.ts';
import { watchStore } from '../http/health/store-watch.ts';
import { type BlobsPlace, type OpenBlobs, openBlobs } from './open-blobs.ts';

type Method = (...values: unknown[]) => unknown;

/** Errors that say that the part does not work; all others are answers. */
const FAILURES: Readonly<Record<CountedPart, ReadonlySet<ErrorCode>>> = {
  store: new Set(['STORE_UNAVAILABLE', 'STORE_REFUSED', 'DATABASE_CORRUPT', 'DISK_FULL']),
  queue: new Set(['QUEUE_UNAVAILABLE', 'QUEUE_REFUSED', 'QUEUE_UNSAFE']),
  blobs: new Set(['BLOBS_UNAVAILABLE', 'BLOBS_REFUSED', 'DISK_FULL']),
};

/** The part with its failed calls counted, errors that the program did not expect included. */
export function countFailures<T extends object>(
  part: CountedPart,
  from: T,
  metrics: Pick<WorkMetrics, 'partFailed'>,
): T {
  const count = (error: unknown): never => {
    const code = failureCode(part, error);
    if (code !== null) metrics.partFailed(part, code);
    throw error;
  };
  const counted = Object.entries(from).map(([name, method]): [string, unknown] => {
    if (typeof method !== 'function') return [name, method];
    return [
      name,
      (...values: unknown[]) => {
        const answer = (method as Method).apply(from, values);
        return answer instanceof Promise ? answer.catch(count) : answer;
      },
    ];
  });
  return Object.fromEntries(counted) as T;
}

/** Null when it is no failure of the part. What handlers of calls reject with is not the queue's. */
function failureCode(part: CountedPart, error: unknown): string | null {
  if (!isScrapifieError(error)) return part === 'queue' ? null : 'INTERNAL';
  return FAILURES[part].has(error.code) ? error.code : null;
}

/** The place of bodies of this process, with its failures counted, told and logged. */
export async function openCountedBlobs(
  place: BlobsPlace,
  logger: Logger,
  metrics: Pick<WorkMetrics, 'partFailed' | 'partChanged'>,
): Promise<OpenBlobs> {
  const blobs = await openBlobs(place, {
    isFirst: true,
    onAway(error) {
      metrics.partChanged('blobs', false);
      logger.warn({ err: error }, 'object store unavailable: bodies are kept elsewhere');
    },
    onReturn() {
      metrics.partChanged('blobs', true);
      logger.info('object store available');
    },
    onRebuilt(error) {
      logger.warn({ err: error }, 'index of stored bodies rebuilt');
    },
  });
  return countFailures('blobs', blobs, metrics);
}

/** The store for callers with clients waiting; whether it answers is counted and logged. */
export function watchSharedStore(
  store: Store,
  logger: Logger,
  metrics: Pick<WorkMetrics, 'partChanged'>,
): Store {
  return watchStore(store, {
    onChange(reason) {
      metrics.partChanged('store', reason === null);
      if (reason === null) logger.info('store available');
      else logger.warn({ reason: reason.message }, 'store unavailable');
    },
  });
}

/** Logs what a store tells beside its answers. Changes that it dropped at its opening are lost for as long as it is open. */
export function logStoreErrors(logger: Logger) {
  let degradation: string | null = null;
  return {
    onStoreError(error: unknown) {
      logger.warn({ err: error }, 'store error');
      if (isScrapifieError(error) && error.code === 'DATABASE_CORRUPT') degradation = error.message;
    },
    storeDegradation: () => degradation,
  };
}

/**
 * The store with the ends of jobs counted that no commit of the crawl brings about: a job without a URL to fetch, one
 * that is cancelled or stopped while nothing of it is under way, and one whose time is over.
 */
export function countJobEnds(store: Store, metrics: Pick<WorkMetrics, 'jobEnded'>): Store {
  const count = <T extends Job | null>(job: T, isEndedNow: (job: Job) => boolean = () => true): T => {
    if (job !== null && isEndedNow(job)) metrics.jobEnded(job);
    return job;
  };
  return {
    ...store,
    createJob: async (...values) => count(await store.createJob(...values)),
    // A job that had ended before is returned as it is, and was counted then.
    cancelJob: async (...values) =>
      count(await store.cancelJob(...values), ({ status }) => status === 'cancelled'),
    stopJob: async (id, reason) =>
      count(await store.stopJob(id, reason), ({ stopReason }) => stopReason === reason),
    async expireJobs() {
      const expired = await store.expireJobs();
      for (const id of expired) count(await store.getJob(id));
      return expired;
    },
  };
}
