import { describe, expect, it } from 'vitest';
import { addRegexExcess } from './regex-size.ts';

const excessOf = (pattern: string) => {
  const total = { instructions: 0, unicodeClasses: 0 };
  addRegexExcess(pattern, total);
  return total;
};

describe('what repetitions add to a pattern', () => {
  it.each([
    ['\\d{4}-\\d{2}-\\d{2}', 5],
    ['[a-z]+', 0],
    ['a{3}', 2],
    ['a{0,1000}', 999],
    ['(?:a|b){1000}', 4_995],
    ['((a{10}){10}){10}', 999],
    ['a{', 0],
    ['a{x}', 0],
    ['\\{5}', 0],
    [')))(((', 0],
  ])('%s: %i', (pattern, instructions) => {
    expect(excessOf(pattern).instructions).toBe(instructions);
  });

  it('counts Unicode classes', () => {
    expect(excessOf('\\pL\\P{Greek}\\\\p').unicodeClasses).toBe(2);
  });
});
