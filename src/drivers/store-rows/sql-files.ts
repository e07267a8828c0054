import { readFileSync } from 'node:fs';

/** One step of a schema. Its statements are read when it is applied, so that a program that finds them applied reads none. */
export interface SqlStep {
  /** The files that have the statements, relative to the module that names them. */
  readonly files?: readonly string[];
  readonly sql: () => string;
}

/** A step that is written in files, which are applied in this order. `module` is the `import.meta.url` of the caller. */
export const fromFiles = (module: string, files: readonly string[]): SqlStep => ({
  files,
  sql: () => files.map((file) => readFileSync(new URL(file, module), 'utf8')).join('\n'),
});

/**
 * What PostgreSQL and SQLite write differently in the tables that both have. SQLite has no storage parameters, and orders all
 * text by its bytes. The rules belong to the schema: once a release has it, they are never edited.
 */
const IN_SQLITE: readonly (readonly [RegExp, string])[] = [
  [/ GENERATED (?:ALWAYS|BY DEFAULT) AS IDENTITY PRIMARY KEY/g, ' PRIMARY KEY AUTOINCREMENT'],
  [/ COLLATE "C"/g, ''],
  [
    /\(extract\(epoch FROM clock_timestamp\(\)\) \* 1000\)::bigint/g,
    "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  ],
  [/\b(?:bigint|integer|smallint|boolean)\b/g, 'INTEGER'],
  [/\bDEFAULT false\b/g, 'DEFAULT 0'],
  [/\b(?:text|jsonb)\b/g, 'TEXT'],
  [/\bbytea\b/g, 'BLOB'],
  [/\bdouble precision\b/g, 'REAL'],
  [/\) WITH \(fillfactor = \d+\);/g, ');'],
  [/^ALTER TABLE .* SET STORAGE EXTERNAL;$/g, ''],
  [/\b(\w+) \? '(\w+)'/g, "json_extract($1, '$.$2') IS NOT NULL"],
  [/\/\* WITHOUT ROWID in SQLite \*\//g, 'WITHOUT ROWID'],
];

/** Tables that are written for PostgreSQL, for SQLite. Comments stay as they are. */
export const inSqlite = (sql: string): string =>
  sql.replaceAll(/^(?:(?!--).)+/gm, (code) =>
    IN_SQLITE.reduce((text, [form, own]) => text.replaceAll(form, own), code),
  );

const shared = (name: string) => new URL(`../store-sql/schema/${name}.sql`, import.meta.url).href;

/** Tables that both databases have, in an order in which references find the tables that they refer to. */
export const SHARED_TABLES: readonly string[] = [
  'accounts',
  'jobs',
  'sites',
  'sessions',
  'answers',
  'credits',
  'schedules',
  'webhooks',
  'exports',
  'snapshots',
  'work',
].map(shared);
