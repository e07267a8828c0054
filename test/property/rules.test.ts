import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { applyExtractionRules } from '../../src/extract/rules/apply-rules.ts';
import { compileExtractionRules } from '../../src/extract/rules/compile-rules.ts';
import { compileSelector } from '../../src/extract/rules/css/compile-selector.ts';
import {
  type Combinator,
  type CompoundSelector,
  parseSelector,
  type SelectorList,
  type SimpleSelector,
} from '../../src/extract/rules/css/selector.ts';
import { compileJsonPath } from '../../src/extract/rules/jsonpath/jsonpath.ts';
import { compileRegex } from '../../src/extract/rules/regex.ts';
import { VALUE_TYPES } from '../../src/extract/rules/rule-schema.ts';
import { RuleSyntaxError } from '../../src/extract/rules/rule-text.ts';
import { countingBudget, htmlPage, indexOf } from '../../src/extract/rules/rules.fixture.ts';
import { compileXPath } from '../../src/extract/rules/xpath/xpath.ts';
import { type PageTree, RAW_TEXT } from '../../src/extract/tree/page-tree.ts';

/** Small pages of few names, so that selectors hit. */
const html = fc
  .array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc
          .tuple(
            fc.constantFrom('div', 'b', 'i', 'ul', 'li', 'p'),
            fc.constantFrom('', ' class=x', ' class="x y"', ' id=a', ' title="x y"'),
          )
          .map(([name, attribute]) => `<${name}${attribute}>`),
      },
      { weight: 4, arbitrary: fc.constantFrom('</div>', '</b>', '</i>', '</ul>', '</li>', '</p>') },
      { weight: 2, arbitrary: fc.constantFrom('x', 'text', ' ', '<br>', '<script>"a"</script>') },
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

const simple = fc.constantFrom(
  '.x',
  '.y',
  '#a',
  '[title]',
  '[title~=x]',
  ':first-child',
  ':last-child',
  ':nth-child(2n+1)',
  ':nth-last-child(2)',
  ':nth-of-type(2)',
  ':only-child',
  ':empty',
  ':nth-child(2 of .x)',
);
const compound = fc
  .tuple(fc.constantFrom('*', 'div', 'b', 'li', 'p', ''), fc.array(simple, { maxLength: 2 }))
  .map(([name, rest]) => (name === '' && rest.length === 0 ? '*' : name + rest.join('')));
const combinator = fc.constantFrom<string>(' ', ' > ', ' + ', ' ~ ');
const complex = fc
  .tuple(compound, fc.array(fc.tuple(combinator, compound), { maxLength: 3 }))
  .map(([first, rest]) => first + rest.map(([sign, part]) => sign + part).join(''));
