import type { AccountId } from '../../core/model/ids.ts';
import type { AccountDeletionStore } from '../../core/ports/account-deletion-store.ts';
import { accountRetentionOf, RETENTION_COLUMNS, refuseWhileDeleted } from '../store-rows/account-rows.ts';
import { type AccountTable, inDeletionOrder } from '../store-rows/account-tables.ts';
import { NOW, type PostgresDatabase, type Query } from './database.ts';
import { jsonParameter } from './parameters.ts';

/** Read from the schema: a table that comes with a later version is covered without being named. */
async function accountTables(query: Query): Promise<readonly AccountTable[]> {
  const rows = await query(
    `SELECT t.relname AS name,
       (SELECT json_agg(k.attname ORDER BY array_position(i.indkey::int2[], k.attnum)) FROM pg_index i
          JOIN pg_attribute k ON k.attrelid = t.oid AND k.attnum = ANY (i.indkey)
        WHERE i.indrelid = t.oid AND i.indisprimary) AS key,
       (SELECT coalesce(json_agg(DISTINCT r.relname), '[]') FROM pg_constraint f
          JOIN pg_class r ON r.oid = f.confrelid WHERE f.conrelid = t.oid AND f.contype = 'f') AS refers_to
     FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attname = 'account_id' AND NOT c.attisdropped
     WHERE t.relkind = 'r' AND t.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'accounts'::regclass)
     ORDER BY t.relname`,
  );
  return inDeletionOrder(
    rows.map((row) => ({
      name: String(row.name),
      key: JSON.parse(String(row.key)) as string[],
      refersTo: JSON.parse(String(row.refers_to)) as string[],
    })),
  );
}

export function createPostgresAccountDeletionStore(database: PostgresDatabase): AccountDeletionStore {
  return {
    beginAccountDeletion(id) {
      return database.transaction(async (query) => {
        const [row] = await query(
          `UPDATE accounts SET deleting_at = coalesce(deleting_at, ${NOW}), disabled_at = coalesce(disabled_at, ${NOW})
           WHERE id = $1 RETURNING deleting_at`,
          [id],
        );
        // A statement of its own: it finds keys that were made while the one before waited for the account.
        await query(`UPDATE keys SET revoked_at = ${NOW} WHERE account_id = $1 AND revoked_at IS NULL`, [id]);
        return row === undefined ? null : Number(row.deleting_at);
      });
    },

    async listAccountDeletions(limit) {
      const rows = await database.query(
        `SELECT a.id, a.deleting_at, (SELECT count(*) FROM jobs j WHERE j.account_id = a.id) AS jobs
         FROM accounts a WHERE a.deleting_at IS NOT NULL ORDER BY a.deleting_at, a.id LIMIT $1`,
        [limit],
      );
      return rows.map((row) => ({
        id: String(row.id) as AccountId,
        startedAt: Number(row.deleting_at),
        jobs: Number(row.jobs),
      }));
    },

    purgeAccount(id, limit) {
      return database.transaction(async (query) => {
        const [marked] = await query(
          'SELECT id FROM accounts WHERE id = $1 AND deleting_at IS NOT NULL FOR UPDATE',
          [id],
        );
        if (marked === undefined) return { rows: 0, isGone: true };
        let rows = 0;
        for (const { name, key } of await accountTables(query)) {
          if (rows >= limit) return { rows, isGone: false };
          const columns = key.join(', ');
          const [gone] = await query(
            `WITH gone AS (
               DELETE FROM ${name} WHERE (${columns}) IN (
                 SELECT ${columns} FROM ${name} WHERE account_id = $1 LIMIT $2
               ) RETURNING 1
             ) SELECT count(*) AS n FROM gone`,
            [id, limit - rows],
          );
          rows += Number(gone?.n);
        }
        const [job] = await query('SELECT seq FROM jobs WHERE account_id = $1 LIMIT 1', [id]);
        if (rows > 0 || job !== undefined) return { rows, isGone: false };
        const keys = await query('DELETE FROM keys WHERE account_id = $1 RETURNING id', [id]);
        await query('DELETE FROM accounts WHERE id = $1', [id]);
        return { rows: keys.length + 1, isGone: true };
      });
    },

    async accountRetention(id) {
      const [row] = await database.query('SELECT retention, operator_retention FROM accounts WHERE id = $1', [
        id,
      ]);
      return accountRetentionOf(row);
    },

    setAccountRetention(id, by, limits) {
      return database.transaction(async (query) => {
        const [account] = await query('SELECT deleting_at FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [
          id,
        ]);
        refuseWhileDeleted(id, account);
        await query(`UPDATE accounts SET ${RETENTION_COLUMNS[by]} = $2 WHERE id = $1`, [
          id,
          limits === null ? null : jsonParameter(limits),
        ]);
        return account !== undefined;
      });
    },
  };
}
