import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileStoredPattern,
  compileUrlPattern,
  costlyPart,
  indexOfLinear,
  isPathGlob,
  type PatternProblem,
  type Steps,
} from './pattern.ts';

const testOf = (pattern: string): ((url: string) => boolean) => {
  const compiled = compileStoredPattern(pattern);
  if ('message' in compiled) throw new Error(compiled.message);
  return (url) => compiled.test(url, { left: 1_000_000_000 });
};
const problemOf = (pattern: string): PatternProblem => {
  const compiled = compileStoredPattern(pattern);
  if ('message' in compiled) return compiled;
  throw new Error('It compiled.');
};

describe('a pattern of today', () => {
  it.each([
    ['/blog/*', 'https://example.com/blog/a/b?x=1', true],
    ['/blog/*', 'https://example.com/blog', true],
    ['/blog/*', 'https://example.com/x/blog/a', false],
    ['/blog', 'https://example.com/blog', true],
    ['/blog', 'https://example.com/blog/a', false],
    ['/blog', 'https://example.com/x/blog', false],
    ['*.pdf', 'https://example.com/a/b.pdf?v=1', true],
    ['*/print', 'https://example.com/a/print', true],
    ['/a.b+c/*', 'https://example.com/a.b+c/d', true],
    ['/a.b/*', 'https://example.com/axb/d', false],
    ['/list?page=*', 'https://example.com/list?page=2', true],
    ['/list?page=*', 'https://example.com/list', false],
    ['https://example.com/blog/*', 'https://example.com/blog/a?b=1', true],
    ['https://example.com/blog/*', 'https://example.com/blog', true],
    ['https://example.com/blog/*', 'https://other.example/blog/a', false],
    ['http*://example.com/*', 'https://example.com/a', null],
    ['re:/admin/', 'https://example.com/x/admin/y', true],
    ['re:^https://example\\.com/a', 'https://example.com/ab', true],
    ['re:(?i)PRINT', 'https://example.com/print', true],
    ['re:/p/\\d+$', 'https://example.com/p/x', false],
  ])('%s on %s: %s', (pattern, url, expected) => {
    const compiled = compileUrlPattern(pattern);
    const found = 'message' in compiled ? null : compiled.test(url, { left: 1_000_000 });
    expect(found).toBe(expected);
  });

  it.each([
    ['blog', /`\/blog` or `\*blog\*`.*`re:blog`/],
    ['/page-\\d+$', /`re:\/page-\\d\+\$`/],
    ['/blog/.*', /begins with `re:`/],
    ['^https://example.com/', /begins with `re:`/],
    ['re:', /empty/],
    ['re:a(b', /missing closing/],
    ['', /empty/],
    ['/'.repeat(1_001), /1001 characters/],
  ])('%s is refused with what to write instead', (pattern, message) => {
    expect(compileUrlPattern(pattern)).toMatchObject({ message: expect.stringMatching(message) });
  });

  it('names the place of a mistake in the pattern as it was written', () => {
    expect(compileUrlPattern('re:x[z-a]')).toMatchObject({ position: 5 });
  });
});

describe('a path glob of earlier versions', () => {
  it.each([
    ['/blog/*', 'https://example.com/blog/a/b?x=1', true],
    ['/blog/*', 'https://example.com/blog/', true],
    ['/blog/*', 'https://example.com/blog', true],
    ['/blog/*', 'https://example.com/blogger', false],
    ['/blog/*', 'https://example.com/x/blog/a', false],
    ['/blog/*', 'https://example.com/?/blog/a', false],
    ['/*.pdf', 'https://example.com/a/b.pdf', true],
    ['/*.pdf', 'https://example.com/a/b.pdf?v=1', true],
    ['/*.pdf', 'https://example.com/a/b.pdfx', false],
    ['/a/*/c/*/e', 'https://example.com/a/b/c/d/e', true],
    ['/a/*/c/*/e', 'https://example.com/a/b/c/e', false],
    ['/*?page=*', 'https://example.com/list?page=2', true],
    ['/*?page=*', 'https://example.com/list?q=1', false],
    ['/a*a', 'https://example.com/a', false],
    ['/*', 'https://example.com/', true],
  ])('%s on %s: %s', (pattern, url, expected) => {
    expect(isPathGlob(pattern)).toBe(true);
    expect(testOf(pattern)(url)).toBe(expected);
  });

  it('matches as the regular expression it stands for', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 12 });
    fc.assert(
      fc.property(text, path, (glob, rest) => {
        const pattern = `/${glob}*b`;
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(`/${rest}`);
        expect(testOf(pattern)(`https://example.com/${rest}`)).toBe(expected);
      }),
    );
  });
});

describe('any other pattern is a regular expression on the whole URL', () => {
  it.each([
    ['/admin/', 'https://example.com/x/admin/y', true],
    ['/admin/', 'https://example.com/administrator', false],
    ['/page-\\d+$', 'https://example.com/a/page-12', true],
    ['/page-\\d+$', 'https://example.com/a/page-x', false],
    ['/blog/.*', 'https://example.com/x/blog/y', true],
    ['^https://example\\.com/a', 'https://example.com/ab', true],
    ['^https://example\\.com/a', 'https://exampleXcom/ab', false],
    ['(?i)PRINT', 'https://example.com/print', true],
    ['example.com/b|/c$', 'https://example.com/c', true],
  ])('%s on %s: %s', (pattern, url, expected) => {
    expect(isPathGlob(pattern)).toBe(false);
    expect(testOf(pattern)(url)).toBe(expected);
  });

  it('takes linear time where backtracking would not end', () => {
    expect(testOf('^(a+)+$')(`${'a'.repeat(5_000)}!`)).toBe(false);
    expect(testOf(`/${'*a'.repeat(200)}`)(`https://example.com/${'a'.repeat(199)}`)).toBe(false);
  });
});

describe('a pattern that cannot be used', () => {
  it.each([
    ['a(b', /missing closing \)/, undefined],
    ['x[z-a]', /invalid character class range/, 2],
    ['*a', /missing argument/, 0],
    ['a(?=b)', /lookaround .* not part of RE2/, 1],
    ['(a)\\1', /invalid escape sequence/, 3],
    ['', /empty/, undefined],
    ['a'.repeat(1_001), /1001 characters/, undefined],
    ['((a{100}){100}){100}', /./, undefined],
  ])('%s is explained', (pattern, message, position) => {
    const problem = problemOf(pattern);
    expect(problem.message).toMatch(message);
    expect(problem.position).toBe(position);
  });
});

describe('a part that makes compiling expensive', () => {
  it.each([
    ['\\pL'.repeat(21), /21 Unicode classes/, undefined],
    ['/x(?:a|b){251}', /`\{251\}` is too large/, 9],
    ['/xa{0,1000}', /`\{0,1000\}` is too large/, 3],
  ])('%s is named', (pattern, message, position) => {
    const problem = costlyPart(pattern);
    expect(problem?.message).toMatch(message);
    expect(problem?.position).toBe(position);
  });

  it('is in none of the patterns people write', () => {
    for (const pattern of ['^https://example\\.com/\\d{4}/\\p{L}+', '/[a-z]{2,}-\\w{1,100}$', '(?i)print']) {
      expect(costlyPart(pattern)).toBeNull();
    }
  });
});

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
