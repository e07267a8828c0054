import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Job } from '../../core/model/job.ts';
import { requireLedger } from '../../core/model/retention.ts';
import type {
  LedgerCounts,
  LedgerFilter,
  LedgerOrder,
  LedgerPath,
  LedgerRow,
  LedgerViewStore,
} from '../../core/ports/ledger-view-store.ts';
import type { ListPage } from '../../core/ports/store.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { describeCount } from '../../lib/human-units.ts';

/** The ledger of a job as people look at it: a table of light rows, and counts. */
export interface JobViews {
  /** Throws QUERY_TOO_LARGE when the job is too large for the order, EXPIRED, QUERY_TIMEOUT. */
  rows(job: Job, query: JobRowQuery): Promise<ListPage<LedgerRow>>;
  /** Throws EXPIRED, QUERY_TIMEOUT. May be some seconds old while the job goes on, see `at`. */
  counts(job: Job, filter: LedgerFilter): Promise<JobCounts>;
  /** The parts of the site's addresses below `under`, see `listLedgerPaths`. Throws EXPIRED, QUERY_TIMEOUT. */
  paths(job: Job, under: string, query: PathQuery): Promise<ListPage<LedgerPath>>;
}

export interface PathQuery {
  readonly cursor: string | undefined;
  readonly limit: number;
}

export interface JobRowQuery {
  readonly filter: LedgerFilter;
  readonly order: LedgerOrder;
  readonly isDescending: boolean;
  readonly cursor: string | undefined;
  readonly limit: number;
}

export interface JobCounts extends LedgerCounts {
  /** When they were counted. */
  readonly at: number;
  readonly bucketMs: number;
}

/** Orders other than that of discovery look at every URL for every answer. */
export const MOST_SORTED_URLS = 2_000_000;
/** Points of the time line. */
export const MOST_POINTS = 200;
const ROWS_LIMIT_MS = 10_000;
const COUNTS_LIMIT_MS = 30_000;
/** Counts of a job that goes on are used again for this many times what they took, and at least so long. */
const REUSE_FACTOR = 10;
const REUSE_MS = 1_000;
const MOST_KEPT = 200;

/** From a second to a year, so that the points of a chart begin at times that people read easily. */
const SECOND_MS = 1_000;
const STEPS_S = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
];

/** The length of a point of the time line: the shortest one with which the whole time has `MOST_POINTS` at most. */
export function bucketFor(from: number, until: number): number {
  const needed = Math.max(0, until - from) / (MOST_POINTS - 1);
  const step = STEPS_S.find((seconds) => seconds * SECOND_MS >= needed);
  const day = 86_400 * SECOND_MS;
  return step === undefined ? Math.ceil(needed / day) * day : step * SECOND_MS;
}

interface Kept {
  readonly state: string;
  readonly isEnded: boolean;
  usableUntil: number;
  readonly counts: Promise<JobCounts>;
}

export function createJobViews(store: LedgerViewStore, now: () => number): JobViews {
  const kept = new BoundedMap<string, Kept>(MOST_KEPT);

  async function count(job: Job, filter: LedgerFilter): Promise<JobCounts> {
    const at = now();
    const start = job.startedAt ?? job.createdAt;
    const bucketMs = bucketFor(start, job.finishedAt ?? at);
    const from = Math.floor(start / bucketMs) * bucketMs;
    const found = await store.countLedger({
      job: job.seq,
      filter,
      from,
      bucketMs,
      most: MOST_POINTS,
      limitMs: COUNTS_LIMIT_MS,
    });
    return { ...found, at, bucketMs };
  }

  return {
    async rows(job, { filter, order, isDescending, cursor, limit }) {
      requireLedger(job);
      const { known } = job.counters;
      if (order !== 'discoveredAt' && known > MOST_SORTED_URLS) {
        throw new ScrapifieError(
          'QUERY_TOO_LARGE',
          `The job has ${describeCount(known, 'URL')}, and only those of ${describeCount(MOST_SORTED_URLS, 'URL')} or fewer can be sorted by ${order}. Sort by discoveredAt, with a filter, or export the job.`,
        );
      }
      return store.listLedgerRows({
        job: job.seq,
        filter,
        order,
        isDescending,
        cursor,
        limit,
        limitMs: ROWS_LIMIT_MS,
      });
    },

    async paths(job, under, { cursor, limit }) {
      requireLedger(job);
      const found = await store.listLedgerPaths({
        job: job.seq,
        under,
        after: cursor,
        limit: limit + 1,
        limitMs: ROWS_LIMIT_MS,
      });
      const items = found.slice(0, limit);
      return { items, nextCursor: found.length > limit ? (items.at(-1)?.name ?? null) : null };
    },

    async counts(job, filter) {
      requireLedger(job);
      const key = JSON.stringify([job.id, filter]);
      const state = JSON.stringify([job.counters, job.status, job.finishedAt]);
      const known = kept.get(key);
      // What a job that has ended is made of changes with its counters only.
      const isSame = known?.state === state && known.isEnded;
      if (known !== undefined && (isSame || now() < known.usableUntil)) return known.counts;
      const begunAt = now();
      const entry: Kept = {
        state,
        isEnded: job.finishedAt !== null,
        // Requests that come meanwhile wait for the same counts.
        usableUntil: begunAt + COUNTS_LIMIT_MS,
        counts: count(job, filter),
      };
      kept.set(key, entry);
      try {
        return await entry.counts;
      } catch (error) {
        kept.delete(key);
        throw error;
      } finally {
        const endedAt = now();
        entry.usableUntil = endedAt + Math.max(REUSE_MS, (endedAt - begunAt) * REUSE_FACTOR);
      }
    },
  };
}
