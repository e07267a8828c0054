/** The first retries come soon: most failures are a restart or a lost connection. */
const FIRST_DELAYS_MS = [2_000, 4_000, 8_000] as const;
const LONGEST_DELAY_MS = 6 * 3_600_000;
/** Around the delay, so that receivers that were away are not asked by all senders at the same moment. */
const JITTER = 0.25;
/** A receiver may ask for more time, but not for so much that a delivery has one attempt left. */
const MOST_RETRY_AFTER_MS = 3_600_000;
/** The time from the first attempt to the last. */
export const RETRY_PERIOD_MS = 3 * 86_400_000;

export interface FailedAttempts {
  /** Number of attempts that have failed, 1 or more. */
  readonly count: number;
  readonly firstAt: number;
  /** What the last answer asked for; null when it did not. */
  readonly retryAfterMs: number | null;
}

/** How long to wait before the next attempt; null when there is none. `random` is from 0 to below 1. */
export function retryDelayMs(failed: FailedAttempts, now: number, random: number): number | null {
  const asked = Math.min(failed.retryAfterMs ?? 0, MOST_RETRY_AFTER_MS);
  const delayMs = Math.max(asked, backoffMs(failed.count, random));
  return now + delayMs > failed.firstAt + RETRY_PERIOD_MS ? null : delayMs;
}

function backoffMs(count: number, random: number): number {
  const first = FIRST_DELAYS_MS[count - 1];
  if (first !== undefined) return first;
  const doubled = 8_000 * 2 ** Math.min(count - FIRST_DELAYS_MS.length, 20);
  return Math.round(Math.min(LONGEST_DELAY_MS, doubled) * (1 - JITTER + 2 * JITTER * random));
}
