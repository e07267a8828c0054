import { escapeMarkdown } from '../../content/render/markdown-inline.ts';
import type { PdfCell, PdfLine } from './pdf-lines.ts';

/** Rows of a table, each with a text for every column; empty where a row has none. */
type PdfTable = readonly (readonly string[])[];

/** A table, or lines that are none. */
type PdfPart = { readonly table: PdfTable } | { readonly lines: readonly PdfLine[] };

/** Rows farther apart than this, in parts of their size, belong to different things. */
const ROW_GAP = 3.5;
/** A line below a row that continues one of its cells stands nearer than the next row would. */
const CONTINUED_GAP = 1.45;
const LEAST_ROWS = 3;
/** Two rows are a table when they have this many columns. */
const SURE_COLUMNS = 3;
/** A longer table is several, and one with more columns is none: this bounds the work for each line of a page. */
const MOST_ROWS = 500;
const MOST_COLUMNS = 30;
/** The least share of a table's cells that have a text. */
const LEAST_FILLED = 0.5;

/**
 * Splits the lines of a page into tables and others. A table is lines one below the other whose parts stand in the same columns,
 * which is all that the text layer of a PDF tells of one.
 */
export function partsOf(lines: readonly PdfLine[]): PdfPart[] {
  const parts: PdfPart[] = [];
  let rest: PdfLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const found = tableAt(lines, at);
    if (found === null) {
      rest.push(lines[at] as PdfLine);
      at += 1;
      continue;
    }
    if (rest.length > 0) parts.push({ lines: rest });
    rest = [];
    parts.push({ table: found.table });
    at = found.end;
  }
  if (rest.length > 0) parts.push({ lines: rest });
  return parts;
}

interface Column {
  readonly from: number;
  readonly to: number;
}

interface Row {
  readonly cells: PdfCell[];
}

/** The table that begins with a line, and where it ends; null when none does. */
function tableAt(lines: readonly PdfLine[], start: number): { table: PdfTable; end: number } | null {
  let columns: readonly Column[] = [];
  const rows: Row[] = [];
  let at = start;
  for (let last: PdfLine | null = null; at < lines.length && rows.length < MOST_ROWS; at += 1) {
    const line = lines[at] as PdfLine;
    const gap = last === null ? 0 : last.y - line.y;
    if (last !== null && (gap <= 0 || gap > ROW_GAP * Math.max(line.size, last.size))) break;
    if (line.cells.length < 2) {
      const row = rows.at(-1);
      const isNear = gap <= CONTINUED_GAP * line.size;
      if (row === undefined || !isNear || !continueCell(row, columns, line.cells[0])) break;
    } else {
      if (line.cells.length > MOST_COLUMNS) break;
      const wider = columnsOf([...columns, ...line.cells.map(intervalOf)]);
      // A line whose parts cross the columns of the rows above is text.
      if (wider.length > MOST_COLUMNS || !standApart(columns, wider)) break;
      if (!standApart(line.cells.map(intervalOf), wider)) break;
      columns = wider;
      rows.push({ cells: [...line.cells] });
    }
    last = line;
  }
  if (!isTable(rows, columns)) return null;
  const table = rows.map(({ cells }) =>
    columns.map((column) =>
      cells
        .filter((cell) => isIn(cell, column))
        .map(({ text }) => text)
        .join(' '),
    ),
  );
  return { table, end: at };
}

function isTable(rows: readonly Row[], columns: readonly Column[]): boolean {
  const least = columns.length >= SURE_COLUMNS ? 2 : LEAST_ROWS;
  if (columns.length < 2 || rows.length < least) return false;
  const filled = rows.reduce((sum, { cells }) => sum + cells.length, 0);
  return filled >= rows.length * columns.length * LEAST_FILLED;
}

/** Adds a line to a cell of the row above, except to its first one, below which the next thing may begin. */
function continueCell(row: Row, columns: readonly Column[], cell: PdfCell | undefined): boolean {
  const place = cell === undefined ? -1 : columns.findIndex((column) => isIn(cell, column));
  const column = columns[place];
  if (cell === undefined || column === undefined || place < 1 || cell.right > column.to + cell.size)
    return false;
  const index = row.cells.findIndex((each) => isIn(each, column));
  const above = row.cells[index];
  if (above === undefined) return false;
  row.cells[index] = { ...above, text: `${above.text} ${cell.text}` };
  return true;
}

const intervalOf = ({ x, right }: PdfCell): Column => ({ from: x, to: right });
const overlaps = (one: Column, other: Column): boolean => one.from < other.to && one.to > other.from;
const isIn = (cell: PdfCell, column: Column): boolean => overlaps(intervalOf(cell), column);

/** Intervals that overlap are one column. */
function columnsOf(intervals: readonly Column[]): readonly Column[] {
  const columns: Column[] = [];
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = columns.at(-1);
    if (last === undefined || from >= last.to) columns.push({ from, to });
    else columns[columns.length - 1] = { from: last.from, to: Math.max(last.to, to) };
  }
  return columns;
}

/** True when no two of the intervals are in the same column. */
function standApart(intervals: readonly Column[], columns: readonly Column[]): boolean {
  return columns.every((column) => intervals.filter((each) => overlaps(each, column)).length < 2);
}

/** A row per line, tabs between the cells. */
export const tableText = (table: PdfTable): string => table.map((row) => row.join('\t')).join('\n');

/** As a Markdown table, whose first row is the head. */
export function tableMarkdown(table: PdfTable): string {
  const [head = [], ...body] = table;
  const written = (row: readonly string[]): string =>
    `| ${row.map((cell) => escapeMarkdown(cell, false, true)).join(' | ')} |`;
  return [written(head), `| ${head.map(() => '---').join(' | ')} |`, ...body.map(written)].join('\n');
}
