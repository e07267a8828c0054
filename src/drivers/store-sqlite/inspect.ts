import { DatabaseSync } from 'node:sqlite';
import { ignoredTail } from './database.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';
import { requireIntactLog } from './wal-check.ts';

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
