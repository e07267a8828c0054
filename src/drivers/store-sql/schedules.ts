import type { AccountId, JobId, RunId, ScheduleId } from '../../core/model/ids.ts';
import type { JobStatus } from '../../core/model/job.ts';
import type {
  ReportedRun,
  RunStatus,
  Schedule,
  ScheduledJob,
  ScheduleRules,
  ScheduleRun,
} from '../../core/ports/schedule-store.ts';
import {
  type MissedRun,
  MOST_RUNS_KEPT,
  type NewSchedule,
  type OpenRun,
  type ScheduleStore,
  type TickRun,
} from '../../core/ports/schedule-store.ts';
import { cursorOf, type Row } from '../store-rows/rows.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { CLOCK, either, given, json, NULL, raw, sql } from './sql.ts';
import { all, changed, find, get, list, one, run, type Steps, slice, tell } from './steps.ts';

const maybeNumber = (value: unknown) => (value === null ? null : Number(value));

/** The data of a `schedule.missed` event. */
const missedEventOf = ({ id, name }: Row, { id: runId, tickAt, lastAt, count }: MissedRun) => ({
  scheduleId: id,
  name,
  runId,
  firstAt: new Date(tickAt).toISOString(),
  lastAt: new Date(lastAt).toISOString(),
  count,
});

/** Columns of a run (r) and of its job (j), which may be gone. */
const RUN_COLUMNS = 'r.*, j.status AS job_status';
const RUN_TABLES = 'schedule_runs r LEFT JOIN jobs j ON j.id = r.job_id';

const reportedRunOf = (row: Row): ReportedRun => ({
  ...runOf(row),
  jobStatus: row.job_status as JobStatus | null,
});

/** Most jobs that `listOpenRuns` names of one schedule. */
const MOST_GOING = 10;

/** A job (j) that goes on. */
export const GOES_ON = `j.finished_at IS NULL AND j.status <> 'cancelled'`;

/** `going` and `schedule` are JSON. */
const openRunOf = (row: Row): OpenRun => ({
  run: runOf(row),
  schedule: scheduleOf(JSON.parse(String(row.schedule)) as Row),
  going: JSON.parse(String(row.going)) as JobId[],
  isBehind: Boolean(row.is_behind),
  isDisabled: Boolean(row.is_disabled),
});

const OF_THE_SCHEDULE = raw(`FROM jobs j WHERE j.schedule_id = r.schedule_id AND ${GOES_ON}`);
const AS_JSON = either(
  sql`json_object('id', s.id, 'account_id', s.account_id, 'name', s.name, 'rules', s.rules, 'job', s.job,
    'is_paused', s.is_paused, 'next_tick_at', s.next_tick_at, 'due_at', s.due_at, 'revision', s.revision,
    'created_at', s.created_at, 'updated_at', s.updated_at)`,
  sql`row_to_json(s)::text`,
);
const GOING = sql`SELECT j.id ${OF_THE_SCHEDULE} ORDER BY j.seq LIMIT ${raw(String(MOST_GOING))}`;
const GOING_AS_JSON = either(
  sql`(SELECT json_group_array(id) FROM (${GOING}))`,
  sql`to_json(ARRAY(${GOING}))::text`,
);
const RUNS = raw(`SELECT ${RUN_COLUMNS} FROM ${RUN_TABLES}`);

const rulesOf = ({ timing, jitterMs, overlap, catchUp }: Omit<NewSchedule, 'createdAt'>) =>
  json({ timing, jitterMs, overlap, catchUp });

/** Stores the schedule unless there is one with its id; returns the stored one. */
export function* insertSchedule(schedule: NewSchedule): Steps<Schedule> {
  const { id, accountId, name, job, isPaused, nextTickAt, dueAt, createdAt } = schedule;
  // The second writer waits for the first and gets its row, which an update that changes nothing returns.
  return yield* one(
    sql`INSERT INTO schedules (id, account_id, name, rules, job, is_paused, next_tick_at, due_at, revision, created_at,
        updated_at)
      VALUES (${id}, ${accountId}, ${name}, ${rulesOf(schedule)}, ${json(job)}, ${isPaused}, ${nextTickAt}, ${dueAt}, 1,
        ${createdAt}, ${createdAt})
      ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING *`,
    scheduleOf,
  );
}

