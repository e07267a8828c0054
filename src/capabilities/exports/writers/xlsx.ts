import { writeXlsxStream } from 'hucre/xlsx';
import type { Cell, Table, TableOptions, TableWriters } from '../table.ts';

/** The most that Excel keeps in a cell, in UTF-16 units; longer texts end in an ellipsis. */
const MOST_CHARS = 32_767;
/** The most that Excel has in a sheet, the names of the columns included. */
const MOST_ROWS = 1_048_576;
const ELLIPSIS = '\u2026';
const MOST_TITLE_CHARS = 25;

/** Texts that look like the escapes of XLSX would be read as the character they name. */
const ESCAPE = /_(?=x[0-9a-f]{4}_)/gi;

/** Characters that XML has no form for; those below a space are escaped by the writer. */
const NO_XML = /[\ufffe\uffff]/g;

export function xlsxCell(value: Cell): Cell {
  if (typeof value !== 'string') return value;
  return cut(value.toWellFormed()).replace(NO_XML, '\ufffd').replace(ESCAPE, '_x005F_');
}

function cut(text: string): string {
  if (text.length <= MOST_CHARS) return text;
  // Not between the halves of one character.
  return `${text.slice(0, MOST_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}`;
}

/**
 * An XLSX workbook: the names of the columns in the first row of each sheet, and another sheet after each 1,048,576 rows.
 * Texts are texts to Excel, also where they begin like a formula.
 */
export async function* writeXlsx(
  table: Table,
  { title, isLarge, onRows }: TableOptions,
  maxRowsPerSheet = MOST_ROWS,
): AsyncGenerator<Uint8Array> {
  async function* rows(): AsyncGenerator<Cell[]> {
    for await (const batch of table.rows()) {
      for (const row of batch) yield row.map(xlsxCell);
      onRows(batch.length);
    }
  }
  const stream = writeXlsxStream(rows(), {
    name: title.replace(/[\\/?*[\]:']/g, ' ').slice(0, MOST_TITLE_CHARS) || 'export',
    columns: table.columns.map(({ name }) => ({ header: name })),
    freezePane: { rows: 1 },
    maxRowsPerSheet,
    // Some readers do not know 64-bit sizes, so they are used where they may be needed.
    zip64: isLarge,
  });
  yield* stream as unknown as AsyncIterable<Uint8Array>;
}

export const writers = { xlsx: writeXlsx } satisfies TableWriters;
