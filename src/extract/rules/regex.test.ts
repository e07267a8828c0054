import { describe, expect, it } from 'vitest';
import { Budget } from './budget.ts';
import { addRegexExcess, compileRegex } from './regex.ts';
import { RuleSyntaxError } from './rule-text.ts';
import { countingBudget } from './rules.fixture.ts';

describe('patterns that need more than linear time are refused at their place', () => {
  it.each([
    ['a(?=b)', 1, 'Look-aheads'],
    ['a(?!b)', 1, 'Look-aheads'],
    ['(?<=a)b', 0, 'Look-behinds'],
    ['x(?<!a)b', 1, 'Look-behinds'],
    ['(a)\\1', 3, 'Back references'],
    ['(?<n>a)\\k<n>', 7, 'Back references'],
    ['(?>a)', 0, 'Atomic groups'],
    ['a{1,5000}', 1, 'invalid repeat count'],
    ['((a{100}){100}){100}', null, 'invalid repeat count'],
    ['(ab', null, 'missing closing )'],
    ['[z-a]', 1, 'invalid character class range'],
    ['', null, 'empty'],
  ])('%s', (pattern, position, message) => {
    let error: unknown;
    try {
      compileRegex(pattern);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(RuleSyntaxError);
    expect((error as RuleSyntaxError).message).toContain(message);
    if (position !== null) expect((error as RuleSyntaxError).position).toBe(position);
  });

  it('what only looks like them is fine', () => {
    for (const pattern of ['\\(?=', '[(?=]', '\\\\1', '[\\d\\-](?:a)(?<n>b)(?P<m>c)(?i)d', '\\Q(?=\\E']) {
      expect(() => compileRegex(pattern)).not.toThrow();
    }
  });
});

it('a pattern that is catastrophic elsewhere is linear here', () => {
  const text = `${'a'.repeat(50_000)}!`;
  expect(compileRegex('^(a+)+$').isIn(text, countingBudget())).toBe(false);
  expect(compileRegex('(x+x+)+y').isIn('x'.repeat(50_000), countingBudget())).toBe(false);
});

it('searches that look far ahead again and again end by the clock', () => {
  let now = 0;
  const budget = new Budget({ now: () => (now += 10), timeMs: 1_000 });
  const run = (): unknown => compileRegex('a*b|a').find('a'.repeat(500), 1_000, budget);
  expect(run).toThrow(
    expect.objectContaining({ code: 'EXTRACTION_FAILED', details: { limit: 'time', path: 'rules' } }),
  );
});

it('a large pattern on a large text is refused by steps, before it runs', () => {
  const run = (): unknown => compileRegex('(?:ab?){900}c').isIn('ab'.repeat(900_000), countingBudget());
  expect(run).toThrow(expect.objectContaining({ code: 'EXTRACTION_FAILED' }));
});

it('replaces with groups by number and name, and splits', () => {
  const regex = compileRegex('(?<day>\\d+)/(\\d+)');
  expect(regex.replace('on 3/4 or 5/6', '$2.$<day>$$', true, countingBudget())).toBe('on 4.3$ or 6.5$');
  expect(regex.replace('3/4 5/6', '[$&]', false, countingBudget())).toBe('[3/4] 5/6');
  expect(compileRegex('\\s*,\\s*').split('a , b,c', 10, countingBudget())).toEqual(['a', 'b', 'c']);
  expect(compileRegex(',').split('a,b,c', 2, countingBudget())).toEqual(['a', 'b,c']);
});

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
