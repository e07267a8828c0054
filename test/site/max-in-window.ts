import type { LogEntry } from './request-log.ts';

/** When a request arrived: not before one time, and not after the other. */
export type Arrival = Pick<LogEntry, 'at' | 'notBefore'>;

/**
 * The most requests that all arrived in one window of this length, its end excluded, in whatever order they are given. A
 * request that the site may have noted late counts as early as it can have come: on a busy machine requests that were
 * sent apart are noted together, and prove nothing.
 */
export function maxInWindow(arrivals: readonly Arrival[], windowMs: number): number {
  const starts = Float64Array.from(arrivals, ({ notBefore }) => notBefore).sort();
  let most = 0;
  for (const start of starts) {
    const isInside = ({ at, notBefore }: Arrival) => notBefore >= start && at < start + windowMs;
    most = Math.max(most, arrivals.filter(isInside).length);
  }
  return most;
}
