import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { type CsvHints, findDialect, hasHeaderRow, readCsv, splitRows } from './read-csv.ts';

const AMPLE = { rows: 1_000, columns: 1_000, cells: 100_000 };
const NO_HINTS: CsvHints = { delimiter: null, header: null };
const read = (text: string, hints: Partial<CsvHints> = {}) =>
  readCsv(text, 'https://x.example/', { ...NO_HINTS, ...hints });
const codes = (text: string) => (read(text).problems ?? []).map(({ code }) => code);

describe('rows of delimited text', () => {
  it.each<[string, string, string[][]]>([
    [
      'plain cells',
      'a,b\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['all line ends', 'a\r\nb\rc\nd', [['a'], ['b'], ['c'], ['d']]],
    ['quotes with all in them', '"a,b","c""d","e\nf"', [['a,b', 'c"d', 'e\nf']]],
    [
      'empty cells',
      ',a,\n,,',
      [
        ['', 'a', ''],
        ['', '', ''],
      ],
    ],
    ['a delimiter at the end', 'a,', [['a', '']]],
    ['no empty lines', 'a\n\n\nb\n', [['a'], ['b']]],
    ['an empty quoted cell in a row', '"",a', [['', 'a']]],
    ['quotes inside a cell', 'a"b,c "d" e', [['a"b', 'c "d" e']]],
    ['text behind a quote', '"a"b,c', [['ab', 'c']]],
    ['spaces as they are', ' a , b ', [[' a ', ' b ']]],
  ])('%s', (_name, text, rows) => {
    expect(splitRows(text, ',', AMPLE)).toEqual({ rows, hasOpenQuote: false, isCut: false });
  });

  it('a quote that is never closed costs only its own meaning', () => {
    expect(splitRows('a,"b\nc,d', ',', AMPLE)).toEqual({
      rows: [
        ['a', '"b'],
        ['c', 'd'],
      ],
      hasOpenQuote: true,
      isCut: false,
    });
  });

  it('are the ones that were written', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'ö', '"', ',', ';', '\n', '\r', ' ', '1') });
    const rows = fc
      .integer({ min: 2, max: 5 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }));
    fc.assert(
      fc.property(rows, fc.constantFrom(',', ';', '\t', '|'), (table, delimiter) => {
        const text = table
          .map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(delimiter))
          .join('\r\n');
        expect(splitRows(text, delimiter, AMPLE).rows).toEqual(table);
      }),
    );
  });

  it('of anything at all end', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(',', '\t', '|', ']', '^', '-'), (text, delimiter) => {
        const { rows } = splitRows(text, delimiter, AMPLE);
        expect(rows.every((row) => row.length > 0)).toBe(true);
      }),
    );
  });

  it('with a hundred thousand quotes take no longer than they are long', () => {
    const { rows } = splitRows('"a\n'.repeat(100_001), ',', { rows: 1e6, columns: 10, cells: 1e7 });
    expect(rows.length).toBeGreaterThan(1);
  });
});

describe('the delimiter', () => {
  it.each([
    ['a,b,c\n1,2,3', ','],
    ['a;b\n1,5;2,5\n3,5;4,5', ';'],
    ['Meier;1,5;2,5\nMüller;3,5;4,5', ';'],
    ['a\tb\n1,2\t3\n4\t5', '\t'],
    ['a|b|c\nx, y|2|3', '|'],
    ['name,note\nA,"x;y;z"\nB,"u;v;w"', ','],
    ['sep=;\na;b\n1;2', ';'],
    ['sep=^\na^b\n1^2', '^'],
    ['one column\nonly', ','],
    ['', ','],
  ])('of %j is %j', (text, delimiter) => {
    expect(findDialect(text, null).delimiter).toBe(delimiter);
  });
});

describe('the first row', () => {
  it.each<[string[][], boolean]>([
    [
      [
        ['name', 'age'],
        ['Ada', '36'],
      ],
      true,
    ],
    [
      [
        ['Country', '2019', '2020'],
        ['DE', '1.5', '2.5'],
      ],
      true,
    ],
    [
      [
        ['name', 'born'],
        ['Ada', '1815'],
      ],
      true,
    ],
    [
      [
        ['Ada', '36'],
        ['Bob', '40'],
      ],
      false,
    ],
    [
      [
        ['1', '2'],
        ['3', '4'],
      ],
      false,
    ],
    [
      [
        ['2019', '2020'],
        ['2020', '2021'],
      ],
      false,
    ],
    [
      [
        ['a', 'a'],
        ['b', 'b'],
      ],
      false,
    ],
    [
      [
        ['id', 'https://x.example/'],
        ['1', 'https://y.example/'],
      ],
      false,
    ],
    [
      [
        ['when', '2026-11-01'],
        ['then', '2026-11-02'],
      ],
      false,
    ],
    [
      [
        ['', 'b', 'c'],
        ['1', '2', '3'],
      ],
      true,
    ],
    [
      [
        ['', '', 'c'],
        ['1', '2', '3'],
      ],
      false,
    ],
    [[['only', 'row']], false],
    [[], false],
  ])('%j has names: %s', (rows, expected) => {
    expect(hasHeaderRow(rows)).toBe(expected);
  });
});

describe('a table', () => {
  it('has its rows by the names of its columns', () => {
    const found = read('name;price;price;\nA | B;1,5;2;x\nhttps://y.example/1;"2,5";;\n');
    expect(found.table).toEqual({
      columns: ['name', 'price', 'price_2', 'column4'],
      delimiter: ';',
      hasHeader: true,
      rows: [
        { name: 'A | B', price: '1,5', price_2: '2', column4: 'x' },
        { name: 'https://y.example/1', price: '2,5', price_2: '', column4: '' },
      ],
    });
    expect(found.links?.map(({ url }) => url)).toEqual(['https://y.example/1']);
    expect(found.markdown?.split('\n').slice(0, 3)).toEqual([
      '| name | price | price_2 | column4 |',
      '| --- | --- | --- | --- |',
      '| A \\| B | 1,5 | 2 | x |',
    ]);
  });

  it('says in its type whether it has names', () => {
    expect(read('a,b\nc,d', { header: 'absent' }).table?.rows).toEqual([
      { column1: 'a', column2: 'b' },
      { column1: 'c', column2: 'd' },
    ]);
    expect(read('1,2\n3,4', { header: 'present' }).table?.rows).toEqual([{ 1: '3', 2: '4' }]);
  });

  it('with uneven rows keeps every cell', () => {
    const text = 'a,b\n1\n1,2,3\n';
    expect(codes(text)).toEqual(['csv-ragged']);
    expect(read(text).table?.rows).toEqual([
      { a: '1', b: '', column3: '' },
      { a: '1', b: '2', column3: '3' },
    ]);
  });

  it('has columns called anything', () => {
    const [row] = read('__proto__,constructor\nx,y\n').table?.rows ?? [];
    expect(Object.entries(row ?? {})).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  it('one row of which is very long has fewer rows, not more memory', () => {
    const text = `${'1,'.repeat(DOCUMENT_LIMITS.csvColumns - 1)}1\n${'1\n'.repeat(5_000)}`;
    const found = read(text, { header: 'absent' });
    expect(found.table?.rows).toHaveLength(DOCUMENT_LIMITS.csvCells / DOCUMENT_LIMITS.csvColumns);
    expect(found.problems?.map(({ code }) => code)).toContain('csv-too-large');
  });

  it('with more rows than are read says so', () => {
    expect(codes(`n\n${'x\n'.repeat(DOCUMENT_LIMITS.csvRows + 1)}`)).toEqual(['csv-too-large']);
  });
});
