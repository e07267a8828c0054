import pg from 'pg';
import { isPooledUrl } from '../../core/config/place-urls.ts';
import { listen } from '../../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Row } from '../store-rows/rows.ts';
import { type Address, isAnswer, isConflict, translate } from './faults.ts';
import { storableText } from './parameters.ts';

export type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** What sends statements: alone, or within a transaction. */
export interface Session {
  query: Query;
  /** Returns how many rows the statement changed. */
  run(sql: string, values?: readonly unknown[]): Promise<number>;
}

/**
 * The server's time in a statement, as epoch milliseconds. Whatever is decided by the time is decided by this: of all
 * processes that share the database, none has a clock that the others could trust.
 */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * A bounded pool of connections. What fails leaves as an error of the registry where it means something to the
 * operator. A lost connection is replaced when the next one is asked for; one that has become half-open (it
 * takes statements and never answers) is noticed by a ping when it was idle, else by the time limit of its statement.
 *
 * A transaction that got in another's way (deadlock, serialization failure) has been undone and is run again.
 */
export interface PostgresDatabase extends Session {
  readonly address: Address;
  /** The longest time for a statement, which a pooler is not told. */
  readonly statementTimeoutMs: number;
  readonly isPooled: boolean;
  /** Several statements in one transaction; with `limitMs`, each of them may take that long. */
  transaction<T>(work: (query: Query, run: Session['run']) => Promise<T>, limitMs?: number): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections of this process. Statements wait for a free one. */
  readonly poolSize: number;
  readonly statementTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly applicationName?: string;
  /** For tests that set the time: statements go by this clock instead of the server's. */
  readonly now?: () => number;
  /** A connection that was silent for longer is asked for an answer before it is used. */
  readonly idleTrustMs?: number;
  /** Called when an idle connection breaks. */
  readonly onError?: (error: unknown) => void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
/** What a server that hangs, or a network that swallows, adds to the time a statement may take. */
const ANSWER_GRACE_MS = 5_000;
/** In a crawl a connection is used again much sooner, so this costs no page a round trip. */
const IDLE_TRUST_MS = 5_000;
/** For the answer of a connection that was idle. */
const PING_MS = 2_000;
const MOST_TRIES = 10;
const INT8 = 20;
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/** Whole numbers become numbers (the schema keeps them below 2^53); JSON stays text, as in the other store. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    if (JSON_TYPES.has(oid)) return (value: string) => value;
    return pg.types.getTypeParser(oid, format);
  },
};

export function openPostgresDatabase(options: DatabaseOptions): PostgresDatabase {
  const { url, poolSize, statementTimeoutMs = 15_000, applicationName = 'scrapifie', onError } = options;
  const { idleTrustMs = IDLE_TRUST_MS, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const address = addressOf(url);
  const isPooled = isPooledUrl(url);
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: poolSize,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    ...(isPooled ? {} : serverLimits(statementTimeoutMs)),
  });
  let end: Promise<void> | null = null;
  /** When each connection last answered; one that is new has no entry. */
  const heardAt = new WeakMap<pg.PoolClient, number>();
  /** Connections without a response since this time are taken to be half-open, like the one that was found then. */
  let suspectBefore = Number.NEGATIVE_INFINITY;
  listen(pool, 'error', (error: Error) => onError?.(translate(error, address)));
  // While it is in use, its loss is told by the query that fails; without a listener it would end the process.
  listen(pool, 'connect', (client: pg.PoolClient) => void client.on('error', () => {}));

