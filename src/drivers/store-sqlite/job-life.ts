import { spentBudget } from '../../core/model/credits.ts';
import type { JobId, JobSeq } from '../../core/model/ids.ts';
import type { JobOptions } from '../../core/model/job.ts';
import type { StopReason } from '../../core/model/task-reasons.ts';
import { returnHold } from './credit-holds.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeJobEvent } from './event-log.ts';

export interface Settled {
  readonly changed: JobId[];
  readonly finished: JobId[];
  readonly stopped: JobId[];
}

/** Writes the counters, stops jobs whose budget is spent and ends those with nothing open. Same transaction. */
export function settleJob(database: SqliteDatabase, tally: JobTally, now: number): Settled {
  tally.apply(database);
  const settled: Settled = { changed: [], finished: [], stopped: [] };
  for (const seq of tally.jobs()) {
    let job = database.get('SELECT * FROM jobs WHERE seq = ?', seq);
    if (job === undefined) continue;
    settled.changed.push(job.id as JobId);
    const spent = spentBudgetOf(job);
    if (spent !== null) {
      stopJob(database, seq, spent, now);
      settled.stopped.push(job.id as JobId);
      job = database.get('SELECT * FROM jobs WHERE seq = ?', seq);
    }
    if (job !== undefined && endIfOver(database, job, now)) settled.finished.push(job.id as JobId);
  }
  return settled;
}

/** The budget that the job has spent; null when there is none, or when the job is stopping or has nothing open. */
function spentBudgetOf(job: SqliteRow): StopReason | null {
  if (job.stop_reason !== null || job.status === 'cancelled' || Number(job.open) === 0) return null;
  const counters = {
    pages: Number(job.pages),
    failed: Number(job.failed),
    bytes: Number(job.bytes),
    browserMs: Number(job.browser_ms),
    proxyBytes: Number(job.proxy_bytes),
  };
  const spent = { counters, microcredits: Number(job.microcredits) };
  const { browserMs, proxyBytes } = counters;
  // These have columns; the options are only parsed where one of the other budgets could be spent.
  const columns = { maxPages: job.max_pages as number | null, maxBytes: job.max_bytes as number | null };
  if (browserMs === 0 && proxyBytes === 0 && spent.microcredits === 0) return spentBudget(spent, columns);
  const { budgets } = JSON.parse(String(job.options)) as JobOptions;
  return spentBudget(spent, { ...budgets, ...columns });
}

/** Removes the tasks that are not under way from the job, with the reason as the deciding rule of each URL. */
export function stopJob(database: SqliteDatabase, seq: JobSeq, reason: StopReason, now: number): void {
  const dropped = dropOpen(database, seq, 'skipped', reason, now);
  database.run(
    'UPDATE jobs SET stop_reason = ?, open = open - ?, skipped = skipped + ? WHERE seq = ?',
    reason,
    dropped,
    dropped,
    seq,
  );
  writeJobEvent(database, 'job.stopping', seq, now);
}

export function dropOpen(
  database: SqliteDatabase,
  seq: JobSeq,
  state: 'skipped' | 'cancelled',
  rule: string | null,
  now: number,
): number {
  return database.run(
    `UPDATE tasks SET state = ?, rule = ?, finished_at = ? WHERE job_seq = ? AND state IN ('ready', 'waiting')`,
    state,
    rule,
    now,
    seq,
  );
}

function endIfOver(database: SqliteDatabase, job: SqliteRow, now: number): boolean {
  if (Number(job.open) > 0 || job.finished_at !== null) return false;
  const status = job.status === 'cancelled' ? 'cancelled' : finalStatus(job);
  const seq = Number(job.seq) as JobSeq;
  database.run('UPDATE jobs SET status = ?, finished_at = ? WHERE seq = ?', status, now, seq);
  writeJobEvent(database, `job.${status}`, seq, now);
  returnHold(database, seq, now);
  return true;
}

/** Status is derived from outcomes: what was refused by a rule is no failure unless nothing else came of the job. */
function finalStatus(job: SqliteRow): 'failed' | 'partially_completed' | 'completed' {
  const failures = Number(job.failed);
  if (Number(job.done) === 0 && failures + Number(job.denied) > 0) return 'failed';
  return failures > 0 ? 'partially_completed' : 'completed';
}

/** What one transaction changes about a job's counters. */
interface Delta {
  known: number;
  open: number;
  claimed: number;
  claimedPages: number;
  pages: number;
  done: number;
  failed: number;
  skipped: number;
  denied: number;
  cancelled: number;
  bytes: number;
  browserMs: number;
  proxyBytes: number;
  microcredits: number;
}

/**
 * Sums changes per job, so that a batch of a hundred pages updates each job's row once. Code that changes a task's
 * state says so here; `apply` is the only place that writes counters.
 */
export interface JobTally {
  of(job: JobSeq): Delta;
  jobs(): Iterable<JobSeq>;
  apply(database: SqliteDatabase): void;
}

export function createTally(): JobTally {
  const deltas = new Map<JobSeq, Delta>();
  return {
    of(job) {
      let delta = deltas.get(job);
      if (delta === undefined) {
        delta = {
          known: 0,
          open: 0,
          claimed: 0,
          claimedPages: 0,
          pages: 0,
          done: 0,
          failed: 0,
          skipped: 0,
          denied: 0,
          cancelled: 0,
          bytes: 0,
          browserMs: 0,
          proxyBytes: 0,
          microcredits: 0,
        };
        deltas.set(job, delta);
      }
      return delta;
    },
    jobs: () => deltas.keys(),
    apply(database) {
      for (const [job, d] of deltas) {
        database.run(
          `UPDATE jobs SET known = known + ?, open = open + ?, claimed = claimed + ?, claimed_pages = claimed_pages + ?,
             pages = pages + ?, done = done + ?, failed = failed + ?, skipped = skipped + ?, denied = denied + ?,
             cancelled = cancelled + ?, bytes = bytes + ?, browser_ms = browser_ms + ?, proxy_bytes = proxy_bytes + ?,
             microcredits = microcredits + ?
           WHERE seq = ?`,
          d.known,
          d.open,
          d.claimed,
          d.claimedPages,
          d.pages,
          d.done,
          d.failed,
          d.skipped,
          d.denied,
          d.cancelled,
          d.bytes,
          d.browserMs,
          d.proxyBytes,
          d.microcredits,
          job,
        );
      }
    },
  };
}
