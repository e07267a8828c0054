import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { applyExtractionRules, type RuleResult } from './apply-rules.ts';
import { compileExtractionRules } from './compile-rules.ts';
import type { RulePage } from './page-sources.ts';
import { describeProblem, htmlPage, jsonPage } from './rules.fixture.ts';

const CLOCK = { now: () => 0 };
const SHOP = `<html lang="en"><head><title>Chairs</title><script type="application/ld+json">{"@type":"Product","name":"Oak","offers":{"price":"19.90"}}</script>
<script id="__NEXT_DATA__" type="application/json">{"props":{"items":[{"sku":"A1","price":5},{"sku":"B2","price":7}]}}</script></head>
<body><h1> Oak <b>chairs</b></h1><p class="price">€ 1.234,50</p><p class="empty"></p>
<ul><li class="item"><a href="/a?utm_source=x">One</a><i>10 €</i></li><li class="item"><a href="/b">Two</a><i>free of charge</i></li><li class="item"><a>Three</a></li></ul>
<p>Written on 3 March 2026 by ann@example.com, tags: red, green , red</p></body></html>`;

function run(rules: unknown, page: RulePage = htmlPage(SHOP), schema?: unknown): RuleResult {
  const compiled = compileExtractionRules(rules, schema === undefined ? {} : { schema });
  if (compiled.rules === null) throw new Error(compiled.problems.map(describeProblem).join('\n'));
  return applyExtractionRules(compiled.rules, page, CLOCK);
}

function problems(rules: unknown, schema?: unknown): string[] {
  return (compileExtractionRules(rules, schema === undefined ? {} : { schema }).problems ?? []).map(
    describeProblem,
  );
}

