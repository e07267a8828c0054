import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PageResult } from '../../jobs/page-result.ts';
import { CSV_HEAD, csvRow } from './export-csv.ts';

/** A reader of RFC 4180, for one record. */
function cellsOf(record: string): string[] {
  const cells = record.slice(0, -2).match(/(?:^|,)(?:"(?:[^"]|"")*"|[^",\r\n]*)/g) ?? [];
  return cells
    .map((cell, index) => (index > 0 || cell.startsWith(',') ? cell.replace(/^,/, '') : cell))
    .map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}

describe('a row of CSV', () => {
  it('gives back what went in, whatever characters that has', () => {
    const columns = CSV_HEAD.trim().split(',');
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', 'ü', ' ') });
    fc.assert(
      fc.property(text, text, (title, message) => {
        const page = { url: 'u', title, error: { code: 'HTTP_ERROR', message } } as unknown as PageResult;
        const cells = cellsOf(csvRow(page));
        expect(cells).toHaveLength(columns.length);
        expect(cells[columns.indexOf('title')]).toBe(title);
        expect(cells[columns.indexOf('errorMessage')]).toBe(message);
      }),
    );
  });
});
