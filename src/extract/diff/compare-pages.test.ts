import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedNames, comparePages, fingerprintOf, type PageView, watchPage } from './compare-pages.ts';
import { compileDiffRules, type DiffRules, diffRulesSchema } from './diff-rules.ts';
import type { PageFields } from './json-diff.ts';

const now = () => 0;
const view = (body: string, fields: PageFields = {}, textHash: string | null = null): PageView => ({
  url: 'https://a.test/',
  body,
  isHtml: true,
  textHash,
  fields,
  screenshot: null,
});
const rulesOf = (input: unknown = {}): DiffRules => diffRulesSchema.parse(input);
const compare = (a: PageView, b: PageView, rules: unknown = {}) =>
  comparePages(a, b, compileDiffRules(rulesOf(rules)), now);
const changed = (a: PageView, b: PageView, rules: unknown = {}) => changedNames(compare(a, b, rules));

describe('a comparison of pages', () => {
  it('sees text and fields unless told otherwise, and no markup', () => {
    const a = view('<p>One</p><p class=a>Two</p>', { price: 19, brand: 'A' });
    expect(changed(a, view('<div>One</div><p class=b>Two</p>', { price: 19, brand: 'B' }))).toEqual([]);
    expect(changed(a, view('<p>One</p><p>Three</p>', { price: 91, brand: 'A' }))).toEqual(['price', 'text']);
  });

  it('watches what selectors find, by CSS and by XPath, each for itself', () => {
    const [a, b] = [view('<p id=x>1</p><p id=y>1</p>'), view('<p id=x>1</p><p id=y>2</p>')];
    expect(changed(a, b, { watch: { selectors: ['#x'] } })).toEqual([]);
    expect(changed(a, b, { watch: { selectors: ['#x', '#y', '//p[@id="y"]'] } })).toEqual([
      '#y',
      '//p[@id="y"]',
    ]);
    expect(
      changed(view('<a href=/1>x</a>'), view('<a href=/2>x</a>'), { watch: { selectors: ['//a/@href'] } }),
    ).toEqual(['//a/@href']);
  });

  it('watches links in Markdown', () => {
    const page = (to: string) =>
      view(
        `<main><h1>Title</h1><p>${'Some words here. '.repeat(20)}<a href="https://a.test/${to}">more</a></p></main>`,
      );
    expect(changed(page('1'), page('2'))).toEqual([]);
    expect(changed(page('1'), page('2'), { watch: { markdown: true } })).toEqual(['markdown']);
  });

  it('removes matches of patterns from lines and fields, and elements by selectors', () => {
    const page = (count: number) =>
      view(`<p>Text</p><p class=n>${count} visitors</p>`, { note: `${count} visitors` });
    const watch = { text: true, fields: 'all' };
    expect(changed(page(1), page(2), { watch })).toEqual(['note', 'text']);
    expect(changed(page(1), page(2), { watch, ignore: { patterns: ['\\d+ visitors'] } })).toEqual([]);
    expect(changed(page(1), page(2), { watch, ignore: { selectors: ['.n'], fields: ['note'] } })).toEqual([]);
    expect(changed(page(1), page(2), { watch: { text: true }, ignore: { selectors: ['//p[2]'] } })).toEqual(
      [],
    );
  });

  it('anchors patterns at lines', () => {
    const page = (date: string) => view(`<p>Kept 19</p><p>Updated: ${date}</p>`);
    expect(changed(page('1'), page('2'), { ignore: { patterns: ['^Updated:.*$'] } })).toEqual([]);
    expect(
      compare(page('1'), view('<p>Kept 91</p><p>Updated: 2</p>'), { ignore: { patterns: ['^Updated:.*$'] } })
        .texts,
    ).toHaveLength(1);
  });

  it('counts a change from the threshold on: both share and amount', () => {
    const [a, b] = [view(`<p>${'word '.repeat(98)}a</p>`), view(`<p>${'word '.repeat(98)}b</p>`)];
    expect(changed(a, b, { threshold: { amount: 2 } })).toEqual(['text']);
    expect(changed(a, b, { threshold: { amount: 3 } })).toEqual([]);
    expect(changed(a, b, { threshold: { share: 0.5 } })).toEqual([]);
    const [cheap, dear] = [view('', { price: 100, title: 'a' }), view('', { price: 104, title: 'a' })];
    expect(changed(cheap, dear, { threshold: { share: 0.05 } })).toEqual([]);
    expect(changed(cheap, view('', { price: 110, title: 'b' }), { threshold: { share: 0.05 } })).toEqual([
      'title',
      'price',
    ]);
  });

  it('trusts the hash of the whole text', () => {
    expect(
      changed(view('<p>a b</p>', {}, 'h'), view('<p>a<br>b</p>', {}, 'h'), { ignore: { patterns: ['^a$'] } }),
    ).toEqual([]);
  });

  it('reads bodies that are no HTML as text', () => {
    const plain = (body: string): PageView => ({ ...view(body), isHtml: false });
    expect(changed(plain('a\nb'), plain('a\nc'))).toEqual(['text']);
    expect(changed({ ...view(''), body: null }, { ...view(''), body: null })).toEqual([]);
  });
});

