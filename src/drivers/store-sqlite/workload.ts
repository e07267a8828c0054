import type { Workload } from '../../core/ports/workload-store.ts';
import { OPEN_JOBS, workloadOf } from '../store-rows/workload-rows.ts';
import type { SqliteDatabase } from './database.ts';

/** See `WorkloadStore.workload`. Reads a row for each host that has work. */
export function sqliteWorkload(database: SqliteDatabase, now: number): Workload {
  const figures = database.get(
    `SELECT count(*) AS due_hosts, min(next_at) AS oldest_due,
       (SELECT min(due_at) FROM schedules WHERE due_at <= ?1) AS oldest_schedule
     FROM hosts WHERE next_at IS NOT NULL AND next_at <= ?1`,
    now,
  );
  return workloadOf(figures ?? {}, database.all(OPEN_JOBS), now);
}
