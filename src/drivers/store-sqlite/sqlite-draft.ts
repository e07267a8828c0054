import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PortableRow, PortableValue, SchemaVersions, StoreDraft } from '../../core/ports/store-copy.ts';
import { quoted } from '../store-rows/copied-tables.ts';
import { openSqliteDatabase, type SqliteDatabase } from './database.ts';
import { migrateSqlite } from './migrate.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';
import {
  hasSequences,
  type SqliteTable,
  sqliteReferences,
  sqliteRows,
  sqliteTables,
} from './sqlite-snapshot.ts';

/** Beside the database: it takes its name when it is complete. */
export const DRAFT_SUFFIX = '.draft';

/**
 * A database file under another name, which is renamed when it is complete and on the disk. One that an earlier process
 * has left is begun anew.
 */
export async function openSqliteDraft(path: string, schema: SchemaVersions): Promise<StoreDraft> {
  if (schema.sqlite > SQLITE_MIGRATIONS.length) {
    throw new ScrapifieError(
      'SCHEMA_TOO_NEW',
      `The rows have schema ${schema.sqlite}, this program knows ${SQLITE_MIGRATIONS.length}. Upgrade Scrapifie.`,
    );
  }
  if (existsSync(path)) throw new ScrapifieError('PLACE_NOT_EMPTY', `There is a database ${path} already.`);
  const draft = `${path}${DRAFT_SUFFIX}`;
  const removeDraft = () => {
    for (const file of ['', '-journal', '-wal', '-shm'].map((end) => draft + end))
      rmSync(file, { force: true });
  };
  removeDraft();
  const database = openSqliteDatabase(draft);
  let isOpen = true;
  const close = () => {
    if (isOpen) database.close();
    isOpen = false;
  };
  try {
    migrateSqlite(database, SQLITE_MIGRATIONS.slice(0, schema.sqlite));
    // Rows come in the order of the other store: references are checked when all are there.
    database.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN IMMEDIATE');
    const triggers = dropTriggers(database);
    const tables = sqliteTables(database);
    // What the migrations have written comes again with the rows.
    for (const { name } of tables) database.exec(`DELETE FROM ${quoted(name)}`);
    const tableOf = (name: string): SqliteTable => {
      const table = tables.find((each) => each.name === name);
      if (table === undefined) throw damaged(`this program has no table ${name}`);
      return table;
    };
    return {
      tables,
      async add(name, columns, rows) {
        const table = tableOf(name);
        const checks = columns.map((column) => checkOf(table, column));
        const places = columns.map(() => '?').join(', ');
        const sql = `INSERT INTO ${quoted(name)} (${columns.map(quoted).join(', ')}) VALUES (${places})`;
        for (const row of rows) insert(database, sql, row, checks, name);
      },
      rows: (name) => sqliteRows(database, tableOf(name)),
      references: () => sqliteReferences(database),
      async publish(lastNumbers) {
        const wrong = database.get('SELECT * FROM pragma_foreign_key_check LIMIT 1');
        if (wrong !== undefined) {
          throw damaged(
            `a row of ${String(wrong.table)} refers to a row of ${String(wrong.parent)} that is missing`,
          );
        }
        continueNumbers(database, tables, lastNumbers);
        for (const trigger of triggers) database.exec(trigger);
        database.exec('COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
        close();
        syncFile(draft);
        renameSync(draft, path);
        syncFile(dirname(path));
      },
      async discard() {
        close();
        removeDraft();
      },
    };
  } catch (error) {
    close();
    removeDraft();
    throw error;
  }
}

/** How many rows each table has in a new store: those that the migrations write. */
export function seededRows(): ReadonlyMap<string, number> {
  const database = openSqliteDatabase(':memory:');
  try {
    migrateSqlite(database);
    return new Map(
      sqliteTables(database).map(({ name }) => [
        name,
        Number(database.get(`SELECT count(*) AS rows FROM ${quoted(name)}`)?.rows),
      ]),
    );
  } finally {
    database.close();
  }
}

/** Triggers are for what happens in a store; these rows have happened in another one. Returns how to make them again. */
function dropTriggers(database: SqliteDatabase): readonly string[] {
  const triggers = database.all(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid`);
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${quoted(String(name))}`);
  return triggers.map(({ sql }) => String(sql));
}

type Check = (value: PortableValue) => boolean;

/** SQLite keeps any value in any column; the program expects those of the declared type. */
const CHECKS: Readonly<Record<string, Check>> = {
  INTEGER: (value) => typeof value === 'bigint' || Number.isSafeInteger(value),
  REAL: (value) => typeof value === 'number',
  TEXT: (value) => typeof value === 'string',
  BLOB: (value) => value instanceof Uint8Array,
};

function checkOf({ name, types }: SqliteTable, column: string): Check {
  const type = types.get(column);
  if (type === undefined) throw damaged(`the table ${name} of this program has no column ${column}`);
  const check = CHECKS[type];
  if (check === undefined)
    throw new Error(`The column ${name}.${column} has the type ${type}, which no copy knows.`);
  return check;
}

function insert(
  database: SqliteDatabase,
  sql: string,
  row: PortableRow,
  checks: readonly Check[],
  table: string,
): void {
  if (
    row.length !== checks.length ||
    row.some((value, at) => value !== null && checks[at]?.(value) !== true)
  ) {
    throw damaged(`a row of ${table} has a value of a wrong type`);
  }
  try {
    database.run(sql, ...row);
  } catch (error) {
    if ((error as { code?: string }).code !== 'UNSTORABLE') throw error;
    throw damaged(`a row of ${table} is against the rules of the table`, error);
  }
}

/** SQLite counts on from the largest row by itself, and from `sqlite_sequence` where rows may have been deleted since. */
function continueNumbers(
  database: SqliteDatabase,
  tables: readonly SqliteTable[],
  lastNumbers: ReadonlyMap<string, number>,
): void {
  if (!hasSequences(database)) return;
  for (const { name } of tables) {
    const last = lastNumbers.get(name);
    if (last === undefined) continue;
    const isNumbered = database.get(
      `SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'`,
      name,
    );
    if (isNumbered === undefined) continue;
    const [row] = database.all('SELECT seq FROM sqlite_sequence WHERE name = ?', name);
    database.run('DELETE FROM sqlite_sequence WHERE name = ?', name);
    database.run(
      'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)',
      name,
      Math.max(last, Number(row?.seq ?? 0)),
    );
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const damaged = (why: string, cause?: unknown): ScrapifieError =>
  new ScrapifieError('BACKUP_DAMAGED', `The rows cannot be restored: ${why}.`, { cause });
