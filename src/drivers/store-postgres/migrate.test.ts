import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { editedMigrations, RELEASED } from '../store-rows/released-migrations.fixture.ts';
import { SHARED_TABLES } from '../store-rows/sql-files.ts';
import { openPostgresDatabase, type PostgresDatabase } from './database.ts';
import { migratePostgres } from './migrate.ts';
import { openSchema } from './open-stores.fixture.ts';
import { type Migration, POSTGRES_MIGRATIONS } from './schema/migrations.ts';

const NEWEST = POSTGRES_MIGRATIONS.length;
/** Migrations as later versions may have them. The first fails when it is applied twice. */
const EXPANDING: Migration = {
  minReader: NEWEST,
  sql: () => "ALTER TABLE jobs ADD COLUMN note text NOT NULL DEFAULT 'none'",
};
const BREAKING: Migration = { minReader: NEWEST + 2, sql: () => 'ALTER TABLE jobs DROP COLUMN note' };
const FAILING: Migration = { minReader: NEWEST, sql: () => 'CREATE TABLE half (x int); SELECT nonsense' };

async function openTwo() {
  const { url } = await openSchema();
  const databases = [url, url].map((each) => openPostgresDatabase({ url: each, poolSize: 2 }));
  onTestFinished(async () => void (await Promise.all(databases.map((database) => database.close()))));
  return databases as [PostgresDatabase, PostgresDatabase];
}

async function open() {
  const [database, other] = await openTwo();
  await other.close();
  return database;
}

describe('migrating', () => {
  it('brings an empty database up to date, and the second time does nothing', async () => {
    const database = await open();
    expect(await migratePostgres(database)).toEqual({ from: 0, to: NEWEST });
    expect(await migratePostgres(database)).toEqual({ from: NEWEST, to: NEWEST });
  });

  it('by several processes at once happens once', async () => {
    const [one, other] = await openTwo();
    const changes = await Promise.all([migratePostgres(one), migratePostgres(other)]);
    expect(changes.map(({ from }) => from).sort()).toEqual([0, NEWEST]);
  });

  it('applies a later migration once, and keeps the rows', async () => {
    const database = await open();
    await migratePostgres(database);
    await database.query(
      `INSERT INTO jobs (id, account_id, kind, status, options, seeds, created_at)
       VALUES ('one', 'default', 'crawl', 'running', '{}', '[]', 7)`,
    );
    const migrations = [...POSTGRES_MIGRATIONS, EXPANDING];
    expect(await migratePostgres(database, migrations)).toEqual({ from: NEWEST, to: NEWEST + 1 });
    expect(await migratePostgres(database, migrations)).toEqual({ from: NEWEST + 1, to: NEWEST + 1 });
    expect(await database.query('SELECT id, created_at, note FROM jobs')).toEqual([
      { id: 'one', created_at: 7, note: 'none' },
    ]);
  });

  it('lets a program run on a schema that was only added to', async () => {
    const database = await open();
    await migratePostgres(database, [...POSTGRES_MIGRATIONS, EXPANDING]);
    expect(await migratePostgres(database)).toEqual({ from: NEWEST + 1, to: NEWEST + 1 });
  });

  it('refuses a schema the program no longer understands and leaves it alone', async () => {
    const database = await open();
    await migratePostgres(database, [...POSTGRES_MIGRATIONS, EXPANDING, BREAKING]);
    await expect(migratePostgres(database)).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
    await expect(migratePostgres(database, [...POSTGRES_MIGRATIONS, EXPANDING])).rejects.toMatchObject({
      code: 'SCHEMA_TOO_NEW',
    });
    expect(await database.query('SELECT max(version) AS version FROM schema_versions')).toEqual([
      { version: NEWEST + 2 },
    ]);
  });

  it('that fails leaves the schema as it was, earlier migrations of the same start included', async () => {
    const database = await open();
    await expect(migratePostgres(database, [...POSTGRES_MIGRATIONS, FAILING])).rejects.toThrow('nonsense');
    expect(await database.query(`SELECT to_regclass('half') AS half, to_regclass('jobs') AS jobs`)).toEqual([
      { half: null, jobs: null },
    ]);
    expect(await migratePostgres(database)).toEqual({ from: 0, to: NEWEST });
  });
});

describe('the migrations of PostgreSQL', () => {
  it('says of every version how old a program may be, never newer than itself', () => {
    for (const [index, { minReader }] of POSTGRES_MIGRATIONS.entries()) {
      expect(minReader).toBeGreaterThan(0);
      expect(minReader).toBeLessThanOrEqual(index + 1);
    }
  });

  it('that a release has are not edited', () => {
    expect(editedMigrations(POSTGRES_MIGRATIONS, RELEASED.postgres)).toEqual([]);
  });

  it('name every file of the schema once', () => {
    const folder = fileURLToPath(new URL('schema', import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const applied = POSTGRES_MIGRATIONS.flatMap(({ files: named = [] }) => named);
    const own = files.filter((name) => name.endsWith('.sql'));
    expect(applied.toSorted()).toEqual([...SHARED_TABLES, ...own].toSorted());
  });
});
