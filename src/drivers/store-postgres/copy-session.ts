import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Row } from '../store-rows/rows.ts';
import { addressOf, type Query } from './database.ts';
import { translate } from './faults.ts';

/** One connection for a copy of the whole store: its one transaction may take hours. */
export interface CopySession {
  query: Query;
  /** Begins the transaction, whose statements and pauses have no time limit. */
  begin(isolation?: 'REPEATABLE READ'): Promise<void>;
  close(): Promise<void>;
}

/** Other than that of servers, so that these can be told from it. */
export const COPY_NAME = 'scrapifie-copy';
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Every value arrives as the text that PostgreSQL writes, or as bytes: see `portable` in copied-tables.ts. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.BYTEA ? pg.types.getTypeParser(oid, format) : (value: string) => value,
};

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

/** The server takes a moment to forget a connection that was closed. */
const GONE_MS = 5_000;
const LOOK_MS = 250;

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

export const inUse = (why: string, cause?: unknown): ScrapifieError =>
  new ScrapifieError(
    'STORE_IN_USE',
    `The database is in use: ${why}. Stop every server of the installation first.`,
    { cause },
  );
