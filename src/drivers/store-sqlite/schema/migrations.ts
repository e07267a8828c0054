import { fromFiles, inSqlite, SHARED_TABLES, type SqlStep } from '../../store-rows/sql-files.ts';

/** Tables that are tuned for SQLite, and triggers. */
const OWN_FILES = ['frontier.sql', 'pages.sql', 'audit.sql', 'events.sql', 'triggers.sql'];
const SHARED = fromFiles(import.meta.url, SHARED_TABLES);
const OWN = fromFiles(import.meta.url, OWN_FILES);

/**
 * The schema, one entry per version: the first is the whole schema of version 0.1.0, each later one a change of it, in a file
 * such as `changes/0002-what-it-does.sql`. An entry that a release has is never edited.
 *
 * Files that refer to tables of other files come after these.
 */
export const SQLITE_MIGRATIONS: readonly SqlStep[] = [
  { files: [...SHARED_TABLES, ...OWN_FILES], sql: () => `${inSqlite(SHARED.sql())}\n${OWN.sql()}` },
  fromFiles(import.meta.url, ['changes/0002-robots-failures.sql']),
];
