import type { ContentHash } from '../model/ids.ts';

/**
 * A value as every store can keep it: whole numbers and fractions (`bigint` beyond 2^53), text, bytes. Booleans are 0 and
 * 1, points of time are epoch milliseconds, and JSON and lists are the text of JSON.
 */
export type PortableValue = null | number | bigint | string | Uint8Array;

/** In the order of the columns of its table. */
export type PortableRow = readonly PortableValue[];

export interface TableShape {
  readonly name: string;
  /** Names of the columns, in alphabetical order. */
  readonly columns: readonly string[];
  /** The largest number that the table has given to a row by itself; null where it gives none. */
  readonly lastNumber: number | null;
}

/** How many migrations of each store the program knew that wrote the rows: what their tables and columns mean. */
export interface SchemaVersions {
  readonly sqlite: number;
  readonly postgres: number;
}

/**
 * The rows of a store at one moment, however long they are read and whatever is written meanwhile. Tables that are
 * derived or belong to running processes are left out; see drivers/store-rows/copied-tables.ts.
 */
export interface StoreSnapshot {
  readonly schema: SchemaVersions;
  readonly tables: readonly TableShape[];
  /** In batches of a bounded size, in no order. */
  rows(table: string): AsyncIterable<readonly PortableRow[]>;
  /** Every blob that the rows refer to, some of them more than once. */
  references(): AsyncIterable<readonly ContentHash[]>;
  /** Ends the snapshot; closing twice is no error. */
  close(): Promise<void>;
}

/**
 * An empty store that is being filled. Nothing of it can be seen by others before `publish`; a process that dies before
 * leaves the store as empty as it was.
 */
export interface StoreDraft {
  readonly tables: readonly TableShape[];
  /** Throws BACKUP_DAMAGED for a table, a column or a type of value that the store does not have. */
  add(table: string, columns: readonly string[], rows: readonly PortableRow[]): Promise<void>;
  /** What was added so far, as the store will give it back. */
  rows(table: string): AsyncIterable<readonly PortableRow[]>;
  /** Every blob that the added rows refer to, some of them more than once. */
  references(): AsyncIterable<readonly ContentHash[]>;
  /**
   * Checks that every reference between tables is right, lets numbers go on after the largest one given out, and makes
   * the whole visible at once. Throws BACKUP_DAMAGED, and then nothing is visible.
   */
  publish(lastNumbers: ReadonlyMap<string, number>): Promise<void>;
  /** Forgets what was added. No error after `publish`. */
  discard(): Promise<void>;
}
