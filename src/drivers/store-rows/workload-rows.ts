import type { JobStatus } from '../../core/model/job.ts';
import { MOST_DUE_HOSTS, type Workload } from '../../core/ports/workload-store.ts';
import type { Row } from './rows.ts';

export const OPEN_JOBS = `SELECT status, count(*) AS jobs, coalesce(sum(open), 0) AS tasks FROM jobs
  WHERE finished_at IS NULL GROUP BY status`;

/** `figures` has counts, and points in time that are null where nothing is due. */
export function workloadOf(figures: Row, jobs: readonly Row[], now: number): Workload {
  const since = (at: unknown) => (at === null || at === undefined ? 0 : Math.max(0, now - Number(at)));
  return {
    openTasks: jobs.reduce((sum, { tasks }) => sum + Number(tasks), 0),
    openJobs: Object.fromEntries(jobs.map(({ status, jobs: count }) => [status as JobStatus, Number(count)])),
    dueHosts: Math.min(Number(figures.due_hosts), MOST_DUE_HOSTS),
    oldestDueMs: since(figures.oldest_due),
    scheduleOverdueMs: since(figures.oldest_schedule),
  };
}
