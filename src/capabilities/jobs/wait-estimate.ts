/** Estimates waiting times from the rate at which waits ended in the last seconds. */
export interface WaitEstimate {
  ended(): void;
  /** The expected wait behind `waiting` others; 0 when there is no recent rate. */
  expectedMs(waiting: number): number;
}

const WINDOW_MS = 5_000;

export function createWaitEstimate(now: () => number): WaitEstimate {
  let since = now();
  let count = 0;
  /** Rate of the last full window; null when there was none recently. */
  let perMs: number | null = null;

  function turn(): void {
    const elapsedMs = now() - since;
    if (elapsedMs < WINDOW_MS) return;
    perMs = elapsedMs < 2 * WINDOW_MS ? count / elapsedMs : null;
    since = now();
    count = 0;
  }

  return {
    ended() {
      turn();
      count += 1;
    },
    expectedMs(waiting) {
      turn();
      return perMs === null || perMs === 0 ? 0 : waiting / perMs;
    },
  };
}
