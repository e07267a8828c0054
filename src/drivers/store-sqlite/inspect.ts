import { DatabaseSync } from 'node:sqlite';
import { SQLITE_MIGRATIONS } from './migrations.ts';

/** Reads the version of the schema without opening the database for writing. Returns version 0 for a file that is no database. */
export async function inspectSqlite(
  path: string,
): Promise<{ readonly schemaVersion: number; readonly newestSchema: number }> {
  const newestSchema = SQLITE_MIGRATIONS.length;
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const row = database.prepare('PRAGMA user_version').get();
      return { schemaVersion: Number(row?.user_version ?? 0), newestSchema };
    } finally {
      database.close();
    }
  } catch {
    return { schemaVersion: 0, newestSchema };
  }
}
