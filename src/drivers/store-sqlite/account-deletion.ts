import type { AccountId } from '../../core/model/ids.ts';
import type { AccountDeletionStore } from '../../core/ports/account-deletion-store.ts';
import { accountRetentionOf, RETENTION_COLUMNS, refuseWhileDeleted } from '../store-rows/account-rows.ts';
import { type AccountTable, inDeletionOrder } from '../store-rows/account-tables.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

export function createSqliteAccountDeletionStore(
  database: SqliteDatabase,
  clock: () => number,
): Synchronous<AccountDeletionStore> {
  /** Read from the schema: a table that comes with a later version is covered without being named. */
  function accountTables(): readonly AccountTable[] {
    const names = database
      .all(
        `SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
         WHERE m.type = 'table' AND c.name = 'account_id' ORDER BY m.name`,
      )
      .map(({ name }) => String(name));
    return inDeletionOrder(
      names.map((name) => ({
        name,
        key: database
          .all('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', name)
          .map((row) => String(row.name)),
        refersTo: database
          .all('SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(?)', name)
          .map((row) => String(row.name)),
      })),
    );
  }

  return {
    beginAccountDeletion(id) {
      const now = clock();
      database.run(
        `UPDATE accounts SET deleting_at = coalesce(deleting_at, ?1), disabled_at = coalesce(disabled_at, ?1)
         WHERE id = ?2`,
        now,
        id,
      );
      database.run('UPDATE keys SET revoked_at = ? WHERE account_id = ? AND revoked_at IS NULL', now, id);
      const row = database.get('SELECT deleting_at FROM accounts WHERE id = ?', id);
      return row === undefined ? null : Number(row.deleting_at);
    },

    listAccountDeletions(limit) {
      return database
        .all(
          `SELECT a.id, a.deleting_at, (SELECT count(*) FROM jobs j WHERE j.account_id = a.id) AS jobs
           FROM accounts a WHERE a.deleting_at IS NOT NULL ORDER BY a.deleting_at, a.id LIMIT ?`,
          limit,
        )
        .map((row) => ({
          id: row.id as AccountId,
          startedAt: Number(row.deleting_at),
          jobs: Number(row.jobs),
        }));
    },

    purgeAccount(id, limit) {
      const isMarked = 'SELECT 1 FROM accounts WHERE id = ? AND deleting_at IS NOT NULL';
      if (database.get(isMarked, id) === undefined) return { rows: 0, isGone: true };
      let rows = 0;
      for (const { name, key } of accountTables()) {
        if (rows >= limit) return { rows, isGone: false };
        const columns = key.join(', ');
        rows += database.run(
          `DELETE FROM ${name} WHERE (${columns}) IN (SELECT ${columns} FROM ${name} WHERE account_id = ? LIMIT ?)`,
          id,
          limit - rows,
        );
      }
      if (rows > 0 || database.get('SELECT 1 FROM jobs WHERE account_id = ? LIMIT 1', id) !== undefined) {
        return { rows, isGone: false };
      }
      rows += database.run('DELETE FROM keys WHERE account_id = ?', id);
      rows += database.run('DELETE FROM accounts WHERE id = ?', id);
      return { rows, isGone: true };
    },

    accountRetention(id) {
      return accountRetentionOf(
        database.get('SELECT retention, operator_retention FROM accounts WHERE id = ?', id),
      );
    },

    setAccountRetention(id, by, limits) {
      refuseWhileDeleted(id, database.get('SELECT deleting_at FROM accounts WHERE id = ?', id));
      return (
        database.run(
          `UPDATE accounts SET ${RETENTION_COLUMNS[by]} = ? WHERE id = ?`,
          limits === null ? null : JSON.stringify(limits),
          id,
        ) > 0
      );
    },
  };
}
