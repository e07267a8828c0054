import { describe, expect, it, onTestFinished } from 'vitest';
import { type AuditEntry, verifyAudit } from '../../core/ports/audit-store.ts';
import { createSqliteAuditStore } from './audit.ts';
import { openSqliteDatabase, type SqliteDatabase } from './database.ts';
import { migrateSqlite } from './migrate.ts';

function open(): SqliteDatabase {
  const database = openSqliteDatabase(':memory:');
  onTestFinished(() => database.close());
  return database;
}

const entryOf = (n: number): AuditEntry => ({
  at: n,
  actor: 'a',
  action: 'key.create',
  target: `t${n}`,
  details: { n },
});

const verdictOf = (database: SqliteDatabase) => {
  const store = createSqliteAuditStore(database);
  const { items } = store.listAudit({ order: 'oldest', limit: 1_000 });
  return verifyAudit(
    (async function* () {
      yield* items;
    })(),
    [store.auditHead()],
  );
};

describe('the audit log in SQLite', () => {
  it.each([
    'UPDATE audit_log SET actor = actor WHERE seq = 1',
    'DELETE FROM audit_log WHERE seq = 2',
    'DELETE FROM audit_log',
    `INSERT OR REPLACE INTO audit_log SELECT seq, at, 'x', action, target, details, previous_hash, hash FROM audit_log`,
    `INSERT INTO audit_log SELECT 9, at, 'x', action, target, details, previous_hash, hash FROM audit_log LIMIT 1`,
    'DELETE FROM audit_head',
    'UPDATE audit_head SET seq = 1',
  ])('refuses %s', async (sql) => {
    const database = open();
    migrateSqlite(database);
    createSqliteAuditStore(database).audit([entryOf(1), entryOf(2)]);
    expect(() => database.exec(sql)).toThrow();
    expect(await verdictOf(database)).toMatchObject({ count: 2, fault: null });
  });
});
