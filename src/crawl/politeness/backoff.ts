import { clampRetryAfter } from './retry-after.ts';

export const BACKOFF_BASE_MS = 2_000;
export const BACKOFF_CAP_MS = 30_000;

/**
 * The pause before trying a URL again, after its `attempt`-th attempt (1 is the first) failed. Full jitter: any
 * time up to a ceiling that doubles with each attempt, so that URLs that failed together are not retried together.
 * The pause is never shorter than the host asked for.
 */
export function retryDelayMs(
  attempt: number,
  random: () => number,
  retryAfterMs: number | null = null,
): number {
  const ceilingMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.max(0, attempt - 1));
  const jitteredMs = Math.floor(random() * ceilingMs);
  return retryAfterMs === null ? jitteredMs : Math.max(jitteredMs, clampRetryAfter(retryAfterMs));
}
