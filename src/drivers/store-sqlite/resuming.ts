import { spentBudget } from '../../core/model/credits.ts';
import type { HostId, HostKey, JobId, JobSeq } from '../../core/model/ids.ts';
import type { Budgets, Job, JobOptions, Pace } from '../../core/model/job.ts';
import { UNDONE_BY_RESUME } from '../../core/model/reasons.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { expiredLedger } from '../store-rows/expiry.ts';
import { JOB_COLUMNS, jobOf } from '../store-rows/job-rows.ts';
import { requireCredits } from './credit-holds.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeJobEvent } from './event-log.ts';
import { createTally, settleJob } from './job-life.ts';
import { createMailboxes } from './mailboxes.ts';
import type { Synchronous } from './sql-methods.ts';

/** Puts ended tasks of a job back to work. */
export function createResuming(
  database: SqliteDatabase,
  hostIds: Map<HostKey, HostId>,
  clock: () => number,
): Synchronous<Pick<JobStore, 'resumeJob' | 'retryJob'>> {
  const rowOf = (id: JobId) => database.get(`SELECT ${JOB_COLUMNS} FROM jobs j WHERE j.id = ?`, id);

  function requireLedger(seq: JobSeq): void {
    const row = database.get('SELECT ledger FROM job_expiry WHERE job_seq = ? AND ledger > 0', seq);
    if (row !== undefined) throw expiredLedger();
  }

  /** Wakes the hosts of tasks that were made ready again and marks the job as going on. */
  function putBackToWork(job: SqliteRow, now: number, budgets: Budgets, pace: Pace = {}): Job {
    const seq = Number(job.seq) as JobSeq;
    const options: JobOptions = { ...(JSON.parse(String(job.options)) as JobOptions), ...pace, budgets };
    database.run(
      `UPDATE jobs SET status = 'running', stop_reason = NULL, finished_at = NULL, options = ?, max_pages = ?,
         max_bytes = ?, deadline_at = ? WHERE seq = ?`,
      JSON.stringify(options),
      budgets.maxPages,
      budgets.maxBytes,
      budgets.maxDurationMs === null ? null : now + budgets.maxDurationMs,
      seq,
    );
    const isResumed = job.finished_at !== null || job.stop_reason !== null || job.status === 'cancelled';
    if (isResumed) writeJobEvent(database, 'job.resumed', seq, now);
    const mailboxes = createMailboxes(database, hostIds);
    for (const host of database.all(
      `SELECT host_id, min(rank) AS rank FROM tasks WHERE job_seq = ? AND state = 'ready' GROUP BY host_id`,
      seq,
    )) {
      mailboxes.wake(Number(host.host_id) as HostId, Number(host.rank));
    }
    mailboxes.flush(now);
    const tally = createTally();
    tally.of(seq);
    settleJob(database, tally, now);
    return jobOf(rowOf(job.id as JobId) as SqliteRow);
  }

  /** A job that goes on has credits held for it; one that has ended needs credits like a new one. */
  function requirePaid({ finishedAt, accountId, reserveMicrocredits = 0 }: Job): void {
    if (finishedAt !== null) requireCredits(database, accountId, reserveMicrocredits, clock());
  }

  return {
    resumeJob(id, budgets, pace) {
      const row = rowOf(id);
      if (row === undefined) return null;
      const seq = Number(row.seq) as JobSeq;
      requireLedger(seq);
      const limits = budgets ?? (JSON.parse(String(row.options)) as JobOptions).budgets;
      const job = jobOf(row);
      if (job.finishedAt !== null && spentBudget(job, limits) !== null) return job;
      const cancelled = database.run(
        `UPDATE tasks SET state = 'ready', finished_at = NULL, interruptions = 0, lone_interruptions = 0
         WHERE job_seq = ? AND state = 'cancelled'`,
        seq,
      );
      const skipped = database.run(
        `UPDATE tasks SET state = 'ready', rule = NULL, finished_at = NULL, interruptions = 0, lone_interruptions = 0
         WHERE job_seq = ? AND state = 'skipped' AND (rule IN (SELECT value FROM json_each(?)) OR rule = ?)`,
        seq,
        JSON.stringify(UNDONE_BY_RESUME),
        row.stop_reason ?? '',
      );
      if (cancelled + skipped === 0 && row.status !== 'cancelled') return job;
      if (cancelled + skipped > 0) requirePaid(job);
      reopenJob(database, seq, cancelled, 'cancelled');
      reopenJob(database, seq, skipped, 'skipped');
      return putBackToWork(row, clock(), limits, pace);
    },

    retryJob(id, only) {
      const row = rowOf(id);
      if (row === undefined) return null;
      const seq = Number(row.seq) as JobSeq;
      requireLedger(seq);
      const mailboxes = createMailboxes(database, hostIds);
      for (const moved of database.all(
        `SELECT id, url FROM tasks WHERE job_seq = ? AND state = 'failed' AND at_url IS NOT NULL AND (? IS NULL OR error_code = ?)`,
        seq,
        only ?? null,
        only ?? null,
      )) {
        database.run(
          'UPDATE tasks SET host_id = ? WHERE id = ?',
          mailboxes.hostIdOf(new URL(String(moved.url)).host as HostKey),
          Number(moved.id),
        );
      }
      const failed = database.run(
        `UPDATE tasks SET state = 'ready', attempts = 0, hops = 0, at_url = NULL, trace = NULL, rule = NULL,
           error_code = NULL, finished_at = NULL, interruptions = 0, lone_interruptions = 0
         WHERE job_seq = ? AND state = 'failed' AND (? IS NULL OR error_code = ?)`,
        seq,
        only ?? null,
        only ?? null,
      );
      if (failed === 0) return jobOf(row);
      requirePaid(jobOf(row));
      reopenJob(database, seq, failed, 'failed');
      return putBackToWork(row, clock(), (JSON.parse(String(row.options)) as JobOptions).budgets);
    },
  };
}

/** Counts ended tasks of a job as open again. The caller has written their new state. */
function reopenJob(
  database: SqliteDatabase,
  seq: JobSeq,
  opened: number,
  from: 'failed' | 'cancelled' | 'skipped',
): void {
  const tally = createTally();
  const delta = tally.of(seq);
  delta.open += opened;
  delta[from] -= opened;
  tally.apply(database);
}
