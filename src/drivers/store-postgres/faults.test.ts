import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freePort } from '../../../fleet/servers/free-port.ts';
import { startPostgres } from '../../../fleet/servers/postgres.ts';
import { createJob, job, T0, urlsOn } from '../../../test/contract/store/fixtures.ts';
import { openTimed } from '../../../test/contract/store/timed-store.ts';
import { isScrapifieError, type ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { openPostgresDatabase } from './database.ts';
import { translate } from './faults.ts';
import { openSchema, openStores } from './open-stores.fixture.ts';
import { createPostgresStore } from './postgres-store.ts';

const SECRET = 'canary-7f3a';

async function failureOf(promise: Promise<unknown>): Promise<ScrapifieError> {
  const error = await promise.then(
    () => new Error('It did not fail.'),
    (reason: unknown) => reason,
  );
  if (!isScrapifieError(error)) throw error;
  return error;
}

const changed = (changes: Partial<Pick<URL, 'password' | 'username' | 'pathname' | 'port'>>) =>
  Object.assign(new URL(inject('postgresUrl')), changes).href;
const open = (url: string) => createPostgresStore({ url, poolSize: 2 });

describe('opening', () => {
  it('says whose password is wrong and never what it is', async () => {
    const failure = await failureOf(open(changed({ password: SECRET })));
    const { hostname, port, username } = new URL(inject('postgresUrl'));
    expect(failure.code).toBe('STORE_REFUSED');
    for (const part of [hostname, port, username]) expect(failure.message).toContain(part);
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(SECRET);
  });

  it('says which user or database is unknown', async () => {
    const user = await failureOf(open(changed({ username: 'nobody-here', password: SECRET })));
    expect(user).toMatchObject({ code: 'STORE_REFUSED', message: expect.stringContaining('nobody-here') });
    const database = await failureOf(open(changed({ pathname: '/no_such_database' })));
    expect(database.code).toBe('STORE_REFUSED');
    expect(database.message).toContain('no_such_database');
  });

  it('of a place where nothing listens is STORE_UNAVAILABLE, to be tried later', async () => {
    const port = String(await freePort());
    const failure = await failureOf(open(changed({ port, password: SECRET })));
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining(port) });
    expect(failure.retryAfterMs).toBeGreaterThan(0);
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(SECRET);
  });

  it('refuses what is no URL without repeating it', async () => {
    const failure = await failureOf(open(`postgres://user:${SECRET}@[nowhere/db`));
    expect(failure.code).toBe('STORE_REFUSED');
    expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(SECRET);
  });

  it('when no connection is left is STORE_UNAVAILABLE', async () => {
    const schema = await openSchema();
    const role = `role_${randomBytes(6).toString('hex')}`;
    await schema.query(`CREATE ROLE ${role} LOGIN PASSWORD '${SECRET}' CONNECTION LIMIT 0`);
    onTestFinished(async () => void (await schema.query(`DROP ROLE ${role}`)));
    const failure = await failureOf(open(changed({ username: role, password: SECRET })));
    expect(failure.code).toBe('STORE_UNAVAILABLE');
  });
});