describe('rules take values out of a page', () => {
  it('by CSS, XPath, regular expression, JSONPath and constants, in one text each', () => {
    const { value, problems: none } = run({
      title: 'h1',
      link: 'li a@href',
      first: 'css:li.item',
      count: 'xpath:count(//li)',
      hrefs: { xpath: '//a/@href', list: true },
      email: 'regex:[\\w.]+@[\\w.]+',
      when: 'regex:on (\\d+ \\w+ \\d{4})',
      offer: 'jsonpath:$[0].offers.price',
      sku: { jsonpath: '$.props.items[1].sku', from: '__NEXT_DATA__' },
      same: { jsonpath: '$.__NEXT_DATA__.props.items[1].sku', from: 'embedded' },
      shop: { const: 'here' },
    });
    expect(none).toEqual([]);
    expect(value).toEqual({
      title: 'Oak chairs',
      link: '/a?utm_source=x',
      first: 'One10 €',
      count: 3,
      hrefs: ['/a?utm_source=x', '/b'],
      email: 'ann@example.com',
      when: '3 March 2026',
      offer: '19.90',
      sku: 'B2',
      same: 'B2',
      shop: 'here',
    });
  });

  it('as text, HTML and attributes', () => {
    const { value } = run({
      text: { css: 'h1', attribute: 'rawText' },
      html: { css: 'h1', attribute: 'html' },
      outer: 'li:nth-child(2)@outerHtml',
      missing: 'li:nth-child(3) a@href',
    });
    expect(value).toEqual({
      text: ' Oak chairs',
      html: ' Oak <b>chairs</b>',
      outer: '<li class="item"><a href="/b">Two</a><i>free of charge</i></li>',
      missing: null,
    });
  });

  it('as nested lists, relative to each element', () => {
    const { value, found } = run({
      items: {
        css: 'li.item',
        list: true,
        fields: {
          name: 'a',
          url: { css: 'a', attribute: 'href', type: 'url' },
          price: { css: 'i', type: 'price' },
          own: '@class',
        },
      },
    });
    expect(value).toMatchObject({
      items: [
        { name: 'One', url: 'https://shop.example/a', price: 10, own: 'item' },
        { name: 'Two', url: 'https://shop.example/b', own: 'item' },
        { name: 'Three', url: null, price: null, own: 'item' },
      ],
    });
    expect(found['items.name']).toEqual({ source: 'css:a', alternative: 0 });
  });

  it('from JSON responses, with fields relative to each value', () => {
    const { value } = run(
      {
        rows: { jsonpath: '$.rows[*]', list: true, fields: { id: 'jsonpath:$.id', word: 'regex:\\w+' } },
        last: { jsonpath: '$.rows[*].id', index: -1 },
      },
      jsonPage({ rows: [{ id: 1 }, { id: 2 }] }),
    );
    expect(value).toEqual({
      rows: [
        { id: 1, word: 'id' },
        { id: 2, word: 'id' },
      ],
      last: 2,
    });
  });

  it('with named groups as an object and fields inside a match', () => {
    const { value } = run({
      date: { regex: 'on (?<day>\\d+) (?<month>\\w+) (?<year>\\d+)' },
      year: { regex: 'on (?<day>\\d+) (?<month>\\w+) (?<year>\\d+)', group: 'year', type: 'integer' },
      part: { regex: 'tags: .*', fields: { words: { regex: '[a-z]+,', list: true } } },
    });
    expect(value).toEqual({
      date: { day: '3', month: 'March', year: '2026' },
      year: 2026,
      part: { words: ['red,'] },
    });
  });

  it('and transforms them in order', () => {
    const { value } = run({
      tags: { regex: 'tags: (.*)', transforms: [{ split: ',' }, 'trim', 'unique', 'upper'] },
      joined: { css: 'li a', list: true, transforms: ['lower', { join: '+' }] },
      cut: { css: 'h1', transforms: [{ slice: [0, 3] }] },
      two: { css: 'li a', list: true, transforms: [{ slice: [-2] }] },
      url: { css: 'li a', attribute: 'href', transforms: ['absoluteUrl'] },
      swapped: { css: 'h1', transforms: [{ replace: { pattern: '(\\w+) (\\w+)', with: '$2, $1' } }] },
      matched: { css: '.price', transforms: [{ match: '[\\d.,]+' }] },
      text: { const: '<b>a</b> &amp; <i>b</i>', transforms: ['stripTags'] },
      other: { css: '.empty', transforms: [{ default: 'none' }] },
      filled: { css: 'title', transforms: [{ template: '{value} at {url}' }] },
      mapped: { const: 'in stock', transforms: [{ map: { 'in stock': true } }] },
      inside: { css: '#__NEXT_DATA__', transforms: [{ jsonpath: '$.props.items[0].sku' }] },
    });
    expect(value).toEqual({
      tags: ['RED', 'GREEN'],
      joined: 'one+two+three',
      cut: 'Oak',
      two: ['Two', 'Three'],
      url: 'https://shop.example/a?utm_source=x',
      swapped: 'chairs, Oak',
      matched: '1.234,50',
      text: 'a & b',
      other: 'none',
      filled: 'Chairs at https://shop.example/list/?page=2',
      mapped: true,
      inside: 'A1',
    });
  });

  it('as types', () => {
    const { value, problems: wrong } = run({
      price: { css: '.price', type: 'price' },
      currency: { css: '.price', type: 'currency' },
      code: { const: 'USD', type: 'currency' },
      dollars: { const: '$19.99', type: 'currency' },
      broken: { const: '118, 99 TL', type: 'price' },
      date: { regex: 'on (\\d+ \\w+ \\d{4})', type: 'date' },
      email: { regex: '\\S+@\\S+', type: 'email' },
      phone: { const: '+49 30 1234567', type: 'phone' },
      bool: { const: 'yes', type: 'bool' },
      whole: { const: '12', type: 'integer' },
      half: { const: '12.5', type: 'integer' },
      json: { css: '#__NEXT_DATA__', type: 'json' },
    });
    expect(value).toMatchObject({
      price: 1234.5,
      currency: 'EUR',
      code: 'USD',
      dollars: 'USD',
      broken: 118.99,
      date: '2026-03-03',
      email: 'ann@example.com',
      phone: '+49301234567',
      bool: true,
      whole: 12,
      half: null,
      json: { props: { items: [{ sku: 'A1' }, { sku: 'B2' }] } },
    });
    expect(wrong).toEqual([{ path: 'half', message: '"12.5" cannot be read as integer.' }]);
  });

  it('by the first alternative that gives something usable, and says which', () => {
    const { value, found } = run({
      price: {
        css: '.nothing',
        fallbacks: ['.empty', { css: 'li:nth-child(2) i' }, 'jsonpath:$..price'],
        type: 'number',
        required: true,
      },
      other: { css: '.nothing', default: 0 },
    });
    expect(value).toEqual({ price: 19.9, other: 0 });
    expect(found).toEqual({
      price: { source: 'jsonpath:$..price', alternative: 3 },
      other: { source: 'default', alternative: -1 },
    });
  });

  it('names required fields that are missing, each with its path', () => {
    const { value, problems: missing } = run({
      items: { css: 'li.item', list: true, fields: { url: { css: 'a', attribute: 'href', required: true } } },
      none: { css: '.nothing', list: true, required: true },
      bad: { css: 'h1', type: 'number', required: true },
    });
    expect(value).toMatchObject({ none: [], bad: null });
    expect(missing).toEqual([
      { path: 'items.2.url', message: 'Is required and was not found.' },
      { path: 'none', message: 'Is required and was not found.' },
      { path: 'bad', message: 'Is required; "Oak chairs" cannot be read as number.' },
    ]);
  });

  it('and checks the result against a JSON Schema', () => {
    const schema = {
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: 3 },
        items: { type: 'array', items: { $ref: '#/$defs/item' } },
      },
      required: ['title', 'sku'],
      additionalProperties: false,
      $defs: { item: { type: 'object', properties: { name: { enum: ['One', 'Two'] } } } },
    };
    const { problems: wrong } = run(
      { title: 'h1', items: { css: 'li', list: true, fields: { name: 'a' } }, more: 'title' },
      undefined,
      schema,
    );
    expect(wrong).toEqual([
      { path: 'sku', message: 'Is required and missing.' },
      { path: 'title', message: 'Must have at most 3 characters, has 10.' },
      { path: 'items.2.name', message: 'Must be one of "One", "Two".' },
      { path: 'more', message: 'Is not a property of the schema.' },
    ]);
  });

  it('for which a field without a match is absent, and not null', () => {
    const text = { type: 'string' };
    const rules = {
      title: 'h1',
      size: '.nothing',
      tags: { css: '.nothing', list: true },
      items: { css: 'li.item', list: true, fields: { url: { css: 'a', attribute: 'href' } } },
    };
    const properties = {
      title: text,
      size: text,
      tags: { type: 'array', items: text, minItems: 1 },
      items: { type: 'array', items: { type: 'object', properties: { url: text } } },
    };
    const optional = run(rules, undefined, { type: 'object', properties });
    expect(optional.problems).toEqual([]);
    expect(optional.value).toMatchObject({ size: null, tags: [] });
    const { problems: missing } = run(rules, undefined, { type: 'object', properties, required: ['size'] });
    expect(missing).toEqual([{ path: 'size', message: 'Is required and missing.' }]);
  });
});

