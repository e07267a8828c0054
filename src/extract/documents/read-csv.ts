import { escapeMarkdown } from '../content/render/markdown-inline.ts';
import { collapse } from '../html/page-text.ts';
import { type DocumentProblem, type DocumentReading, LinkList, type Table } from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';

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

/** In order of preference among equals: commas and bars occur inside cells, tabs hardly ever do. */
const DELIMITERS = ['\t', ';', '|', ','] as const;
const SAMPLE_CHARS = 65_536;
const SAMPLE_ROWS = 200;
const SAMPLE = { rows: SAMPLE_ROWS, columns: 1_000, cells: 20_000 };
const EXCEL = /^sep=(.)\r?\n/i;

const NUMBER = /^[+-]?[$€£¥]?\s?\d[\d.,' \u00a0]*\s?[%€$]?$/;
const MOMENT = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d|$)/;
const CODED = /^(?:https?:\/\/|[^\s@]+@[^\s@]+\.\w+$|true$|false$)/i;
const YEAR = /^(?:19|20)\d{2}$/;
const LOOKED_AT_ROWS = 50;
const NAME_CHARS = 200;

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

interface CsvDialect {
  readonly delimiter: string;
  /** The text without a `sep=` line. */
  readonly body: string;
  /** From 0 to 1: how much the rows agree about their length. */
  readonly evenness: number;
  /** Cells of most rows. */
  readonly width: number;
  readonly sampledRows: number;
}

/** Finds the delimiter: the one with the most rows of equal length, and the widest. `given` overrides the search. */
export function findDialect(text: string, given: string | null): CsvDialect {
  const excel = EXCEL.exec(text);
  const named = excel?.[1];
  const body = excel === null ? text : text.slice(excel[0].length);
  const fixed = named !== undefined && /[^\w\s"\\]|\t/.test(named) ? named : given;
  const sample = sampleOf(body);
  const tried = (fixed === null ? DELIMITERS : [fixed]).map((delimiter) => judge(sample, delimiter));
  const best = tried.reduce((first, next) => (next.score > first.score ? next : first));
  // A single column has no delimiter; any of them will do.
  return { ...(best.score === 0 && fixed === null ? judge(sample, ',') : best), body };
}

/** Whole lines only: half a line would be a row of its own. */
function sampleOf(text: string): string {
  if (text.length <= SAMPLE_CHARS) return text;
  const end = text.lastIndexOf('\n', SAMPLE_CHARS);
  return text.slice(0, end === -1 ? SAMPLE_CHARS : end);
}

function judge(sample: string, delimiter: string): Omit<CsvDialect, 'body'> & { readonly score: number } {
  const { rows } = splitRows(sample, delimiter, SAMPLE);
  const widths = new Map<number, number>();
  for (const { length } of rows) widths.set(length, (widths.get(length) ?? 0) + 1);
  let width = 1;
  let most = 0;
  for (const [length, count] of widths) {
    if (count > most || (count === most && length > width)) [width, most] = [length, count];
  }
  const evenness = rows.length === 0 ? 0 : most / rows.length;
  return {
    delimiter,
    width,
    evenness,
    sampledRows: rows.length,
    score: width < 2 ? 0 : evenness * (1 - 1 / width),
  };
}

/**
 * True when the first row holds column names. Names are distinct, mostly not empty, and look like words; years count as
 * names when the cells below are no years.
 */
export function hasHeaderRow(rows: readonly (readonly string[])[]): boolean {
  const [head, ...rest] = rows;
  if (head === undefined || rest.length === 0) return false;
  const below = rest.slice(0, LOOKED_AT_ROWS);
  const names = head.map((cell) => cell.trim());
  const filled = names.filter((name) => name !== '');
  if (filled.length < names.length / 2) return false;
  // A name may stand twice by mistake; then only numbers below words show that they are names.
  if (new Set(filled).size < filled.length && !names.some((name, column) => isNumeric(below, column, name))) {
    return false;
  }
  return names.every((name, column) => {
    if (name.length > NAME_CHARS || MOMENT.test(name) || CODED.test(name)) return false;
    if (!NUMBER.test(name)) return true;
    return YEAR.test(name) && !below.some((row) => YEAR.test((row[column] ?? '').trim()));
  });
}

function isNumeric(below: readonly (readonly string[])[], column: number, name: string): boolean {
  const filled = below.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '');
  return name !== '' && !NUMBER.test(name) && filled.length > 0 && filled.every((cell) => NUMBER.test(cell));
}

/** The rows of delimited text, and its irregularities. */
interface DelimitedRows {
  readonly rows: readonly (readonly string[])[];
  /** A quote was opened and never closed; from there on quotes are ordinary characters. */
  readonly hasOpenQuote: boolean;
  /** True when a limit cut the text. */
  readonly isCut: boolean;
}

interface DelimitedLimits {
  readonly rows: number;
  readonly columns: number;
  readonly cells: number;
}

/**
 * Splits delimited text into rows, as RFC 4180 has it and a little beyond: lines end in any of the three ways, a quote
 * inside a cell without quotes is itself, what follows a closing quote still belongs to the cell, empty lines are no
 * rows. Linear in the length of the text.
 */
export function splitRows(text: string, delimiter: string, limits: DelimitedLimits): DelimitedRows {
  const rows: (readonly string[])[] = [];
  let row: string[] = [];
  let cells = 0;
  let at = 0;
  let hasOpenQuote = false;
  let isCut = false;
  const plainEnd = new RegExp(`[${delimiter === '\t' ? '\\t' : `\\${delimiter}`}\\r\\n]|$`, 'g');

  while (at < text.length) {
    let cell = '';
    if (text[at] === '"' && !hasOpenQuote) {
      const quoted = readQuoted(text, at);
      if (quoted === null) hasOpenQuote = true;
      else {
        cell = quoted.value;
        at = quoted.end;
      }
    }
    plainEnd.lastIndex = at;
    const end = plainEnd.exec(text)?.index ?? text.length;
    cell += text.slice(at, end);
    if (row.length < limits.columns) row.push(cell);
    else isCut = true;
    if (text[end] === delimiter) {
      at = end + 1;
      // A delimiter at the very end of the text is followed by an empty cell.
      if (at < text.length) continue;
      row.push('');
    }
    at = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : Math.max(at, end + 1);
    if (row.length === 1 && row[0] === '') {
      row = [];
      continue;
    }
    cells += row.length;
    rows.push(row);
    row = [];
    if (at < text.length && (rows.length >= limits.rows || cells >= limits.cells)) {
      isCut = true;
      break;
    }
  }
  return { rows, hasOpenQuote, isCut };
}

/** The value that begins with the quote at `start`, and where it ends; null when no quote ends it. */
function readQuoted(text: string, start: number): { readonly value: string; readonly end: number } | null {
  let from = start + 1;
  let value = '';
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return null;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
}
