import { escapeMarkdown } from '../../content/render/markdown-inline.ts';

/** A piece of text as it stands on a page of a PDF. */
export interface PdfPiece {
  readonly text: string;
  readonly x: number;
  /** Distance from the bottom of the page. */
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly isLineEnd: boolean;
}

export interface PdfLine {
  readonly text: string;
  readonly x: number;
  readonly right: number;
  readonly y: number;
  readonly size: number;
  /** Its parts with wide gaps between them; one for a line of running text. */
  readonly cells: readonly PdfCell[];
}

interface PdfCell {
  readonly text: string;
  readonly x: number;
  readonly right: number;
  readonly size: number;
}

/** Pieces nearer than this, in parts of their size, are one word. */
const WORD_GAP = 0.15;
/** Pieces farther apart than this, in parts of their size, may be cells of a table. */
const CELL_GAP = 1;
/** Lines farther apart than this, in parts of their size, are two paragraphs. */
const PARAGRAPH_GAP = 1.75;
const HEADING_FACTOR = 1.2;
const HEADING_CHARS = 200;

/** Lines in the order the document draws them, which is the reading order in nearly all documents. */
export function linesOf(pieces: readonly PdfPiece[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let draft = new LineDraft();
  const end = (): void => {
    const line = draft.finish();
    if (line !== null) lines.push(line);
    draft = new LineDraft();
  };
  for (const piece of pieces) {
    if (draft.last !== null && isElsewhere(draft.last, piece)) end();
    draft.add(piece);
    if (piece.isLineEnd) end();
  }
  end();
  return lines;
}

/** A line while its pieces come. */
class LineDraft {
  /** The last piece that is no white space. */
  last: PdfPiece | null = null;
  readonly #cells: { text: string; x: number; right: number; size: number }[] = [];
  #y = 0;

  add(piece: PdfPiece): void {
    const { last } = this;
    const cell = this.#cells.at(-1);
    const isBlank = piece.text.trim() === '';
    const gap = last === null ? 0 : (piece.x - (last.x + last.width)) / Math.max(piece.size, 1);
    if (cell === undefined || (!isBlank && (gap > CELL_GAP || gap < -CELL_GAP * 2))) {
      if (isBlank) return;
      if (cell === undefined) this.#y = piece.y;
      this.#cells.push({ text: piece.text, x: piece.x, right: piece.x + piece.width, size: piece.size });
    } else {
      cell.text += gap > WORD_GAP && !isBlank ? ` ${piece.text}` : piece.text;
      if (!isBlank) cell.right = Math.max(cell.right, piece.x + piece.width);
      if (!isBlank) cell.size = Math.max(cell.size, piece.size);
    }
    if (!isBlank) this.last = piece;
  }

  /** Returns null for a line without text. */
  finish(): PdfLine | null {
    const cells = this.#cells
      .map((cell) => ({ ...cell, text: cell.text.replace(/\s+/g, ' ').trim() }))
      .filter(({ text }) => text !== '');
    const [first] = cells;
    if (first === undefined) return null;
    return {
      text: cells.map(({ text }) => text).join(' '),
      x: cells.reduce((least, { x }) => Math.min(least, x), first.x),
      right: cells.reduce((most, { right }) => Math.max(most, right), first.right),
      y: this.#y,
      size: cells.reduce((most, { size }) => Math.max(most, size), 0),
      cells,
    };
  }
}

function isElsewhere(before: PdfPiece, piece: PdfPiece): boolean {
  if (piece.text.trim() === '') return false;
  return Math.abs(piece.y - before.y) > Math.max(before.size, piece.size) * 0.6;
}

/** The size of most of the text. */
export function bodySize(lines: readonly PdfLine[]): number {
  const chars = new Map<number, number>();
  for (const { size, text } of lines) {
    const rounded = Math.round(size * 2) / 2;
    chars.set(rounded, (chars.get(rounded) ?? 0) + text.length);
  }
  let [found, most] = [0, 0];
  for (const [size, count] of chars) if (count > most) [found, most] = [size, count];
  return found;
}

export const isHeading = ({ size, text }: PdfLine, body: number): boolean =>
  body > 0 && size >= body * HEADING_FACTOR && text.length <= HEADING_CHARS && /\p{L}/u.test(text);

/** Lines that belong together. */
export function paragraphsOf(lines: readonly PdfLine[], body: number): PdfLine[][] {
  const paragraphs: PdfLine[][] = [];
  let last: PdfLine | null = null;
  for (const line of lines) {
    const gap = last === null ? 0 : last.y - line.y;
    const isSame =
      last !== null &&
      gap > 0 &&
      gap < Math.max(last.size, line.size) * PARAGRAPH_GAP &&
      isHeading(last, body) === isHeading(line, body);
    const current = paragraphs[paragraphs.length - 1];
    if (isSame && current !== undefined) current.push(line);
    else paragraphs.push([line]);
    last = line;
  }
  return paragraphs;
}

/** The lines of a paragraph as one; a word hyphenated at the end of a line is joined. */
export function joinedLines(lines: readonly PdfLine[]): string {
  return flowsOf(lines, 0).join(' ');
}

/**
 * The lines of a paragraph as its author broke them: lines that go on because the page was at its end (`right`) are one, with a word
 * hyphenated there joined; a line that ends although the next word would have fitted ends on purpose, as in addresses and lists.
 */
export function flowsOf(lines: readonly PdfLine[], right: number): string[] {
  const flows: string[] = [];
  let last: PdfLine | null = null;
  for (const line of lines) {
    const { text } = line;
    const before = flows.at(-1);
    if (before === undefined || last === null) flows.push(text);
    else if (/\p{Ll}[-\u00ad]$/u.test(before) && /^\p{Ll}/u.test(text)) {
      flows[flows.length - 1] = before.slice(0, -1) + text;
    } else if (hasRoom(last, line, right)) flows.push(text);
    else flows[flows.length - 1] = `${before} ${text}`;
    last = line;
  }
  return flows;
}

/** True when the first word of the next line would have fitted behind a line. */
function hasRoom(line: PdfLine, next: PdfLine, right: number): boolean {
  const [word = ''] = next.text.split(' ', 1);
  const perChar = (next.right - next.x) / Math.max(1, next.text.length);
  return line.right + (word.length + 1) * perChar + line.size / 2 < right;
}

/** More lines of a page do not show better where its columns end. */
const MOST_COMPARED = 1_000;

/** Where the lines above and below a paragraph end at most: the end of its column. */
export function columnEnd(paragraph: readonly PdfLine[], lines: readonly PdfLine[]): number {
  const from = paragraph.reduce((least, { x }) => Math.min(least, x), Number.POSITIVE_INFINITY);
  const to = paragraph.reduce((most, { right }) => Math.max(most, right), 0);
  let end = to;
  for (const { x, right } of lines.slice(0, MOST_COMPARED))
    if (x < to && right > from) end = Math.max(end, right);
  return end;
}

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
