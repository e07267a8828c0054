import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { inSqlite, SHARED_TABLES } from './sql-files.ts';

it('tables that both databases have are applied by SQLite, with its own types', () => {
  const database = new DatabaseSync(':memory:');
  for (const file of SHARED_TABLES) database.exec(inSqlite(readFileSync(new URL(file), 'utf8')));
  const columns = database
    .prepare(`SELECT DISTINCT c.type FROM sqlite_schema m JOIN pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.name <> 'sqlite_sequence' ORDER BY 1`)
    .all();
  expect(columns.map(({ type }) => type)).toEqual(['BLOB', 'INTEGER', 'REAL', 'TEXT']);
});

it('every file of tables that both databases have is named', () => {
  const folder = new URL('../store-sql/schema/', import.meta.url);
  const files = readdirSync(folder).map((name) => new URL(name, folder).href);
  expect(SHARED_TABLES.toSorted()).toEqual(files.toSorted());
});

it('leaves comments as they are, and what SQLite has no word for out', () => {
  const table = `-- text of a "C"
CREATE TABLE a (
  -- a bigint
  x text COLLATE "C" NOT NULL, -- of bytea
  y jsonb
) WITH (fillfactor = 50);
ALTER TABLE a ALTER COLUMN x SET STORAGE EXTERNAL;
`;
  expect(inSqlite(table)).toBe(`-- text of a "C"
CREATE TABLE a (
  -- a bigint
  x TEXT NOT NULL, -- of bytea
  y TEXT
);

`);
});
