import { DatabaseSync } from 'node:sqlite';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { SqlStep } from '../store-rows/sql-files.ts';
import { ignoredTail, type SqliteDatabase } from './database.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';
import { requireIntactLog } from './wal-check.ts';

/**
 * Applies the missing migrations, all in one transaction. The version is stored in the file, so that a copy has it too.
 * Throws SCHEMA_TOO_NEW when the file has more of them than the program knows.
 */
export function migrateSqlite(
  database: SqliteDatabase,
  migrations: readonly SqlStep[] = SQLITE_MIGRATIONS,
): { from: number; to: number } {
  const newest = migrations.length;
  database.exec('BEGIN IMMEDIATE');
  try {
    const from = Number(database.get('PRAGMA user_version')?.user_version ?? 0);
    if (from > newest) {
      throw new ScrapifieError(
        'SCHEMA_TOO_NEW',
        `The database has schema ${from}, this program knows ${newest}. A newer Scrapifie has made it, or a clone from before 0.1.0, whose databases are not brought up to date.`,
      );
    }
    for (const { sql } of migrations.slice(from)) database.exec(sql());
    database.exec(`PRAGMA user_version = ${newest}`);
    database.exec('COMMIT');
    return { from, to: newest };
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself already (a full disk does that).
    }
    throw error;
  }
}

/** Reads the version of the schema without opening the database for writing. Returns version 0 for a file that is no database. */
export async function inspectSqlite(path: string): Promise<{
  readonly schemaVersion: number;
  readonly newestSchema: number;
  /** What the next start will drop from the end of the log; null when nothing. */
  readonly ignored: string | null;
}> {
  const newestSchema = SQLITE_MIGRATIONS.length;
  const ignored = tailOf(path);
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const row = database.prepare('PRAGMA user_version').get();
      return { schemaVersion: Number(row?.user_version ?? 0), newestSchema, ignored };
    } finally {
      database.close();
    }
  } catch {
    return { schemaVersion: 0, newestSchema, ignored };
  }
}

function tailOf(path: string): string | null {
  try {
    const tail = requireIntactLog(path);
    return tail === null ? null : ignoredTail(path, tail).message;
  } catch {
    // A log that is refused is told by opening the database.
    return null;
  }
}
