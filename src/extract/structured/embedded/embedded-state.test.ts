import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { findEmbeddedState, readFlatList } from './embedded-state.ts';
import { readLiteral } from './literal-reader.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const statesOf = (html: string): unknown => plain(findEmbeddedState(buildTree(html)));

describe('the data a page carries for its own scripts', () => {
  it.each<[string, string, string, unknown]>([
    [
      'Next.js',
      '<script id="__NEXT_DATA__" type="application/json">{"props":{"a":1}}</script>',
      '__NEXT_DATA__',
      { props: { a: 1 } },
    ],
    [
      'a variable of the window',
      '<script>window.__INITIAL_STATE__ = {a: \'b\', "c": [1,], d: undefined};</script>',
      '__INITIAL_STATE__',
      { a: 'b', c: [1], d: null },
    ],
    [
      'a name in brackets',
      '<script>window["__APOLLO_STATE__"]={"ROOT_QUERY":{}}</script>',
      '__APOLLO_STATE__',
      { ROOT_QUERY: {} },
    ],
    [
      'Redux',
      '<script>\n // note\n window.__PRELOADED_STATE__ = {"a":"<\\/script>"}\n</script>',
      '__PRELOADED_STATE__',
      { a: '</script>' },
    ],
    [
      'JSON.parse of a text',
      '<script>window.__STATE__=JSON.parse("{\\"a\\":[true]}")</script>',
      '__STATE__',
      { a: [true] },
    ],
    [
      'Nuxt 2',
      '<script>window.__NUXT__=(function(a,b){return {x:a,y:[b,b],z:!0,t:"}"}}(1,"two"))</script>',
      '__NUXT__',
      { x: 1, y: ['two', 'two'], z: true, t: '}' },
    ],
    [
      'Nuxt 3',
      '<script type="application/json" id="__NUXT_DATA__">[{"a":1,"b":2},"x",["Ref",3],{"c":-1}]</script>',
      '__NUXT_DATA__',
      { a: 'x', b: { c: null } },
    ],
    [
      'Shopify',
      '<script>var meta = {"product":{"id":1}};\nfor (var x in meta) {}</script>',
      'meta',
      { product: { id: 1 } },
    ],
    [
      'an attribute',
      '<form data-product_variations="[{&quot;sku&quot;:&quot;a&quot;}]"></form>',
      'data-product_variations',
      [{ sku: 'a' }],
    ],
    [
      'the app router of Next.js',
      '<script>self.__next_f.push([1,"0:[\\"$\\",{\\"a\\":\\"$1\\"}]\\n1:T4,€x"])</script>',
      '__next_f',
      { 0: ['$', { a: '€x' }], 1: '€x' },
    ],
  ])('is found: %s', (_, html, name, value) => {
    expect(statesOf(html)).toEqual([{ name, value }]);
  });

  it.each([
    ['calls', '<script>window.__STATE__ = load({"a":1})</script>'],
    ['other variables', '<script>window.__STATE__ = other</script>'],
    ['a comparison', '<script>if (window.__STATE__ == {a:1}) go()</script>'],
    ['a template with a gap', `<script>window.__STATE__ = {a:\`\${b}\`}</script>`],
    ['a text that runs over a line', '<script>window.__STATE__ = {a:"b\nc"}</script>'],
    ['JSON-LD, which has readers of its own', '<script type="application/ld+json">{"a":1}</script>'],
    ['broken JSON', '<script type="application/json">{"a":</script>'],
  ])('is never made up from %s', (_, html) => {
    expect(statesOf(html)).toEqual([]);
  });

  it('ends where circles begin', () => {
    expect(plain(readFlatList([{ self: 0, list: 1 }, [0, 1]]))).toEqual({ self: null, list: [null, null] });
    expect(readFlatList('no list')).toBeUndefined();
    expect(
      plain(readFlatList([['Map', 1, 2, 3, 4], 'a', ['Set', 5], 'b', ['Date', '2024-01-01'], 7])),
    ).toEqual({
      a: [7],
      b: '2024-01-01',
    });
  });

  it('costs no more than it may', () => {
    expect(readLiteral('['.repeat(1_000_000), 0, { dialect: 'script' })).toBeNull();
    expect(readLiteral(`[${'1,'.repeat(400_000)}]`, 0, { dialect: 'script' })).toBeNull();
  });
});

describe('a value written as a literal', () => {
  it('is read as JSON reads it', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.constantFrom('json' as const, 'script' as const),
        (value, dialect) => {
          const json = JSON.stringify(value);
          const read = readLiteral(json, 0, { dialect });
          expect(plain(read?.value)).toEqual(JSON.parse(json));
          expect(read).toMatchObject({ end: json.length, repairs: [] });
        },
      ),
    );
  });

  it('never throws, whatever the source', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      "'",
      '`',
      '\\',
      '/*',
      '*/',
      '//',
      '\n',
      'a',
      '1',
      '-',
      '!',
      '(',
      ')',
      'new Date(',
      'JSON.parse(',
      'void 0',
      '\\u{',
      '\\x4',
      'null',
      '\u2028',
      '\ud800',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 40 }),
        fc.constantFrom('json' as const, 'script' as const),
        (parts, dialect) => {
          readLiteral(parts.join(''), 0, { dialect });
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
