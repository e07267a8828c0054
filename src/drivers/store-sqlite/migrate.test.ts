import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { editedMigrations, RELEASED } from '../store-rows/released-migrations.fixture.ts';
import { SHARED_TABLES, type SqlStep } from '../store-rows/sql-files.ts';
import { openSqliteDatabase, type SqliteDatabase } from './database.ts';
import { migrateSqlite } from './migrate.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';

const NEWEST = SQLITE_MIGRATIONS.length;
/** Migrations as a later version may have them. The first fails when it is applied twice. */
const LATER: SqlStep = { sql: () => "ALTER TABLE jobs ADD COLUMN note TEXT NOT NULL DEFAULT 'none';" };
const FAILING: SqlStep = { sql: () => 'CREATE TABLE half (x INTEGER); SELECT nonsense;' };

function open(path = ':memory:'): SqliteDatabase {
  const database = openSqliteDatabase(path);
  onTestFinished(() => database.close());
  return database;
}

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scrapifie-migrate-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'scrapifie.db');
}

const versionOf = (database: SqliteDatabase) => database.get('PRAGMA user_version')?.user_version;
const schemaOf = (database: SqliteDatabase) =>
  database.all('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name');

describe('migrating a SQLite database', () => {
  it('brings an empty file up to date, and the second time does nothing', () => {
    const database = open();
    expect(migrateSqlite(database)).toEqual({ from: 0, to: NEWEST });
    expect(migrateSqlite(database)).toEqual({ from: NEWEST, to: NEWEST });
    expect(versionOf(database)).toBe(NEWEST);
    expect(database.all('PRAGMA foreign_key_check')).toEqual([]);
    expect(database.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
  });

  it('by two connections at once happens once', () => {
    const path = newPath();
    const [one, other] = [open(path), open(path)];
    expect([migrateSqlite(one).from, migrateSqlite(other).from]).toEqual([0, NEWEST]);
  });

  it('applies a later migration once, and keeps the rows', () => {
    const database = open();
    migrateSqlite(database);
    database.exec(
      `INSERT INTO jobs (id, account_id, kind, status, options, seeds, created_at)
       VALUES ('one', 'default', 'crawl', 'running', '{}', '[]', 7)`,
    );
    const migrations = [...SQLITE_MIGRATIONS, LATER];
    expect(migrateSqlite(database, migrations)).toEqual({ from: NEWEST, to: NEWEST + 1 });
    expect(migrateSqlite(database, migrations)).toEqual({ from: NEWEST + 1, to: NEWEST + 1 });
    expect(database.all('SELECT id, created_at, note FROM jobs')).toEqual([
      { id: 'one', created_at: 7, note: 'none' },
    ]);
  });

  it('leads to the same tables from an earlier version as from an empty file', () => {
    const [empty, migrated] = [open(), open()];
    migrateSqlite(empty, [...SQLITE_MIGRATIONS, LATER]);
    for (let version = 1; version <= NEWEST; version += 1) {
      migrateSqlite(migrated, SQLITE_MIGRATIONS.slice(0, version));
    }
    migrateSqlite(migrated, [...SQLITE_MIGRATIONS, LATER]);
    expect(schemaOf(migrated)).toEqual(schemaOf(empty));
  });

  it('that fails leaves the schema as it was, earlier migrations of the same start included', () => {
    const database = open();
    migrateSqlite(database);
    const before = schemaOf(database);
    expect(() => migrateSqlite(database, [...SQLITE_MIGRATIONS, LATER, FAILING])).toThrow('nonsense');
    expect([versionOf(database), schemaOf(database)]).toEqual([NEWEST, before]);
    expect(migrateSqlite(database, [...SQLITE_MIGRATIONS, LATER])).toEqual({ from: NEWEST, to: NEWEST + 1 });
  });

  it('refuses a file of a newer program and leaves it alone', () => {
    const database = open(newPath());
    migrateSqlite(database, [...SQLITE_MIGRATIONS, LATER]);
    const before = schemaOf(database);
    expect(() => migrateSqlite(database)).toThrow(expect.objectContaining({ code: 'SCHEMA_TOO_NEW' }));
    expect([versionOf(database), schemaOf(database)]).toEqual([NEWEST + 1, before]);
    // Not in the middle of a transaction either: others can write.
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
  });

  it('on a disk that is full happens not at all, and says so', () => {
    const database = open();
    database.exec('PRAGMA max_page_count = 3');
    expect(() => migrateSqlite(database)).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
    expect([versionOf(database), schemaOf(database)]).toEqual([0, []]);
    database.exec('PRAGMA max_page_count = 100000');
    expect(migrateSqlite(database)).toEqual({ from: 0, to: NEWEST });
  });
});

describe('the migrations of SQLite', () => {
  it('that a release has are not edited', () => {
    expect(editedMigrations(SQLITE_MIGRATIONS, RELEASED.sqlite)).toEqual([]);
  });

  it('name every file of the schema once', () => {
    const folder = fileURLToPath(new URL('schema', import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const applied = SQLITE_MIGRATIONS.flatMap(({ files: named = [] }) => named);
    const own = files.filter((name) => name.endsWith('.sql'));
    expect(applied.toSorted()).toEqual([...SHARED_TABLES, ...own].toSorted());
  });
});
