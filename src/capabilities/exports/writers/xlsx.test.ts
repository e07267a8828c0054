import readXlsxFile from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import { bytesOf, HOSTILE_TEXTS, tableOf } from './tables.fixture.ts';
import { writeXlsx, xlsxCell } from './xlsx.ts';

const COLUMNS = [
  { name: 'text', type: 'string' },
  { name: 'price', type: 'number' },
  { name: 'is_new', type: 'boolean' },
] as const;

describe('XLSX', () => {
  it('an independent reader gets names, numbers, booleans and hostile texts back', async () => {
    const texts = HOSTILE_TEXTS.filter((text) => text.length < 100 && text.trim() !== '');
    const rows = texts.map((text) => [text, -1.5, true] as const);
    const bytes = await bytesOf(writeXlsx, tableOf(COLUMNS, rows));
    const [sheet] = await readXlsxFile(bytes, { trim: false });
    const [head, ...read] = sheet?.data ?? [];
    expect(head).toEqual(['text', 'price', 'is_new']);
    expect(read.map(([, price, isNew]) => [price, isNew])).toEqual(texts.map(() => [-1.5, true]));
    // This reader leaves the escapes of XLSX as they are.
    const decoded = read.map(([text]) =>
      String(text).replace(/_x([0-9A-F]{4})_/g, (_, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      ),
    );
    expect(decoded).toEqual(texts);
  });

  it('a text that is longer than a cell may be is cut between characters', () => {
    expect(xlsxCell('x'.repeat(32_767))).toHaveLength(32_767);
    const cut = xlsxCell(`${'x'.repeat(32_765)}😀😀`);
    expect(cut).toBe(`${'x'.repeat(32_765)}…`);
    expect(String(xlsxCell('y'.repeat(1_048_576)))).toHaveLength(32_767);
  });

  it('goes on in another sheet, with the names of the columns, where the first is full', async () => {
    const rows = Array.from({ length: 5 }, (_, at) => [`row ${at}`, at, null] as const);
    const bytes = await bytesOf((table, options) => writeXlsx(table, options, 3), tableOf(COLUMNS, rows));
    const sheets = await readXlsxFile(bytes);
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['full', 'full_2', 'full_3']);
    expect(sheets[2]?.data.map(([text]) => text)).toEqual(['text', 'row 4']);
  });
});

it('characters that XML has no form for are replaced', () => {
  expect(xlsxCell('a\ufffeb\uffff')).toBe('a\ufffdb\ufffd');
});
