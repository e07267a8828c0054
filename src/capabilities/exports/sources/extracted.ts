import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Job } from '../../../core/model/job.ts';
import type { Blobs } from '../../../core/ports/blobs.ts';
import { pageOptionsFor } from '../../../crawl/frontier/routes.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { readPageResult } from '../../jobs/results/page-result.ts';
import type { Cell, ColumnType, ExportPage, PageSource, Table } from '../table.ts';
import { column, h1Of, type PageColumn, pageTable, warningsOf } from './page-tables.ts';

/** Pages of unlike kinds have unlike fields; a table cannot have any number of columns. */
const MOST_COLUMNS = 1_000;
/** Deeper objects, and lists of objects, are one cell of JSON. */
const MOST_LEVELS = 4;

interface RecordPage extends ExportPage {
  readonly fields: ReadonlyMap<string, Cell>;
}

type Fields = ReadonlyMap<string, ColumnType>;

/**
 * What was extracted of a page as cells by name: `price`, `offer.seller.name`. Lists of plain values are one cell, with
 * `; ` between them.
 */
export function extractedCells(
  extracted: Readonly<Record<string, unknown>> | null | undefined,
): ReadonlyMap<string, Cell> {
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

const typeOf = (value: Cell): ColumnType | null => {
  if (value === null) return null;
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'string';
};

/** The names of all extracted fields, in the order in which pages bring them. A field of several types is a text. */
async function fieldsOf(pages: PageSource): Promise<Fields> {
  const fields = new Map<string, ColumnType | null>();
  for await (const { record } of pages()) {
    for (const [name, value] of extractedCells(record.extracted)) {
      const [known, type] = [fields.get(name) ?? null, typeOf(value)];
      fields.set(name, known === null || type === null || known === type ? (known ?? type) : 'string');
    }
    if (fields.size > MOST_COLUMNS) {
      throw new ScrapifieError(
        'UNSUPPORTED_OPTION',
        `More than ${MOST_COLUMNS} fields were extracted, too many for columns. Take the format ndjson.`,
      );
    }
  }
  return new Map([...fields].map(([name, type]) => [name, type ?? 'string']));
}

const fieldColumns = (fields: Fields, prefix: string): PageColumn<RecordPage>[] =>
  [...fields].map(([name, type]) =>
    column(prefix + name, type, ({ fields: found }: RecordPage) => {
      const value = found.get(name) ?? null;
      return type === 'string' && value !== null ? String(value) : value;
    }),
  );

const recordPage = (page: ExportPage): RecordPage => ({
  ...page,
  fields: extractedCells(page.record.extracted),
});

/** Named so that a field of the record, such as `url`, is another column. */
const RECORD_COLUMNS = [
  column<RecordPage>('page_url', 'string', ({ page }) => page.url),
  column<RecordPage>('page_fetched_at', 'timestamp', ({ page }) => isoTime(page.fetchedAt)),
  column<RecordPage>('page_type', 'string', ({ record }) => record.extractedType),
];

/** One row for each page that something was extracted from. The pages are read once more for the names of the fields. */
export async function recordsTable(pages: PageSource): Promise<Table> {
  const columns = [...RECORD_COLUMNS, ...fieldColumns(await fieldsOf(pages), '')];
  const table = pageTable(columns, pages, (page) =>
    page.record.extracted == null ? [] : [recordPage(page)],
  );
  return {
    ...table,
    async *objects() {
      for await (const { page, record } of pages()) {
        if (record.extracted == null) continue;
        const { extracted, extractedType = null } = record;
        const about = {
          page_url: page.url,
          page_fetched_at: isoTime(page.fetchedAt),
          page_type: extractedType,
        };
        yield [JSON.stringify({ ...about, ...extracted })];
      }
    },
  };
}

const RESULT_COLUMNS = [
  column<RecordPage>('url', 'string', ({ page }) => page.url),
  column<RecordPage>('finalUrl', 'string', ({ page }) => page.finalUrl),
  column<RecordPage>('statusCode', 'integer', ({ page }) => page.statusCode),
  column<RecordPage>('contentType', 'string', ({ page }) => page.contentType),
  column<RecordPage>('fetchedAt', 'timestamp', ({ page }) => isoTime(page.fetchedAt)),
  column<RecordPage>('depth', 'integer', ({ page }) => page.depth),
  column<RecordPage>('bytes', 'integer', ({ page }) => page.bytes),
  column<RecordPage>('contentHash', 'string', ({ page }) => page.contentHash),
  column<RecordPage>('title', 'string', ({ page }) => page.title),
  column<RecordPage>('description', 'string', ({ record }) => record.metadata?.description),
  column<RecordPage>('language', 'string', ({ record }) => record.metadata?.language),
  column<RecordPage>('canonical', 'string', ({ record }) => record.metadata?.canonical),
  column<RecordPage>('robots', 'string', ({ record }) => record.metadata?.robots),
  column<RecordPage>('h1', 'string', h1Of),
  column<RecordPage>('links', 'integer', ({ record }) => record.links.length),
  column<RecordPage>('images', 'integer', ({ record }) => record.metadata?.images.length),
  column<RecordPage>('extractedType', 'string', ({ record }) => record.extractedType),
  column<RecordPage>('duplicateOf', 'string', ({ page }) => page.duplicateOf),
  column<RecordPage>('errorCode', 'string', ({ page }) => page.errorCode),
  column<RecordPage>('errorMessage', 'string', ({ page }) => page.errorMessage),
];
const TEXT_COLUMN = column<RecordPage>('text', 'string', ({ record }) => record.text ?? record.markdown);

export interface ResultOptions {
  readonly job: Job;
  readonly blobs: Blobs;
  /** The URL as it was submitted, by the URL of the page. */
  readonly sourceOf: (url: string) => string;
  readonly hasText: boolean;
  /** False for formats of objects, which need no columns: the pages are read once. */
  readonly hasColumns: boolean;
}

/** The pages as the API shows them; in a table, lists of a page become their number. */
export async function resultsTable(pages: PageSource, options: ResultOptions): Promise<Table> {
  const { job, blobs, sourceOf, hasText, hasColumns } = options;
  const hasFields = hasColumns && job.options.page.extract != null;
  const fields = hasFields ? await fieldsOf(pages) : new Map<string, ColumnType>();
  const columns = [
    ...RESULT_COLUMNS,
    ...fieldColumns(fields, 'extracted.'),
    column<RecordPage>('warnings', 'string', ({ record }) => warningsOf(record)),
    ...(hasText ? [TEXT_COLUMN] : []),
  ];
  return {
    ...pageTable(columns, pages, (page) => [recordPage(page)]),
    async *objects() {
      for await (const { page } of pages()) {
        const result = await readPageResult(page, job.id, pageOptionsFor(job.options, page.url), blobs);
        yield [JSON.stringify({ ...result, sourceUrl: sourceOf(page.url) })];
      }
    },
  };
}
