import { MOST_DUE_HOSTS, type Workload } from '../../core/ports/workload-store.ts';
import { OPEN_JOBS, workloadOf } from '../store-rows/workload-rows.ts';
import { NOW, type PostgresDatabase } from './database.ts';

/** See `WorkloadStore.workload`. Hosts that are due are found by their index. */
export async function postgresWorkload(database: PostgresDatabase): Promise<Workload> {
  const [[figures = {}], jobs] = await Promise.all([
    database.query(
      `SELECT c.now, h.due_hosts, h.oldest_due,
         (SELECT min(due_at) FROM schedules WHERE due_at <= c.now) AS oldest_schedule
       FROM (SELECT ${NOW} AS now) c, LATERAL (
         SELECT count(*) AS due_hosts, min(next_at) AS oldest_due
         FROM (SELECT next_at FROM hosts WHERE next_at <= c.now ORDER BY next_at LIMIT $1) due
       ) h`,
      [MOST_DUE_HOSTS],
    ),
    database.query(OPEN_JOBS),
  ]);
  return workloadOf(figures, jobs, Number(figures.now));
}
