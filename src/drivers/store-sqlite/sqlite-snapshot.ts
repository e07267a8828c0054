import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { StoreSnapshot } from '../../core/ports/store-copy.ts';
import { sqliteReferences, sqliteRows, sqliteTables } from './copied-tables.ts';
import { openSqliteDatabase } from './database.ts';
import { SQLITE_MIGRATIONS } from './schema/migrations.ts';

export interface SqliteSnapshotOptions {
  readonly path: string;
  /** How many migrations this program has for PostgreSQL. */
  readonly postgresSchema: number;
  /** Nothing may be written by others until the snapshot is closed. */
  readonly isExclusive: boolean;
}

/**
 * A read transaction on a connection of its own. Other processes go on reading and writing; what they write meanwhile
 * stays in the log of the database until the snapshot is closed.
 */
export async function openSqliteSnapshot(options: SqliteSnapshotOptions): Promise<StoreSnapshot> {
  const database = openSqliteDatabase(options.path);
  let isOpen = true;
  try {
    database.exec(options.isExclusive ? 'BEGIN IMMEDIATE' : 'BEGIN');
    const version = Number(database.get('PRAGMA user_version')?.user_version ?? 0);
    if (version !== SQLITE_MIGRATIONS.length) {
      throw new ScrapifieError(
        'SCHEMA_TOO_NEW',
        `The database ${options.path} has schema ${version}, this program has ${SQLITE_MIGRATIONS.length}. Use the program that works there.`,
      );
    }
    const tables = sqliteTables(database);
    return {
      schema: { sqlite: version, postgres: options.postgresSchema },
      tables,
      rows(name) {
        const table = tables.find((each) => each.name === name);
        if (table === undefined) throw new Error(`The snapshot has no table ${name}.`);
        return sqliteRows(database, table);
      },
      references: () => sqliteReferences(database),
      async close() {
        if (isOpen) database.close();
        isOpen = false;
      },
    };
  } catch (error) {
    database.close();
    throw error;
  }
}
