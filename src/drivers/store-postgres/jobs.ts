import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { spentBudget } from '../../core/model/credits.ts';
import type { HostKey, JobId } from '../../core/model/ids.ts';
import type { Budgets, Job, JobOptions, Pace } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import { UNDONE_BY_RESUME } from '../../core/model/reasons.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { creditsExhausted } from '../store-rows/credit-rows.ts';
import { expiredLedger } from '../store-rows/expiry.ts';
import { JOB_COLUMNS, jobOf, newJobRow } from '../store-rows/job-rows.ts';
import type { Row } from '../store-rows/rows.ts';
import type { JobViewStore } from '../store-sql/job-views.ts';
import { WHOLE_JOB_LIMIT_MS } from '../store-sql/methods.ts';
import { NOW, type PostgresDatabase, type Query } from './database.ts';
import { createFoundTasks, jsonParameter, PROVISIONAL } from './parameters.ts';

/** How long the receipts of commits are kept for callers that lost the response. */
const ANSWER_KEPT_MS = 3_600_000;

export function createPostgresJobStore(database: PostgresDatabase): Omit<JobStore, keyof JobViewStore> {
  /** Changes a job under its lock; null when there is none. */
  function change<T>(id: JobId, work: (row: Row, query: Query) => Promise<T>): Promise<T | null> {
    return database.transaction(async (query) => {
      const [row] = await query(`SELECT ${JOB_COLUMNS} FROM jobs j WHERE id = $1 FOR NO KEY UPDATE OF j`, [
        id,
      ]);
      return row === undefined ? null : work(row, query);
    }, WHOLE_JOB_LIMIT_MS);
  }

  return {
    async createJob(job, tasks, how) {
      const { run } = job;
      const { budgets } = job.options;
      const found = createFoundTasks();
      for (const task of tasks) found.add(1, task);
      const { isAwaited } = traitsOfKind(job.kind);
      const rows = database.query(
        `WITH made AS MATERIALIZED (
           SELECT made.*, ${isAwaited ? HELD_UNTIL : 'NULL'} AS held_until${run === undefined ? '' : START_RUN}
           FROM (SELECT ${NOW} AS now OFFSET 0) c,
             create_job(
               ($1::jsonb || jsonb_build_object('created_at', c.now, 'deadline_at', c.now + $6::bigint))::json,
               $2, $3, $4, $5
             ) made
         ), kept AS (
           INSERT INTO job_sources (job_seq, sources) SELECT seq, $7::text FROM made WHERE $7::text IS NOT NULL
         ) SELECT * FROM made`,
        [
          jsonParameter(newJobRow(job)),
          found.json,
          found.hosts,
          PROVISIONAL,
          how?.isUnsynced ?? false,
          budgets.maxDurationMs,
          job.sources === undefined ? null : jsonParameter(job.sources),
          ...(run === undefined ? [] : [run.id]),
        ],
      );
      const [row] = await rows.catch(refuseRun).catch(refuseUnpaid);
      const heldUntil = Number(row?.held_until ?? 0);
      const stored = { ...jobOf(row as Row), ...(run === undefined ? {} : { scheduleId: run.scheduleId }) };
      return heldUntil > 0 ? { ...stored, heldUntil } : stored;
    },

    async getJob(id) {
      const [row] = await database.query(`SELECT ${JOB_COLUMNS} FROM jobs j WHERE id = $1`, [id]);
      return row === undefined ? null : jobOf(row);
    },

    cancelJob(id, stopReason) {
      return change(id, async (row, query) => {
        if (row.finished_at !== null || row.status === 'cancelled') return jobOf(row);
        await query(
          `UPDATE jobs SET status = 'cancelled', open = open - d.dropped, cancelled = cancelled + d.dropped,
             stop_reason = coalesce($2, stop_reason)
           FROM drop_open($1, 'cancelled', NULL, ${NOW}) AS d (dropped) WHERE seq = $1`,
          [row.seq, stopReason ?? null],
        );
        return settled(query, row);
      });
    },

    stopJob(id, reason) {
      return change(id, async (row, query) => {
        if (row.finished_at !== null || row.status === 'cancelled' || row.stop_reason !== null)
          return jobOf(row);
        await query(`SELECT stop_job($1, $2, ${NOW})`, [row.seq, reason]);
        return settled(query, row);
      });
    },

    resumeJob(id, budgets, pace) {
      return change(id, async (row, query) => {
        await requireLedger(query, row);
        const limits = budgets ?? optionsOf(row).budgets;
        const job = jobOf(row);
        if (job.finishedAt !== null && spentBudget(job, limits) !== null) return job;
        const [reopened] = await query(
          `WITH reopened AS (
             UPDATE tasks t SET state = 'ready', finished_at = NULL, interruptions = 0, lone_interruptions = 0,
               rule = CASE WHEN o.state = 'skipped' THEN NULL ELSE t.rule END
             FROM (
               SELECT id, state FROM tasks WHERE job_seq = $1
                 AND (state = 'cancelled' OR (state = 'skipped' AND (rule = ANY($3) OR rule = $2)))
             ) o WHERE t.id = o.id RETURNING o.state
           ), counted AS (
             SELECT count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
               count(*) FILTER (WHERE state = 'skipped') AS skipped FROM reopened
           ), written AS (
             UPDATE jobs j SET open = j.open + c.cancelled + c.skipped, cancelled = j.cancelled - c.cancelled,
               skipped = j.skipped - c.skipped FROM counted c WHERE j.seq = $1
           ) SELECT cancelled + skipped AS n FROM counted`,
          [row.seq, row.stop_reason ?? '', UNDONE_BY_RESUME],
        );
        if (reopened?.n === 0 && row.status !== 'cancelled') return job;
        if (reopened?.n !== 0) await requirePaid(query, job);
        return putBackToWork(query, row, limits, pace);
      });
    },

    retryJob(id, only) {
      return change(id, async (row, query) => {
        await requireLedger(query, row);
        const moved = await query(
          `SELECT id, url FROM tasks WHERE job_seq = $1 AND state = 'failed' AND at_url IS NOT NULL
             AND ($2::text IS NULL OR error_code = $2)`,
          [row.seq, only ?? null],
        );
        const homes = moved.map(({ url }) => new URL(String(url)).host as HostKey);
        await query('SELECT put_hosts($1)', [homes]);
        await query(
          `UPDATE tasks t SET host_id = h.id
           FROM unnest($1::bigint[], $2::text[]) AS m (id, key) JOIN hosts h ON h.key = m.key WHERE t.id = m.id`,
          [moved.map(({ id: task }) => task), homes],
        );
        const [retried] = await query(
          `WITH retried AS (
             UPDATE tasks SET state = 'ready', attempts = 0, hops = 0, at_url = NULL, trace = NULL, rule = NULL,
               error_code = NULL, finished_at = NULL, interruptions = 0, lone_interruptions = 0
             WHERE job_seq = $1 AND state = 'failed' AND ($2::text IS NULL OR error_code = $2) RETURNING id
           ), counted AS (SELECT count(*) AS n FROM retried), written AS (
             UPDATE jobs j SET open = j.open + c.n, failed = j.failed - c.n FROM counted c WHERE j.seq = $1
           ) SELECT n FROM counted`,
          [row.seq, only ?? null],
        );
        if (retried?.n === 0) return jobOf(row);
        await requirePaid(query, jobOf(row));
        return putBackToWork(query, row, optionsOf(row).budgets);
      });
    },

    async expireJobs() {
      const due = `finished_at IS NULL AND deadline_at <= (SELECT ${NOW}) AND stop_reason IS NULL
        AND status <> 'cancelled'`;
      // Most find nothing: one statement for them.
      const [looked] = await database.query(
        `WITH forgotten AS (DELETE FROM commits WHERE at < ${NOW} - $1::bigint)
         SELECT ${NOW} AS now, EXISTS (SELECT FROM jobs WHERE ${due}) AS is_due`,
        [ANSWER_KEPT_MS],
      );
      if (looked?.is_due !== true) return [];
      const now = Number(looked.now);
      return database.transaction(async (query) => {
        const rows = await query(
          `SELECT seq, id FROM jobs WHERE finished_at IS NULL AND deadline_at <= $1 AND stop_reason IS NULL
             AND status <> 'cancelled' ORDER BY seq FOR NO KEY UPDATE`,
          [now],
        );
        await query(`SELECT stop_job(seq, 'budget.duration', $2) FROM unnest($1::bigint[]) AS seq`, [
          rows.map(({ seq }) => seq),
          now,
        ]);
        await query('SELECT settle($1, $2)', [rows.map(({ seq }) => seq), now]);
        return rows.map((row) => String(row.id) as JobId);
      }, WHOLE_JOB_LIMIT_MS);
    },
  };
}

