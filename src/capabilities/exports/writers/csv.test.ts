import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText, safeText, writeCsv } from './csv.ts';
import { bytesOf, HOSTILE_TEXTS, tableOf } from './tables.fixture.ts';

/** Quotes only around whole cells, as many cells in each row, lines by CRLF. */
const strict = (text: string): string[][] =>
  parse(text, {
    relax_quotes: false,
    relax_column_count: false,
    skip_empty_lines: false,
    record_delimiter: '\r\n',
  });

const COLUMNS = [
  { name: 'url', type: 'string' },
  { name: 'price', type: 'number' },
  { name: 'is_new', type: 'boolean' },
] as const;

describe('CSV', () => {
  it('has the names of the columns, CRLF, and cells without quotes where they need none', async () => {
    const text = (
      await bytesOf(
        writeCsv,
        tableOf(COLUMNS, [
          ['a', -5, true],
          ['b,c', null, false],
        ]),
      )
    ).toString();
    expect(text).toBe('url,price,is_new\r\na,-5,true\r\n"b,c",,false\r\n');
    expect((await bytesOf(writeCsv, tableOf(COLUMNS, []))).toString()).toBe('url,price,is_new\r\n');
  });

  it('begins with a byte order mark for Excel, and only then', async () => {
    const table = tableOf(COLUMNS, []);
    expect([...(await bytesOf(writeCsv, table, { excel: true })).subarray(0, 4)]).toEqual([
      0xef, 0xbb, 0xbf, 0x75,
    ]);
    expect((await bytesOf(writeCsv, table))[0]).toBe(0x75);
  });

  it('a strict reader gets every hostile cell back, and no cell begins like a formula', async () => {
    const rows = HOSTILE_TEXTS.map((text) => [text, 1, null] as const);
    const read = strict((await bytesOf(writeCsv, tableOf(COLUMNS, rows))).toString());
    const cells = read.slice(1).map(([cell = '']) => cell);
    expect(cells.map(plainText)).toEqual(HOSTILE_TEXTS);
    for (const cell of cells) if (cell !== '-5') expect(cell).not.toMatch(/^[=+\-@\t\r\n\uff1d]/);
    expect(cells).toContain('-5');
  });

  it('NUL and halves of surrogate pairs become replacement characters', async () => {
    const table = tableOf([{ name: 'a', type: 'string' }], [['a\0b'], ['\ud800x'], [null]]);
    expect((await bytesOf(writeCsv, table)).toString()).toBe('a\r\na\ufffdb\r\n\ufffdx\r\n""\r\n');
  });

  it('any text is given back by undoing the apostrophe', () => {
    const unit = fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '5', '.', 'e', 'a');
    fc.assert(fc.property(fc.string({ unit }), (text) => plainText(safeText(text)) === text));
    expect(['-5', '+1.5e3', '.5', '-'].map(safeText)).toEqual(['-5', '+1.5e3', '.5', "'-"]);
  });
});
