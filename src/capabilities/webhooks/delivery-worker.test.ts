import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RETRY_PERIOD_MS, retryDelayMs } from './delivery-worker.ts';

const HOUR_MS = 3_600_000;
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** The times of all attempts, from the first at 0, when every one fails. */
function attemptsOf(random: () => number): number[] {
  const times = [0];
  for (;;) {
    const now = times.at(-1) ?? 0;
    const delayMs = retryDelayMs({ count: times.length, firstAt: 0, retryAfterMs: null }, now, random());
    if (delayMs === null) return times;
    times.push(now + delayMs);
  }
}

describe('the retry schedule', () => {
  it('begins with 2, 4 and 8 seconds', () => {
    for (const random of [0, 0.5, 0.999]) {
      expect(attemptsOf(() => random).slice(0, 4)).toEqual([0, 2_000, 6_000, 14_000]);
    }
  });

  it('goes on for up to three days, with pauses of at most seven and a half hours', () => {
    fc.assert(
      fc.property(fc.infiniteStream(chance), (chances) => {
        const times = attemptsOf(() => chances.next().value);
        const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
        expect(Math.max(...pauses)).toBeLessThanOrEqual(7.5 * HOUR_MS);
        expect(times.at(-1)).toBeLessThanOrEqual(RETRY_PERIOD_MS);
        expect(times.at(-1)).toBeGreaterThan(RETRY_PERIOD_MS - 7.5 * HOUR_MS);
        expect(times.length).toBeLessThan(45);
      }),
      { numRuns: 50 },
    );
  });

  it('spreads later attempts by chance', () => {
    const failed = { count: 8, firstAt: 0, retryAfterMs: null };
    expect(retryDelayMs(failed, 0, 0)).toBeLessThan(retryDelayMs(failed, 0, 0.9) ?? 0);
  });

  it('waits as long as the receiver asks for, up to an hour', () => {
    expect(retryDelayMs({ count: 1, firstAt: 0, retryAfterMs: 60_000 }, 0, 0)).toBe(60_000);
    expect(retryDelayMs({ count: 1, firstAt: 0, retryAfterMs: 9 * HOUR_MS }, 0, 0)).toBe(HOUR_MS);
    expect(retryDelayMs({ count: 1, firstAt: 0, retryAfterMs: 10 }, 0, 0)).toBe(2_000);
  });
});
