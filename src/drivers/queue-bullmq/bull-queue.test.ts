import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstScoreOf, priorityOf } from './bull-queue.ts';

const rank = fc.oneof(fc.nat(), fc.integer({ min: 1_600_000_000_000, max: 2_150_000_000_000 }));

describe('the priority of a rank', () => {
  test('keeps ranks apart and in order, with room for thousands of arrivals between them', () => {
    fc.assert(
      fc.property(rank, rank, (a, b) => {
        fc.pre(a < b);
        expect(priorityOf(a)).toBeLessThan(priorityOf(b));
        expect(firstScoreOf(b) - firstScoreOf(a)).toBeGreaterThanOrEqual(4_096);
      }),
    );
  });

  test('keeps the order of arrival at one rank', () => {
    fc.assert(
      fc.property(rank, fc.nat(4_094), (at, arrival) => {
        expect(firstScoreOf(at) + arrival).toBeLessThan(firstScoreOf(at) + arrival + 1);
        expect(firstScoreOf(at) + arrival + 1).toBeLessThan(firstScoreOf(at + 1));
      }),
    );
  });

  test('is a positive number for whatever is called a rank', () => {
    for (const odd of [0, -5, Number.NaN, Infinity, -Infinity, Number.MAX_SAFE_INTEGER, 0.5]) {
      expect(priorityOf(odd)).toBeGreaterThan(0);
      expect(Number.isFinite(firstScoreOf(odd))).toBe(true);
    }
  });
});
