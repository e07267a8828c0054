import type { JobStatus } from '../../core/model/job.ts';
import { type HostStore, MOST_DUE_HOSTS, type Workload } from '../../core/ports/host-store.ts';
import { cursorOf, hostViewOf, optOutOf, type Row, robotsOf } from '../store-rows/rows.ts';
import { change, type Methods, read } from './methods.ts';
import { CLOCK, either, NOTHING, raw, sql } from './sql.ts';
import { all, changed, find, list, one, run, slice } from './steps.ts';

/** What is known of hosts: their state, their robots.txt, opt-outs, and which are due. Each database owns and claims them in its own way. */
export type HostRecordStore = Pick<
  HostStore,
  'workload' | 'getHost' | 'listHosts' | 'getRobots' | 'putRobots' | 'listOptOuts' | 'removeOptOut'
>;

const VIEW = raw(`SELECT h.*, (
    SELECT count(*) FROM (SELECT 1 FROM tasks t WHERE t.host_id = h.id AND t.state = 'ready' LIMIT 10000) AS r
  ) AS ready FROM hosts h`);
const viewOf = (row: Row) => hostViewOf(row, Number(row.ready));

/** PostgreSQL finds the hosts that are due by their index. SQLite reads a row for each host that has work. */
const DUE_HOSTS = sql`SELECT next_at FROM hosts WHERE next_at IS NOT NULL AND next_at <= (SELECT now FROM clock)
  ${either(NOTHING, sql`ORDER BY next_at LIMIT ${MOST_DUE_HOSTS}`)}`;

/** `figures` has counts, and points in time that are null where nothing is due. */
function workloadOf(figures: Row, jobs: readonly Row[]): Workload {
  const since = (at: unknown) => (at === null ? 0 : Math.max(0, Number(figures.now) - Number(at)));
  return {
    openTasks: jobs.reduce((sum, { tasks }) => sum + Number(tasks), 0),
    openJobs: Object.fromEntries(jobs.map(({ status, jobs: count }) => [status as JobStatus, Number(count)])),
    dueHosts: Math.min(Number(figures.due_hosts), MOST_DUE_HOSTS),
    oldestDueMs: since(figures.oldest_due),
    scheduleOverdueMs: since(figures.oldest_schedule),
  };
}

export const hostRecordStore: Methods<HostRecordStore> = {
  workload: read(function* () {
    const jobs = yield* all(
      sql`SELECT status, count(*) AS jobs, coalesce(sum(open), 0) AS tasks FROM jobs
        WHERE finished_at IS NULL GROUP BY status`,
    );
    return yield* one(
      sql`WITH clock AS (SELECT ${CLOCK} AS now)
        SELECT (SELECT now FROM clock) AS now, count(*) AS due_hosts, min(next_at) AS oldest_due,
          (SELECT min(due_at) FROM schedules WHERE due_at <= (SELECT now FROM clock)) AS oldest_schedule
        FROM (${DUE_HOSTS}) AS due`,
      (figures) => workloadOf(figures, jobs),
    );
  }),

  getHost: read((key) => find(sql`${VIEW} WHERE h.key = ${key}`, viewOf)),

  listHosts: read(({ cursor, limit }) =>
    slice(
      sql`${VIEW} WHERE h.id > ${cursorOf(cursor, 0)} ORDER BY h.id LIMIT ${limit + 1}`,
      limit,
      viewOf,
      'id',
    ),
  ),

  getRobots: read((origin) => find(sql`SELECT * FROM robots WHERE origin = ${origin}`, robotsOf)),

  putRobots: change(
    function* ({ origin, status, body, fetchedAt, expiresAt, reason, interruptions, failures }) {
      yield* run(
        sql`INSERT INTO robots (origin, status, body, fetched_at, expires_at, reason, interruptions, failures)
          VALUES (${origin}, ${status}, ${body}, ${fetchedAt}, ${expiresAt}, ${reason}, ${interruptions},
            ${failures})
          ON CONFLICT (origin) DO UPDATE SET status = excluded.status, body = excluded.body,
            fetched_at = excluded.fetched_at, expires_at = excluded.expires_at, reason = excluded.reason,
            interruptions = excluded.interruptions, failures = excluded.failures`,
      );
    },
    { isUnsynced: true },
  ),

  listOptOuts: read(() => list(sql`SELECT * FROM opt_outs ORDER BY host`, optOutOf)),

  removeOptOut: change((host) => changed(sql`DELETE FROM opt_outs WHERE host = ${host}`)),
};
