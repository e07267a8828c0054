import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Schedule } from '../../core/model/schedule.ts';
import {
  MOST_RUNS_KEPT,
  type NewSchedule,
  type ScheduleStore,
  type TickRun,
} from '../../core/ports/schedule-store.ts';
import { cursorOf, type Row, sliceOf } from '../store-rows/rows.ts';
import {
  GOES_ON,
  MOST_GOING,
  missedEventOf,
  openRunOf,
  RUN_COLUMNS,
  RUN_TABLES,
  reportedRunOf,
  runOf,
  scheduleOf,
} from '../store-rows/schedule-rows.ts';
import { NOW, type PostgresDatabase, type Query } from './database.ts';
import { jsonParameter, storableText } from './parameters.ts';

const OF_THE_SCHEDULE = `FROM jobs j WHERE j.schedule_id = r.schedule_id AND ${GOES_ON}`;

/** Stores the schedule unless there is one with its id, within the transaction under way; returns the stored one. */
export async function insertSchedule(
  query: Query,
  { id, accountId, name, timing, jitterMs, overlap, catchUp, job, ...rest }: NewSchedule,
): Promise<Schedule> {
  // The second writer waits for the first and gets its row, which an update that changes nothing returns.
  const [row] = await query(
    `INSERT INTO schedules (id, account_id, name, rules, job, is_paused, next_tick_at, due_at, revision, created_at,
       updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9)
     ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING *`,
    [
      id,
      accountId,
      storableText(name),
      jsonParameter({ timing, jitterMs, overlap, catchUp }),
      jsonParameter(job),
      rest.isPaused,
      rest.nextTickAt,
      rest.dueAt,
      rest.createdAt,
    ],
  );
  return scheduleOf(row as Row);
}

