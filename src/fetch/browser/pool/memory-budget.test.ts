import fc from 'fast-check';
import { expect, test } from 'vitest';
import { thisMachine } from '../../byte-budget.ts';
import { renderLimitsFor } from './memory-budget.ts';

const GIB = 1_073_741_824;

test.each([
  [0.5, 1, { maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1 }],
  [1, 2, { maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1 }],
  [2, 2, { maxBrowsers: 1, pagesAtOnce: 5, pagesEach: 5 }],
  [8, 2, { maxBrowsers: 2, pagesAtOnce: 8, pagesEach: 8 }],
  [64, 16, { maxBrowsers: 9, pagesAtOnce: 64, pagesEach: 8 }],
])('%d GiB and %i cores carry %o', (gib, cores, expected) => {
  expect(renderLimitsFor({ memoryBytes: gib * GIB, cores })).toMatchObject(expected);
});

test('more memory never means fewer pages, and there is always room for one', () => {
  const memory = fc.integer({ min: 1, max: 2 ** 40 });
  fc.assert(
    fc.property(memory, memory, fc.integer({ min: 1, max: 256 }), (a, b, cores) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)].map((memoryBytes) =>
        renderLimitsFor({ memoryBytes, cores }),
      );
      expect(less?.pagesAtOnce).toBeLessThanOrEqual(more?.pagesAtOnce ?? 0);
      for (const limits of [less, more]) {
        expect(limits?.pagesAtOnce).toBeGreaterThanOrEqual(1);
        expect(limits?.maxBrowsers).toBeGreaterThanOrEqual(1);
        expect((limits?.maxBrowsers ?? 0) * (limits?.pagesEach ?? 0)).toBeGreaterThanOrEqual(1);
      }
    }),
  );
});

test('this machine has memory and cores', () => {
  const { memoryBytes, cores } = thisMachine();
  expect(memoryBytes).toBeGreaterThan(0);
  expect(cores).toBeGreaterThan(0);
});
