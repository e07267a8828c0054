import type { PageFormat, TableFormat } from '../../core/model/export-registry.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';

/**
 * Rows of an export, and what writers need to know of them. A source gives a table, or pages; a writer turns one of them
 * into the bytes of a file.
 */

/** `timestamp`: ISO 8601. `json`: a JSON text. Null stands for a value that there is not, in every type. */
export type ColumnType = 'string' | 'integer' | 'number' | 'boolean' | 'timestamp' | 'json';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** A number in columns of type `number` and `integer`, a boolean in `boolean` ones, else a text. */
export type Cell = string | number | boolean | null;

/** As many cells as the table has columns, in their order. */
export type Row = readonly Cell[];

export interface Table {
  readonly columns: readonly Column[];
  /** In batches of a bounded size, in an order that does not depend on when pages were fetched. */
  rows(): AsyncIterable<readonly Row[]>;
  /** The rows as JSON objects, for tables whose rows nest deeper than cells; left out: objects of the columns. */
  objects?(): AsyncIterable<readonly string[]>;
}

/** The bytes of a file, each chunk asked for when the one before was taken. */
export type FileBytes = AsyncIterable<Uint8Array>;

/** Writes a table. `onRows` is called with the number of rows that have been taken. */
export type TableWriter = (table: Table, options: TableOptions) => FileBytes;

/** The tables that a file of `writers/` writes. */
export type TableWriters = Readonly<Partial<Record<TableFormat, TableWriter>>>;

export interface TableOptions {
  readonly onRows: (rows: number) => void;
  /** A name for what the file holds, as in the tab of a sheet. */
  readonly title: string;
  /** The file may become larger than 4 GB. */
  readonly isLarge: boolean;
  /** CSV: begins with a byte order mark. */
  readonly excel: boolean;
}

/** A stored page with everything that belongs to it, as writers of whole pages get it. */
export interface ExportPage {
  readonly page: Page;
  readonly record: PageRecord;
  /** The body as it is stored; null when there is none, or it was deleted. */
  body(): Promise<Uint8Array | null>;
  /** Bytes that the record names by their hash; null when they were deleted. */
  blob(hash: ContentHash): Promise<Uint8Array | null>;
}

/**
 * Pages in the order of their URLs, read one after the other each time they are asked for. A page is not kept once the
 * next one was taken.
 */
export type PageSource = () => AsyncIterable<ExportPage>;

/** Turns the pages of a job into the bytes of a file. */
export type PageWriter = (pages: PageSource, options: PageWriterOptions) => FileBytes;

/** The formats of pages that a file of `writers/` writes. */
export type PageWriters = Readonly<Partial<Record<PageFormat, PageWriter>>>;

export interface PageWriterOptions {
  readonly job: Job;
  readonly onRows: (rows: number) => void;
  /** When the export was asked for, by the store's clock. */
  readonly createdAt: number;
}
