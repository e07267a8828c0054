import { DEFAULT_ACCOUNT } from '../../core/model/ids.ts';
import type { AccountStore } from '../../core/ports/store.ts';
import { FOUND_KEY, foundKeyOf, refuseWhileDeleted } from '../store-rows/account-rows.ts';
import { keyFromRow } from '../store-rows/rows.ts';
import { createPostgresAccountRecordStore } from './account-records.ts';
import { createPostgresAuditStore } from './audit.ts';
import type { PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

export function createPostgresAccountStore(database: PostgresDatabase): AccountStore {
  return {
    ...createPostgresAuditStore(database),
    ...createPostgresAccountRecordStore(database),
    defaultAccount: () => Promise.resolve(DEFAULT_ACCOUNT),

    createKey(key) {
      return database.transaction(async (query) => {
        // The lock holds off a deletion until its look at the keys finds this one.
        const [account] = await query('SELECT deleting_at FROM accounts WHERE id = $1 FOR SHARE', [
          key.accountId,
        ]);
        refuseWhileDeleted(key.accountId, account);
        await query(
          `INSERT INTO keys (id, account_id, name, hash, prefix, scopes, rate_per_minute, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (hash) DO NOTHING`,
          [
            key.id,
            key.accountId,
            key.name,
            key.hash,
            key.prefix,
            jsonParameter(key.scopes),
            key.ratePerMinute,
            key.createdAt,
            key.expiresAt,
          ],
        );
      });
    },

    async findKey(hash) {
      const [row] = await database.query(
        `SELECT ${FOUND_KEY}, NULL::bigint AS valid_until FROM keys k JOIN accounts a ON a.id = k.account_id
         WHERE k.hash = $1
         UNION ALL
         SELECT ${FOUND_KEY}, f.valid_until FROM former_secrets f JOIN keys k ON k.id = f.key_id
         JOIN accounts a ON a.id = k.account_id WHERE f.hash = $1`,
        [hash],
      );
      if (row === undefined) return null;
      return foundKeyOf(row, hash, row.valid_until === null ? null : Number(row.valid_until));
    },

    async listKeys(account) {
      const rows = await database.query('SELECT * FROM keys WHERE account_id = $1 ORDER BY created_at, id', [
        account,
      ]);
      return rows.map(keyFromRow);
    },

    async revokeKey(account, id, now) {
      const rows = await database.query(
        'UPDATE keys SET revoked_at = $3 WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL RETURNING id',
        [account, id, now],
      );
      return rows.length > 0;
    },

    async touchKeys(used) {
      if (used.length === 0) return;
      await database.query(
        `WITH used AS (
           SELECT id, max(at) AS at FROM unnest($1::text[], $2::bigint[]) AS u (id, at) GROUP BY id
         ), locked AS MATERIALIZED (
           SELECT id FROM keys WHERE id IN (SELECT id FROM used) ORDER BY id FOR NO KEY UPDATE
         )
         UPDATE keys k SET last_used_at = greatest(k.last_used_at, u.at)
         FROM used u JOIN locked USING (id) WHERE k.id = u.id`,
        [used.map(({ id }) => id), used.map(({ at }) => at)],
      );
    },
  };
}
