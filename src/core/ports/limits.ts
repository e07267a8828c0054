/**
 * Counts requests per key in windows of one minute, each of which begins with its first request. What it cannot
 * count because a server is away it does not hold up: it never throws, and errs on the side of the caller.
 */
export interface Limits {
  /** Counts one request of the key at `now`, allowed or not. */
  take(key: string, perMinute: number, now: number): Promise<Taken>;
  /** Counts a request of a key of its own, and throws when counting together with other processes does not work. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Taken {
  readonly isAllowed: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetMs: number;
}

/** The length of a window. */
export const LIMIT_WINDOW_MS = 60_000;

/** What a count within a window means. */
export function takenOf(count: number, perMinute: number, resetMs: number): Taken {
  return { isAllowed: count <= perMinute, remaining: Math.max(0, perMinute - count), resetMs };
}