  async function use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (end !== null) throw new ScrapifieError('STORE_UNAVAILABLE', 'The store is closed.');
    const client = await connect();
    try {
      const result = await work(client);
      heardAt.set(client, performance.now());
      client.release();
      return result;
    } catch (error) {
      if (isHeard(error)) heardAt.set(client, performance.now());
      else suspectBefore = performance.now();
      // A connection on which an answer was not heard may still be at work.
      client.release(!isHeard(error));
      throw error;
    }
  }

  /**
   * A connection that works. One that the network has forgotten looks like any other until it is used, and then costs
   * the whole time limit of a statement. So one that was idle for a while is pinged first; and when a connection was
   * found half-open, the others without a response since then are replaced, because they usually are half-open too.
   */
  async function connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      const lastHeardAt = heardAt.get(client);
      if (lastHeardAt === undefined) return client;
      if (lastHeardAt > suspectBefore) {
        if (performance.now() - lastHeardAt < idleTrustMs || (await isAnswering(client))) return client;
        suspectBefore = performance.now();
      }
      client.release(true);
    }
  }

  async function isAnswering(client: pg.PoolClient): Promise<boolean> {
    const ping: pg.QueryConfig & { query_timeout: number } = { text: 'SELECT', query_timeout: PING_MS };
    try {
      await client.query(ping);
      return true;
    } catch {
      return false;
    }
  }

  async function send(client: pg.PoolClient, sql: string, values: readonly unknown[], limitMs: number) {
    // The client has a time limit of its own; the types of the library do not know it yet.
    const config: pg.QueryConfig & { query_timeout: number } = {
      text: sql,
      query_timeout: limitMs + ANSWER_GRACE_MS,
    };
    // Several statements at once can only be sent without values.
    if (values.length > 0)
      config.values = values.map((each) => (typeof each === 'string' ? storableText(each) : each));
    const { rows, rowCount } = await client.query<Row>(config);
    // Several statements at once, as in migrations, have several results, which are not used.
    return { rows: rows ?? [], changes: rowCount ?? 0 };
  }

  async function attempt<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await use(work);
      } catch (error) {
        if (!isConflict(error) || tries >= MOST_TRIES) throw translate(error, address);
      }
    }
  }

  /** Puts the time of the call into statements where a test sets it. */
  function timing(): (sql: string) => string {
    if (options.now === undefined) return (sql) => sql;
    const now = `(${options.now()})::bigint`;
    return (sql) => sql.replaceAll(NOW, now);
  }

  /** The methods of a session: for one statement, which is a transaction of its own, and for each of a transaction. */
  const sessionOf = (by: (sql: string, values: readonly unknown[]) => ReturnType<typeof send>): Session => ({
    query: async (sql, values = []) => (await by(sql, values)).rows,
    run: async (sql, values = []) => (await by(sql, values)).changes,
  });

  return {
    address,
    statementTimeoutMs,
    isPooled,
    ...sessionOf((sql, values) => {
      const timed = timing()(sql);
      return attempt((client) => send(client, timed, values, statementTimeoutMs));
    }),
    transaction(work, limitMs = statementTimeoutMs) {
      const timed = timing();
      return attempt(async (client) => {
        const { query, run } = sessionOf((sql, values) => send(client, timed(sql), values, limitMs));
        const limits = `SET LOCAL statement_timeout = ${limitMs}; SET LOCAL lock_timeout = ${limitMs}`;
        await query(limitMs === statementTimeoutMs ? 'BEGIN' : `BEGIN; ${limits}`);
        try {
          const result = await work(query, run);
          await query('COMMIT');
          return result;
        } catch (error) {
          // A connection that cannot even do this is thrown away, which undoes it as well.
          if (isHeard(error)) await query('ROLLBACK');
          throw error;
        }
      });
    },
    close() {
      end ??= Promise.race([
        pool.end(),
        new Promise<void>((resolve) => setTimeout(resolve, CLOSE_TIMEOUT_MS).unref()),
      ]);
      return end;
    },
  };
}

const serverLimits = (statementTimeoutMs: number) => ({
  statement_timeout: statementTimeoutMs,
  // Sooner than the statement, so that the message says what it waited for.
  lock_timeout: Math.ceil(statementTimeoutMs * 0.8),
  idle_in_transaction_session_timeout: statementTimeoutMs,
});

const isHeard = (error: unknown) => isAnswer(error) || isScrapifieError(error);

export function addressOf(url: string): Address {
  try {
    const { hostname, port, pathname, username } = new URL(url);
    const user = decodeURIComponent(username);
    return {
      host: hostname,
      port: port === '' ? 5432 : Number(port),
      database: decodeURIComponent(pathname.slice(1)) || user,
      user,
    };
  } catch {
    // Without the cause, which quotes the URL and with it the password.
    throw new ScrapifieError('STORE_REFUSED', 'The URL of the database cannot be read.');
  }
}
