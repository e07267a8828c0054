import type { AccountId, JobId, JobSeq, KeyId, ScheduleId } from '../../core/model/ids.ts';
import type { Job, JobOptions, JobStatus, NewJob } from '../../core/model/job.ts';
import type { JobKind } from '../../core/model/job-kinds.ts';
import type { StopReason } from '../../core/model/task-reasons.ts';
import { EXPIRED_KINDS, expiredKindsOf } from './expiry.ts';
import type { Row } from './rows.ts';

/** Columns that count, and are 0 in the row of a new job. */
const COUNTERS = [
  'known',
  'open',
  'claimed',
  'claimed_pages',
  'pages',
  'done',
  'failed',
  'skipped',
  'denied',
  'cancelled',
  'bytes',
  'browser_ms',
  'proxy_bytes',
  'microcredits',
];
const ZEROS: Readonly<Record<string, number>> = Object.fromEntries(COUNTERS.map((column) => [column, 0]));

/**
 * The row of a new job by its columns, but for its number and its times, which the store knows; columns that are missing
 * are NULL. Lists and objects are stored as JSON.
 */
export const newJobRow = (job: NewJob): Readonly<Record<string, unknown>> => ({
  id: job.id,
  account_id: job.accountId,
  key_id: job.keyId ?? null,
  kind: job.kind,
  status: 'queued' satisfies JobStatus,
  options: job.options,
  seeds: job.seeds,
  max_pages: job.options.budgets.maxPages,
  max_bytes: job.options.budgets.maxBytes,
  reserve_microcredits: job.reserveMicrocredits ?? 0,
  ...ZEROS,
});

export function jobOf(row: Row): Job {
  return {
    id: row.id as JobId,
    seq: Number(row.seq) as JobSeq,
    accountId: row.account_id as AccountId,
    kind: row.kind as JobKind,
    status: row.status as JobStatus,
    stopReason: row.stop_reason as StopReason | null,
    keyId: row.key_id as KeyId | null,
    microcredits: Number(row.microcredits),
    reserveMicrocredits: Number(row.reserve_microcredits),
    options: JSON.parse(String(row.options)) as JobOptions,
    seeds: JSON.parse(String(row.seeds)) as string[],
    counters: {
      known: Number(row.known),
      open: Number(row.open),
      claimed: Number(row.claimed),
      pages: Number(row.pages),
      done: Number(row.done),
      failed: Number(row.failed),
      skipped: Number(row.skipped) - Number(row.skipped_files ?? 0),
      denied: Number(row.denied),
      cancelled: Number(row.cancelled),
      bytes: Number(row.bytes),
      browserMs: Number(row.browser_ms),
      proxyBytes: Number(row.proxy_bytes),
    },
    createdAt: Number(row.created_at),
    startedAt: row.started_at as number | null,
    finishedAt: row.finished_at as number | null,
    ...expiredKindsOf(row.expired),
    ...(row.schedule_id == null ? {} : { scheduleId: row.schedule_id as ScheduleId }),
  };
}

/**
 * The columns of a job's row with the number of its skipped robots.txt files and sitemaps, which the row counts among the
 * skipped tasks, and what it has lost to retention. `j` is the row.
 */
export const JOB_COLUMNS = `j.*, (
  SELECT count(*) FROM tasks f WHERE f.job_seq = j.seq AND f.kind <> 'page' AND f.state = 'skipped'
) AS skipped_files, ${EXPIRED_KINDS} AS expired`;