describe('a server that goes away', () => {
  it('costs the calls under way, is told once, and is used again by itself', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'scrapifie-postgres-'));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const server = await startPostgres({ dir });
    onTestFinished(() => server.stop());
    const errors: unknown[] = [];
    const store = await openTimed((now) =>
      createPostgresStore({ url: server.url, poolSize: 3, onError: (error) => errors.push(error), now }),
    );
    onTestFinished(() => store.close());
    await store.migrate();
    const { id } = await createJob(store, urlsOn('a.test', 2));
    await Promise.all([store.check(), store.check(), store.check()]);

    await server.stop();
    expect(await failureOf(store.getJob(id))).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await failureOf(store.check())).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.restart();
    expect((await job(store, id)).counters.open).toBe(2);

    const calls = Promise.allSettled(Array.from({ length: 20 }, () => store.clock()));
    await server.kill();
    for (const result of await calls) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    }
    await server.restart();
    expect((await job(store, id)).counters.open).toBe(2);
    for (const error of errors) expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  }, 60_000);

  it('ends a connection in use with STORE_UNAVAILABLE and nothing else', async () => {
    const { schema, stores } = await openStores(1, 1);
    const [store] = stores;
    if (store === undefined) throw new Error('No store was opened.');
    const held = await schema.hold('LOCK TABLE keys');
    const waiting = failureOf(store.findKey('x'));
    await held.waitForWaiting(1);
    await schema.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'keys'::regclass`,
    );
    expect((await waiting).code).toBe('STORE_UNAVAILABLE');
    await held.release();
    expect(await store.findKey('x')).toBeNull();
  });
});

describe('statements', () => {
  it('that wait for a lock or take too long end with STORE_UNAVAILABLE', async () => {
    const schema = await openSchema();
    await schema.query('CREATE TABLE a (x int)');
    const database = openPostgresDatabase({ url: schema.url, poolSize: 2, statementTimeoutMs: 200 });
    onTestFinished(() => database.close());
    const held = await schema.hold('LOCK TABLE a');
    const locked = await failureOf(database.query('SELECT * FROM a'));
    expect(locked).toMatchObject({ code: 'STORE_UNAVAILABLE', cause: { code: '55P03' } });
    await held.release();
    const slow = await failureOf(database.query('SELECT pg_sleep(10)'));
    expect(slow).toMatchObject({ code: 'STORE_UNAVAILABLE', cause: { code: '57014' } });
    // A longer limit of its own lets it end.
    await database.transaction((query) => query('SELECT pg_sleep(0.5)'), 10_000);
  });

  it('that the server undoes because of others are run again', async () => {
    const schema = await openSchema();
    const database = openPostgresDatabase({ url: schema.url, poolSize: 2 });
    onTestFinished(() => database.close());
    let runs = 0;
    const result = await database.transaction(async (query) => {
      runs += 1;
      if (runs < 3) await query(`DO $$ BEGIN RAISE serialization_failure; END $$`);
      return query('SELECT 1::bigint AS n');
    });
    expect({ runs, result }).toEqual({ runs: 3, result: [{ n: 1 }] });
    const endless = database.query(`DO $$ BEGIN RAISE deadlock_detected; END $$`);
    expect((await failureOf(endless)).code).toBe('STORE_UNAVAILABLE');
  });

  it('that are wrong are faults of the program and not dressed up', async () => {
    const schema = await openSchema();
    const database = openPostgresDatabase({ url: schema.url, poolSize: 1 });
    onTestFinished(() => database.close());
    await expect(database.query('SELECT nonsense')).rejects.toMatchObject({ code: '42703' });
    expect(await database.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  it('after closing are refused, and closing twice is no error', async () => {
    const { stores } = await openStores(1);
    for (const store of stores) {
      await store.close();
      await store.close();
      expect((await failureOf(store.clock())).code).toBe('STORE_UNAVAILABLE');
    }
  });

  it.each([
    ['53100', 'DISK_FULL'],
    ['53200', 'STORE_UNAVAILABLE'],
    ['57P01', 'STORE_UNAVAILABLE'],
    ['57P03', 'STORE_UNAVAILABLE'],
    ['08006', 'STORE_UNAVAILABLE'],
    ['25006', 'STORE_UNAVAILABLE'],
    ['28000', 'STORE_REFUSED'],
    ['42501', 'STORE_REFUSED'],
    ['42883', 'STORE_REFUSED'],
    ['53400', 'STORE_UNAVAILABLE'],
    ['22021', 'UNSTORABLE'],
    ['22P05', 'UNSTORABLE'],
    ['23502', 'UNSTORABLE'],
    ['54000', 'UNSTORABLE'],
    ['54001', 'UNSTORABLE'],
    ['0A000', 'UNSTORABLE'],
    ['XX001', 'DATABASE_CORRUPT'],
  ])('that fail with %s are %s', (state, code) => {
    const error = Object.assign(new pg.DatabaseError('said the server', 0, 'error'), { code: state });
    const address = { host: 'db.test', port: 5432, database: 'd', user: 'u' };
    expect(translate(error, address)).toMatchObject({ code });
  });
});

it('the time a store has is that of its server, in milliseconds', async () => {
  const { stores } = await openStores(1);
  for (const store of stores) expect(await store.clock()).toBeGreaterThan(T0);
});
