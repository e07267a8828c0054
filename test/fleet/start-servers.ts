import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { startServers } from '../../fleet/servers/servers.ts';
import { schemaPrefix } from '../../src/drivers/store-postgres/schema.fixture.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** PostgreSQL of the fleet; its user may create databases. Empty in the embedded profile, as are the others. */
    postgresUrl: string;
    redisUrl: string;
    /** Address with the login: `http://key:secret@host:port/bucket?region=…`. */
    s3Url: string;
  }
}

/** Servers that run already, by the variables below; null when one of the three is not named. */
function runningServers(): { postgresUrl: string; redisUrl: string; s3Url: string } | null {
  const {
    FLEET_TEST_POSTGRES_URL: postgresUrl,
    FLEET_TEST_REDIS_URL: redisUrl,
    FLEET_TEST_S3_URL: s3Url,
  } = process.env;
  if (postgresUrl === undefined || redisUrl === undefined || s3Url === undefined) return null;
  return { postgresUrl, redisUrl, s3Url };
}

/** Starts the servers once for all tests of the fleet, unless the environment names running ones. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const running = runningServers();
  if (running !== null) {
    project.provide('postgresUrl', running.postgresUrl);
    project.provide('redisUrl', running.redisUrl);
    project.provide('s3Url', running.s3Url);
    return () => dropSchemas(running.postgresUrl);
  }
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-servers-'));
  const servers = await startServers({ dir });
  project.provide('postgresUrl', servers.postgres.url);
  project.provide('redisUrl', servers.redis.url);
  project.provide('s3Url', servers.s3.url);
  // For the processes that tests start; the profile's own variable says whether they look.
  process.env.FLEET_TEST_POSTGRES_URL = servers.postgres.url;
  process.env.FLEET_TEST_REDIS_URL = servers.redis.url;
  process.env.FLEET_TEST_S3_URL = servers.s3.url;
  return async () => {
    await servers.stop();
    await rm(dir, { recursive: true, force: true });
  };
}

/** Worker processes keep the schemas that they have migrated, and cannot say which file of theirs is the last. */
async function dropSchemas(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'SELECT quote_ident(nspname) AS name FROM pg_namespace WHERE starts_with(nspname, $1)',
      [schemaPrefix(process.pid)],
    );
    for (const { name } of rows) await client.query(`DROP SCHEMA ${name} CASCADE`);
  } finally {
    await client.end();
  }
}
