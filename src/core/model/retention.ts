import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { Job } from './job.ts';

/**
 * The parts of a page that can be deleted while its row stays: bodies as they were fetched; pictures, PDFs and recorded
 * answers; records, which are all that was read out of the page.
 */
export const PAGE_PARTS = ['bodies', 'artifacts', 'records'] as const;
export type PagePart = (typeof PAGE_PARTS)[number];

/**
 * Kinds of data with a time of their own. `ledger`: the URLs of a job and its pages; `jobs`: everything of a job;
 * `exports`: files made of jobs; `snapshots`: the history of pages, which belongs to no job.
 */
export const RETAINED_KINDS = [...PAGE_PARTS, 'ledger', 'jobs', 'exports', 'snapshots'] as const;
export type RetainedKind = (typeof RETAINED_KINDS)[number];

/** Answers under an Idempotency-Key, as the API promises. */
export const ANSWERS_KEPT_MS = 86_400_000;

/** How long each kind of data is kept. Null or missing: as long as what it belongs to. */
export type RetentionAges = { readonly [K in RetainedKind as `${K}Ms`]?: number | null | undefined };

/** What may be kept of the jobs of an account. */
export interface RetentionLimits {
  readonly ages: RetentionAges;
  /** The newest ended jobs that are kept; null: all. */
  readonly maxJobs: number | null;
  /** Bytes that the pages of its jobs were fetched with; beyond that the oldest bodies go. Null: without limit. */
  readonly maxBytes: number | null;
}

export const UNLIMITED_RETENTION: RetentionLimits = { ages: {}, maxJobs: null, maxBytes: null };

const ageOf = (ages: RetentionAges, kind: RetainedKind): number =>
  ages[`${kind}Ms`] ?? Number.POSITIVE_INFINITY;

/** For each kind the shortest of the given times: neither an account nor a job can keep data for longer than its operator. */
export function shortestAges(...given: readonly RetentionAges[]): Readonly<Record<RetainedKind, number>> {
  const shortest = (kind: RetainedKind) => Math.min(...given.map((ages) => ageOf(ages, kind)));
  // A record names the artifacts of its page, and the document as it was sent: they go with it.
  const records = shortest('records');
  return {
    jobs: shortest('jobs'),
    ledger: shortest('ledger'),
    records,
    artifacts: Math.min(records, shortest('artifacts')),
    bodies: Math.min(records, shortest('bodies')),
    // An export holds what was read out of pages.
    exports: Math.min(records, shortest('ledger'), shortest('exports')),
    snapshots: shortest('snapshots'),
  };
}

const lower = (first: number | null, second: number | null): number | null =>
  first === null || second === null ? (first ?? second) : Math.min(first, second);

/** The limits under which both hold. */
export function combineLimits(first: RetentionLimits, second: RetentionLimits): RetentionLimits {
  const ages = Object.entries(shortestAges(first.ages, second.ages)).map(
    ([kind, ms]) => [`${kind}Ms`, Number.isFinite(ms) ? ms : null] as const,
  );
  return {
    ages: Object.fromEntries(ages),
    maxJobs: lower(first.maxJobs, second.maxJobs),
    maxBytes: lower(first.maxBytes, second.maxBytes),
  };
}

/** Throws EXPIRED for a job of which only the summary is kept. */
export function requireLedger(job: Pick<Job, 'expired'>): void {
  if (job.expired?.includes('ledger') !== true) return;
  throw new ScrapifieError(
    'EXPIRED',
    'The URLs and pages of the job were deleted, because their time was over; only its summary is kept.',
  );
}

/** The part of a page that was asked for has expired. */
export const expiredPart = (what: string, part: PagePart) =>
  new ScrapifieError('EXPIRED', `${what} was deleted, because its time was over.`, { details: { part } });
