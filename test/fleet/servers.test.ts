import { Redis } from 'ioredis';
import { Client } from 'pg';
import { describe, expect, inject, it } from 'vitest';

describe('the servers that all tests of the fleet share', () => {
  it('PostgreSQL answers and lets databases be created', async () => {
    const client = new Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    try {
      const { rows } = await client.query(
        `select current_setting('server_version_num')::int as version, rolcreatedb as "canCreate"
         from pg_roles where rolname = current_user`,
      );
      expect(rows[0].version).toBeGreaterThanOrEqual(150_000);
      expect(rows[0].canCreate).toBe(true);
    } finally {
      await client.end();
    }
  });

  it('Redis throws nothing away and saves nothing by itself', async () => {
    const client = new Redis(inject('redisUrl'));
    try {
      expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
      expect(await client.config('GET', 'save')).toEqual(['save', '']);
    } finally {
      client.disconnect();
    }
  });

  it('S3 refuses who cannot sign', async () => {
    const { origin, pathname } = new URL(inject('s3Url'));
    const response = await fetch(`${origin}${pathname}`, { signal: AbortSignal.timeout(10_000) });
    await response.body?.cancel();
    expect(response.status).toBe(403);
  });
});
