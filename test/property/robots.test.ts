import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAllowed, parseRobots } from '../../src/crawl/robots/robots-rules.ts';

describe('property 25: robots.txt', () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '?', '='), maxLength: 4 });
  const path = fc.array(piece, { maxLength: 5 }).map((pieces) => `/${pieces.join('')}`);
  const pattern = fc
    .tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.boolean())
    .map(([pieces, isAnchored]) => `/${pieces.join('*')}${isAnchored ? '$' : ''}`);
  const rules = fc.array(fc.tuple(fc.constantFrom('allow', 'disallow'), pattern), { maxLength: 8 });
  const fileOf = (lines: readonly (readonly [string, string])[]) =>
    `User-agent: *\n${lines.map(([name, value]) => `${name}: ${value}`).join('\n')}\n`;

  /** The definition, tried in every way a star can be filled. */
  function matchesByDefinition(text: string, target: string): boolean {
    if (text === '') return true;
    if (text === '$') return target === '';
    if (text[0] === '*') {
      return Array.from({ length: target.length + 1 }, (_, skip) => target.slice(skip)).some((rest) =>
        matchesByDefinition(text.slice(1), rest),
      );
    }
    return text[0] === target[0] && matchesByDefinition(text.slice(1), target.slice(1));
  }

  it('is obeyed: the longest rule that matches decides, and allow wins a tie', () => {
    fc.assert(
      fc.property(rules, path, (lines, target) => {
        const matching = lines.filter(([, value]) => matchesByDefinition(value, target));
        const longest = Math.max(0, ...matching.map(([, value]) => value.length));
        const deciding = matching.filter(([, value]) => value.length === longest);
        const expected = deciding.length === 0 || deciding.some(([name]) => name === 'allow');
        expect(isAllowed(parseRobots(fileOf(lines)), 'ScrapifieBot', target).allowed).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('means the same in any order of its rules', () => {
    fc.assert(
      fc.property(rules, path, (lines, target) => {
        const forth = isAllowed(parseRobots(fileOf(lines)), 'x', target).allowed;
        expect(isAllowed(parseRobots(fileOf(lines.toReversed())), 'x', target).allowed).toBe(forth);
      }),
    );
  });

  it('means the same whichever way its characters and those of the path are encoded', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'Z', '~', '-', 'ä', 'ツ', '😀', ' '),
      minLength: 1,
      maxLength: 8,
    });
    const encodeAll = (value: string) =>
      [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    fc.assert(
      fc.property(text, (name) => {
        for (const rule of [`x${name}`, `x${encodeURIComponent(name)}`, `x${encodeAll(name)}`]) {
          for (const asked of [`x${name}y`, `x${encodeURIComponent(name)}y`, `x${encodeAll(name)}y`]) {
            const file = parseRobots(
              `User-agent: *\nDisallow: /${rule.endsWith(' ') ? encodeURI(rule) : rule}`,
            );
            expect(isAllowed(file, 'x', `/${asked}`).allowed).toBe(false);
          }
        }
      }),
    );
  });

  it('can hold anything without doing harm', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.string({ unit: 'binary' }),
        (text, target) => {
          const parsed = parseRobots(text);
          expect(isAllowed(parsed, 'ScrapifieBot', target).allowed).toBeTypeOf('boolean');
          expect(isAllowed(parsed, 'ScrapifieBot', '/robots.txt').allowed).toBe(true);
        },
      ),
    );
  });
});
