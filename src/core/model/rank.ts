import type { JobKind } from './job.ts';

/** What each doubling of a job's size costs it. */
const DELAY_PER_DOUBLING_MS = 15_000;
/** The most a job can be put off: reached at about a million tasks. */
export const MAX_RANK_DELAY_MS = 300_000;

/**
 * The moment (epoch milliseconds, a whole number) at which a task is due for service. Hosts that wait for a worker are taken by
 * their best rank, and of one job the task with the lowest is served first; between accounts and jobs on one host `turns.ts`
 * decides.
 *
 * Single scrapes are due at once, before everything else: a client waits for the answer. All others are due the
 * later, the larger their job: of jobs that came together the smaller goes first. Because the delay has a maximum,
 * whatever comes more than MAX_RANK_DELAY_MS after a task is behind it, however small its job, so no stream of
 * small jobs can hold a large one up for longer than that.
 *
 * `size` is how many tasks the job is expected to have, Infinity when unknown; `now` is when the task was found.
 */
export function rankOf(job: { readonly kind: JobKind; readonly size: number }, now: number): number {
  if (job.kind === 'scrape') return 0;
  const delayMs = DELAY_PER_DOUBLING_MS * Math.log2(1 + Math.max(0, job.size));
  return Math.round(now + Math.min(delayMs, MAX_RANK_DELAY_MS));
}
