import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Settings } from '../../src/core/config/settings.ts';

/** A database, a part of Redis and a part of a bucket that one scraper has for itself. */
export interface FleetPlace {
  readonly settings: Pick<Settings, 'databaseUrl' | 'redisUrl' | 'redisPrefix' | 's3Url'>;
  /** Removes the database; the rest goes with the servers. */
  remove(): Promise<void>;
}

export const isFleetProfile = () => process.env.FLEET_TEST_PROFILE === 'fleet';

/**
 * Takes a fresh place on the servers of the fleet profile; null in the embedded one. The environment says which,
 * because scrapers also run in processes that tests start.
 */
export async function takeFleetPlace(): Promise<FleetPlace | null> {
  if (!isFleetProfile()) return null;
  const {
    FLEET_TEST_POSTGRES_URL: postgresUrl = '',
    FLEET_TEST_REDIS_URL: redisUrl = '',
    FLEET_TEST_S3_URL: s3Url = '',
  } = process.env;
  const name = `world_${randomUUID().replaceAll('-', '')}`;
  await runSql(postgresUrl, `CREATE DATABASE ${name}`);
  const databaseUrl = new URL(postgresUrl);
  databaseUrl.pathname = `/${name}`;
  const bucket = new URL(s3Url);
  bucket.pathname += `/${name}`;
  return {
    settings: { databaseUrl: databaseUrl.href, redisUrl, redisPrefix: name, s3Url: bucket.href },
    remove: () => runSql(postgresUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function runSql(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
