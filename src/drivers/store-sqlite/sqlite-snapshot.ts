import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { PortableRow, PortableValue, StoreSnapshot, TableShape } from '../../core/ports/store-copy.ts';
import { isCopied, isCopiedColumn, quoted } from '../store-rows/copied-tables.ts';
import { referenceStore } from '../store-sql/references.ts';
import { openSqliteDatabase, type SqliteDatabase, type SqliteRow } from './database.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';
import { sqliteMethods } from './sql-methods.ts';

const ROWS_AT_ONCE = 500;
const PAGES_AT_ONCE = 500;
const BYTES_AT_ONCE = 4_194_304;

const sizeOf = (value: PortableValue): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;

export interface SqliteSnapshotOptions {
  readonly path: string;
  /** How many migrations this program has for PostgreSQL. */
  readonly postgresSchema: number;
  /** Nothing may be written by others until the snapshot is closed. */
  readonly isExclusive: boolean;
}

/**
 * A read transaction on a connection of its own. Other processes go on reading and writing; what they write meanwhile
 * stays in the log of the database until the snapshot is closed.
 */
export async function openSqliteSnapshot(options: SqliteSnapshotOptions): Promise<StoreSnapshot> {
  const database = openSqliteDatabase(options.path);
  let isOpen = true;
  try {
    database.exec(options.isExclusive ? 'BEGIN IMMEDIATE' : 'BEGIN');
    const version = Number(database.get('PRAGMA user_version')?.user_version ?? 0);
    if (version !== SQLITE_MIGRATIONS.length) {
      throw new ScrapifieError(
        'SCHEMA_TOO_NEW',
        `The database ${options.path} has schema ${version}, this program has ${SQLITE_MIGRATIONS.length}. Use the program that works there.`,
      );
    }
    const tables = sqliteTables(database);
    return {
      schema: { sqlite: version, postgres: options.postgresSchema },
      tables,
      rows(name) {
        const table = tables.find((each) => each.name === name);
        if (table === undefined) throw new Error(`The snapshot has no table ${name}.`);
        return sqliteRows(database, table);
      },
      references: () => sqliteReferences(database),
      async close() {
        if (isOpen) database.close();
        isOpen = false;
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A table of the schema with what a copy needs to know of its columns. */
export interface SqliteTable extends TableShape {
  /** The declared type of each column, in capitals. */
  readonly types: ReadonlyMap<string, string>;
}

/** Every table that a copy has, by the schema. */
export function sqliteTables(database: SqliteDatabase): SqliteTable[] {
  const names = database
    .all(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .map(({ name }) => String(name));
  return names.filter(isCopied).map((name) => {
    const columns = database
      .all('SELECT name, type, pk FROM pragma_table_info(?) ORDER BY name', name)
      .filter((column) => isCopiedColumn(name, String(column.name)));
    return {
      name,
      columns: columns.map((column) => String(column.name)),
      types: new Map(columns.map((column) => [String(column.name), String(column.type).toUpperCase()])),
      lastNumber: lastNumberOf(database, name, columns),
    };
  });
}

/** Rows are numbered where the primary key is one whole number: SQLite gives these out by itself. */
function lastNumberOf(database: SqliteDatabase, table: string, columns: readonly SqliteRow[]): number | null {
  const key = columns.filter(({ pk }) => Number(pk) > 0);
  const [only] = key;
  if (key.length !== 1 || only === undefined || String(only.type).toUpperCase() !== 'INTEGER') return null;
  const row = database.get(`SELECT max(${quoted(String(only.name))}) AS last FROM ${quoted(table)}`);
  const kept = hasSequences(database)
    ? database.get('SELECT seq FROM sqlite_sequence WHERE name = ?', table)
    : undefined;
  return Math.max(Number(row?.last ?? 0), Number(kept?.seq ?? 0));
}

/** The table is made with the first table that has numbers of its own. */
export function hasSequences(database: SqliteDatabase): boolean {
  return database.get(`SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'`) !== undefined;
}

export async function* sqliteRows(
  database: SqliteDatabase,
  { name, columns }: TableShape,
): AsyncGenerator<readonly PortableRow[]> {
  let batch: PortableRow[] = [];
  let bytes = 0;
  const list = columns.map(quoted).join(', ');
  for (const row of database.each(`SELECT ${list} FROM ${quoted(name)}`)) {
    const values = columns.map((column) => portable(row[column]));
    bytes += values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
    batch.push(values);
    if (batch.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function portable(value: unknown): PortableValue {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'bigint') return value as PortableValue;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Every blob that the rows refer to, by the code that also says which bodies must not be removed. */
export async function* sqliteReferences(database: SqliteDatabase): AsyncGenerator<readonly ContentHash[]> {
  const references = sqliteMethods(referenceStore, database, () => 0);
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = references.listReferences({ limit: PAGES_AT_ONCE, cursor });
    yield items;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}
