import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostId, HostKey, JobId, JobSeq } from '../../core/model/ids.ts';
import type { NewJob } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { JOB_COLUMNS, jobOf, newJobRow } from '../store-rows/job-rows.ts';
import type { JobViewStore } from '../store-sql/job-views.ts';
import { GOES_ON } from '../store-sql/schedules.ts';
import { requireCredits } from './credit-holds.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeJobEvent } from './event-log.ts';
import { createTally, dropOpen, settleJob, stopJob } from './job-life.ts';
import { createMailboxes } from './mailboxes.ts';
import { createResuming } from './resuming.ts';
import type { Synchronous } from './sql-methods.ts';

const HELD_UNTIL = 'SELECT blocked_until FROM hosts WHERE key = ? AND owner IS NULL AND blocked_until > ?';

export function createSqliteJobStore(
  database: SqliteDatabase,
  hostIds: Map<HostKey, HostId>,
  clock: () => number,
): Synchronous<Omit<JobStore, keyof JobViewStore>> {
  const rowOf = (id: JobId) => database.get(`SELECT ${JOB_COLUMNS} FROM jobs j WHERE j.id = ?`, id);

  /** 0: the host has an owner, or is not held. */
  const heldUntilOf = (key: HostKey, now: number): number =>
    Number(database.get(HELD_UNTIL, key, now)?.blocked_until ?? 0);

  return {
    createJob(job, tasks) {
      const { budgets } = job.options;
      const now = clock();
      requireCredits(database, job.accountId, job.reserveMicrocredits ?? 0, now);
      const seq = insertJob(database, {
        ...newJobRow(job),
        created_at: now,
        deadline_at: budgets.maxDurationMs === null ? null : now + budgets.maxDurationMs,
      });
      writeJobEvent(database, 'job.created', seq, now);
      if (job.run !== undefined) startScheduleRun(database, job.run, job.id, now);
      if (job.sources !== undefined) {
        database.run(
          'INSERT INTO job_sources (job_seq, sources) VALUES (?, ?)',
          seq,
          JSON.stringify(job.sources),
        );
      }
      const tally = createTally();
      const mailboxes = createMailboxes(database, hostIds);
      const { accountId, kind } = job;
      mailboxes.add({ seq, accountId, kind, size: tasks.length, intake: 'open' }, tasks, tally, now);
      tally.of(seq);
      const offers = mailboxes.flush(now);
      settleJob(database, tally, now);
      const stored = jobOf(rowOf(job.id) as SqliteRow);
      const [first] = traitsOfKind(kind).isAwaited ? offers : [];
      const heldUntil = first === undefined ? 0 : heldUntilOf(first.key, now);
      return heldUntil > 0 ? { ...stored, heldUntil } : stored;
    },

    getJob(id) {
      const row = rowOf(id);
      return row === undefined ? null : jobOf(row);
    },

    cancelJob(id, stopReason) {
      const now = clock();
      const row = rowOf(id);
      if (row === undefined) return null;
      if (row.finished_at !== null || row.status === 'cancelled') return jobOf(row);
      const seq = Number(row.seq) as JobSeq;
      const tally = createTally();
      const dropped = dropOpen(database, seq, 'cancelled', null, now);
      tally.of(seq).open -= dropped;
      tally.of(seq).cancelled += dropped;
      database.run(
        `UPDATE jobs SET status = 'cancelled', stop_reason = coalesce(?, stop_reason) WHERE seq = ?`,
        stopReason ?? null,
        seq,
      );
      writeJobEvent(database, 'job.stopping', seq, now);
      settleJob(database, tally, now);
      return jobOf(rowOf(id) as SqliteRow);
    },

    stopJob(id, reason) {
      const now = clock();
      const row = rowOf(id);
      if (row === undefined) return null;
      if (row.finished_at !== null || row.status === 'cancelled' || row.stop_reason !== null)
        return jobOf(row);
      const seq = Number(row.seq) as JobSeq;
      stopJob(database, seq, reason, now);
      const tally = createTally();
      tally.of(seq);
      settleJob(database, tally, now);
      return jobOf(rowOf(id) as SqliteRow);
    },

    ...createResuming(database, hostIds, clock),

    expireJobs() {
      const now = clock();
      const expired = database.all(
        `SELECT seq, id FROM jobs WHERE finished_at IS NULL AND deadline_at <= ? AND stop_reason IS NULL
           AND status <> 'cancelled'`,
        now,
      );
      const tally = createTally();
      for (const row of expired) {
        stopJob(database, Number(row.seq) as JobSeq, 'budget.duration', now);
        tally.of(Number(row.seq) as JobSeq);
      }
      settleJob(database, tally, now);
      return expired.map((row) => row.id as JobId);
    },
  };
}

/** Every new job has the same columns, so this is one statement. */
function insertJob(database: SqliteDatabase, row: Readonly<Record<string, unknown>>): JobSeq {
  const values = Object.values(row).map((value) =>
    typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as string | number | null),
  );
  const places = values.map(() => '?').join(', ');
  return database.insert(
    `INSERT INTO jobs (${Object.keys(row).join(', ')}) VALUES (${places})`,
    ...values,
  ) as JobSeq;
}

/** Marks the run as started by the job that was just inserted. Throws CONFLICT, which undoes the job, unless it may. */
function startScheduleRun(
  database: SqliteDatabase,
  run: NonNullable<NewJob['run']>,
  job: JobId,
  now: number,
): void {
  const going = database.get(
    `SELECT j.id FROM jobs j WHERE j.schedule_id = ? AND ${GOES_ON} LIMIT 1`,
    run.scheduleId,
  );
  if (going !== undefined) throw cannotStart('another job of the schedule goes on');
  const started = database.run(
    `UPDATE schedule_runs SET status = 'started', reason = NULL, settled_at = ?
     WHERE id = ? AND job_id = ? AND status IN ('pending', 'waiting')`,
    now,
    run.id,
    job,
  );
  if (started === 0) throw cannotStart('the run is not open');
  database.run('UPDATE jobs SET schedule_id = ? WHERE id = ?', run.scheduleId, job);
}

const cannotStart = (why: string) => new ScrapifieError('CONFLICT', `The run cannot start: ${why}.`);