/** A job that goes on has credits held for it; one that has ended needs credits like a new one. */
async function requirePaid(query: Query, { finishedAt, accountId, reserveMicrocredits = 0 }: Job) {
  if (finishedAt === null) return;
  await query(`SELECT require_credits($1, $2, ${NOW})`, [accountId, reserveMicrocredits]).catch(refuseUnpaid);
}

/** The error of an account that cannot pay for a task: see `require_credits`. */
function refuseUnpaid(error: unknown): never {
  const { code, detail } = error as { code?: string; detail?: string };
  if (code !== 'SC402') throw error;
  const [free, reserve] = JSON.parse(String(detail)) as [number, number];
  throw creditsExhausted(free, reserve);
}

/** Until when the hosts of a new job are held; NULL when they are not. */
const HELD_UNTIL = `(SELECT max(h.blocked_until) FROM hosts h
  WHERE h.key = ANY ($3) AND h.owner IS NULL AND h.blocked_until > c.now)`;

async function requireLedger(query: Query, { seq }: Row): Promise<void> {
  const rows = await query('SELECT ledger FROM job_expiry WHERE job_seq = $1 AND ledger > 0', [seq]);
  if (rows.length > 0) throw expiredLedger();
}

const optionsOf = (row: Row) => JSON.parse(String(row.options)) as JobOptions;

