const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/** How long to wait before a process is started again that has failed this often in a row. */
export function restartDelayMs(failuresInRow: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failuresInRow - 1));
}
