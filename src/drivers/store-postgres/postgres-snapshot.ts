import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { StoreSnapshot } from '../../core/ports/store-copy.ts';
import { quoted } from '../store-rows/quoted-name.ts';
import { postgresReferences, postgresRows, postgresTables } from './copied-tables.ts';
import { inUse, openCopySession, requireNoServers } from './copy-session.ts';
import type { Query } from './database.ts';
import { POSTGRES_MIGRATIONS } from './schema/migrations.ts';

export interface PostgresSnapshotOptions {
  readonly url: string;
  /** How many migrations this program has for SQLite. */
  readonly sqliteSchema: number;
  /** Nothing may be written by others until the snapshot is closed. Throws STORE_IN_USE while servers are connected. */
  readonly isExclusive: boolean;
}

const LOCK_MS = 5_000;

/**
 * One REPEATABLE READ transaction on a connection of its own. Others go on reading and writing; what they delete is kept
 * by the server until the snapshot is closed.
 */
export async function openPostgresSnapshot(options: PostgresSnapshotOptions): Promise<StoreSnapshot> {
  const session = await openCopySession(options.url);
  const { query } = session;
  try {
    // The first query of the transaction takes the snapshot: locks come before.
    const locks = options.isExclusive ? await locksOf(query) : null;
    await session.begin('REPEATABLE READ');
    if (locks !== null) await lock(query, locks);
    const [row] = await query('SELECT max(version) AS version FROM schema_versions');
    const version = Number(row?.version);
    if (version !== POSTGRES_MIGRATIONS.length) {
      throw new ScrapifieError(
        'SCHEMA_TOO_NEW',
        `The database has schema ${version}, this program has ${POSTGRES_MIGRATIONS.length}. Use the program that works there.`,
      );
    }
    const tables = await postgresTables(query);
    return {
      schema: { sqlite: options.sqliteSchema, postgres: version },
      tables,
      rows(name) {
        const table = tables.find((each) => each.name === name);
        if (table === undefined) throw new Error(`The snapshot has no table ${name}.`);
        return postgresRows(query, table);
      },
      references: () => postgresReferences(query),
      close: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** The statement that keeps others from writing to any table of the copy. */
async function locksOf(query: Query): Promise<string> {
  await requireNoServers(query);
  const tables = await postgresTables(query);
  return `LOCK TABLE ${tables.map(({ name }) => quoted(name)).join(', ')} IN SHARE MODE`;
}

async function lock(query: Query, statement: string): Promise<void> {
  try {
    await query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
    await query(statement);
  } catch (error) {
    throw inUse('a transaction changes it', error);
  }
}