/** Stops and ends the job where that is due, and returns it as it is then. */
async function settled(query: Query, row: Row): Promise<Job> {
  await query(`SELECT settle(ARRAY[$1::bigint], ${NOW})`, [row.seq]);
  const [after] = await query(`SELECT ${JOB_COLUMNS} FROM jobs j WHERE seq = $1`, [row.seq]);
  return jobOf(after as Row);
}

/** Wakes the hosts of tasks that were made ready again and marks the job as going on. */
async function putBackToWork(query: Query, row: Row, budgets: Budgets, pace: Pace = {}): Promise<Job> {
  await query(
    `UPDATE jobs SET status = 'running', stop_reason = NULL, finished_at = NULL, options = $2, max_pages = $3,
       max_bytes = $4, deadline_at = ${NOW} + $5::bigint WHERE seq = $1`,
    [
      row.seq,
      jsonParameter({ ...optionsOf(row), ...pace, budgets }),
      budgets.maxPages,
      budgets.maxBytes,
      budgets.maxDurationMs,
    ],
  );
  await query(
    `SELECT wake_hosts(array_agg(host_id), array_agg(rank), ${NOW}) FROM (
       SELECT host_id, min(rank) AS rank FROM tasks WHERE job_seq = $1 AND state = 'ready' GROUP BY host_id
     ) ready`,
    [row.seq],
  );
  return settled(query, row);
}

/** A column of the statement that makes a job, with the run as $8: starts the run. */
const START_RUN = ', start_schedule_run($8, made.id, c.now) AS started_run';

/** What `start_schedule_run` raises when the job must not be. */
const RUN_REFUSED = 'SC409';

/** Throws the error of a statement that makes a job: CONFLICT when the run refuses the job. */
function refuseRun(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string };
  if (code !== RUN_REFUSED) throw error;
  throw new ScrapifieError('CONFLICT', `The run cannot start: ${message}.`);
}
