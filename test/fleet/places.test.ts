import { randomUUID } from 'node:crypto';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { freePort } from '../../fleet/servers/free-port.ts';
import { type PgBouncer, startPgBouncer } from '../../fleet/servers/pgbouncer.ts';
import { letThrough, type PostgresServer, serverUser, startPostgres } from '../../fleet/servers/postgres.ts';
import { type PostgresStandby, startStandby } from '../../fleet/servers/postgres-standby.ts';
import { type RedisServer, startRedis } from '../../fleet/servers/redis.ts';
import { createBusRedis } from '../../src/drivers/bus-redis/bus-redis.ts';
import { createQueueBullmq } from '../../src/drivers/queue-bullmq/queue-bullmq.ts';
import { openPostgresDatabase, type PostgresDatabase } from '../../src/drivers/store-postgres/database.ts';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import { takeMigrated } from '../../src/drivers/store-postgres/schema.fixture.ts';
import { createReadReplica } from '../../src/drivers/store-rows/read-replica.ts';
import { selfSigned } from '../../src/fetch/http/self-signed.fixture.ts';
import { contract } from '../contract/contract.ts';
import { ledgerViewContract } from '../contract/store/ledger-view-contract.ts';
import { openTimed, type TimedStore } from '../contract/store/timed-store.ts';
import { openScraper, QUICK_POLICY } from '../integration/world.ts';
import { startSite } from '../site/site.ts';

/** PostgreSQL with TLS, a standby that follows it, a pooler before it, and Redis with TLS. */
let dir: string;
let primary: PostgresServer;
let standby: PostgresStandby;
let pooler: PgBouncer;
let redis: RedisServer;
let tlsRedisUrl: string;
const file = (name: string) => join(dir, name);

async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-places-'));
  const { cert, key } = selfSigned();
  await writeFile(file('ca.pem'), cert);
  await writeFile(file('key.pem'), key, { mode: 0o600 });
  const user = await serverUser();
  if (user !== null) {
    await letThrough(file('ca.pem'));
    await chown(file('key.pem'), user.uid, user.gid);
  }
  const tls = { ssl: 'on', ssl_cert_file: file('ca.pem'), ssl_key_file: file('key.pem') };
  const tlsPort = await freePort();
  [primary, redis] = await Promise.all([
    startPostgres({ dir: file('primary'), settings: tls }),
    startRedis({
      dir: file('redis'),
      settings: {
        'tls-port': String(tlsPort),
        'tls-cert-file': file('ca.pem'),
        'tls-key-file': file('key.pem'),
        'tls-ca-cert-file': file('ca.pem'),
        'tls-auth-clients': 'no',
      },
    }),
  ]);
  tlsRedisUrl = `rediss://localhost:${tlsPort}/0`;
  [standby, pooler] = await Promise.all([
    startStandby({ dir: file('standby'), of: primary }),
    startPgBouncer({ dir: file('pooler'), serverUrl: primary.url, poolMode: 'transaction', poolSize: 3 }),
  ]);
});
afterAll(async () => {
  await pooler?.stop();
  await standby?.stop();
  await Promise.all([primary?.stop(), redis?.stop()]);
  await rm(dir, { recursive: true, force: true });
});

describe('PostgreSQL behind PgBouncer, with transactions pooled', () => {
  const direct = () => primary.createDatabase(`pooled_${randomUUID().slice(0, 8)}`);
  const limit = (url: string) =>
    sql(
      url,
      ['statement_timeout', 'idle_in_transaction_session_timeout']
        .map(
          (name) => `ALTER ROLE scrapifie IN DATABASE ${new URL(url).pathname.slice(1)} SET ${name} = '15s'`,
        )
        .join(';'),
    );

  it('is refused with what to add to the URL', async () => {
    const url = pooler.urlOf(await direct()).replace('?pgbouncer=true', '');
    await expect(createPostgresStore({ url, poolSize: 1 })).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      message: expect.stringContaining('pgbouncer=true'),
    });
  });

  it('refuses a database that is not there, and a wrong password', async () => {
    for (const change of [{ pathname: '/nowhere' }, { password: 'wrong' }]) {
      const url = new URL(pooler.urlOf(primary.url));
      Object.assign(url, change);
      await expect(createPostgresStore({ url: url.href, poolSize: 1 })).rejects.toMatchObject({
        code: 'STORE_REFUSED',
      });
    }
  });

  it('is refused when its user has no time limits, with the statements that set them', async () => {
    const url = await direct();
    const open = () => createPostgresStore({ url: pooler.urlOf(url), poolSize: 1 });
    const refusal = await open().catch((error: Error & { code: string }) => error);
    expect(refusal).toMatchObject({ code: 'STORE_REFUSED' });
    const statements = /Run (.*) and have/.exec((refusal as Error).message)?.[1] ?? '';
    await sql(url, statements);
    await sql(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await (await open()).close();
  });

  it('carries crawls of two processes over fewer connections than they have', async () => {
    const url = await direct();
    await limit(url);
    const [site, prefix] = [await startSite({ pages: 24 }), randomUUID()];
    const settings = {
      databaseUrl: pooler.urlOf(url),
      redisUrl: redis.url,
      redisPrefix: prefix,
      vaultKey: 'f1'.repeat(32),
    };
    const open = () => openScraper({ policy: QUICK_POLICY, place: null, settings });
    const scrapers = [await open(), await open()];
    try {
      const jobs = await Promise.all(
        scrapers.map((scraper, n) =>
          scraper.crawlNow({ urls: [`${site.hostUrl(n)}/big/`], sitemap: 'skip' }),
        ),
      );
      for (const job of jobs)
        expect(job).toMatchObject({ status: 'completed', counters: { pages: 24, failed: 0 } });
      const [held] = await sql(
        url,
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      expect(held?.n).toBeLessThanOrEqual(3);
    } finally {
      for (const scraper of scrapers) await scraper.close();
      await site.close();
    }
  });
});

