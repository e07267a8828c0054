import { describe, expect, it } from 'vitest';
import { MAX_RETRY_AFTER_MS, parseRetryAfter } from './retry-after.ts';

const NOW = Date.UTC(2026, 10, 15, 12, 0, 0);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5_000],
    ['1.5', 1_500],
    ['Sun, 15 Nov 2026 12:01:00 GMT', 60_000],
    ['sun, 15 nov 2026 12:01:00 gmt', 60_000],
    ['Sunday, 15-Nov-26 12:00:30 GMT', 30_000],
    ['Sun Nov 15 12:00:10 2026', 10_000],
    ['Tue Nov  3 12:00:10 2026', 0],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ])('of "%s" asks for %i ms', (header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms);
  });

  it.each([[null], [undefined], [''], ['-5'], ['soon'], ['1e9'], ['12:00'], ['2026-11-15T12:01:00Z']])(
    'of %s asks for nothing',
    (header) => {
      expect(parseRetryAfter(header, NOW)).toBeNull();
    },
  );

  it.each([
    'Sun, 32 Nov 2026 12:01:00 GMT',
    'Sun, 15 Nox 2026 12:01:00 GMT',
    'Sun, 15 Nov 2026 25:01:00 GMT',
  ])('with the impossible date %s asks for nothing', (header) => {
    expect(parseRetryAfter(header, NOW)).toBeNull();
  });

  it('never asks for more than a day', () => {
    expect(parseRetryAfter('999999999', NOW)).toBe(MAX_RETRY_AFTER_MS);
    expect(parseRetryAfter('Fri, 15 Nov 2030 12:01:00 GMT', NOW)).toBe(MAX_RETRY_AFTER_MS);
  });
});
