import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxInWindow } from './max-in-window.ts';

const exactly = (times: readonly number[]) => times.map((at) => ({ at, notBefore: at }));

test('the most requests in a window are those of the fullest one', () => {
  expect(maxInWindow([], 1_000)).toBe(0);
  expect(maxInWindow(exactly([0, 1_000, 2_000]), 1_000)).toBe(1);
  expect(maxInWindow(exactly([0, 500, 999, 1_000, 5_000]), 1_000)).toBe(3);
});

test('a request that was noted late is not counted with one that may have come long after it', () => {
  const late = { at: 900, notBefore: 0 };
  expect(maxInWindow([late, ...exactly([1_100])], 1_000)).toBe(1);
  expect(maxInWindow([late, ...exactly([950])], 1_000)).toBe(2);
});

test('it agrees with counting from every request on, in any order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(5_000), { maxLength: 60 }),
      fc.integer({ min: 1, max: 2_000 }),
      (times, windowMs) => {
        const counted = times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length);
        expect(maxInWindow(exactly(times), windowMs)).toBe(Math.max(0, ...counted));
      },
    ),
  );
});
