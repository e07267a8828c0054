import type { PageResult } from '../../jobs/page-result.ts';

type Cell = string | number | boolean | null | undefined;

/** Each column and where its value comes from; lists of a page become their number, for the list itself take JSON. */
const COLUMNS: Readonly<Record<string, (page: PageResult) => Cell>> = {
  url: (page) => page.url,
  finalUrl: (page) => page.finalUrl,
  statusCode: (page) => page.statusCode,
  contentType: (page) => page.contentType,
  fetchedAt: (page) => page.fetchedAt,
  depth: (page) => page.depth,
  bytes: (page) => page.bytes,
  contentHash: (page) => page.contentHash,
  title: (page) => page.title,
  description: (page) => page.metadata?.description,
  language: (page) => page.metadata?.language,
  canonical: (page) => page.metadata?.canonical,
  robots: (page) => page.metadata?.robots,
  h1: (page) => page.metadata?.headings.find(({ level }) => level === 1)?.text,
  links: (page) => page.links?.length,
  images: (page) => page.metadata?.images.length,
  extractedType: (page) => page.extractedType,
  duplicateOf: (page) => page.duplicateOf,
  errorCode: (page) => page.error?.code,
  errorMessage: (page) => page.error?.message,
};

export interface CsvOptions {
  /** Names of extracted fields, as `extractedCells` gives them: a column each. */
  readonly extracted: readonly string[];
  /** A column with the text of each page. */
  readonly hasText: boolean;
}

/** Deeper objects, and lists of objects, are one cell of JSON. */
const MOST_LEVELS = 4;

/**
 * What was extracted of a page as cells by name: `price`, `offer.seller.name`. Lists of plain values are one cell, with
 * `; ` between them.
 */
export function extractedCells({ extracted }: PageResult): ReadonlyMap<string, Cell> {
  const cells = new Map<string, Cell>();
  const put = (name: string, value: unknown, level: number): void => {
    if (isPlainObject(value) && level < MOST_LEVELS) {
      for (const [key, each] of Object.entries(value))
        put(name === '' ? key : `${name}.${key}`, each, level + 1);
    } else cells.set(name, cellOf(value));
  };
  if (extracted != null) put('', extracted, 0);
  return cells;
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return value as Cell;
  const isList = Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null);
  return isList ? value.join('; ') : JSON.stringify(value);
}

/** RFC 4180: what could be taken for the end of a cell is put into quotes, quotes are doubled, lines end in CRLF. */
function quoted(value: Cell): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const rowOf = (cells: readonly Cell[]) => `${cells.map(quoted).join(',')}\r\n`;

export const csvHead = ({ extracted, hasText }: CsvOptions): string =>
  rowOf([
    ...Object.keys(COLUMNS),
    ...extracted.map((name) => `extracted.${name}`),
    ...(hasText ? ['text'] : []),
  ]);

export function csvRow(page: PageResult, { extracted, hasText }: CsvOptions): string {
  const found = extracted.length === 0 ? null : extractedCells(page);
  return rowOf([
    ...Object.values(COLUMNS).map((read) => read(page)),
    ...extracted.map((name) => found?.get(name)),
    ...(hasText ? [page.text ?? page.markdown] : []),
  ]);
}
