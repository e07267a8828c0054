import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { auditHash, NO_HASH } from '../../core/model/audit-chain.ts';
import type { JobId } from '../../core/model/ids.ts';
import { DROPPED, type EarlierRow, earlierRows, WITHOUT_ROW } from '../store-rows/earlier-rows.fixture.ts';
import { quoted } from '../store-rows/quoted-name.ts';
import { migrateSqlite, openSqliteDatabase, type SqliteDatabase, type SqliteRow } from './database.ts';
import { SQLITE_MIGRATION_HASHES } from './migration-hashes.fixture.ts';
import { SQLITE_MIGRATIONS } from './migrations.ts';
import { createSqliteStore } from './sqlite-store.ts';

const NEWEST = SQLITE_MIGRATIONS.length;
const EARLIER = Array.from({ length: NEWEST - 1 }, (_, at) => at + 1);
const ENTRY = { at: 5, actor: 'one', action: 'key.create', target: 'k', details: '{"a":1}' };
const ENTRY_HASH = auditHash(NO_HASH, 1, ENTRY, ENTRY.details);

function open(path = ':memory:'): SqliteDatabase {
  const database = openSqliteDatabase(path);
  onTestFinished(() => database.close());
  return database;
}

const tablesOf = (database: SqliteDatabase): string[] =>
  database
    .all(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`)
    .map(({ name }) => String(name));
const columnsOf = (database: SqliteDatabase, table: string): string[] =>
  database.all('SELECT name FROM pragma_table_info(?)', table).map(({ name }) => String(name));
const rowsOf = (database: SqliteDatabase, table: string, columns: readonly string[]): SqliteRow[] =>
  database.all(`SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(table)}`);

function insert(database: SqliteDatabase, table: string, row: EarlierRow): void {
  const columns = columnsOf(database, table).filter((column) => Object.hasOwn(row, column));
  const values = columns.map((column) => {
    const value = row[column] ?? null;
    return typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
      ? JSON.stringify(value)
      : value;
  });
  const places = columns.map(() => '?').join(', ');
  database.run(
    `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) VALUES (${places})`,
    ...values,
  );
}

/** An entry of the audit log as a program of that schema would have written it. */
function appendEntry(database: SqliteDatabase): void {
  if (tablesOf(database).includes('audit')) {
    insert(database, 'audit', ENTRY);
    return;
  }
  insert(database, 'audit_log', { ...ENTRY, seq: 1, previous_hash: NO_HASH, hash: ENTRY_HASH });
  database.run('UPDATE audit_head SET seq = 1, hash = ? WHERE id = 1', ENTRY_HASH);
}

/** A database as a program of that schema left it, with a row in every table. */
function fill(database: SqliteDatabase, version: number): void {
  migrateSqlite(database, version);
  const tables = tablesOf(database);
  for (const [table, row] of earlierRows(version)) if (tables.includes(table)) insert(database, table, row);
  appendEntry(database);
}

describe('migrations', () => {
  it('that are released are not edited', () => {
    const hashes = SQLITE_MIGRATIONS.map((sql) => hash('sha256', sql, 'hex').slice(0, 16));
    // A new migration adds its hash there; one that differs was edited, and databases that have it would stay as they are.
    expect(hashes).toEqual(SQLITE_MIGRATION_HASHES);
  });

  it('have a row for every table in these tests', () => {
    const database = open();
    migrateSqlite(database);
    const filled = new Set(earlierRows(1).map(([table]) => table));
    expect(tablesOf(database).filter((table) => !filled.has(table) && !(table in WITHOUT_ROW))).toEqual([]);
  });

  it.each(EARLIER)('bring schema %i to the newest with every row', (version) => {
    const database = open();
    fill(database, version);
    const before = tablesOf(database).map((table) => {
      const columns = columnsOf(database, table);
      return { table, columns, rows: rowsOf(database, table, columns) };
    });
    expect(migrateSqlite(database)).toEqual({ from: version, to: NEWEST });

    const tables = tablesOf(database);
    for (const { table, columns, rows } of before) {
      if (!tables.includes(table)) expect(DROPPED).toHaveProperty(table);
      else if (table === 'accounts')
        expect(withoutAge(rowsOf(database, table, columns))).toEqual(
          expect.arrayContaining(withoutAge(rows)),
        );
      else expect(rowsOf(database, table, columns), table).toEqual(expect.arrayContaining(rows));
    }
    expect(database.all('SELECT actor, hash FROM audit_log')).toEqual([{ actor: 'one', hash: ENTRY_HASH }]);
    expect(database.all('SELECT seq, hash FROM audit_head')).toEqual([{ seq: 1, hash: ENTRY_HASH }]);
    expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
    expect(database.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
  });

  it('lead to the same tables as an empty file gets', () => {
    const [empty, migrated] = [open(), open()];
    migrateSqlite(empty);
    for (const version of EARLIER) migrateSqlite(migrated, version);
    migrateSqlite(migrated);
    const schema = 'SELECT type, name, sql FROM sqlite_schema ORDER BY type, name';
    expect(migrated.all(schema)).toEqual(empty.all(schema));
  });

  it('leave the first schema readable and ready to be crawled by the store of today', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'scrapifie-earlier-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'scrapifie.db');
    const earlier = openSqliteDatabase(path);
    fill(earlier, 1);
    earlier.close();

    const store = await createSqliteStore({ path });
    onTestFinished(() => store.close());
    expect(await store.migrate()).toEqual({ from: 1, to: NEWEST });
    expect(await store.getJob('job-1' as JobId)).toMatchObject({
      id: 'job-1',
      kind: 'crawl',
      status: 'running',
    });
    expect(await store.findKey('hash-1')).toMatchObject({ id: 'key-1', accountId: 'account-1' });
    const { items } = await store.listPages({ jobId: 'job-1' as JobId, limit: 10 });
    expect(items).toMatchObject([{ title: 'Título', statusCode: 200 }]);
  });
});

/** The default account gets the age of the installation from a migration. */
const withoutAge = (rows: readonly SqliteRow[]) =>
  rows.map((row) => (row.id === 'default' ? { ...row, created_at: 0 } : row));
