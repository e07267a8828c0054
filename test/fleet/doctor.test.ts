import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RedisServer, startRedis } from '../../fleet/servers/redis.ts';
import { POSTGRES_MIGRATIONS } from '../../src/drivers/store-postgres/schema/migrations.ts';
import { runCommand } from '../integration/cli-command.ts';
import { type FleetPlace, takeFleetPlace } from '../integration/fleet-place.ts';

const NEWEST = POSTGRES_MIGRATIONS.length;
const PASSWORD = 'a-password-of-redis';
const LIMIT_MS = 120_000;
let dir: string;
let redis: RedisServer;
let taken: FleetPlace | null;
let place: { readonly databaseUrl: string; readonly s3Url: string };
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-doctor-'));
  redis = await startRedis({ dir: join(dir, 'redis'), password: PASSWORD });
  taken = await takeFleetPlace();
  const { databaseUrl = '', s3Url = '' } = taken?.settings ?? {};
  place = { databaseUrl, s3Url };
}, LIMIT_MS);
afterAll(async () => {
  await redis?.stop();
  await taken?.remove();
  await rm(dir, { recursive: true, force: true });
}, LIMIT_MS);

interface Found {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly advice?: string;
}

/** What the doctor finds of one check with these settings in place of the right ones. */
async function found(
  check: string,
  change: Readonly<Record<string, string>> = {},
): Promise<Found | undefined> {
  const { databaseUrl, s3Url } = place;
  const env = {
    SCRAPIFIE_DATABASE_URL: databaseUrl,
    SCRAPIFIE_REDIS_URL: redis.url,
    SCRAPIFIE_S3_URL: s3Url,
    SCRAPIFIE_REPLAY: join(dir, 'none.warc'),
    ...change,
  };
  const { stdout } = await runCommand(['doctor', '--json', '--no-scrape', '--port', '0'], { env, cwd: dir });
  return (JSON.parse(stdout) as Found[]).find((each) => each.check === check);
}

const configured = async (...words: string[]) => {
  const client = new Redis(redis.url);
  await client.call('CONFIG', 'SET', ...words);
  client.disconnect();
};

async function query(text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: place.databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const changed = (url: string, change: (parsed: URL) => void): string => {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
};

describe('a doctor of a fleet', { timeout: LIMIT_MS }, () => {
  it('finds servers that are well, and makes no schema by looking', async () => {
    expect(await found('database')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('no schema yet'),
    });
    expect(await query(`SELECT to_regclass('schema_versions') AS table`)).toEqual([{ table: null }]);
    expect(await found('redis')).toMatchObject({ state: 'ok', found: expect.stringContaining('noeviction') });
    expect(await found('object store')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('bucket'),
    });
  });

  it('finds a wrong password, a dead port and a database that is not there', async () => {
    const { databaseUrl } = place;
    const missing = changed(databaseUrl, (url) => {
      url.pathname = '/none-of-that-name';
    });
    expect(await found('database', { SCRAPIFIE_DATABASE_URL: missing })).toMatchObject({
      ...{
        state: 'fail',
        found: expect.stringContaining('STORE_REFUSED'),
        advice: expect.stringContaining('correct'),
      },
    });
    const dead = changed(databaseUrl, (url) => {
      url.port = '1';
    });
    expect(await found('database', { SCRAPIFIE_DATABASE_URL: dead })).toMatchObject({
      ...{ state: 'fail', advice: expect.stringContaining('start PostgreSQL') },
    });
    const wrong = redis.url.replace(PASSWORD, 'another-one');
    expect(await found('redis', { SCRAPIFIE_REDIS_URL: wrong })).toMatchObject({
      ...{ state: 'fail', advice: expect.stringContaining('password') },
    });
  });

  it('finds a user who may not make tables, and a database that may only be read', async () => {
    await query(`DROP ROLE IF EXISTS doctor_guest`);
    await query(`CREATE ROLE doctor_guest LOGIN PASSWORD 'guest'`);
    const [{ name = '' } = {}] = await query('SELECT current_database() AS name');
    try {
      await query(`GRANT CONNECT ON DATABASE "${String(name)}" TO doctor_guest`);
      const guest = changed(place.databaseUrl, (url) => {
        url.username = 'doctor_guest';
        url.password = 'guest';
      });
      expect(await found('database', { SCRAPIFIE_DATABASE_URL: guest })).toMatchObject({
        ...{ state: 'fail', advice: expect.stringContaining('GRANT CREATE') },
      });
      await query(`ALTER ROLE doctor_guest SET default_transaction_read_only = on`);
      expect(await found('database', { SCRAPIFIE_DATABASE_URL: guest })).toMatchObject({
        ...{ state: 'fail', found: expect.stringContaining('read-only') },
      });
      await query('ALTER ROLE doctor_guest RESET default_transaction_read_only');
      await query('ALTER ROLE doctor_guest CONNECTION LIMIT 3');
      await query(`GRANT CREATE ON SCHEMA public TO doctor_guest`);
      expect(await found('database', { SCRAPIFIE_DATABASE_URL: guest })).toMatchObject({
        ...{ state: 'warn', advice: expect.stringContaining('SCRAPIFIE_DATABASE_POOL') },
      });
    } finally {
      await query(`DROP OWNED BY doctor_guest`);
      await query(`DROP ROLE doctor_guest`);
    }
  });

  it('finds a Redis that would throw keys away, or will once it has a limit', async () => {
    await configured('maxmemory-policy', 'allkeys-lru');
    expect(await found('redis')).toMatchObject({
      state: 'warn',
      advice: expect.stringContaining('noeviction'),
    });
    await configured('maxmemory', '100mb');
    expect(await found('redis')).toMatchObject({
      ...{
        state: 'fail',
        found: expect.stringContaining('QUEUE_UNSAFE'),
        advice: expect.stringContaining('CONFIG SET'),
      },
    });
    await configured('maxmemory', '0');
    await configured('maxmemory-policy', 'noeviction');
  });

  it('finds keys of an object store that are wrong, and a bucket that is not there', async () => {
    const wrong = changed(place.s3Url, (url) => {
      url.password = 'not-the-secret';
    });
    expect(await found('object store', { SCRAPIFIE_S3_URL: wrong })).toMatchObject({
      ...{
        state: 'fail',
        found: expect.stringContaining('PutObject'),
        advice: expect.stringContaining('secret'),
      },
    });
    const missing = changed(place.s3Url, (url) => {
      url.pathname = '/no-such-bucket-here';
    });
    expect(await found('object store', { SCRAPIFIE_S3_URL: missing })).toMatchObject({ state: 'fail' });
  });

  // Until the schema has its first change, no version is earlier than the newest.
  it.skipIf(NEWEST === 1)('finds a schema of an earlier version, and leaves it as it is', async () => {
    await query('CREATE TABLE schema_versions (version integer PRIMARY KEY, min_reader integer NOT NULL)');
    await query('INSERT INTO schema_versions VALUES (1, 1)');
    expect(await found('database')).toMatchObject({
      ...{ state: 'warn', advice: expect.stringContaining(`schema ${NEWEST}`) },
    });
    expect(await query('SELECT max(version) AS version FROM schema_versions')).toEqual([{ version: 1 }]);
    await query('DROP TABLE schema_versions');
  });
});
