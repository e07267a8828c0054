import { DEFAULT_ACCOUNT } from '../../model/ids.ts';
import type { AccountStore } from '../../ports/store.ts';
import { keyFromRow } from '../store-rows/rows.ts';
import { createSqliteAuditStore } from './audit.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

export function createSqliteAccountStore(database: SqliteDatabase): Synchronous<AccountStore> {
  return {
    ...createSqliteAuditStore(database),
    defaultAccount: () => DEFAULT_ACCOUNT,

    createKey(key) {
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
    },

    findKey(hash) {
      const row = database.get('SELECT * FROM keys WHERE hash = ?', hash);
      return row === undefined ? null : keyFromRow(row);
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
