import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../fleet/servers/postgres.ts';
import { type RedisServer, startRedis } from '../../fleet/servers/redis.ts';
import { startS3 } from '../../fleet/servers/s3.ts';
import type { S3Server } from '../../fleet/servers/s3-server.ts';
import type { FleetServers } from '../../fleet/servers/servers.ts';

/** The servers that all measurements of the fleet share, one after the other. */
export interface Place {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly s3: S3Server;
  /** Creates an empty database on the server. */
  freshDatabase(): Promise<{ readonly name: string; readonly url: string }>;
  /** An empty database, an empty bucket and an emptied Redis, as a fleet wants them. */
  fresh(): Promise<FleetServers & { readonly database: string }>;
  /** Asks the database server itself. */
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>>;
  /** Runs statements in one of its databases. */
  queryIn(url: string, sql: string): Promise<void>;
  /** The size of one of its databases. */
  databaseBytes(url: string): Promise<number>;
  redisInfo(): Promise<RedisInfo>;
  /** Requests that the object store has answered, and those among them that write; not a number where it keeps no log of them. */
  s3Requests(): { readonly all: number; readonly writes: number };
  close(): Promise<void>;
}

export interface RedisInfo {
  /** Commands that were carried out, those within scripts included. */
  readonly steps: number;
  readonly receivedBytes: number;
  readonly memoryBytes: number;
}

/** Counts statements as clients send them; what a function does inside is one. */
const POSTGRES_SETTINGS = { shared_preload_libraries: 'pg_stat_statements', shared_buffers: '512MB' };

export async function openPlace(): Promise<Place> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-bench-'));
  const starting = [
    startPostgres({ dir: join(dir, 'postgres'), settings: POSTGRES_SETTINGS }),
    startRedis({ dir: join(dir, 'redis') }),
    startS3({ dir: join(dir, 's3') }),
  ] as const;
  const stop = async () => {
    const started = await Promise.allSettled(starting);
    await Promise.all(started.map((one) => (one.status === 'fulfilled' ? one.value.stop() : null)));
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const [postgres, redis, s3] = await Promise.all(starting);
    const client = new Client({ connectionString: postgres.adminUrl });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const info = new Redis(redis.url);
    let made = 0;

    const query: Place['query'] = async (sql, values = []) =>
      (await client.query(sql, [...values])).rows[0] ?? {};

    const freshDatabase = async () => {
      made += 1;
      const name = `measured_${made}`;
      return { name, url: await postgres.createDatabase(name) };
    };
    return {
      postgres,
      redis,
      s3,
      freshDatabase,
      async fresh() {
        const { name, url } = await freshDatabase();
        await redis.flushAll();
        return {
          database: name,
          postgres: { ...postgres, url },
          redis,
          s3: { ...s3, url: await s3.createBucket(`measured-${made}`) },
          stop: async () => undefined,
        };
      },
      query,
      async queryIn(url, sql) {
        const other = new Client({ connectionString: url });
        await other.connect();
        try {
          await other.query(sql);
        } finally {
          await other.end();
        }
      },
      async databaseBytes(url) {
        const name = new URL(url).pathname.slice(1);
        const { bytes } = await query('SELECT pg_database_size($1)::float8 AS bytes', [name]);
        return Number(bytes);
      },
      async redisInfo() {
        const text = await info.info();
        const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1]);
        return {
          steps: field('total_commands_processed'),
          receivedBytes: field('total_net_input_bytes'),
          memoryBytes: field('used_memory'),
        };
      },
      s3Requests: () => requestsIn(join(dir, 's3', 'radosgw.log')),
      async close() {
        info.disconnect();
        await client.end();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function requestsIn(log: string): { all: number; writes: number } {
  if (!existsSync(log)) return { all: Number.NaN, writes: Number.NaN };
  const text = readFileSync(log, 'utf8');
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return { all: count(/ HTTP\/1\.1" /g), writes: count(/"(?:PUT|POST) \S+ HTTP\/1\.1" /g) };
}
