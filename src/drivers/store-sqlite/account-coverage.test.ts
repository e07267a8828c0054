import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';

/** Tables without a column for the account, and what deletes their rows, or why they stay. */
const OTHERS: Readonly<Record<string, string>> = {
  accounts: 'deleted last',
  audit_head: 'the audit log stays',
  audit_log: 'stays: its entries are chained',
  event_log: 'one row of the installation',
  former_secrets: 'deleted with its key',
  hosts: 'what hosts have taught belongs to no account',
  job_expiry: 'deleted with its job',
  job_sources: 'deleted with its job',
  opt_outs: 'of site owners',
  owner_requests: 'of site owners',
  pages: 'deleted with its job',
  readers: 'of the installation',
  probe: 'one row of the installation',
  robots: 'belongs to hosts',
  sqlite_sequence: 'of SQLite',
  tasks: 'deleted with its job',
  webhook_reader: 'one row of the installation',
  work_leases: 'of processes',
};

it('every table is covered when an account is deleted, or stays for a reason', () => {
  const database = new DatabaseSync(':memory:');
  for (const { sql } of SQLITE_MIGRATIONS) database.exec(sql());
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  const uncovered = tables
    .map(({ name }) => String(name))
    .filter((name) => {
      const columns = database.prepare('SELECT name, pk FROM pragma_table_info(?)').all(name);
      const hasAccount = columns.some((column) => column.name === 'account_id');
      // Rows are deleted by their key.
      return hasAccount ? !columns.some((column) => Number(column.pk) > 0) : !(name in OTHERS);
    });
  database.close();
  expect(uncovered).toEqual([]);
});
