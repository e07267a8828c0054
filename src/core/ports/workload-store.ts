import type { JobStatus } from '../model/job.ts';

/** A part of the store: what the whole installation has to do, for metrics, autoscaling and the operator. */
export interface WorkloadStore {
  /**
   * Looks at what is open now, without a lock. Its cost grows with what waits: callers keep the answer for a few
   * seconds. Hosts beyond MOST_DUE_HOSTS are not counted.
   */
  workload(): Promise<Workload>;
}

export const MOST_DUE_HOSTS = 100_000;

export interface Workload {
  /** Ready, waiting and claimed tasks over all jobs. */
  readonly openTasks: number;
  /** Jobs that have not ended; a cancelled job with tasks under way is one of them. */
  readonly openJobs: Readonly<Partial<Record<JobStatus, number>>>;
  /** Hosts that have work due and no living owner: what `offerHosts` offers. */
  readonly dueHosts: number;
  /** How long the host that is due for longest has been so; 0 when none is due. */
  readonly oldestDueMs: number;
  /** How long the schedule that is due for longest has been so; 0 when none is due. */
  readonly scheduleOverdueMs: number;
}
