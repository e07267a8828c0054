import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { NewJob } from '../../core/model/job.ts';
import { MOST_RUNS_KEPT, type ScheduleStore, type TickRun } from '../../core/ports/schedule-store.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
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
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeEvent } from './event-log.ts';
import type { Synchronous } from './synchronous.ts';

const OF_THE_SCHEDULE = `FROM jobs j WHERE j.schedule_id = r.schedule_id AND ${GOES_ON}`;
const SCHEDULE_JSON = `json_object('id', s.id, 'account_id', s.account_id, 'name', s.name, 'rules', s.rules, 'job', s.job,
  'is_paused', s.is_paused, 'next_tick_at', s.next_tick_at, 'due_at', s.due_at, 'revision', s.revision,
  'created_at', s.created_at, 'updated_at', s.updated_at)`;

export function createSqliteScheduleStore(
  database: SqliteDatabase,
  clock: () => number,
): Synchronous<ScheduleStore> {
  const rowOf = (id: string) => database.get('SELECT * FROM schedules WHERE id = ?', id);

  function addTickRun(schedule: SqliteRow, run: TickRun, status: 'pending' | 'missed', now: number): number {
    return database.run(
      `INSERT INTO schedule_runs (id, schedule_id, account_id, started_by, tick_at, is_late, status, job_id, created_at,
         settled_at)
       VALUES (?, ?, ?, 'tick', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      run.id,
      schedule.id ?? null,
      schedule.account_id ?? null,
      run.tickAt,
      Number(run.isLate),
      status,
      run.jobId,
      now,
      status === 'missed' ? now : null,
    );
  }

  return {
    createSchedule({ id, accountId, name, timing, jitterMs, overlap, catchUp, job, ...rest }) {
      database.run(
        `INSERT INTO schedules (id, account_id, name, rules, job, is_paused, next_tick_at, due_at, revision, created_at,
           updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (id) DO NOTHING`,
        id,
        accountId,
        name,
        JSON.stringify({ timing, jitterMs, overlap, catchUp }),
        JSON.stringify(job),
        Number(rest.isPaused),
        rest.nextTickAt,
        rest.dueAt,
        rest.createdAt,
        rest.createdAt,
      );
      return scheduleOf(rowOf(id) as SqliteRow);
    },

    getSchedule(account, id) {
      const row = database.get('SELECT * FROM schedules WHERE account_id = ? AND id = ?', account, id);
      return row === undefined ? null : scheduleOf(row);
    },

    listSchedules({ accountId, cursor, limit }) {
      const rows = database.all(
        'SELECT * FROM schedules WHERE account_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', scheduleOf);
    },

    countSchedules: (account) =>
      Number(database.get('SELECT count(*) AS count FROM schedules WHERE account_id = ?', account)?.count),

    updateSchedule({ accountId, id, revision, name, timing, jitterMs, overlap, catchUp, job, ...rest }) {
      const now = clock();
      const changed = database.run(
        `UPDATE schedules SET name = ?, rules = ?, job = ?, is_paused = ?, next_tick_at = ?, due_at = ?,
           revision = revision + 1, updated_at = ?
         WHERE account_id = ? AND id = ? AND revision = ?`,
        name,
        JSON.stringify({ timing, jitterMs, overlap, catchUp }),
        JSON.stringify(job),
        Number(rest.isPaused),
        rest.nextTickAt,
        rest.dueAt,
        now,
        accountId,
        id,
        revision,
      );
      if (changed === 0) return null;
      if (rest.isPaused) {
        database.run(
          `UPDATE schedule_runs SET status = 'skipped', reason = 'the schedule was paused', settled_at = ?
           WHERE schedule_id = ? AND status IN ('pending', 'waiting')`,
          now,
          id,
        );
      }
      return scheduleOf(rowOf(id) as SqliteRow);
    },

    deleteSchedule: (account, id) =>
      database.run('DELETE FROM schedules WHERE account_id = ? AND id = ?', account, id) > 0,

    listDueSchedules(limit) {
      const now = clock();
      const rows = database.all(
        'SELECT * FROM schedules WHERE due_at <= ? ORDER BY due_at, seq LIMIT ?',
        now,
        limit,
      );
      return { now, items: rows.map(scheduleOf) };
    },

    recordTicks({ scheduleId, revision, nextTickAt, runs, missed, next }) {
      const now = clock();
      const changed = database.run(
        `UPDATE schedules SET next_tick_at = ?, due_at = ?
         WHERE id = ? AND revision = ? AND next_tick_at = ? AND due_at <= ? AND is_paused = 0`,
        next?.tickAt ?? null,
        next?.dueAt ?? null,
        scheduleId,
        revision,
        nextTickAt,
        now,
      );
      if (changed === 0) return false;
      const schedule = rowOf(scheduleId) as SqliteRow;
      if (missed !== null && addTickRun(schedule, missed, 'missed', now) > 0) {
        database.run(
          'UPDATE schedule_runs SET missed_last_at = ?, missed_count = ?, reason = ? WHERE id = ?',
          missed.lastAt,
          missed.count,
          'no scheduler ran in time',
          missed.id,
        );
        const accountId = String(schedule.account_id);
        const data = missedEventOf(schedule, missed);
        writeEvent(database, { type: 'schedule.missed', accountId, jobId: null, data }, now);
      }
      for (const run of runs) addTickRun(schedule, run, 'pending', now);
      database.run(
        `DELETE FROM schedule_runs WHERE schedule_id = ?1 AND status NOT IN ('pending', 'waiting') AND seq <= (
           SELECT seq FROM schedule_runs WHERE schedule_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ${MOST_RUNS_KEPT}
         )`,
        scheduleId,
      );
      return true;
    },

    addRun({ id, jobId, scheduleId, accountId }) {
      const now = clock();
      database.run(
        `INSERT INTO schedule_runs (id, schedule_id, account_id, started_by, tick_at, status, job_id, created_at)
         VALUES (?, ?, ?, 'manual', ?, 'pending', ?, ?) ON CONFLICT (id) DO NOTHING`,
        id,
        scheduleId,
        accountId,
        now,
        jobId,
        now,
      );
      return runOf(database.get('SELECT * FROM schedule_runs WHERE id = ?', id) as SqliteRow);
    },

    listOpenRuns({ limit, scheduleId }) {
      const rows = database.all(
        `SELECT r.*, ${SCHEDULE_JSON} AS schedule,
           (SELECT json_group_array(id) FROM (SELECT j.id ${OF_THE_SCHEDULE} ORDER BY j.seq LIMIT ${MOST_GOING})) AS going,
           EXISTS (
             SELECT 1 FROM schedule_runs w
             WHERE w.schedule_id = r.schedule_id AND w.status IN ('pending', 'waiting') AND w.seq < r.seq
           ) AS is_behind, a.disabled_at IS NOT NULL AS is_disabled
         FROM schedule_runs r JOIN schedules s ON s.id = r.schedule_id JOIN accounts a ON a.id = r.account_id
         WHERE (r.status = 'pending' OR (r.status = 'waiting' AND NOT EXISTS (SELECT 1 ${OF_THE_SCHEDULE})))
           AND r.status IN ('pending', 'waiting') AND (?1 IS NULL OR r.schedule_id = ?1) ORDER BY r.seq LIMIT ?2`,
        scheduleId ?? null,
        limit,
      );
      return rows.map(openRunOf);
    },

    settleRun(id, { status, reason }) {
      const isEnd = status !== 'waiting';
      const changed = database.run(
        `UPDATE schedule_runs SET status = ?, reason = ?, settled_at = ?
         WHERE id = ? AND (status = 'pending' OR (status = 'waiting' AND ?))`,
        status,
        reason,
        isEnd ? clock() : null,
        id,
        Number(isEnd),
      );
      return changed > 0;
    },

    getRun(account, id) {
      const row = database.get(
        `SELECT ${RUN_COLUMNS} FROM ${RUN_TABLES} WHERE r.account_id = ? AND r.id = ?`,
        account,
        id,
      );
      return row === undefined ? null : reportedRunOf(row);
    },

    listRuns({ accountId, scheduleId, cursor, limit }) {
      const rows = database.all(
        `SELECT ${RUN_COLUMNS} FROM ${RUN_TABLES} WHERE r.account_id = ? AND r.schedule_id = ? AND r.seq < ?
         ORDER BY r.seq DESC LIMIT ?`,
        accountId,
        scheduleId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', reportedRunOf);
    },
  };
}

/** Marks the run as started by the job that was just inserted. Throws CONFLICT, which undoes the job, unless it may. */
export function startScheduleRun(
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
