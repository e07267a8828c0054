import type { QueryResult } from './query-page.tsx';
import { textOf } from './result-table.tsx';

/** A cell that a spreadsheet would run as a formula gets a quote before it, as our exports do. */
const FORMULA = /^[=+\-@\t\r]/;
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

function cellOf(value: unknown): string {
  const text = textOf(value);
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf({ columns, items }: Pick<QueryResult, 'columns' | 'items'>): string {
  const names = columns.map(({ name }) => name);
  const rows = (items as readonly Record<string, unknown>[]).map((item) =>
    names.map((name) => cellOf(item[name])),
  );
  return `${[names.map(cellOf), ...rows].map((row) => row.join(',')).join('\r\n')}\r\n`;
}

export function downloadCsv(result: QueryResult): void {
  // The mark tells Excel that the text is UTF-8.
  const file = URL.createObjectURL(new Blob(['\uFEFF', csvOf(result)], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = file;
  link.download = 'query.csv';
  link.click();
  setTimeout(() => URL.revokeObjectURL(file), 10_000);
}
