import { escapeMarkdown } from '../content/render/markdown-inline.ts';
import { collapse } from '../html/white-space.ts';
import { findDialect, hasHeaderRow, splitRows } from './delimited.ts';
import type { DocumentProblem, DocumentReading, Table } from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { LinkList } from './link-list.ts';

export interface CsvHints {
  /** The delimiter given by the type or the file name: a tab for TSV. */
  readonly delimiter: string | null;
  /** RFC 4180's parameter `header`. */
  readonly header: 'present' | 'absent' | null;
}

const LIMITS = {
  rows: DOCUMENT_LIMITS.csvRows + 1,
  columns: DOCUMENT_LIMITS.csvColumns,
  cells: DOCUMENT_LIMITS.csvCells,
};

/** Reads a table of delimited text. Any text is a table, if only of one column. */
export function readCsv(text: string, url: string, hints: CsvHints): DocumentReading {
  const { delimiter, body } = findDialect(text, hints.delimiter);
  const { rows, hasOpenQuote, isCut } = splitRows(body, delimiter, LIMITS);
  const hasHeader =
    hints.header === null ? hasHeaderRow(rows) : hints.header === 'present' && rows.length > 0;
  const cells = hasHeader ? rows.slice(1) : rows;
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const columns = columnNames(hasHeader ? (rows[0] ?? []) : [], width);
  // One long row makes all of them long.
  const affordable = Math.floor(DOCUMENT_LIMITS.csvCells / Math.max(1, width));
  const kept = cells.slice(0, Math.min(DOCUMENT_LIMITS.csvRows, affordable));
  const table: Table = {
    columns,
    delimiter,
    hasHeader,
    // fromEntries defines own properties, also for names such as `__proto__`.
    rows: kept.map((row) => Object.fromEntries(columns.map((name, column) => [name, row[column] ?? '']))),
  };
  const links = new LinkList(url, 'csv');
  links.addFrom(body);
  const problems: DocumentProblem[] = [];
  if (hasOpenQuote) {
    problems.push({ code: 'csv-open-quote', message: 'A quote is never closed; it was taken for a sign.' });
  }
  const expected = hasHeader ? (rows[0]?.length ?? 0) : width;
  const ragged = kept.filter(({ length }) => length !== expected).length;
  if (ragged > 0) {
    problems.push({ code: 'csv-ragged', message: `Rows with more or fewer cells than columns: ${ragged}.` });
  }
  if (isCut || cells.length > kept.length) {
    problems.push({ code: 'csv-too-large', message: `Only ${kept.length} rows were read.` });
  }
  return { kind: 'csv', text, markdown: tableMarkdown(columns, kept), table, links: links.all, problems };
}

/** Column names, made distinct, and generated where they are missing. */
function columnNames(head: readonly string[], width: number): string[] {
  const names = new Set<string>();
  for (let column = 0; column < width; column++) {
    const written = collapse(head[column] ?? '', DOCUMENT_LIMITS.csvColumnNameChars);
    const name = written === '' ? `column${column + 1}` : written;
    let free = name;
    // Ends, because there are fewer names than numbers.
    for (let copy = 2; names.has(free); copy++) free = `${name}_${copy}`;
    names.add(free);
  }
  return [...names];
}

function tableMarkdown(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (columns.length === 0) return '';
  const lines = [
    lineOf(columns),
    lineOf(
      columns.map(() => '---'),
      false,
    ),
  ];
  let length = 0;
  for (const row of rows.slice(0, DOCUMENT_LIMITS.markdownRows)) {
    const line = lineOf(columns.map((_, column) => row[column] ?? ''));
    length += line.length;
    if (length > DOCUMENT_LIMITS.textChars) break;
    lines.push(line);
  }
  const left = rows.length - (lines.length - 2);
  return left === 0 ? lines.join('\n') : `${lines.join('\n')}\n\n… ${left} more rows`;
}

function lineOf(cells: readonly string[], isText = true): string {
  const shown = cells.map((cell) =>
    isText ? escapeMarkdown(cell.replace(/\s+/g, ' ').trim(), false, true) : cell,
  );
  return `| ${shown.join(' | ')} |`;
}