const selector = fc.oneof(
  { weight: 3, arbitrary: complex },
  {
    weight: 1,
    arbitrary: fc
      .tuple(compound, fc.constantFrom('is', 'not', 'has'), complex)
      .map(([part, name, inner]) => `${part}:${name}(${inner})`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(compound, combinator, complex)
      .map(([part, sign, inner]) => `${part}:has(${sign}${inner})`),
  },
  { weight: 1, arbitrary: fc.tuple(complex, complex).map((parts) => parts.join(', ')) },
);

/** Pages and selectors of two names, so that chains of combinators come close to matching and fail late. */
const nested = fc
  .array(fc.tuple(fc.constantFrom('b', 'i'), fc.constantFrom(0, 0, 1, 1, 2)), { maxLength: 12 })
  .map((moves) => {
    const open: string[] = [];
    let page = '';
    for (const [name, closed] of moves) {
      page += `<${name}>`;
      open.push(name);
      for (let times = 0; times < closed && open.length > 0; times++) page += `</${open.pop()}>`;
    }
    return page;
  });
const chain = fc
  .tuple(
    fc.constantFrom('b', 'i', '*'),
    fc.array(fc.tuple(combinator, fc.constantFrom('b', 'b', 'i', 'i', 'b:first-child')), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([first, rest]) => first + rest.map(([sign, part]) => sign + part).join(''));

/** The definition of matching, tried in every way there is and with nothing kept. */
class NaiveMatcher {
  readonly #tree: PageTree;

  constructor(tree: PageTree) {
    this.#tree = tree;
  }

  select(list: SelectorList): number[] {
    return this.#elements().filter((node) => this.#isAny(list, node, null));
  }

  #elements(): number[] {
    return Array.from({ length: this.#tree.count }, (_, node) => node).filter((node) =>
      this.#isElement(node),
    );
  }

  #isElement(node: number): boolean {
    return node > 0 && (this.#tree.tags[node] as number) < RAW_TEXT;
  }

  #siblings(node: number): number[] {
    return this.#elements().filter((other) => this.#tree.parents[other] === this.#tree.parents[node]);
  }

  #isAny(list: SelectorList, node: number, anchor: number | null): boolean {
    return list.some(({ compounds, combinators, leading }) => {
      const signs = anchor === null ? combinators : [leading ?? ' ', ...combinators];
      const parts: (CompoundSelector | 'anchor')[] =
        anchor === null ? [...compounds] : ['anchor', ...compounds];
      return this.#isComplex(parts, signs, parts.length - 1, node, anchor);
    });
  }

  #isComplex(
    parts: readonly (CompoundSelector | 'anchor')[],
    signs: readonly Combinator[],
    place: number,
    node: number,
    anchor: number | null,
  ): boolean {
    const part = parts[place];
    if (part === 'anchor') return node === anchor;
    if (part === undefined || !this.#isElement(node) || !part.every((one) => this.#isSimple(one, node)))
      return false;
    if (place === 0) return true;
    return this.#before(signs[place - 1] as Combinator, node).some((other) =>
      this.#isComplex(parts, signs, place - 1, other, anchor),
    );
  }

  #before(sign: Combinator, node: number): number[] {
    const above = this.#tree.parents[node] as number;
    const left = this.#siblings(node).filter((other) => other < node);
    if (sign === '~') return left;
    if (sign === '+') return left.slice(-1);
    if (above < 0) return [];
    return sign === '>' ? [above] : [above, ...this.#before(' ', above)];
  }

  #isSimple(one: SimpleSelector, node: number): boolean {
    const attributes = this.#tree.attributes(node);
    const siblings = this.#siblings(node);
    switch (one.kind) {
      case 'any':
        return true;
      case 'tag':
        return this.#tree.name(node) === one.name;
      case 'id':
        return attributes.get('id') === one.id;
      case 'class':
        return (attributes.get('class') ?? '').split(/\s+/).includes(one.name);
      case 'attribute':
        return one.operator === null
          ? attributes.has(one.name)
          : (attributes.get(one.name) ?? '').split(/\s+/).includes(one.value);
      case 'is':
        return this.#isAny(one.list, node, null);
      case 'not':
        return !this.#isAny(one.list, node, null);
      case 'has':
        return this.#elements().some((other) => this.#isAny(one.list, other, node));
      case 'nth': {
        const ofType = siblings.filter((other) => this.#tree.name(other) === this.#tree.name(node));
        const { of } = one;
        const counted = one.name.endsWith('type')
          ? ofType
          : of === null
            ? siblings
            : siblings.filter((other) => this.#isAny(of, other, null));
        const place = (one.name.includes('last') ? counted.reverse() : counted).indexOf(node) + 1;
        return place > 0 && Array.from({ length: 60 }, (_, n) => one.step * n + one.offset).includes(place);
      }
      case 'contains':
        return false;
      case 'plain':
        if (one.name === 'first-child') return siblings[0] === node;
        if (one.name === 'last-child') return siblings.at(-1) === node;
        if (one.name === 'only-child') return siblings.length === 1;
        return this.#tree.ends[node] === node + 1 || this.#isBlank(node);
    }
  }

  #isBlank(node: number): boolean {
    for (let at = node + 1; at < (this.#tree.ends[node] as number); at++) {
      if (this.#isElement(at) || this.#tree.text(at).trim() !== '') return false;
    }
    return true;
  }
}

describe('selectors', () => {
  it('find exactly what a matcher finds that tries everything', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(html, selector), { weight: 3, arbitrary: fc.tuple(nested, chain) }),
        ([page, source]) => {
          const index = indexOf(page);
          const found = compileSelector(source).select(index, 0, 10_000, countingBudget());
          expect(found).toEqual(new NaiveMatcher(index.tree).select(parseSelector(source)));
        },
      ),
      { numRuns: 6_000 },
    );
  });

  it('say the same in XPath', () => {
    const pairs = [
      ['div b', '//div//b'],
      ['div > b', '//div/b'],
      ['li + li', '//li/following-sibling::*[1][self::li]'],
      ['li ~ p', '//li/following-sibling::p'],
      ['.x', "//*[contains(concat(' ', @class, ' '), ' x ')]"],
      ['li:nth-child(2)', '//*[2][self::li]'],
      ['b:last-child', '//*[last()][self::b]'],
      ['p:nth-of-type(2)', '//p[2]'],
      ['div:has(i)', '//div[.//i]'],
      ['div:not([title])', '//div[not(@title)]'],
      ['i div', '//div[ancestor::i]'],
    ] as const;
    fc.assert(
      fc.property(html, fc.constantFrom(...pairs), (page, [css, xpath]) => {
        const index = indexOf(page);
        const byCss = compileSelector(css).select(index, 0, 10_000, countingBudget());
        const byXPath = compileXPath(xpath).find(index, 0, 10_000, countingBudget());
        expect(byXPath).toEqual(byCss.map((node) => ({ kind: 'node', node })));
      }),
      { numRuns: 500 },
    );
  });
});

