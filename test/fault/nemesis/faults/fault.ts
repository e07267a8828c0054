/** Something that can be done to one part of the fleet. It resolves when that part is as before. */
export interface Fault {
  readonly kind: string;
  readonly target: string;
  /** What it needs for itself: two faults that have one of these in common are never under way together. */
  readonly locks: readonly string[];
  /** Whether it can be done now: a process that is starting cannot be hurt in an interesting way. */
  isPossible(): boolean;
  run(durationMs: number): Promise<void>;
  readonly leastMs: number;
  readonly mostMs: number;
  /** What the store has committed while the fault was under way may be gone afterwards. */
  readonly forgets?: true;
}

const POLL_MS = 50;

/** Waits for a condition; throws when it has not come true in time. */
export async function until(
  what: string,
  limitMs: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen within ${limitMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
