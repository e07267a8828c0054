import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { type ColdStore, coldStore } from '../store-sql/cold-store.ts';
import { createPostgresAuditStore } from './audit.ts';
import { createPostgresCreditStore } from './credits.ts';
import { type DatabaseOptions, NOW, openPostgresDatabase, type PostgresDatabase } from './database.ts';
import { createPostgresDeliveryQueue } from './delivery-queue.ts';
import { createPostgresEventStore } from './events.ts';
import { createPostgresHostStore } from './hosts.ts';
import { createPostgresJobStore } from './jobs.ts';
import { createPostgresLedgerStore } from './ledger.ts';
import { migratePostgres } from './migrate.ts';
import { createPostgresQueryStore } from './queries.ts';
import { createPostgresSightingStore } from './sightings.ts';
import { postgresMethods } from './sql-methods.ts';

const OLDEST_SERVER = 150_000;
/** The primary answers sooner than a replica that takes longer for a connection. */
const REPLICA_CONNECT_MS = 1_000;

export interface PostgresStoreOptions extends DatabaseOptions {
  /** A standby of the same PostgreSQL, which answers queries and views of the ledger while it keeps up. */
  readonly readUrl?: string | undefined;
  /** Told once when the primary answers in place of the standby, and once when that is over. */
  readonly onReplicaChange?: (isUsed: boolean, why: string) => void;
}

function openReplica({ readUrl, ...options }: PostgresStoreOptions): PostgresDatabase | null {
  if (readUrl === undefined) return null;
  return openPostgresDatabase({ ...options, url: readUrl, connectTimeoutMs: REPLICA_CONNECT_MS });
}

/**
 * PostgreSQL, shared by any number of processes. What must be atomic and frequent are functions in the database (see
 * `schema/`): a claim, a lease and a commit of hundreds of pages are one statement each.
 *
 * Every change of a job's tasks locks the row of the job; rows are locked in one order, jobs before hosts, each by
 * number. So counters are exact without a stricter isolation than READ COMMITTED, and there are no deadlocks.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const database = openPostgresDatabase(options);
  const replica = openReplica(options);
  const close = async () => void (await Promise.all([database.close(), replica?.close()]));
  try {
    await requireServer(database);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...createPostgresJobStore(database),
    ...postgresMethods<ColdStore>(coldStore, database),
    ...createPostgresHostStore(database),
    ...createPostgresLedgerStore(database),
    ...createPostgresAuditStore(database),
    defaultAccount: () => Promise.resolve(DEFAULT_ACCOUNT),
    ...createPostgresEventStore(database),
    ...createPostgresSightingStore(database),
    ...createPostgresDeliveryQueue(database),
    ...createPostgresCreditStore(database),
    ...createPostgresQueryStore(database, replica, options.onReplicaChange),
    migrate: () => migratePostgres(database),
    async clock() {
      const [row] = await database.query(`SELECT ${NOW} AS now`);
      return Number(row?.now);
    },
    async check() {
      await database.query(
        'INSERT INTO probe (id, at) VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET at = excluded.at RETURNING at',
      );
    },
    // The server makes the space of deleted rows free for new ones by itself.
    compact: () => Promise.resolve(),
    close,
  };
}

async function requireServer(database: PostgresDatabase): Promise<void> {
  const { address, query } = database;
  const [row] = await query(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`,
  );
  const place = `PostgreSQL at ${address.host}:${address.port}`;
  if (Number(row?.version) < OLDEST_SERVER) {
    const version = Math.floor(Number(row?.version) / 10_000);
    throw new ScrapifieError(
      'STORE_REFUSED',
      `${place} has version ${version}; version 15 or newer is needed.`,
    );
  }
  if (row?.encoding !== 'UTF8') {
    throw new ScrapifieError(
      'STORE_REFUSED',
      `The database ${address.database} of ${place} has encoding ${row?.encoding}; UTF8 is needed.`,
    );
  }
  if (database.isPooled) await requireLimits(database);
}

/** Behind a pooler the time limits are settings of the user; a statement without one could hold its locks for ever. */
async function requireLimits({ address, query, statementTimeoutMs }: PostgresDatabase): Promise<void> {
  const rows = await query(
    `SELECT name FROM pg_settings WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout')
       AND setting::bigint NOT BETWEEN 1 AND $1::bigint ORDER BY name DESC`,
    [statementTimeoutMs],
  );
  if (rows.length === 0) return;
  const role = `ALTER ROLE "${address.user}" IN DATABASE "${address.database}"`;
  const statements = rows.map(({ name }) => `${role} SET ${name} = '${statementTimeoutMs}ms'`);
  throw new ScrapifieError(
    'STORE_REFUSED',
    `The URL of the database has pgbouncer=true, and user ${address.user} has no time limit of ${statementTimeoutMs} ms or less there. ` +
      `Run ${statements.join('; ')} and have the pooler connect anew (RECONNECT).`,
  );
}
