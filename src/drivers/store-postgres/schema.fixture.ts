import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { createPostgresStore } from './postgres-store.ts';

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
  const name = `${schemaPrefix(process.ppid)}${randomBytes(8).toString('hex')}`;
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

interface Recycled {
  readonly serverUrl: string;
  readonly schema: Schema;
  /** Makes it what it was after its migrations. */
  readonly reset: string;
}

/** What names of schemas begin with that worker processes of this test runner make. */
export const schemaPrefix = (runnerPid: number) => `case_${runnerPid}_`;

/** Migrated schemas that cases of this process have given back. They stay for its next test files. */
const free: Recycled[] = [];

/**
 * A schema with all migrations. It may have served another case before: emptying the tables takes a small part of the
 * time that making and dropping them takes. The user of the URL must be a superuser.
 */
export async function takeMigrated(serverUrl: string): Promise<Schema> {
  const at = free.findIndex((one) => one.serverUrl === serverUrl);
  const recycled = free.splice(at, at < 0 ? 0 : 1)[0] ?? (await newRecycled(serverUrl));
  let isTaken = true;
  return {
    ...recycled.schema,
    async drop() {
      if (!isTaken) return;
      isTaken = false;
      try {
        await recycled.schema.query(recycled.reset);
        free.push(recycled);
      } catch {
        // Some connection of the case still holds a lock.
        await recycled.schema.drop();
      }
    },
  };
}

async function newRecycled(serverUrl: string): Promise<Recycled> {
  const schema = await createSchema(serverUrl);
  const store = await createPostgresStore({ url: schema.url, poolSize: 1 });
  await store.migrate();
  await store.close();
  const listed = async (sql: string) =>
    (await schema.query(sql)).rows.map((row: { text: string }) => String(row.text));
  const tables = await listed(
    `SELECT quote_ident(tablename) AS text FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'schema_versions'`,
  );
  const seeds: string[] = [];
  for (const table of tables) {
    seeds.push(
      ...(await listed(
        `SELECT format('INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::${table}, %L::jsonb)', to_jsonb(t)) AS text FROM ${table} t`,
      )),
    );
  }
  const sequences = await listed(
    `SELECT format('SELECT setval(%L, %s, %L)', quote_ident(sequencename), coalesce(last_value, start_value), last_value IS NOT NULL) AS text
     FROM pg_sequences WHERE schemaname = current_schema()`,
  );
  const emptied = tables.map((table) => `DELETE FROM ${table}`);
  // Triggers and references would refuse it.
  const settings = [`SET session_replication_role = replica`, `SET lock_timeout = '2s'`];
  return { serverUrl, schema, reset: [...settings, ...emptied, ...seeds, ...sequences].join(';\n') };
}

/** Writes the row of the incarnation as restoring a dump does: the same text, by another transaction. */
export async function restoreIncarnation(schema: Schema): Promise<void> {
  await schema.query(
    `CREATE TEMPORARY TABLE dump AS SELECT * FROM incarnation; DELETE FROM incarnation;
     INSERT INTO incarnation SELECT * FROM dump`,
  );
}