/** Stores the run of a tick unless there is one of that tick. */
const insertTickRun = (schedule: Row, { id, tickAt, isLate, jobId }: TickRun, missed?: MissedRun) =>
  changed(
    sql`INSERT INTO schedule_runs (id, schedule_id, account_id, started_by, tick_at, is_late, job_id, created_at,
        status, missed_last_at, missed_count, reason, settled_at)
      VALUES (${id}, ${String(schedule.id)}, ${String(schedule.account_id)}, 'tick', ${tickAt}, ${isLate}, ${jobId},
        ${CLOCK}, ${
          missed === undefined
            ? sql`'pending', NULL, NULL, NULL, NULL`
            : sql`'missed', ${missed.lastAt}, ${missed.count}, 'no scheduler ran in time', ${CLOCK}`
        })
      ON CONFLICT DO NOTHING`,
  );

export const scheduleStore: Methods<ScheduleStore> = {
  createSchedule: change(insertSchedule),

  getSchedule: read((account, id) =>
    find(sql`SELECT * FROM schedules WHERE account_id = ${account} AND id = ${id}`, scheduleOf),
  ),

  listSchedules: read(({ accountId, cursor, limit }) =>
    slice(
      sql`SELECT * FROM schedules
        WHERE account_id = ${accountId} AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      scheduleOf,
    ),
  ),

  countSchedules: read((account) =>
    one(sql`SELECT count(*) AS count FROM schedules WHERE account_id = ${account}`, ({ count }) =>
      Number(count),
    ),
  ),

  updateSchedule: transaction(function* (schedule) {
    const { accountId, id, revision, name, job, isPaused, nextTickAt, dueAt } = schedule;
    const updated = yield* find(
      sql`UPDATE schedules SET name = ${name}, rules = ${rulesOf(schedule)}, job = ${json(job)},
          is_paused = ${isPaused}, next_tick_at = ${nextTickAt}, due_at = ${dueAt}, revision = revision + 1,
          updated_at = ${CLOCK}
        WHERE account_id = ${accountId} AND id = ${id} AND revision = ${revision} RETURNING *`,
      scheduleOf,
    );
    if (updated?.isPaused) {
      yield* run(
        sql`UPDATE schedule_runs SET status = 'skipped', reason = 'the schedule was paused', settled_at = ${CLOCK}
          WHERE schedule_id = ${id} AND status IN ('pending', 'waiting')`,
      );
    }
    return updated;
  }),

  deleteSchedule: change((account, id) =>
    changed(sql`DELETE FROM schedules WHERE account_id = ${account} AND id = ${id}`),
  ),

  listDueSchedules: read(function* (limit) {
    // The time is told also when nothing is due.
    const rows = yield* all(
      sql`SELECT c.now, s.* FROM ${either(
        sql`(SELECT ${CLOCK} AS now) c LEFT JOIN (
          SELECT * FROM schedules WHERE due_at <= ${CLOCK} ORDER BY due_at, seq LIMIT ${limit}
        )`,
        sql`(SELECT ${CLOCK} AS now OFFSET 0) c LEFT JOIN LATERAL (
          SELECT * FROM schedules WHERE due_at <= c.now ORDER BY due_at, seq LIMIT ${limit}
        )`,
      )} s ON true ORDER BY s.due_at, s.seq`,
    );
    return {
      now: Number(rows[0]?.now),
      items: rows.filter(({ id }) => id !== null).map(scheduleOf),
    };
  }),

  recordTicks: transaction(function* ({ scheduleId, revision, nextTickAt, runs, missed, next }) {
    const schedule = yield* get(
      sql`UPDATE schedules SET next_tick_at = ${next?.tickAt ?? null}, due_at = ${next?.dueAt ?? null}
        WHERE id = ${scheduleId} AND revision = ${revision} AND next_tick_at = ${nextTickAt}
          AND due_at <= ${CLOCK} AND NOT is_paused
        RETURNING id, account_id, name`,
    );
    if (schedule === undefined) return false;
    if (missed !== null && (yield* insertTickRun(schedule, missed, missed))) {
      const accountId = String(schedule.account_id);
      yield* tell({ type: 'schedule.missed', accountId, jobId: null, data: missedEventOf(schedule, missed) });
    }
    for (const tickRun of runs) yield* insertTickRun(schedule, tickRun);
    yield* run(
      sql`DELETE FROM schedule_runs
        WHERE schedule_id = ${scheduleId} AND status NOT IN ('pending', 'waiting') AND seq <= (
          SELECT seq FROM schedule_runs WHERE schedule_id = ${scheduleId}
          ORDER BY seq DESC LIMIT 1 OFFSET ${MOST_RUNS_KEPT}
        )`,
    );
    return true;
  }),

  addRun: change(({ id, jobId, scheduleId, accountId }) =>
    one(
      sql`INSERT INTO schedule_runs (id, schedule_id, account_id, started_by, tick_at, status, job_id, created_at)
        VALUES (${id}, ${scheduleId}, ${accountId}, 'manual', ${CLOCK}, 'pending', ${jobId}, ${CLOCK})
        ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING *`,
      runOf,
    ),
  ),

  listOpenRuns: read(({ limit, scheduleId }) =>
    list(
      sql`SELECT r.*, ${AS_JSON} AS schedule, ${GOING_AS_JSON} AS going,
          EXISTS (
            SELECT 1 FROM schedule_runs w
            WHERE w.schedule_id = r.schedule_id AND w.status IN ('pending', 'waiting') AND w.seq < r.seq
          ) AS is_behind, a.disabled_at IS NOT NULL AS is_disabled
        FROM schedule_runs r JOIN schedules s ON s.id = r.schedule_id JOIN accounts a ON a.id = r.account_id
        WHERE (r.status = 'pending' OR (r.status = 'waiting' AND NOT EXISTS (SELECT 1 ${OF_THE_SCHEDULE})))
          AND r.status IN ('pending', 'waiting') ${given(scheduleId, (id) => sql`AND r.schedule_id = ${id}`)}
        ORDER BY r.seq LIMIT ${limit}`,
      openRunOf,
    ),
  ),

  settleRun: change((id, { status, reason }) => {
    const isEnd = status !== 'waiting';
    return changed(
      sql`UPDATE schedule_runs SET status = ${status}, reason = ${reason}, settled_at = ${isEnd ? CLOCK : NULL}
        WHERE id = ${id} AND (status = 'pending' OR (status = 'waiting' AND ${isEnd}))`,
    );
  }),

  getRun: read((account, id) =>
    find(sql`${RUNS} WHERE r.account_id = ${account} AND r.id = ${id}`, reportedRunOf),
  ),

  listRuns: read(({ accountId, scheduleId, cursor, limit }) =>
    slice(
      sql`${RUNS} WHERE r.account_id = ${accountId} AND r.schedule_id = ${scheduleId}
          AND r.seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
        ORDER BY r.seq DESC LIMIT ${limit + 1}`,
      limit,
      reportedRunOf,
    ),
  ),
};

function scheduleOf(row: Row): Schedule {
  return {
    id: String(row.id) as ScheduleId,
    accountId: String(row.account_id) as AccountId,
    name: String(row.name),
    ...(JSON.parse(String(row.rules)) as ScheduleRules),
    job: JSON.parse(String(row.job)) as ScheduledJob,
    isPaused: Boolean(row.is_paused),
    nextTickAt: maybeNumber(row.next_tick_at),
    dueAt: maybeNumber(row.due_at),
    revision: Number(row.revision),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

function runOf(row: Row): ScheduleRun {
  const lastAt = maybeNumber(row.missed_last_at);
  return {
    id: String(row.id) as RunId,
    scheduleId: String(row.schedule_id) as ScheduleId,
    accountId: String(row.account_id) as AccountId,
    trigger: row.started_by as ScheduleRun['trigger'],
    tickAt: Number(row.tick_at),
    isLate: Boolean(row.is_late),
    status: row.status as RunStatus,
    reason: row.reason as string | null,
    jobId: String(row.job_id) as JobId,
    missed: lastAt === null ? null : { lastAt, count: Number(row.missed_count) },
    createdAt: Number(row.created_at),
    settledAt: maybeNumber(row.settled_at),
  };
}
