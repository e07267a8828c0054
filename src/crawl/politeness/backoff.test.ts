import { describe, expect, it } from 'vitest';
import { BACKOFF_BASE_MS, BACKOFF_CAP_MS, MAX_RETRY_AFTER_MS, retryDelayMs } from './retry-after.ts';

const almostOne = () => 1 - Number.EPSILON;

describe('the pause before a retry', () => {
  it('has a ceiling that doubles from the base up to the cap', () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => Math.round(retryDelayMs(attempt, almostOne) / 1_000))).toEqual(
      [2, 4, 8, 16, 30, 30],
    );
    expect(BACKOFF_BASE_MS).toBe(2_000);
    expect(BACKOFF_CAP_MS).toBe(30_000);
  });

  it('may be anything down to nothing, so that retries spread', () => {
    expect(retryDelayMs(4, () => 0)).toBe(0);
    expect(retryDelayMs(4, () => 0.5)).toBe(8_000);
  });

  it('is at least what the host asked for, up to a day', () => {
    expect(retryDelayMs(1, almostOne, 60_000)).toBe(60_000);
    expect(retryDelayMs(4, almostOne, 1)).toBeGreaterThan(15_000);
    expect(retryDelayMs(1, almostOne, 10 * MAX_RETRY_AFTER_MS)).toBe(MAX_RETRY_AFTER_MS);
  });

  it('stays finite after a great many attempts', () => {
    expect(retryDelayMs(5_000, almostOne)).toBeLessThanOrEqual(BACKOFF_CAP_MS);
  });
});