const word = fc.constantFrom('one', 'two', '19', '91', '7 visitors', '8 visitors', 'ad', '&amp;');
const element = fc.tuple(fc.constantFrom('p', 'b', 'div', 'span'), fc.constantFrom('', 'ad', 'price'), word);
const body = fc
  .array(element, { maxLength: 8 })
  .map((parts) => parts.map(([name, kind, text]) => `<${name} class="${kind}">${text}</${name}>`).join(' '));
const fields = fc.record({
  title: fc.constantFrom('a', 'b', null),
  price: fc.constantFrom(19, 91, null),
  tags: fc.constantFrom(['x'], ['x', 'y'], ['y', 'x'], null),
});
const page = fc.tuple(body, fields).map(([html, values]) => view(html, values));
const threshold = fc.record({ share: fc.constantFrom(0, 0.05, 0.5), amount: fc.constantFrom(0, 5) });
const rules = fc.record({
  watch: fc.constantFrom(
    { text: true },
    { text: true, fields: 'all' },
    { fields: ['price'] },
    { selectors: ['.price', '//b'] },
    { text: true, markdown: true, selectors: ['p'], fields: ['title', 'tags'] },
  ),
  ignore: fc.record({
    patterns: fc.constantFrom([], ['\\d+ visitors'], ['^one$', 'w']),
    selectors: fc.constantFrom([], ['.ad'], ['//span']),
    fields: fc.constantFrom([], ['price'], ['tags']),
  }),
});

describe('rules', () => {
  it('decide exactly as the diff that is shown', () => {
    fc.assert(
      fc.property(page, page, rules, threshold, (a, b, given, limit) => {
        const { isChanged, texts, fields: changes, picture } = compare(a, b, { ...given, threshold: limit });
        expect(isChanged).toBe(texts.length + changes.length > 0 || picture !== null);
        for (const { diff } of texts)
          expect(diff.segments.some(({ kind }) => kind === 'added' || kind === 'removed')).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('give the same fingerprint exactly to pages without a difference', () => {
    fc.assert(
      fc.property(page, page, rules, (a, b, given) => {
        const compiled = compileDiffRules(rulesOf(given));
        const fingerprint = (each: PageView) => fingerprintOf(watchPage(each, compiled, now));
        expect(fingerprint(a) === fingerprint(b)).toBe(!comparePages(a, b, compiled, now).isChanged);
      }),
      { numRuns: 150 },
    );
  });

  it('that ignore something never show it', () => {
    fc.assert(
      fc.property(page, page, (a, b) => {
        const ignore = { patterns: ['\\d+ visitors'], selectors: ['.ad'] };
        const { texts } = compare(a, b, { watch: { text: true, selectors: ['p'] }, ignore });
        for (const { diff } of texts)
          for (const { text } of diff.segments) expect(text).not.toMatch(/visitors/);
      }),
      { numRuns: 100 },
    );
  });

  it.each<[string, unknown, string]>([
    ['nothing to watch', { watch: {} }, 'watch'],
    ['a look-ahead', { ignore: { patterns: ['a(?=b)'] } }, 'ignore.patterns.0'],
    ['a selector with a mistake', { watch: { selectors: ['p', 'a['] } }, 'watch.selectors.1'],
    ['an XPath with a mistake', { ignore: { selectors: ['//a['] } }, 'ignore.selectors.0'],
    ['repetitions that explode', { ignore: { patterns: ['((a{500}){500})'] } }, 'ignore.patterns.0'],
    ['a share above 1', { threshold: { share: 2 } }, 'threshold.share'],
    ['an unknown field', { watch: { text: true, test: true } }, 'watch'],
  ])('are refused with the field: %s', (_, input, path) => {
    const { error } = diffRulesSchema.safeParse(input);
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
});
