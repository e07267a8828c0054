import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { spentBudget } from '../../core/model/credits.ts';
import type { HostId, HostKey, JobId, JobSeq } from '../../core/model/ids.ts';
import type { Budgets, Job, JobOptions, Pace } from '../../core/model/job.ts';
import { FETCHING_GIVEN, traitsOfKind } from '../../core/model/job-kinds.ts';
import { UNDONE_BY_RESUME } from '../../core/model/reasons.ts';
import type { JobStore } from '../../core/ports/store.ts';
import {
  DELETED_ACCOUNT,
  DELETED_AT_ONCE,
  DELETED_ID,
  EXPIRED_COLUMNS,
  expiredLedger,
  HAS_BODY,
} from '../store-rows/expiry.ts';
import { JOB_COLUMNS, jobOf, newJobRow } from '../store-rows/job-rows.ts';
import {
  cursorOf,
  foundTaskOf,
  ledgerEntryOf,
  pageFromRow,
  STORED_PAGE_COLUMNS,
  sliceOf,
  storedPageOf,
  taskWaitOf,
  WAITS,
} from '../store-rows/rows.ts';
import { requireCredits } from './credit-holds.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeJobEvent } from './event-log.ts';
import { dropOpen, reopenJob, settleJob, stopJob } from './job-life.ts';
import { createMailboxes } from './mailboxes.ts';
import { startScheduleRun } from './schedule-start.ts';
import type { Synchronous } from './synchronous.ts';
import { createTally } from './tally.ts';

const HELD_UNTIL = 'SELECT blocked_until FROM hosts WHERE key = ? AND owner IS NULL AND blocked_until > ?';