export function createPostgresScheduleStore(database: PostgresDatabase): ScheduleStore {
  return {
    createSchedule: (schedule) => insertSchedule(database.query, schedule),

    async getSchedule(account, id) {
      const [row] = await database.query('SELECT * FROM schedules WHERE account_id = $1 AND id = $2', [
        account,
        id,
      ]);
      return row === undefined ? null : scheduleOf(row);
    },

    async listSchedules({ accountId, cursor, limit }) {
      const rows = await database.query(
        'SELECT * FROM schedules WHERE account_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3',
        [accountId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', scheduleOf);
    },

    async countSchedules(account) {
      const [row] = await database.query(
        'SELECT count(*)::integer AS count FROM schedules WHERE account_id = $1',
        [account],
      );
      return Number(row?.count);
    },

    async updateSchedule({
      accountId,
      id,
      revision,
      name,
      timing,
      jitterMs,
      overlap,
      catchUp,
      job,
      ...rest
    }) {
      const [row] = await database.query(
        `WITH changed AS (
           UPDATE schedules SET name = $4, rules = $5, job = $6, is_paused = $7, next_tick_at = $8, due_at = $9,
             revision = revision + 1, updated_at = ${NOW}
           WHERE account_id = $1 AND id = $2 AND revision = $3 RETURNING *
         ), skipped AS (
           UPDATE schedule_runs SET status = 'skipped', reason = 'the schedule was paused', settled_at = ${NOW}
           WHERE schedule_id IN (SELECT id FROM changed WHERE is_paused) AND status IN ('pending', 'waiting')
         ) SELECT * FROM changed`,
        [
          accountId,
          id,
          revision,
          storableText(name),
          jsonParameter({ timing, jitterMs, overlap, catchUp }),
          jsonParameter(job),
          rest.isPaused,
          rest.nextTickAt,
          rest.dueAt,
        ],
      );
      return row === undefined ? null : scheduleOf(row);
    },

    async deleteSchedule(account, id) {
      const rows = await database.query(
        'DELETE FROM schedules WHERE account_id = $1 AND id = $2 RETURNING seq',
        [account, id],
      );
      return rows.length > 0;
    },

    async listDueSchedules(limit) {
      // The time is told also when nothing is due.
      const rows = await database.query(
        `SELECT c.now, s.* FROM (SELECT ${NOW} AS now OFFSET 0) c LEFT JOIN LATERAL (
           SELECT * FROM schedules WHERE due_at <= c.now ORDER BY due_at, seq LIMIT $1
         ) s ON true ORDER BY s.due_at, s.seq`,
        [limit],
      );
      return {
        now: Number(rows[0]?.now),
        items: rows.filter((row) => row.id !== null).map(scheduleOf),
      };
    },

    recordTicks({ scheduleId, revision, nextTickAt, runs, missed, next }) {
      return database.transaction(async (query) => {
        const [schedule] = await query(
          `UPDATE schedules SET next_tick_at = $4, due_at = $5
           WHERE id = $1 AND revision = $2 AND next_tick_at = $3 AND due_at <= ${NOW} AND NOT is_paused
           RETURNING id, account_id, name`,
          [scheduleId, revision, nextTickAt, next?.tickAt ?? null, next?.dueAt ?? null],
        );
        if (schedule === undefined) return false;
        const add = (run: TickRun, ...rest: unknown[]) =>
          query(
            `INSERT INTO schedule_runs (id, schedule_id, account_id, started_by, tick_at, is_late, job_id, created_at,
               status, missed_last_at, missed_count, reason, settled_at)
             VALUES ($1, $2, $3, 'tick', $4, $5, $6, ${NOW}, $7, $8, $9, $10, CASE WHEN $7 = 'missed' THEN ${NOW} END)
             ON CONFLICT DO NOTHING RETURNING seq`,
            [run.id, scheduleId, schedule.account_id, run.tickAt, run.isLate, run.jobId, ...rest],
          );
        if (missed !== null) {
          const added = await add(missed, 'missed', missed.lastAt, missed.count, 'no scheduler ran in time');
          if (added.length > 0) {
            await query(`SELECT write_event('schedule.missed', $1, NULL, ${NOW}, $2::jsonb)`, [
              schedule.account_id,
              jsonParameter(missedEventOf(schedule, missed)),
            ]);
          }
        }
        for (const run of runs) await add(run, 'pending', null, null, null);
        await query(
          `DELETE FROM schedule_runs WHERE schedule_id = $1 AND status NOT IN ('pending', 'waiting') AND seq <= (
             SELECT seq FROM schedule_runs WHERE schedule_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET ${MOST_RUNS_KEPT}
           )`,
          [scheduleId],
        );
        return true;
      });
    },

    async addRun({ id, jobId, scheduleId, accountId }) {
      const [row] = await database.query(
        `INSERT INTO schedule_runs (id, schedule_id, account_id, started_by, tick_at, status, job_id, created_at)
         VALUES ($1, $2, $3, 'manual', ${NOW}, 'pending', $4, ${NOW})
         ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING *`,
        [id, scheduleId, accountId, jobId],
      );
      return runOf(row as Row);
    },

    async listOpenRuns({ limit, scheduleId }) {
      const rows = await database.query(
        `SELECT r.*, row_to_json(s)::text AS schedule,
           to_json(ARRAY(SELECT j.id ${OF_THE_SCHEDULE} ORDER BY j.seq LIMIT ${MOST_GOING}))::text AS going,
           EXISTS (
             SELECT FROM schedule_runs w
             WHERE w.schedule_id = r.schedule_id AND w.status IN ('pending', 'waiting') AND w.seq < r.seq
           ) AS is_behind, a.disabled_at IS NOT NULL AS is_disabled
         FROM schedule_runs r JOIN schedules s ON s.id = r.schedule_id JOIN accounts a ON a.id = r.account_id
         WHERE (r.status = 'pending' OR (r.status = 'waiting' AND NOT EXISTS (SELECT ${OF_THE_SCHEDULE})))
           AND r.status IN ('pending', 'waiting') AND ($1::text IS NULL OR r.schedule_id = $1) ORDER BY r.seq LIMIT $2`,
        [scheduleId ?? null, limit],
      );
      return rows.map(openRunOf);
    },

    async settleRun(id, { status, reason }) {
      const isEnd = status !== 'waiting';
      const rows = await database.query(
        `UPDATE schedule_runs SET status = $2, reason = $3, settled_at = CASE WHEN $4 THEN ${NOW} END
         WHERE id = $1 AND (status = 'pending' OR (status = 'waiting' AND $4)) RETURNING seq`,
        [id, status, storableText(reason), isEnd],
      );
      return rows.length > 0;
    },

    async getRun(account, id) {
      const [row] = await database.query(
        `SELECT ${RUN_COLUMNS} FROM ${RUN_TABLES} WHERE r.account_id = $1 AND r.id = $2`,
        [account, id],
      );
      return row === undefined ? null : reportedRunOf(row);
    },

    async listRuns({ accountId, scheduleId, cursor, limit }) {
      const rows = await database.query(
        `SELECT ${RUN_COLUMNS} FROM ${RUN_TABLES} WHERE r.account_id = $1 AND r.schedule_id = $2 AND r.seq < $3
         ORDER BY r.seq DESC LIMIT $4`,
        [accountId, scheduleId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', reportedRunOf);
    },
  };
}

/** A column of the statement that makes a job, with the run as $8: starts the run. */
export const START_RUN = ', start_schedule_run($8, made.id, c.now) AS started_run';

/** What `start_schedule_run` raises when the job must not be. */
const RUN_REFUSED = 'SC409';

/** Throws the error of a statement that makes a job: CONFLICT when the run refuses the job. */
export function refuseRun(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string };
  if (code !== RUN_REFUSED) throw error;
  throw new ScrapifieError('CONFLICT', `The run cannot start: ${message}.`);
}
