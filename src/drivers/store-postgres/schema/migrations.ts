import { fromFiles, SHARED_TABLES, type SqlStep } from '../../store-rows/sql-files.ts';

export interface Migration extends SqlStep {
  /**
   * The oldest program, by the number of migrations it knows, that still works with the schema after this one. A
   * migration that only adds names its predecessor, so that a fleet can be restarted one by one; what programs of
   * that age need is taken away by a later migration.
   */
  readonly minReader: number;
}

/**
 * The schema, one entry per version: the first is the whole schema of version 0.1.0, each later one a change of it, in a file
 * such as `changes/0002-what-it-does.sql`. An entry that a release has is never edited. Functions belong to the schema: one
 * that is to behave otherwise gets a new name, because programs of the last version go on calling the old.
 *
 * Tables come before functions, and those that refer to others after these. Many functions switch off plans that read whole
 * tables: they find everything by its index, which the planner does not know while a young table is small, and the connection
 * would keep such a plan when the table has grown.
 */
export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  {
    minReader: 1,
    ...fromFiles(import.meta.url, [
      ...SHARED_TABLES,
      'tables/frontier.sql',
      'tables/pages.sql',
      'tables/audit.sql',
      'tables/events.sql',
      'tables/search.sql',
      'tables/fleet.sql',
      'functions/incarnation.sql',
      'functions/events.sql',
      'functions/readers.sql',
      'functions/audit.sql',
      'functions/job-life.sql',
      'functions/credits.sql',
      'functions/usage.sql',
      'functions/frontier.sql',
      'functions/create-job.sql',
      'functions/turns.sql',
      'functions/claims.sql',
      'functions/acquire-host.sql',
      'functions/claim-tasks.sql',
      'functions/release-host.sql',
      'functions/deny-hosts.sql',
      'functions/reserve-url.sql',
      'functions/commit-batch.sql',
      'functions/snapshots.sql',
    ]),
  },
  { minReader: 1, ...fromFiles(import.meta.url, ['changes/0002-robots-failures.sql']) },
];
