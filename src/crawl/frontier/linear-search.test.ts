import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexOfLinear, type Steps } from './linear-search.ts';

const plenty = (): Steps => ({ left: 1_000_000_000 });

describe('a linear search', () => {
  it('finds what indexOf finds', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 200 });
    const needle = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 24 });
    fc.assert(
      fc.property(text, needle, fc.nat(20), (within, what, from) => {
        const start = Math.min(from, within.length);
        expect(indexOfLinear(within, what, start, plenty())).toBe(within.indexOf(what, start));
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds long repetitive needles', () => {
    const text = `${'ab'.repeat(500)}${'a'.repeat(50)}b`;
    for (const needle of ['ab'.repeat(20), `${'a'.repeat(50)}b`, `b${'a'.repeat(50)}`, 'abab'.repeat(300)]) {
      expect(indexOfLinear(text, needle, 3, plenty())).toBe(text.indexOf(needle, 3));
    }
  });

  it('takes steps in proportion to the text, however its needle repeats itself', () => {
    const text = 'a'.repeat(8_000);
    for (const length of [10, 100, 1_000, 4_000]) {
      const steps = plenty();
      const before = steps.left;
      expect(indexOfLinear(text, `${'a'.repeat(length)}b`, 0, steps)).toBe(-1);
      expect(before - steps.left).toBeLessThan(3 * text.length);
    }
  });
});
