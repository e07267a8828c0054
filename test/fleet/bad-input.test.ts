import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RedisServer, startRedis } from '../../fleet/servers/redis.ts';
import type { Role } from '../../src/core/config/settings.ts';
import { EXIT } from '../../src/core/errors/registry.ts';
import { POSTGRES_MIGRATIONS } from '../../src/drivers/store-postgres/schema/migrations.ts';
import { type BreakableLine, openLine } from '../contract/breakable-line.ts';
import { type FleetPlace, takeFleetPlace } from '../integration/fleet-place.ts';
import { endMembers, launch, type MemberSettings } from './member.ts';

const LIMIT_MS = 60_000;
/** For the start of a program that gives up a server that does not answer. */
const START_MS = 25_000;
const CANARY = 'canary-3f9d1c';

let dir: string;
let place: FleetPlace;
let good: { databaseUrl: string; redisUrl: string; redisPrefix: string; s3Url: string };
let secured: RedisServer;
let evicting: RedisServer;
const silent: BreakableLine[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-bad-input-'));
  const taken = await takeFleetPlace();
  if (taken === null) throw new Error('These tests need the servers of the fleet profile.');
  place = taken;
  good = taken.settings as typeof good;
  [secured, evicting] = await Promise.all([
    startRedis({ dir: join(dir, 'secured'), password: `other-${CANARY}` }),
    startRedis({ dir: join(dir, 'evicting'), maxMemoryPolicy: 'allkeys-lru' }),
  ]);
  const client = new Redis(evicting.url);
  await client.config('SET', 'maxmemory', '64mb');
  client.disconnect();
  expect((await run(['migrate'], {})).exitCode).toBe(0);
}, LIMIT_MS);
afterAll(async () => {
  await endMembers();
  await Promise.all(silent.map((line) => line.close()));
  await Promise.all([secured?.stop(), evicting?.stop(), place?.remove()]);
  await rm(dir, { recursive: true, force: true });
}, LIMIT_MS);

async function run(args: readonly string[], settings: MemberSettings) {
  const one = launch(join(dir, randomUUID()), args, {
    ...good,
    contact: 'https://bad.example/',
    ...settings,
  });
  const exitCode = await one.ended;
  return { exitCode, output: one.output() };
}
const serve = (settings: MemberSettings, role: Role = 'http-worker') =>
  run(['serve', '--role', role, '--port', '0'], settings);

/** A URL with some of its parts changed. */
function changed(
  url: string,
  change: Partial<Pick<URL, 'username' | 'password' | 'pathname' | 'port' | 'hostname'>>,
) {
  return Object.assign(new URL(url), change).href;
}

