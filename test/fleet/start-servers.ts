import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startServers } from '../../fleet/servers/servers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** PostgreSQL of the fleet; its user may create databases. Empty in the embedded profile, as are the others. */
    postgresUrl: string;
    redisUrl: string;
    /** `http://key:secret@host:port/bucket?region=…` */
    s3Url: string;
  }
}

/** Starts the servers once for all tests of the fleet. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
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