export function createSqliteJobStore(
  database: SqliteDatabase,
  hostIds: Map<HostKey, HostId>,
  clock: () => number,
): Synchronous<JobStore> {
  const rowOf = (id: JobId) => database.get(`SELECT ${JOB_COLUMNS} FROM jobs j WHERE j.id = ?`, id);

  function requireLedger(seq: JobSeq): void {
    const row = database.get('SELECT ledger FROM job_expiry WHERE job_seq = ? AND ledger > 0', seq);
    if (row !== undefined) throw expiredLedger();
  }

  /** 0: the host has an owner, or is not held. */
  const heldUntilOf = (key: HostKey, now: number): number =>
    Number(database.get(HELD_UNTIL, key, now)?.blocked_until ?? 0);

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

    listJobs({ accountId, status, kind, scheduleId, cursor, limit }) {
      // Apart from the others, so that its index can serve.
      const ofSchedule = scheduleId === undefined ? '' : ' AND schedule_id = ?';
      const rows = database.all(
        `SELECT ${JOB_COLUMNS} FROM jobs j WHERE account_id = ? AND seq < ? AND (? IS NULL OR status = ?)
         AND (? IS NULL OR kind = ?)${ofSchedule} ORDER BY seq DESC LIMIT ?`,
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        status ?? null,
        status ?? null,
        kind ?? null,
        kind ?? null,
        ...(scheduleId === undefined ? [] : [scheduleId]),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', jobOf);
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

    deleteJob(id) {
      const row = rowOf(id);
      if (row === undefined) return false;
      if (row.finished_at === null) {
        throw new ScrapifieError('CONFLICT', 'The job is still going on: cancel it first.');
      }
      const seq = Number(row.seq);
      database.run('DELETE FROM exports WHERE job_id = ?', id);
      if (Number(row.known) > DELETED_AT_ONCE) {
        database.run(
          `UPDATE jobs SET id = '${DELETED_ID}' || id, account_id = ?, options = '{}', seeds = '[]' WHERE seq = ?`,
          DELETED_ACCOUNT,
          seq,
        );
        return true;
      }
      database.run('DELETE FROM pages WHERE job_seq = ?', seq);
      database.run('DELETE FROM tasks WHERE job_seq = ?', seq);
      database.run('DELETE FROM job_sources WHERE job_seq = ?', seq);
      database.run('DELETE FROM jobs WHERE seq = ?', seq);
      return true;
    },

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

    countOpenTasks() {
      return Number(
        database.get('SELECT coalesce(sum(open), 0) AS n FROM jobs WHERE finished_at IS NULL')?.n,
      );
    },

    listPages({ jobId, state, cursor, limit }) {
      const wanted =
        state === undefined
          ? ''
          : state === 'done'
            ? 'AND p.error_code IS NULL'
            : 'AND p.error_code IS NOT NULL';
      const rows = database.all(
        `SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
         LEFT JOIN job_expiry e ON e.job_seq = j.seq WHERE j.id = ? AND p.seq > ? ${wanted} ORDER BY p.seq LIMIT ?`,
        jobId,
        cursorOf(cursor, 0),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', pageFromRow);
    },

    getPage(jobId, taskId) {
      const row = database.get(
        `SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
         LEFT JOIN job_expiry e ON e.job_seq = j.seq WHERE j.id = ? AND p.task_id = ?`,
        jobId,
        taskId,
      );
      return row === undefined ? null : pageFromRow(row);
    },

    pagesOf(jobId, urlKeys) {
      const rows = database.all(
        `SELECT ${STORED_PAGE_COLUMNS} FROM tasks t JOIN pages p ON p.task_id = t.id JOIN jobs j ON j.seq = t.job_seq
         WHERE t.job_seq = (SELECT seq FROM jobs WHERE id = ?) AND t.url_key IN (SELECT value FROM json_each(?))
           AND p.error_code IS NULL AND ${HAS_BODY}`,
        jobId,
        JSON.stringify(urlKeys),
      );
      return rows.map(storedPageOf);
    },

    recentPages({ accountId, urlKey, since, limit }) {
      const rows = database.all(
        `SELECT ${STORED_PAGE_COLUMNS} FROM tasks t JOIN pages p ON p.task_id = t.id JOIN jobs j ON j.seq = t.job_seq
         WHERE t.url_key = ? AND t.found_by = 'seed' AND j.account_id = ? AND j.kind IN (SELECT value FROM json_each(?))
           AND p.fetched_at >= ? AND p.error_code IS NULL AND ${HAS_BODY} ORDER BY t.id DESC LIMIT ?`,
        urlKey,
        accountId,
        JSON.stringify(FETCHING_GIVEN),
        since,
        limit,
      );
      return rows.map(storedPageOf);
    },

    listTasks({ jobId, state, cursor, limit }) {
      // The state is one of a closed list and goes in as text, so that the partial index on failed ones can serve.
      const wanted = state === undefined ? '' : `AND t.state = '${state}'`;
      const rows = database.all(
        `SELECT t.*, f.url AS found_on_url FROM tasks t LEFT JOIN tasks f ON f.id = t.found_on
         WHERE t.job_seq = (SELECT seq FROM jobs WHERE id = ?) AND t.id > ? ${wanted} ORDER BY t.id LIMIT ?`,
        jobId,
        cursorOf(cursor, 0),
        limit + 1,
      );
      return sliceOf(rows, limit, 'id', ledgerEntryOf);
    },

    listWaits(id) {
      const now = clock();
      const columns = 'id, host_id, state, ready_at, rule';
      const rows = database.all(
        `WITH looked AS (
           SELECT * FROM (SELECT ${columns} FROM tasks WHERE job_seq = ?1 ORDER BY id LIMIT ${WAITS.urls})
           UNION
           SELECT * FROM (SELECT ${columns} FROM tasks WHERE job_seq = ?1 ORDER BY id DESC LIMIT ${WAITS.urls})
         ), open AS (
           SELECT host_id, state, count(*) AS tasks, CASE WHEN state = 'waiting' THEN rule END AS why,
             min(CASE WHEN state = 'waiting' THEN ready_at END) AS ready_at
           FROM looked WHERE state IN ('ready', 'waiting', 'claimed') GROUP BY host_id, state, why
         )
         SELECT h.key, h.owner, h.blocked_until, h.state AS host_state, o.state, o.tasks, o.why AS rule, o.ready_at
         FROM open o JOIN hosts h ON h.id = o.host_id ORDER BY o.tasks DESC, h.id, o.state LIMIT ${WAITS.entries}`,
        Number(database.get('SELECT seq FROM jobs WHERE id = ?', id)?.seq ?? 0),
      );
      return rows.map((row) => taskWaitOf(row, now));
    },

    findTask(jobId, urlKey) {
      const row = database.get(
        `SELECT t.*, f.url AS found_on_url FROM tasks t LEFT JOIN tasks f ON f.id = t.found_on
         WHERE t.job_seq = (SELECT seq FROM jobs WHERE id = ?) AND t.url_key = ?`,
        jobId,
        urlKey,
      );
      return row === undefined ? null : foundTaskOf(row);
    },

    getSources(jobId) {
      const row = database.get(
        'SELECT s.sources FROM job_sources s JOIN jobs j ON j.seq = s.job_seq WHERE j.id = ?',
        jobId,
      );
      return row === undefined ? {} : (JSON.parse(String(row.sources)) as Record<string, string>);
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
