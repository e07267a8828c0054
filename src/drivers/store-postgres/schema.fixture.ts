import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';

/** A schema of its own in a database that is there already: what one case writes, no other sees. */
export interface Schema {
  readonly url: string;
  /** Statements beside the store, to look at what it left or to get in its way. */
  query(sql: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** Runs a statement and keeps its transaction open, with the locks it took. */
  hold(sql: string, values?: unknown[]): Promise<Held>;
  /** May be called twice. */
  drop(): Promise<void>;
}

export interface Held {
  /** Resolves when this many statements wait for it, or for one that does. */
  waitForWaiting(count: number): Promise<void>;
  release(): Promise<void>;
}

const WAITING = `
  WITH RECURSIVE waiting (pid) AS (
    SELECT $1::int UNION SELECT a.pid FROM pg_stat_activity a JOIN waiting w ON w.pid = ANY (pg_blocking_pids(a.pid))
  ) SELECT count(*)::int - 1 AS n FROM waiting`;

export async function createSchema(serverUrl: string): Promise<Schema> {
  const name = `case_${randomBytes(8).toString('hex')}`;
  const url = new URL(serverUrl);
  url.searchParams.set('options', `-c search_path=${name}`);
  const run = async (sql: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      return await client.query(sql, values);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE SCHEMA ${name}`);
  return {
    url: url.href,
    query: run,
    async hold(sql, values = []) {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      await client.query('BEGIN');
      await client.query(sql, values);
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      return {
        async waitForWaiting(count) {
          while ((await run(WAITING, [rows[0].pid])).rows[0].n < count) await setTimeout(10);
        },
        async release() {
          await client.query('COMMIT');
          await client.end();
        },
      };
    },
    drop: async () => void (await run(`DROP SCHEMA IF EXISTS ${name} CASCADE`)),
  };
}

/** Writes the row of the incarnation as restoring a dump does: the same text, by another transaction. */
export async function restoreIncarnation(schema: Schema): Promise<void> {
  await schema.query(
    `CREATE TEMPORARY TABLE dump AS SELECT * FROM incarnation; DELETE FROM incarnation;
     INSERT INTO incarnation SELECT * FROM dump`,
  );
}
