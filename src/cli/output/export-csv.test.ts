import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PageResult } from '../../jobs/page-result.ts';
import { csvHead, csvRow, extractedCells } from './export-csv.ts';

/** A reader of RFC 4180, for one record. */
function cellsOf(record: string): string[] {
  const cells = record.slice(0, -2).match(/(?:^|,)(?:"(?:[^"]|"")*"|[^",\r\n]*)/g) ?? [];
  return cells
    .map((cell, index) => (index > 0 || cell.startsWith(',') ? cell.replace(/^,/, '') : cell))
    .map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}

const PLAIN = { extracted: [], hasText: false };

describe('a row of CSV', () => {
  it('gives back what went in, whatever characters that has', () => {
    const columns = csvHead(PLAIN).trim().split(',');
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', 'ü', ' ') });
    fc.assert(
      fc.property(text, text, (title, message) => {
        const page = { url: 'u', title, error: { code: 'HTTP_ERROR', message } } as unknown as PageResult;
        const cells = cellsOf(csvRow(page, PLAIN));
        expect(cells).toHaveLength(columns.length);
        expect(cells[columns.indexOf('title')]).toBe(title);
        expect(cells[columns.indexOf('errorMessage')]).toBe(message);
      }),
    );
  });

  it('has a column for each extracted field, and the text where it is asked for', () => {
    const extracted = {
      name: 'Hat',
      offer: { price: 9.5, seller: { name: 'Ann, Bob' } },
      colors: ['red', 'blue'],
      isNew: false,
      sizes: [{ cm: 56 }],
      gone: null,
    };
    const page = { url: 'u', extracted, text: 'A hat.' } as unknown as PageResult;
    expect([...extractedCells(page)]).toEqual([
      ['name', 'Hat'],
      ['offer.price', 9.5],
      ['offer.seller.name', 'Ann, Bob'],
      ['colors', 'red; blue'],
      ['isNew', false],
      ['sizes', '[{"cm":56}]'],
      ['gone', null],
    ]);
    const options = { extracted: ['name', 'offer.seller.name', 'other'], hasText: true };
    expect(csvHead(options)).toMatch(
      /,extracted\.name,extracted\.offer\.seller\.name,extracted\.other,text\r\n$/,
    );
    expect(csvRow(page, options)).toMatch(/,Hat,"Ann, Bob",,A hat\.\r\n$/);
  });
});
