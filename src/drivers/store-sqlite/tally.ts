import type { JobSeq } from '../../core/model/ids.ts';
import type { SqliteDatabase } from './database.ts';

/** What one transaction changes about a job's counters. */
export interface Delta {
  known: number;
  open: number;
  claimed: number;
  claimedPages: number;
  pages: number;
  done: number;
  failed: number;
  skipped: number;
  denied: number;
  cancelled: number;
  bytes: number;
  browserMs: number;
  proxyBytes: number;
  microcredits: number;
}

/**
 * Sums changes per job, so that a batch of a hundred pages updates each job's row once. Code that changes a task's
 * state says so here; `apply` is the only place that writes counters.
 */
export interface JobTally {
  of(job: JobSeq): Delta;
  jobs(): Iterable<JobSeq>;
  apply(database: SqliteDatabase): void;
}

export function createTally(): JobTally {
  const deltas = new Map<JobSeq, Delta>();
  return {
    of(job) {
      let delta = deltas.get(job);
      if (delta === undefined) {
        delta = {
          known: 0,
          open: 0,
          claimed: 0,
          claimedPages: 0,
          pages: 0,
          done: 0,
          failed: 0,
          skipped: 0,
          denied: 0,
          cancelled: 0,
          bytes: 0,
          browserMs: 0,
          proxyBytes: 0,
          microcredits: 0,
        };
        deltas.set(job, delta);
      }
      return delta;
    },
    jobs: () => deltas.keys(),
    apply(database) {
      for (const [job, d] of deltas) {
        database.run(
          `UPDATE jobs SET known = known + ?, open = open + ?, claimed = claimed + ?, claimed_pages = claimed_pages + ?,
             pages = pages + ?, done = done + ?, failed = failed + ?, skipped = skipped + ?, denied = denied + ?,
             cancelled = cancelled + ?, bytes = bytes + ?, browser_ms = browser_ms + ?, proxy_bytes = proxy_bytes + ?,
             microcredits = microcredits + ?
           WHERE seq = ?`,
          d.known,
          d.open,
          d.claimed,
          d.claimedPages,
          d.pages,
          d.done,
          d.failed,
          d.skipped,
          d.denied,
          d.cancelled,
          d.bytes,
          d.browserMs,
          d.proxyBytes,
          d.microcredits,
          job,
        );
      }
    },
  };
}
