import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { SqlStep } from '../store-rows/sql-files.ts';
import type { SqliteDatabase } from './database.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';

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
