import { fromFiles, type SqlStep } from '../../store-rows/sql-files.ts';

/**
 * The schema, one entry per version: the first is the whole schema of version 0.1.0, each later one a change of it, in a file
 * such as `changes/0002-what-it-does.sql`. An entry that a release has is never edited. Kept to SQL that PostgreSQL
 * understands with other type names, except where SQLite's own features earn their place.
 *
 * Files that refer to tables of other files come after these.
 */
export const SQLITE_MIGRATIONS: readonly SqlStep[] = [
  fromFiles(import.meta.url, [
    'accounts.sql',
    'jobs.sql',
    'frontier.sql',
    'pages.sql',
    'sites.sql',
    'sessions.sql',
    'answers.sql',
    'audit.sql',
    'events.sql',
    'credits.sql',
    'schedules.sql',
    'monitors.sql',
    'webhooks.sql',
    'exports.sql',
    'snapshots.sql',
    'lake.sql',
    'work.sql',
  ]),
  fromFiles(import.meta.url, ['changes/0002-robots-failures.sql']),
];
