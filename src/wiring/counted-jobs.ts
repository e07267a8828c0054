import type { Job } from '../core/model/job.ts';
import type { WorkMetrics } from '../core/observe/metrics/work-metrics.ts';
import type { Store } from '../core/ports/store.ts';

/**
 * The store with the ends of jobs counted that no commit of the crawl brings about: a job without a URL to fetch, one
 * that is cancelled or stopped while nothing of it is under way, and one whose time is over.
 */
export function countJobEnds(store: Store, metrics: Pick<WorkMetrics, 'jobEnded'>): Store {
  const count = <T extends Job | null>(job: T, isEndedNow: (job: Job) => boolean = () => true): T => {
    if (job !== null && isEndedNow(job)) metrics.jobEnded(job);
    return job;
  };
  return {
    ...store,
    createJob: async (...values) => count(await store.createJob(...values)),
    // A job that had ended before is returned as it is, and was counted then.
    cancelJob: async (...values) =>
      count(await store.cancelJob(...values), ({ status }) => status === 'cancelled'),
    stopJob: async (id, reason) =>
      count(await store.stopJob(id, reason), ({ stopReason }) => stopReason === reason),
    async expireJobs() {
      const expired = await store.expireJobs();
      for (const id of expired) count(await store.getJob(id));
      return expired;
    },
  };
}
