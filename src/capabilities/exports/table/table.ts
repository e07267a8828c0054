import type { TableFormat } from '../../../core/model/export-registry.ts';

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