/** Pieces that expressions are made of and break at. */
const junk = fc
  .array(
    fc.constantFrom(
      'a',
      'div',
      '.',
      '#',
      '[',
      ']',
      '(',
      ')',
      '@',
      '/',
      '//',
      '*',
      ':',
      '::',
      ',',
      '>',
      '~',
      '+',
      '-',
      '=',
      '!',
      '"',
      "'",
      '\\',
      ' ',
      '1',
      '2n',
      '$',
      '$.',
      '..',
      '?',
      '&&',
      '||',
      '<',
      '|',
      'and',
      'not(',
      ':has(',
      ':nth-child(',
      'text()',
      'position()',
      'count(',
      '{1,9}',
      '(?',
      '\\1',
      '\ud83d',
      '\u0000',
      'é',
    ),
    { maxLength: 15 },
  )
  .map((parts) => parts.join(''));

/** Ends in a value, a syntax error or the end of a budget, and in nothing else. */
function settles(run: () => void): void {
  try {
    run();
  } catch (error) {
    const isExpected =
      error instanceof RuleSyntaxError || (isScrapifieError(error) && error.code === 'EXTRACTION_FAILED');
    if (!isExpected) throw error;
    if (error instanceof RuleSyntaxError && error.position !== null)
      expect(error.position).toBeGreaterThanOrEqual(0);
  }
}

describe('whatever is written as a selector', () => {
  it('is refused with a position or runs within its budget', () => {
    fc.assert(
      fc.property(junk, html, fc.jsonValue(), (source, page, value) => {
        const index = indexOf(page);
        settles(() => compileSelector(source).select(index, 0, 100, countingBudget(200_000)));
        settles(() => compileXPath(source).find(index, 0, 100, countingBudget(200_000)));
        settles(() => compileJsonPath(source).find(value, 100, countingBudget(200_000)));
        settles(() => compileRegex(source).find(page, 100, countingBudget(200_000)));
      }),
      { numRuns: 6_000 },
    );
  });
});