/** A store whose queries go to the standby; each case has a schema of its own on both. */
async function openWithStandby() {
  const schema = await takeMigrated(primary.url);
  const readUrl = Object.assign(new URL(schema.url), { port: new URL(standby.url).port }).href;
  const driver = await openTimed((now) =>
    createPostgresStore({ url: schema.url, readUrl, poolSize: 4, now }),
  );
  return {
    driver,
    async close() {
      await driver.close();
      await schema.drop();
    },
  };
}

contract<TimedStore>('a store with a read replica', openWithStandby, [], (holds) => {
  ledgerViewContract(holds);
});

describe('a read replica', () => {
  it('answers while it has everything that was committed before the question, else the primary does', async () => {
    const [main, copy, stranger] = [primary.url, standby.url, inject('postgresUrl')].map((url) =>
      openPostgresDatabase({ url, poolSize: 1, connectTimeoutMs: 1_000 }),
    ) as [PostgresDatabase, PostgresDatabase, PostgresDatabase];
    const changes: string[] = [];
    const answererOf = (replica: PostgresDatabase) => {
      const onChange = (isUsed: boolean, why: string) => void changes.push(`${isUsed}: ${why}`);
      const reads = createReadReplica({ primary: main.query, replica: replica.query, restMs: 0, onChange });
      return () =>
        reads.read(
          async () => 'replica',
          async () => 'primary',
        );
    };
    const ask = answererOf(copy);
    try {
      expect(await ask()).toBe('replica');
      await standby.holdBack();
      await sql(primary.url, 'CREATE TABLE held_back ()');
      expect(await ask()).toBe('primary');
      await standby.goOn();
      await vi.waitFor(async () => expect(await ask()).toBe('replica'), { timeout: 20_000 });
      await standby.stop();
      expect(await ask()).toBe('primary');
      await standby.restart();
      await vi.waitFor(async () => expect(await ask()).toBe('replica'), { timeout: 20_000 });
      await standby.promote();
      expect(await ask()).toBe('primary');
      expect(await answererOf(stranger)()).toBe('primary');
      expect(changes.map((each) => each.replace(/PostgreSQL at .*/, 'away'))).toEqual([
        'false: it is more than 1000 ms behind the primary',
        'true: it answers',
        'false: away',
        'true: it answers',
        'false: it is a primary itself',
        'false: it is another database cluster',
      ]);
    } finally {
      await Promise.all([main.close(), copy.close(), stranger.close()]);
    }
  });
});

describe("TLS with an authority of one's own", () => {
  it('is used for PostgreSQL when the URL names the authority, and refused when it does not', async () => {
    const url = new URL(primary.url);
    url.searchParams.set('sslmode', 'verify-full');
    await expect(createPostgresStore({ url: url.href, poolSize: 1 })).rejects.toMatchObject({
      code: 'STORE_REFUSED',
      message: expect.stringContaining('not trusted'),
    });
    url.searchParams.set('sslrootcert', file('ca.pem'));
    const store = await createPostgresStore({ url: url.href, poolSize: 1 });
    await store.migrate();
    const rows = await sql(
      primary.url,
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'scrapifie'`,
    );
    await store.close();
    expect(rows).toContainEqual({ ssl: true });
  });

  it('is used for Redis when the URL names the authority, and refused when it does not', async () => {
    const open = (url: string) =>
      createQueueBullmq({ url, prefix: randomUUID(), onHandlerError: () => undefined });
    await expect(open(tlsRedisUrl)).rejects.toMatchObject({
      code: 'QUEUE_REFUSED',
      message: expect.stringContaining('not trusted'),
    });
    const url = `${tlsRedisUrl}?sslrootcert=${encodeURIComponent(file('ca.pem'))}`;
    const queue = await open(url);
    const bus = await createBusRedis({ url, onListenerError: () => undefined });
    await Promise.all([queue.check(), bus.check()]);
    await Promise.all([queue.close(), bus.close()]);
  });
});
