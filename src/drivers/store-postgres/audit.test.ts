import { describe, expect, it, onTestFinished } from 'vitest';
import { type AuditEntry, type AuditStore, eachAudit, verifyAudit } from '../../core/ports/audit-store.ts';
import { createPostgresAuditStore } from './audit.ts';
import { openPostgresDatabase, type PostgresDatabase } from './database.ts';
import { migratePostgres } from './migrate.ts';
import { openSchema } from './open-stores.fixture.ts';

async function open(): Promise<PostgresDatabase> {
  const schema = await openSchema();
  const database = openPostgresDatabase({ url: schema.url, poolSize: 4 });
  onTestFinished(() => database.close());
  return database;
}

const entryOf = (n: number): AuditEntry => ({
  at: n,
  actor: 'a',
  action: 'key.create',
  target: `t${n}`,
  details: { n, list: ['é\n"', null, {}], empty: [] },
});
const verdictOf = async (store: AuditStore) => verifyAudit(eachAudit(store), [await store.auditHead()]);

describe('the audit log in PostgreSQL', () => {
  it.each([
    'UPDATE audit_log SET actor = actor WHERE seq = 1',
    'DELETE FROM audit_log WHERE seq = 2',
    'TRUNCATE audit_log',
    `INSERT INTO audit_log SELECT 9, at, 'x', action, target, details, previous_hash, hash FROM audit_log LIMIT 1`,
    `INSERT INTO audit_log SELECT seq, at, 'x', action, target, details, previous_hash, hash FROM audit_log
     ON CONFLICT (seq) DO UPDATE SET actor = excluded.actor`,
    'DELETE FROM audit_head',
    'UPDATE audit_head SET seq = 1',
  ])('refuses %s', async (sql) => {
    const database = await open();
    await migratePostgres(database);
    const store = createPostgresAuditStore(database);
    await store.audit([entryOf(1), entryOf(2)]);
    await expect(database.query(sql)).rejects.toThrow();
    expect(await verdictOf(store)).toMatchObject({ count: 2, fault: null });
  });

  it('is written by one connection of a process at a time, whatever waits', async () => {
    const database = await open();
    await migratePostgres(database);
    let underWay = 0;
    let most = 0;
    let statements = 0;
    const store = createPostgresAuditStore({
      ...database,
      async query(sql, values) {
        underWay += 1;
        statements += 1;
        most = Math.max(most, underWay);
        try {
          return await database.query(sql, values);
        } finally {
          underWay -= 1;
        }
      },
    });
    await Promise.all(Array.from({ length: 1_200 }, (_, n) => store.audit([entryOf(n)])));
    expect(most).toBe(1);
    expect(statements).toBeLessThanOrEqual(4);
    expect(await verdictOf(createPostgresAuditStore(database))).toMatchObject({ count: 1_200, fault: null });
  });
});
