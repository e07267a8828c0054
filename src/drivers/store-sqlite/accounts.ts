import { DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import type { NewKey } from '../../core/ports/api-key.ts';
import type { AccountStore } from '../../core/ports/store.ts';
import { FOUND_KEY, foundKeyOf, refuseWhileDeleted } from '../store-rows/account-rows.ts';
import { keyFromRow } from '../store-rows/rows.ts';
import { createSqliteAccountRecordStore } from './account-records.ts';
import { createSqliteAuditStore } from './audit.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

export function createSqliteAccountStore(
  database: SqliteDatabase,
  now: () => number,
): Synchronous<AccountStore> {
  function createKey(key: NewKey): void {
    const account = database.get('SELECT deleting_at FROM accounts WHERE id = ?', key.accountId);
    refuseWhileDeleted(key.accountId, account);
    database.run(
      `INSERT INTO keys (id, account_id, name, hash, prefix, scopes, rate_per_minute, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`,
      key.id,
      key.accountId,
      key.name,
      key.hash,
      key.prefix,
      JSON.stringify(key.scopes),
      key.ratePerMinute,
      key.createdAt,
      key.expiresAt,
    );
  }

  return {
    ...createSqliteAuditStore(database),
    ...createSqliteAccountRecordStore(database, createKey, now),
    defaultAccount: () => DEFAULT_ACCOUNT,
    createKey,

    findKey(hash) {
      const row = database.get(
        `SELECT ${FOUND_KEY} FROM keys k JOIN accounts a ON a.id = k.account_id WHERE k.hash = ?`,
        hash,
      );
      if (row !== undefined) return foundKeyOf(row, hash, null);
      const former = database.get(
        `SELECT ${FOUND_KEY}, f.valid_until FROM former_secrets f JOIN keys k ON k.id = f.key_id
         JOIN accounts a ON a.id = k.account_id WHERE f.hash = ?`,
        hash,
      );
      return former === undefined ? null : foundKeyOf(former, hash, Number(former.valid_until));
    },

    listKeys(account) {
      return database
        .all('SELECT * FROM keys WHERE account_id = ? ORDER BY created_at, id', account)
        .map(keyFromRow);
    },

    revokeKey(account, id, now) {
      return (
        database.run(
          'UPDATE keys SET revoked_at = ? WHERE account_id = ? AND id = ? AND revoked_at IS NULL',
          now,
          account,
          id,
        ) > 0
      );
    },

    touchKeys(used) {
      for (const { id, at } of used) {
        database.run('UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?', at, id);
      }
    },
  };
}
