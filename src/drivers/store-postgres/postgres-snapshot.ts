import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { StoreSnapshot } from '../../core/ports/store-copy.ts';
import { quoted } from '../store-rows/copied-tables.ts';
import type { Row } from '../store-rows/rows.ts';
import { postgresReferences, postgresRows, postgresTables } from './copied-tables.ts';
import { addressOf, type Query } from './database.ts';
import { translate } from './faults.ts';
import { POSTGRES_MIGRATIONS } from './schema/migrations.ts';

/** Other than that of servers, so that these can be told from it. */
export const COPY_NAME = 'scrapifie-copy';
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Every value arrives as the text that PostgreSQL writes, or as bytes: see `portable` in copied-tables.ts. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.BYTEA ? pg.types.getTypeParser(oid, format) : (value: string) => value,
};

/** The server takes a moment to forget a connection that was closed. */
const GONE_MS = 5_000;
const LOOK_MS = 250;

const inUse = (why: string, cause?: unknown): ScrapifieError =>
  new ScrapifieError(
    'STORE_IN_USE',
    `The database is in use: ${why}. Stop every server of the installation first.`,
    { cause },
  );

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

/** One connection for a copy of the whole store: its one transaction may take hours. */
interface CopySession {
  query: Query;
  /** Begins the transaction, whose statements and pauses have no time limit. */
  begin(isolation?: 'REPEATABLE READ'): Promise<void>;
  close(): Promise<void>;
}

export async function openCopySession(url: string): Promise<CopySession> {
  const address = addressOf(url);
  const client = new pg.Client({
    connectionString: url,
    types,
    application_name: COPY_NAME,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  });
  // A lost connection is told by the next statement; without a listener it would end the process.
  client.on('error', () => undefined);
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw translate(error, address);
    }
  };
  await guard(() => client.connect());
  let isOpen = true;
  const query: Query = (sql, values = []) =>
    guard(async () => (await client.query<Row>(sql, values.length > 0 ? [...values] : undefined)).rows ?? []);
  return {
    query,
    async begin(isolation) {
      // Not when it connects: a pooler lets no client have settings of its own outside of a transaction.
      await query(
        `BEGIN${isolation === undefined ? '' : ` ISOLATION LEVEL ${isolation}`}; ` +
          'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
      );
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await client.end().catch(() => undefined);
    },
  };
}

/** Throws STORE_IN_USE while programs of Scrapifie are connected to the database, besides copies. */
export async function requireNoServers(query: Query): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const rows = await query(
      `SELECT DISTINCT application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND application_name LIKE 'scrapifie%' AND application_name <> $1 ORDER BY 1`,
      [COPY_NAME],
    );
    if (rows.length === 0) return;
    if (waitedMs >= GONE_MS) throw inUse(`${rows.map(({ name }) => name).join(', ')} is connected to it`);
    await pause(LOOK_MS);
  }
}
