/**
 * Tables that a copy of a store leaves out, and why. Every other table is copied, found by looking at the schema: a new
 * table needs an entry here only when its rows mean nothing in another store.
 */
export const DERIVED_TABLES: Readonly<Record<string, string>> = {
  work_leases: 'names processes of the former store; none of them works on the copy',
  probe: 'written by the health check',
  commits: 'answers to commits of processes that were connected to the former store',
  incarnation: 'names one run of one server; a copy is another',
  schema_versions: 'written by the migrations of the copy',
  spilled_blobs: 'bodies, which are copied as such',
  transit_blobs: 'bytes between two processes of the former store',
  search_entries: 'the full-text index, which `scrapifie search rebuild` makes anew',
  search_builds: 'counts rebuilds of the full-text index',
  lake_files: 'the lake is built again from pages, by "scrapifie lake rebuild"',
  lake_file_jobs: 'of lake_files',
  lake_resumed_jobs: 'of lake_files',
  lake_versions: 'of lake_files',
  sign_ins: 'browsers sign in again',
  sign_in_links: 'a link is for the server that printed it',
  exports: 'their files are not copied, and are written again from the pages on request',
};

/** Columns that a copy leaves out, as `table.column`, and why. */
export const DERIVED_COLUMNS: Readonly<Record<string, string>> = {};

export const isCopied = (table: string): boolean => !Object.hasOwn(DERIVED_TABLES, table);

export const isCopiedColumn = (table: string, column: string): boolean =>
  !Object.hasOwn(DERIVED_COLUMNS, `${table}.${column}`);

/** Sequences of PostgreSQL that belong to no column and begin anew in a copy, and why. */
export const DERIVED_SEQUENCES: Readonly<Record<string, string>> = {
  event_seq: 'a copy begins a new era of events, within which its numbers are compared',
};

/** A name of a table or column as it stands in SQL, whatever is in it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
