import type { PageRecord } from '../../../core/model/page.ts';
import type { Cell, Column, ColumnType, ExportPage, PageSource, Row, Table } from '../table.ts';

/** What of the page is in none of its results, in sentences; null when everything is. */
export const warningsOf = ({ warnings = [] }: Pick<PageRecord, 'warnings'>): string | null =>
  warnings.length === 0 ? null : warnings.map(({ message }) => message).join(' ');

/** A column of a table of pages, and where its value comes from. */
export interface PageColumn<T> extends Column {
  readonly read: (page: T) => Cell | undefined;
}

/** A batch of rows ends with the first of these, because a cell may hold a whole page. */
const ROWS_AT_ONCE = 500;
const CHARS_AT_ONCE = 1_048_576;

export const column = <T>(
  name: string,
  type: ColumnType,
  read: (page: T) => Cell | undefined,
): PageColumn<T> => ({ name, type, read });

/** A table with one row for each page, or for each of what `rowsOf` makes of a page. */
export function pageTable<T>(
  columns: readonly PageColumn<T>[],
  pages: PageSource,
  rowsOf: (page: ExportPage) => Iterable<T> | Promise<Iterable<T>>,
): Table {
  return {
    columns: columns.map(({ name, type }) => ({ name, type })),
    async *rows() {
      let batch: Row[] = [];
      let chars = 0;
      for await (const page of pages()) {
        for (const each of await rowsOf(page)) {
          const row = columns.map(({ read }) => read(each) ?? null);
          batch.push(row);
          for (const cell of row) chars += typeof cell === 'string' ? cell.length : 0;
          if (batch.length < ROWS_AT_ONCE && chars < CHARS_AT_ONCE) continue;
          yield batch;
          batch = [];
          chars = 0;
        }
      }
      if (batch.length > 0) yield batch;
    },
  };
}

export const isoOf = (at: number): string => new Date(at).toISOString();

/** A text, or null where it is empty or no text. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;