describe('bad rules are refused before any page, with path and column', () => {
  it.each<[string, unknown, string]>([
    [
      'a selector',
      { price: { css: 'div > [' } },
      'rules.price.css: column 8: Expected the name of an attribute, found the end.',
    ],
    [
      'a selector in short',
      { price: 'css:div > [' },
      'rules.price: column 12: Expected the name of an attribute, found the end.',
    ],
    [
      'an XPath',
      { a: { xpath: "//a[lower-case(.)='x']" } },
      'rules.a.xpath: column 5: There is no function `lower-case()` in XPath 1.0.',
    ],
    [
      'a pattern',
      { a: { regex: '(a+)+(?=b)' } },
      'rules.a.regex: column 6: Look-aheads are not part of RE2, the linear-time engine used here.',
    ],
    [
      'a path',
      { a: 'jsonpath:$.a[' },
      'rules.a: column 14: Expected a name in quotes, `*`, an index, a slice or a filter, found the end.',
    ],
    [
      'a nested one',
      { a: { css: 'b', fields: { c: { css: 'x:' } } } },
      'rules.a.fields.c.css: column 3: Expected the name of a pseudo-class, found the end.',
    ],
    [
      'a fallback',
      { a: { css: 'b', fallbacks: ['c', 'd['] } },
      'rules.a.fallbacks.1: column 3: Expected the name of an attribute, found the end.',
    ],
    [
      'a transform',
      { a: { css: 'b', transforms: ['trim', { match: '(' }] } },
      'rules.a.transforms.1.match: Not a usable regular expression: missing closing ) at `(`.',
    ],
    [
      'a template',
      { a: { css: 'b', transforms: [{ template: 'x{name}' }] } },
      'rules.a.transforms.0.template: column 2: There is no `{name}`; the places are {value}, {value.name} and {url}.',
    ],
    ['a misspelt key', { a: { csss: 'b' } }, 'rules.a.csss: There is no `csss`; did you mean `css`?'],
    [
      'a misspelt key within',
      { a: { css: 'b', fields: { c: { css: 'd', requierd: true } } } },
      'rules.a.fields.c.requierd: There is no `requierd`; did you mean `required`?',
    ],
    [
      'a key of the field in a fallback',
      { a: { css: 'b', fallbacks: [{ css: 'c', type: 'price' }] } },
      'rules.a.fallbacks.0.type: `type` is said once, for the field, and not for a fallback.',
    ],
    [
      'a misspelt transform',
      { a: { css: 'b', transforms: ['trimm'] } },
      'rules.a.transforms.0: Must be the name of a transform',
    ],
    [
      'a misspelt transform object',
      { a: { css: 'b', transforms: [{ splitt: ',' }] } },
      'rules.a.transforms.0.splitt: There is no `splitt`; did you mean `split`?',
    ],
    ['a type', { a: { css: 'b', type: 'money' } }, 'rules.a.type: '],
    [
      'two selectors',
      { a: { css: 'b', xpath: '//b' } },
      'rules.a: Only one of css, xpath can be followed; the others may be fallbacks.',
    ],
    [
      'no selector',
      { a: { type: 'price' } },
      'rules.a: One of css, xpath, regex, jsonpath, const must say where the value is.',
    ],
    ['a number', { a: 5 }, 'rules.a: Must be a selector (a text) or an object.'],
    ['no rules', [], 'rules: '],
    ['nothing', {}, 'rules: There must be at least one field.'],
    [
      'a source that does not fit',
      { a: { jsonpath: '$.a', from: 'html' } },
      'rules.a.from: `jsonpath` cannot be read from html, only from json-ld, embedded, embedded:NAME, response.',
    ],
    [
      'CSS in JSON',
      { a: { jsonpath: '$.a', fields: { b: 'i' } } },
      'rules.a.fields.b: `css` looks for elements, but these fields are read from JSON; say `from: html` for the page.',
    ],
    [
      'list and index',
      { a: { css: 'b', list: true, index: 1 } },
      'rules.a.index: `list` takes all, `index` one of them.',
    ],
    [
      'required and default',
      { a: { css: 'b', required: true, default: 1 } },
      'rules.a.default: A field with a default is never missing',
    ],
    [
      'a group that is not there',
      { a: { regex: 'b', group: 1 } },
      'rules.a.regex: The pattern has no group `1`.',
    ],
    ['a name that is none', JSON.parse('{"__proto__": "a"}'), 'rules: `__proto__` cannot be a name.'],
  ])('%s', (_what, rules, expected) => {
    expect(problems(rules)).toEqual([expect.stringContaining(expected)]);
  });

  it('all of them at once', () => {
    expect(problems({ a: 'b[', c: 'xpath://', d: 'e' })).toHaveLength(2);
  });

  it('fields nested 10,000 levels, and too many of them', () => {
    let deep: unknown = { css: 'a' };
    for (let level = 0; level < 10_000; level++) deep = { css: 'a', fields: { a: deep } };
    expect(problems({ a: deep })).toEqual(['rules: The rules are nested too deep.']);
    let nested: unknown = { css: 'a' };
    for (let level = 0; level < 12; level++) nested = { css: 'a', fields: { a: nested } };
    expect(problems({ a: nested })).toEqual([expect.stringContaining('More than 10 levels of fields')]);
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`f${at}`, 'a']));
    expect(problems(many)).toEqual(['rules.f500: More than 500 fields and fallbacks.']);
  });

  it.each<[string, unknown, string]>([
    [
      'an unknown keyword',
      { minLenght: 3 },
      'schema.minLenght: This keyword is not checked here. Did you mean `minLength`?',
    ],
    [
      'a keyword we lack',
      { properties: { a: { unevaluatedProperties: false } } },
      'schema.properties.a.unevaluatedProperties: This keyword is not checked here.',
    ],
    ['a type', { type: 'text' }, 'schema.type: There is no type "text"'],
    [
      'a reference outside',
      { $ref: 'https://example.com/s' },
      'schema.$ref: Only references within the schema are followed',
    ],
    ['a reference to nothing', { $ref: '#/$defs/a' }, 'schema.$ref: There is nothing at `#/$defs/a`.'],
    [
      'a circle',
      { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' },
      'schema: A `$ref` leads back to itself',
    ],
    ['a pattern', { pattern: 'a(?!b)' }, 'schema.pattern: column 2: Look-aheads'],
  ])('a schema with %s', (_what, schema, expected) => {
    expect(problems({ a: 'b' }, schema)).toEqual([expect.stringContaining(expected)]);
  });
});

