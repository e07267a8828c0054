import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresDatabase } from './database.ts';
import { migratePostgres } from './migrate.ts';
import { openSchema } from './open-stores.fixture.ts';
import { type Migration, POSTGRES_MIGRATIONS } from './schema/migrations.ts';
import { PRIVATE_SEARCH } from './schema/private-search.ts';

const NEWEST = POSTGRES_MIGRATIONS.length;
const EXPANDING: Migration = { minReader: NEWEST, sql: 'ALTER TABLE probe ADD COLUMN note text' };
const BREAKING: Migration = { minReader: NEWEST + 2, sql: 'ALTER TABLE probe DROP COLUMN note' };
const FAILING: Migration = { minReader: NEWEST, sql: 'CREATE TABLE half (x int); SELECT nonsense' };

async function open() {
  const schema = await openSchema();
  const database = openPostgresDatabase({ url: schema.url, poolSize: 2 });
  onTestFinished(() => database.close());
  return database;
}

describe('migrating', () => {
  it('brings an empty database up to date, and the second time does nothing', async () => {
    const database = await open();
    expect(await migratePostgres(database)).toEqual({ from: 0, to: NEWEST });
    expect(await migratePostgres(database)).toEqual({ from: NEWEST, to: NEWEST });
  });

  it('applies what is missing only', async () => {
    const database = await open();
    await migratePostgres(database);
    expect(await migratePostgres(database, [...POSTGRES_MIGRATIONS, EXPANDING])).toEqual({
      from: NEWEST,
      to: NEWEST + 1,
    });
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

  it('that fails happened not at all', async () => {
    const database = await open();
    await expect(migratePostgres(database, [...POSTGRES_MIGRATIONS, FAILING])).rejects.toThrow('nonsense');
    expect(await database.query(`SELECT to_regclass('half') AS half, to_regclass('jobs') AS jobs`)).toEqual([
      { half: null, jobs: null },
    ]);
    expect(await migratePostgres(database)).toEqual({ from: 0, to: NEWEST });
  });

  it('gives private pages of the full-text index entries of their own', async () => {
    const database = await open();
    const before = POSTGRES_MIGRATIONS.findIndex(({ sql }) => sql === PRIVATE_SEARCH);
    await migratePostgres(database, POSTGRES_MIGRATIONS.slice(0, before));
    await database.query(`
      INSERT INTO accounts (id, name, created_at) VALUES ('one', 'One', 1) ON CONFLICT DO NOTHING;
      INSERT INTO jobs (id, account_id, kind, status, seeds, created_at, options) VALUES
        ('open', 'one', 'crawl', 'completed', '[]', 1, '{"credentials": "read", "page": {"session": null}}'),
        ('secret', 'one', 'crawl', 'completed', '[]', 1, '{"credentials": "read", "page": {"session": "mine"}}');
      INSERT INTO search_entries (account_id, url_key, host, job_id, page_seq, fetched_at, words_hash, build, words)
      VALUES ('one', 'a', 'a.test', 'open', 1, 1, '', 1, ''), ('one', 'b', 'a.test', 'secret', 2, 1, '', 1, '')`);
    await migratePostgres(database);
    const entries = 'SELECT url_key, is_private FROM search_entries ORDER BY page_seq';
    expect(await database.query(entries)).toEqual([
      { url_key: 'a', is_private: 0 },
      { url_key: 'b!', is_private: 1 },
    ]);
  });

  it('says of every version how old a program may be, never newer than itself', () => {
    for (const [index, { minReader }] of POSTGRES_MIGRATIONS.entries()) {
      expect(minReader).toBeGreaterThan(0);
      expect(minReader).toBeLessThanOrEqual(index + 1);
    }
  });
});
