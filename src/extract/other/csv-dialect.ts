import { splitRows } from './delimited.ts';

/** In the order that decides between equals: commas and bars stand in cells, tabs hardly ever do. */
const DELIMITERS = ['\t', ';', '|', ','] as const;
const SAMPLE_CHARS = 65_536;
const SAMPLE_ROWS = 200;
const SAMPLE = { rows: SAMPLE_ROWS, columns: 1_000, cells: 20_000 };
const EXCEL = /^sep=(.)\r?\n/i;

export interface CsvDialect {
  readonly delimiter: string;
  /** The table without a line that only names the delimiter. */
  readonly body: string;
  /** From 0 to 1: how much the rows agree about their length. */
  readonly evenness: number;
  /** Cells of most rows. */
  readonly width: number;
  readonly sampledRows: number;
}

/** Finds out what parts the cells: what makes the most rows alike, and wide. `given` is for types that say it. */
export function findDialect(text: string, given: string | null): CsvDialect {
  const excel = EXCEL.exec(text);
  const named = excel?.[1];
  const body = excel === null ? text : text.slice(excel[0].length);
  const fixed = named !== undefined && /[^\w\s"\\]|\t/.test(named) ? named : given;
  const sample = sampleOf(body);
  const tried = (fixed === null ? DELIMITERS : [fixed]).map((delimiter) => judge(sample, delimiter));
  const best = tried.reduce((first, next) => (next.score > first.score ? next : first));
  // A single column has none; then it does not matter what does not part it.
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

const NUMBER = /^[+-]?[$€£¥]?\s?\d[\d.,' \u00a0]*\s?[%€$]?$/;
const MOMENT = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]\d|$)/;
const CODED = /^(?:https?:\/\/|[^\s@]+@[^\s@]+\.\w+$|true$|false$)/i;
const YEAR = /^(?:19|20)\d{2}$/;
const LOOKED_AT_ROWS = 50;
const NAME_CHARS = 200;

/**
 * Whether the first row has names. Names are different, not empty but for a few, and look like words; years are names too
 * where the cells below them are no years.
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