it('the example of the documentation is sound, and refuses what it says', async () => {
  const text = await readFile(new URL('../../../docs/rules.md', import.meta.url), 'utf8');
  const example: unknown = parse(/```yaml\n([^`]*)```/.exec(text)?.[1] ?? '');
  expect(problems(example)).toEqual([]);
  expect(text).toContain(problems({ price: { css: 'div > [' } })[0]);
  expect(text).toContain(problems({ items: { css: 'a', fields: { sku: { css: 'a', requierd: 1 } } } })[0]);
});

describe('limits hold', () => {
  it('a list is cut where it is too long, and says so', () => {
    const page = htmlPage('<i>x</i>'.repeat(10_050));
    const { value, problems: cut } = run(
      { all: { css: 'i', list: true }, few: { css: 'i', list: true, limit: 2 } },
      page,
    );
    expect((value.all as unknown[]).length).toBe(10_000);
    expect(value.few).toEqual(['x', 'x']);
    expect(cut).toEqual([{ path: 'all', message: 'Only the first 10000 values are kept.' }]);
  });

  it('too much output is EXTRACTION_FAILED', () => {
    const page = htmlPage(`<p>${'word '.repeat(100_000)}</p>`);
    const rules = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, 'p']));
    expect(() => run(rules, page)).toThrow(expect.objectContaining({ code: 'EXTRACTION_FAILED' }));
  });

  it('JSON that nests too deep to be written again is no value', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(5_000)}1${']'.repeat(5_000)}`);
    const { value, problems: wrong } = run({ a: 'jsonpath:$[0]' }, { ...jsonPage(null), json: deep });
    expect(value).toEqual({ a: null });
    expect(wrong).toEqual([{ path: 'a', message: 'What was found nests deeper than 64 levels.' }]);
  });

  it('names that mean something to JavaScript stay names', () => {
    const { value } = run({ constructor: 'h1', toString: 'title' });
    expect(Object.entries(value)).toEqual([
      ['constructor', 'Oak chairs'],
      ['toString', 'Chairs'],
    ]);
  });
});
