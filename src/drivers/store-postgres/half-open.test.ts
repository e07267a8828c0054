import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openTcpProxy, type TcpProxy } from '../../../test/fault/tcp-proxy.ts';
import { type DatabaseOptions, openPostgresDatabase, type PostgresDatabase } from './database.ts';

const CONNECTIONS = 4;
const EACH = Array.from({ length: CONNECTIONS }, (_, at) => at);

/** A database behind a proxy, with all its connections open and idle. */
async function openIdle(
  options: Partial<DatabaseOptions> = {},
): Promise<{ database: PostgresDatabase; proxy: TcpProxy }> {
  const { hostname, port } = new URL(inject('postgresUrl'));
  const proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  const url = proxy.urlOf(inject('postgresUrl'));
  const database = openPostgresDatabase({
    url,
    poolSize: CONNECTIONS,
    statementTimeoutMs: 1_000,
    ...options,
  });
  onTestFinished(async () => {
    await database.close();
    await proxy.close();
  });
  await Promise.all(EACH.map(() => database.query('SELECT pg_sleep(0.2)')));
  expect(proxy.counts().open).toBe(CONNECTIONS);
  return { database, proxy };
}

const one = (database: PostgresDatabase) => database.query('SELECT 1 AS one');

describe('half-open connections', { timeout: 90_000 }, () => {
  it.each(['swallow', 'swallow-requests', 'swallow-replies'] as const)(
    'that were idle for a while are replaced before a statement is sent on them (%s)',
    async (mode) => {
      const { database, proxy } = await openIdle({ idleTrustMs: 0 });
      proxy.set(mode, 'open');
      expect(await one(database)).toEqual([{ one: 1 }]);
      expect(await Promise.all(EACH.map(() => one(database)))).toHaveLength(CONNECTIONS);
    },
  );

  it('that were used a moment ago cost one statement each that was under way, and no later one', async () => {
    const { database, proxy } = await openIdle({ idleTrustMs: 600_000 });
    proxy.set('swallow', 'open');
    await expect(one(database)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    for (const _ of EACH) expect(await one(database)).toEqual([{ one: 1 }]);
  });

  it('that never greet are given up, and all is well when new ones work', async () => {
    const { database, proxy } = await openIdle({ idleTrustMs: 0 });
    proxy.set('swallow');
    await expect(one(database)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    proxy.set('pass', 'new');
    expect(await one(database)).toEqual([{ one: 1 }]);
  });

  it('a transaction whose last answer never comes ends, and what it did is there', async () => {
    const { database, proxy } = await openIdle();
    const table = `half_open_${process.pid}`;
    await database.query(`CREATE TABLE ${table} (n int)`);
    onTestFinished(async () => void (await database.query(`DROP TABLE ${table}`)));
    const cut = proxy.cutReplyTo('COMMIT');
    const work = database.transaction((query) => query(`INSERT INTO ${table} VALUES (1)`));
    await expect(work).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await cut;
    expect(await database.query(`SELECT n FROM ${table}`)).toEqual([{ n: 1 }]);
  });

  it('are left alone while they answer', async () => {
    const { database, proxy } = await openIdle({ idleTrustMs: 0 });
    const { made } = proxy.counts();
    for (const _ of EACH) await Promise.all(EACH.map(() => one(database)));
    expect(proxy.counts().made).toBe(made);
  });
});