const written = fc.oneof(
  selector,
  fc.constantFrom(
    'xpath://li',
    'xpath:count(//b)',
    'xpath://@class',
    'regex:(\\w+)',
    'regex:(?<first>x)(?<rest>.*)',
    '@id',
    'li@class',
  ),
);
const transforms = fc.array(
  fc.constantFrom<unknown>(
    'trim',
    'upper',
    'unique',
    'first',
    'stripTags',
    { split: 'x' },
    { join: ',' },
    { slice: [1] },
    { replace: { pattern: 'x+', with: '$&$&' } },
    { match: '\\w' },
    { default: 1 },
  ),
  { maxLength: 4 },
);

/** Rules whose selectors are the given texts. */
function rulesOf(text: fc.Arbitrary<string>): fc.Arbitrary<Record<string, unknown>> {
  const { field } = fc.letrec<{ field: unknown }>((tie) => ({
    field: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.record(
        {
          css: selector,
          list: fc.boolean(),
          type: fc.constantFrom(...VALUE_TYPES),
          required: fc.boolean(),
          attribute: fc.constantFrom('text', 'rawText', 'html', 'outerHtml', 'class'),
          fallbacks: fc.array(text, { maxLength: 2 }),
          transforms,
        },
        { requiredKeys: ['css'] },
      ),
      fc.record({ css: selector, default: fc.constantFrom<unknown>('', 0, false, [], { a: [1] }) }),
      fc.record({
        css: selector,
        list: fc.boolean(),
        fields: fc.dictionary(fc.constantFrom('a', 'b'), tie('field'), { minKeys: 1, maxKeys: 2 }),
      }),
    ),
  }));
  return fc.dictionary(fc.constantFrom('a', 'b', 'price', 'toString'), field, { minKeys: 1, maxKeys: 3 });
}

const CLOCK = { now: () => 0 };

describe('rules', () => {
  it('of any shape are refused with paths, or run', () => {
    fc.assert(
      fc.property(fc.oneof(rulesOf(fc.oneof(written, junk)), fc.jsonValue()), html, (input, page) => {
        const { rules, problems } = compileExtractionRules(input);
        if (rules !== null) {
          applyExtractionRules(rules, htmlPage(page), CLOCK);
          return;
        }
        expect(problems.length).toBeGreaterThan(0);
        for (const { path, message } of problems) {
          expect(path).toMatch(/^rules/);
          expect(message).not.toBe('');
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('property 13: that are sound give every field, null or empty where nothing was found, and the same again', () => {
    fc.assert(
      fc.property(rulesOf(written), html, (input, page) => {
        const { rules, problems } = compileExtractionRules(input);
        expect(problems).toBeNull();
        if (rules === null) return;
        const result = applyExtractionRules(rules, htmlPage(page), CLOCK);
        const { value } = result;
        expect(Object.keys(value).sort()).toEqual(Object.keys(input).sort());
        expect(Object.values(value)).not.toContain(undefined);
        for (const { path } of result.problems) expect(Object.keys(value)).toContain(path.split('.')[0]);
        for (const [name, found] of Object.entries(value)) {
          if (found === null) expect(Object.hasOwn(result.found, name)).toBe(false);
        }
        // What was read survives being written down.
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
        expect(applyExtractionRules(rules, htmlPage(page), CLOCK)).toEqual(result);
      }),
      { numRuns: 1_500 },
    );
  });

  it('stop where the steps end, with the rule at work named', () => {
    fc.assert(
      fc.property(rulesOf(written), html, fc.integer({ min: 0, max: 300 }), (input, page, steps) => {
        const { rules } = compileExtractionRules(input);
        if (rules !== null) settles(() => applyExtractionRules(rules, htmlPage(page), { ...CLOCK, steps }));
      }),
      { numRuns: 500 },
    );
    const { rules } = compileExtractionRules({ deep: { css: 'div', fields: { name: 'b b b' } } });
    const run = (): unknown =>
      rules && applyExtractionRules(rules, htmlPage('<div><b><b>'), { ...CLOCK, steps: 5 });
    expect(run).toThrow('more than 5 steps on this page; stopped at rules.deep');
  });
});