/** The same address behind a line on which nothing ever comes back. */
async function hanging(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const line = await openLine({ host, port: Number(port) });
  line.set('silent');
  silent.push(line);
  return changed(url, { port: String(line.port) });
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: good.databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Everything the database holds, as one text; a probe of health may come and go. */
async function fingerprint(): Promise<string> {
  const tables = await query(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'probe' ORDER BY 1`,
  );
  // One statement: a connection for each table would be more than the server takes.
  const contents = tables.map(
    ({ name }) => `SELECT '${name}' AS name, (SELECT json_agg(row) FROM ${name} AS row) AS rows`,
  );
  return JSON.stringify(await query(contents.join(' UNION ALL ')));
}

interface Case {
  readonly what: string;
  readonly settings: () => MemberSettings | Promise<MemberSettings>;
  readonly code: string;
  readonly says: RegExp;
}

const CASES: readonly Case[] = [
  {
    what: 'a database URL that is none',
    settings: () => ({ databaseUrl: `postgres//me:${CANARY}@db` }),
    code: 'INVALID_SETTINGS',
    says: /SCRAPIFIE_DATABASE_URL/,
  },
  {
    what: 'a database URL of another kind',
    settings: () => ({ databaseUrl: `mysql://me:${CANARY}@127.0.0.1/x` }),
    code: 'INVALID_SETTINGS',
    says: /SCRAPIFIE_DATABASE_URL/,
  },
  {
    what: 'a certificate for the database that is not there',
    settings: () => ({ databaseUrl: `${good.databaseUrl}?sslrootcert=/missing/${CANARY}.pem` }),
    code: 'INVALID_SETTINGS',
    says: /SCRAPIFIE_DATABASE_URL names a file that cannot be read \(sslrootcert, ENOENT\)/,
  },
  {
    what: 'a database URL with a stray percent sign',
    settings: () => ({ databaseUrl: `postgres://me:100%25${CANARY}%@127.0.0.1/x` }),
    code: 'INVALID_SETTINGS',
    says: /SCRAPIFIE_DATABASE_URL has a percent sign/,
  },
  {
    what: 'a database server that is not there',
    settings: () => ({ databaseUrl: changed(good.databaseUrl, { port: '1', password: CANARY }) }),
    code: 'STORE_UNAVAILABLE',
    says: /PostgreSQL at 127\.0\.0\.1:1 did not answer \(ECONNREFUSED\)/,
  },
  {
    what: 'a database host that has no address',
    settings: () => ({ databaseUrl: changed(good.databaseUrl, { hostname: 'nowhere.invalid' }) }),
    code: 'STORE_UNAVAILABLE',
    says: /PostgreSQL at nowhere\.invalid/,
  },
  {
    what: 'a database server that hangs',
    settings: async () => ({ databaseUrl: await hanging(good.databaseUrl) }),
    code: 'STORE_UNAVAILABLE',
    says: /PostgreSQL at 127\.0\.0\.1:\d+ did not answer/,
  },
  {
    what: 'a database that is not there',
    settings: () => ({ databaseUrl: changed(good.databaseUrl, { pathname: '/nowhere' }) }),
    code: 'STORE_REFUSED',
    says: /has no database nowhere/,
  },
  {
    what: 'a wrong database password',
    settings: () => ({ databaseUrl: changed(good.databaseUrl, { password: CANARY }) }),
    code: 'STORE_REFUSED',
    says: /refuses the password of user/,
  },
  {
    what: 'no database password',
    settings: () => ({ databaseUrl: changed(good.databaseUrl, { password: '' }) }),
    code: 'STORE_REFUSED',
    says: /refuses user/,
  },
  {
    what: 'a wrong bucket',
    settings: () => ({ s3Url: changed(good.s3Url, { pathname: '/no-such-bucket' }) }),
    code: 'BLOBS_REFUSED',
    says: /no bucket no-such-bucket at http:\/\/127\.0\.0\.1:\d+/,
  },
  {
    what: 'no bucket',
    settings: () => ({ s3Url: changed(good.s3Url, { pathname: '/' }) }),
    code: 'INVALID_SETTINGS',
    says: /must name a bucket/,
  },
  {
    what: 'a wrong S3 access key',
    settings: () => ({ s3Url: changed(good.s3Url, { username: CANARY }) }),
    code: 'BLOBS_REFUSED',
    says: /does not know the access key/,
  },
  {
    what: 'a wrong S3 secret',
    settings: () => ({ s3Url: changed(good.s3Url, { password: CANARY }) }),
    code: 'BLOBS_REFUSED',
    says: /secret does not belong to the access key/,
  },
  {
    what: 'a Redis that throws keys away',
    settings: () => ({ redisUrl: evicting.url }),
    code: 'QUEUE_UNSAFE',
    says: /maxmemory-policy allkeys-lru .*Set maxmemory-policy to noeviction/,
  },
  {
    what: 'a wrong Redis password',
    settings: () => ({ redisUrl: changed(secured.url, { password: CANARY }) }),
    code: 'QUEUE_REFUSED',
    says: /Redis at 127\.0\.0\.1:\d+ refuses the connection: WRONGPASS/,
  },
  {
    what: 'no Redis password',
    settings: () => ({ redisUrl: changed(secured.url, { password: '' }) }),
    code: 'QUEUE_REFUSED',
    says: /Redis at 127\.0\.0\.1:\d+ refuses the connection: NOAUTH/,
  },
  {
    what: 'a Redis database number that is too high',
    settings: () => ({ redisUrl: changed(good.redisUrl, { pathname: '/9999' }) }),
    code: 'QUEUE_REFUSED',
    says: /DB index/,
  },
  {
    what: 'a Redis password with a stray percent sign',
    settings: () => ({ redisUrl: `redis://:${CANARY}%zz@127.0.0.1:1/0` }),
    code: 'INVALID_SETTINGS',
    says: /SCRAPIFIE_REDIS_URL must be redis:\/\/.*percent-encoded/,
  },
  {
    what: 'a Redis database that is no number',
    settings: () => ({ redisUrl: changed(good.redisUrl, { pathname: '/abc' }) }),
    code: 'INVALID_SETTINGS',
    says: /SCRAPIFIE_REDIS_URL must be redis:\/\//,
  },
  {
    what: 'a Redis that is not there',
    settings: () => ({ redisUrl: changed(good.redisUrl, { port: '1' }) }),
    code: 'QUEUE_UNAVAILABLE',
    says: /Redis at 127\.0\.0\.1:1 did not answer: .*ECONNREFUSED/,
  },
  {
    what: 'a Redis that hangs',
    settings: async () => ({ redisUrl: await hanging(good.redisUrl) }),
    code: 'QUEUE_UNAVAILABLE',
    says: /Redis at 127\.0\.0\.1:\d+ did not answer/,
  },
];

describe.concurrent('a start with bad input', { timeout: LIMIT_MS }, () => {
  it.each(CASES)('$what: $code, exit code 5, and nothing is changed', async ({ settings, code, says }) => {
    const before = await fingerprint();
    const { exitCode, output } = await serve(await settings());
    expect(output).toContain(`error ${code}: `);
    expect(output).toMatch(says);
    expect(exitCode).toBe(EXIT.environment);
    expect(output).not.toContain(CANARY);
    // A message, not a stack.
    expect(output).not.toMatch(/^ {4}at /m);
    expect(await fingerprint()).toBe(before);
  });
});

// After the others: a process that starts writes that into the audit log, and those above see that nothing is written.
describe('a start without an object store', { timeout: LIMIT_MS }, () => {
  it('is possible where the object store hangs, and the process says so', async () => {
    const s3Url = await hanging(good.s3Url);
    const one = launch(join(dir, 'without-s3'), ['serve', '--role', 'http-worker', '--port', '0'], {
      ...good,
      s3Url,
    });
    await expect.poll(one.output, { timeout: START_MS }).toContain('"msg":"ready"');
    expect(one.output()).toContain('object store unavailable: bodies are kept elsewhere');
    one.child.kill('SIGTERM');
    expect(await one.ended).toBe(0);
  });
});

describe('a schema newer than the program', { timeout: LIMIT_MS }, () => {
  const newest = POSTGRES_MIGRATIONS.length;
  const add = (version: number, minReader: number) =>
    query(`INSERT INTO schema_versions (version, min_reader) VALUES (${version}, ${minReader})`);

  it('by one version that only adds is worked with', async () => {
    await add(newest + 1, newest);
    const { exitCode, output } = await run(['migrate'], {});
    expect(output).toContain(`schema ${newest + 1}`);
    expect(exitCode).toBe(0);
    const found = await run(['doctor', '--json', '--no-scrape', '--port', '0'], {});
    expect(found.output).not.toContain('SCHEMA_TOO_NEW');
  });

  it('by two is refused by every command, and nothing is changed', async () => {
    await add(newest + 2, newest + 1);
    const before = await fingerprint();
    for (const args of [['serve', '--port', '0'], ['migrate'], ['keys', 'create', 'x'], ['jobs', 'list']]) {
      const { exitCode, output } = await run(args, {});
      expect(output).toContain('error SCHEMA_TOO_NEW: ');
      expect(output).toContain(`schema ${newest + 2}, this program knows ${newest}`);
      expect(exitCode).toBe(EXIT.environment);
    }
    const found = await run(['doctor', '--json', '--no-scrape', '--port', '0'], {});
    expect(found.output).toContain('SCHEMA_TOO_NEW');
    expect(found.exitCode).toBe(EXIT.environment);
    expect(await fingerprint()).toBe(before);
  });
});
