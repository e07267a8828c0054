import type { AccountId } from '../../core/model/ids.ts';
import { type AccountRecordStore, MOST_FORMER_SECRETS } from '../../core/ports/account-store.ts';
import type { NewKey } from '../../core/ports/api-key.ts';
import {
  accountOfRow,
  LIMIT_COLUMNS,
  limitValues,
  refuseWhileDeleted,
  tooManySecrets,
} from '../store-rows/account-rows.ts';
import { DELETED_ACCOUNT } from '../store-rows/expiry.ts';
import { EXPORTED_BYTES } from '../store-rows/export-rows.ts';
import { keyFromRow, sliceOf } from '../store-rows/rows.ts';
import { SNAPSHOT_BYTES } from '../store-rows/snapshot-rows.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

export function createSqliteAccountRecordStore(
  database: SqliteDatabase,
  createKey: (key: NewKey) => void,
  now: () => number,
): Synchronous<AccountRecordStore> {
  function getAccount(id: AccountId) {
    const row = id === DELETED_ACCOUNT ? undefined : database.get('SELECT * FROM accounts WHERE id = ?', id);
    return row === undefined ? null : accountOfRow(row);
  }

  return {
    getAccount,

    createAccount({ id, name, plan, limits }, firstKey) {
      const made = database.run(
        `INSERT INTO accounts (id, name, plan, created_at, updated_at, ${LIMIT_COLUMNS})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
        id,
        name,
        plan,
        now(),
        now(),
        ...limitValues(limits),
      );
      if (made === 0) return false;
      if (firstKey !== null) createKey(firstKey);
      return true;
    },

    listAccounts({ cursor, limit }) {
      const rows = database.all(
        'SELECT * FROM accounts WHERE id > ? AND id <> ? ORDER BY id LIMIT ?',
        cursor ?? '',
        DELETED_ACCOUNT,
        limit + 1,
      );
      return sliceOf(rows, limit, 'id', accountOfRow);
    },

    changeAccount(id, { name, plan, limits, isDisabled }) {
      const before = getAccount(id);
      if (before === null) return null;
      refuseWhileDeleted(id, { deleting_at: before.deletingSince });
      const disabledAt =
        isDisabled === undefined ? before.disabledAt : isDisabled ? (before.disabledAt ?? now()) : null;
      database.run(
        `UPDATE accounts SET name = ?, plan = ?, disabled_at = ?, updated_at = ?, (${LIMIT_COLUMNS}) = (?, ?, ?, ?)
         WHERE id = ?`,
        name ?? before.name,
        plan ?? before.plan,
        disabledAt,
        now(),
        ...limitValues(limits ?? before.limits),
        id,
      );
      return getAccount(id);
    },

    applyPlan(plan, limits) {
      return database.run(
        `UPDATE accounts SET (${LIMIT_COLUMNS}) = (?, ?, ?, ?), updated_at = ?
         WHERE plan = ? AND (${LIMIT_COLUMNS}) IS NOT (?, ?, ?, ?)`,
        ...limitValues(limits),
        now(),
        plan,
        ...limitValues(limits),
      );
    },

    accountUse(id) {
      const open = database.get(
        `SELECT coalesce(sum(open), 0) AS open, coalesce(sum(claimed), 0) AS claimed FROM jobs
         WHERE account_id = ? AND finished_at IS NULL`,
        id,
      );
      const stored = database.get(
        `SELECT (SELECT coalesce(sum(bytes), 0) FROM jobs WHERE account_id = a.id) + ${EXPORTED_BYTES} + ${SNAPSHOT_BYTES} AS n
         FROM accounts a WHERE id = ?`,
        id,
      );
      return {
        openUrls: Number(open?.open),
        claimedPages: Number(open?.claimed),
        storedBytes: Number(stored?.n ?? 0),
      };
    },

    countOpenUrls(id) {
      const row = database.get(
        'SELECT coalesce(sum(open), 0) AS n FROM jobs WHERE account_id = ? AND finished_at IS NULL',
        id,
      );
      return Number(row?.n);
    },

    listFullAccounts() {
      return database
        .all(
          `SELECT id FROM accounts a WHERE stored_bytes IS NOT NULL
             AND (SELECT coalesce(sum(bytes), 0) FROM jobs WHERE account_id = a.id) + ${EXPORTED_BYTES} + ${SNAPSHOT_BYTES} >= stored_bytes
             AND EXISTS (SELECT 1 FROM jobs WHERE account_id = a.id) ORDER BY id`,
        )
        .map((row) => String(row.id) as AccountId);
    },

    rotateKey(account, id, { hash, prefix }, overlapMs) {
      const row = database.get(
        `SELECT hash FROM keys WHERE account_id = ? AND id = ? AND revoked_at IS NULL
           AND (expires_at IS NULL OR expires_at > ?)`,
        account,
        id,
        now(),
      );
      if (row === undefined) return null;
      database.run(
        'DELETE FROM former_secrets WHERE key_id = ? AND (valid_until <= ? OR ? = 0)',
        id,
        now(),
        overlapMs,
      );
      const former = database.get('SELECT count(*) AS n FROM former_secrets WHERE key_id = ?', id);
      if (Number(former?.n) >= MOST_FORMER_SECRETS) throw tooManySecrets();
      if (overlapMs > 0) {
        database.run(
          'INSERT INTO former_secrets (hash, key_id, valid_until) VALUES (?, ?, ?)',
          String(row.hash),
          id,
          now() + overlapMs,
        );
      }
      database.run('UPDATE keys SET hash = ?, prefix = ? WHERE id = ?', hash, prefix, id);
      const key = database.get('SELECT * FROM keys WHERE id = ?', id);
      return key === undefined ? null : keyFromRow(key);
    },
  };
}
