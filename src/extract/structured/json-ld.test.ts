import { describe, expect, it } from 'vitest';
import { parseJsonLd, readJsonLd } from './json-ld.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('JSON-LD that is broken', () => {
  it.each<[string, string, unknown]>([
    ['a trailing comma in an object', '{"a":1,}', [{ a: 1 }]],
    ['a trailing comma in a list', '{"a":[1,2,],"b":3}', [{ a: [1, 2], b: 3 }]],
    ['commas that separate nothing', '{"a":[1,,2],,"b":3}', [{ a: [1, 2], b: 3 }]],
    ['a missing comma at the end of a line', '{"a":"x"\n"b":"y"}', [{ a: 'x', b: 'y' }]],
    ['comments', '/* made by x */{"a":1, // one\n"b":"//no"}', [{ a: 1, b: '//no' }]],
    ['a raw line break in a text', '{"a":"one\ntwo"}', [{ a: 'one\ntwo' }]],
    ['a raw tab in a text', '{"a":"one\ttwo"}', [{ a: 'one\ttwo' }]],
    ['an HTML comment around it', '<!--\n{"a":1}\n-->', [{ a: 1 }]],
    ['a CDATA section around it', '<![CDATA[{"a":1}]]>', [{ a: 1 }]],
    ['a CDATA section in a block comment', '/*<![CDATA[*/{"a":1}/*]]>*/', [{ a: 1 }]],
    ['single quotes', "{'a':'it is'}", [{ a: 'it is' }]],
    ['bare keys', '{a:1,$b:2}', [{ a: 1, $b: 2 }]],
    ['two documents side by side', '{"a":1}\n{"b":2}', [{ a: 1 }, { b: 2 }]],
    ['documents with a comma between them', '{"a":1},{"b":2}', [{ a: 1 }, { b: 2 }]],
    ['a semicolon at the end', '{"a":1};', [{ a: 1 }]],
    ['a byte order mark', '\ufeff{"a":1}', [{ a: 1 }]],
    ['quotes inside a text', '{"a":"a 27" screen","b":1}', [{ a: 'a 27" screen', b: 1 }]],
    ['an escaped apostrophe', '{"a":"it\\\'s"}', [{ a: "it's" }]],
    ['a value that a template left out', '{"a":,"b":2}', [{ b: 2 }]],
    ['undefined', '{"a":undefined}', [{ a: null }]],
    ['entities for quotes', '{&quot;a&quot;:&quot;b&amp;c&quot;}', [{ a: 'b&c' }]],
    ['a plus sign and a bare fraction', '{"a":+1,"b":.5}', [{ a: 1, b: 0.5 }]],
  ])('is mended: %s', (_, source, documents) => {
    const block = readJsonLd(source);
    expect(plain(block.documents)).toEqual(documents);
    expect(block.repairs.length).toBeGreaterThan(0);
  });

  it.each([
    ['cut off', '{"a":"b"'],
    ['an apostrophe that may end the text', "{'a':'it's'}"],
    ['a text that may hold a property', '{"a":"x" "b":"y"}'],
    ['thousands without quotes', '{"a":1,234.00}'],
    ['a name for a value', '{"a":price}'],
    ['a template that was not filled in', '{"a":{{ price }}}'],
    ['nothing', '  '],
    ['no thing', '"text"'],
  ])('is left out where mending would be guessing: %s', (_, source) => {
    expect(readJsonLd(source).documents).toEqual([]);
  });

  it('is not said to be mended when it is not broken', () => {
    expect(readJsonLd('{"@type":"Thing"}')).toEqual({ documents: [{ '@type': 'Thing' }], repairs: [] });
  });

  it('is nested no deeper than can be written out, mended or not', () => {
    const deep = (depth: number, tail: string): string =>
      `${'{"a":'.repeat(depth)}1${tail}${'}'.repeat(depth)}`;
    for (const tail of ['', ',']) {
      expect(readJsonLd(deep(60, tail)).documents).toHaveLength(1);
      expect(readJsonLd(deep(5_000, tail)).documents).toEqual([]);
    }
  });

  it('is one value for whoever wants one', () => {
    expect(plain(parseJsonLd('{"a":1}{"b":2}'))).toEqual([{ a: 1 }, { b: 2 }]);
    expect(parseJsonLd('{broken')).toBeUndefined();
  });
});
