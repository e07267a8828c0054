/** How fast waits come to their end, from what was seen in the last seconds. */
export interface WaitEstimate {
  ended(): void;
  /** How long one more would wait behind so many; 0 when nothing is known. */
  expectedMs(waiting: number): number;
}

const WINDOW_MS = 5_000;

export function createWaitEstimate(now: () => number): WaitEstimate {
  let since = now();
  let count = 0;
  /** Of the last full window; null: nobody has looked for so long that there is none. */
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
