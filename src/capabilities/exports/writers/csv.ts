import type { Cell, FileBytes, Table, TableOptions, TableWriters } from '../table.ts';

/** By it Excel knows that a file is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';
/** Texts are gathered before they are encoded: a chunk for each row would cost more than the rows. */
const CHUNK_CHARS = 131_072;

const NEEDS_QUOTES = /[",\r\n]/;
/** What spreadsheets take for a formula, also in its full-width form, behind any number of apostrophes. */
const FORMULA = /^'*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * A text that no spreadsheet takes for a formula: one apostrophe is put before what looks like one. Numbers such as -5 stay
 * as they are. Readers get the text back by `plainText`.
 */
export function safeText(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** What `safeText` was given. */
export const plainText = (text: string): string =>
  /^'/.test(text) && FORMULA.test(text) ? text.slice(1) : text;

function cellText(value: Cell): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  // Neither can be stored in a file of UTF-8 that every reader takes.
  const text = safeText(value.toWellFormed().replaceAll('\0', '\ufffd'));
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function line(cells: readonly Cell[]): string {
  let text = '';
  for (let at = 0; at < cells.length; at += 1) {
    if (at > 0) text += ',';
    text += cellText(cells[at] ?? null);
  }
  // A line without a character would be no row with one empty cell to most readers.
  return cells.length === 1 && text === '' ? '""\r\n' : `${text}\r\n`;
}

/** RFC 4180 in UTF-8: the names of the columns first, lines end in CRLF, quotes where they are needed. */
export async function* writeCsv(
  table: Table,
  { excel, onRows }: TableOptions,
): FileBytes & AsyncGenerator<Uint8Array> {
  let text = excel ? BYTE_ORDER_MARK : '';
  text += line(table.columns.map(({ name }) => name));
  for await (const rows of table.rows()) {
    for (const row of rows) {
      text += line(row);
      if (text.length < CHUNK_CHARS) continue;
      yield Buffer.from(text);
      text = '';
    }
    onRows(rows.length);
  }
  if (text !== '') yield Buffer.from(text);
}

export const writers = { csv: writeCsv } satisfies TableWriters;
