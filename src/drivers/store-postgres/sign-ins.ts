import type { AccountId } from '../../core/model/ids.ts';
import { MOST_SIGN_INS, type SignInStore } from '../../core/ports/sign-in-store.ts';
import { signInOfRow } from '../store-rows/sign-in-rows.ts';
import { NOW, type PostgresDatabase } from './database.ts';

export function createPostgresSignInStore(database: PostgresDatabase): SignInStore {
  return {
    addSignIn({ hash, accountId, keyId, keyHash, lastsMs, idleMs }) {
      return database.transaction(async (query) => {
        await query(
          `INSERT INTO sign_ins (hash, account_id, key_id, key_hash, created_at, used_at, idle_ms, expires_at)
           VALUES ($1, $2, $3, $4, ${NOW}, ${NOW}, $5, ${NOW} + $6)`,
          [hash, accountId, keyId, keyHash, idleMs, lastsMs],
        );
        // Rows that another process deletes or touches at this moment are left to it.
        await query(
          `DELETE FROM sign_ins WHERE hash IN (
             SELECT hash FROM sign_ins WHERE key_id = $1 AND hash <> $2
             ORDER BY used_at DESC OFFSET $3 FOR UPDATE SKIP LOCKED
           )`,
          [keyId, hash, MOST_SIGN_INS - 1],
        );
      });
    },

    async findSignIn(hash) {
      const [row] = await database.query(
        `SELECT * FROM sign_ins WHERE hash = $1 AND expires_at > ${NOW} AND used_at + idle_ms > ${NOW}`,
        [hash],
      );
      return row === undefined ? null : signInOfRow(row);
    },

    async touchSignIn(hash) {
      await database.query(`UPDATE sign_ins SET used_at = greatest(used_at, ${NOW}) WHERE hash = $1`, [hash]);
    },

    async deleteSignIn(hash) {
      const rows = await database.query('DELETE FROM sign_ins WHERE hash = $1 RETURNING hash', [hash]);
      return rows.length > 0;
    },

    async addSignInLink({ hash, accountId, lastsMs }) {
      await database.query(
        `INSERT INTO sign_in_links (hash, account_id, expires_at) VALUES ($1, $2, ${NOW} + $3)`,
        [hash, accountId, lastsMs],
      );
    },

    async takeSignInLink(hash) {
      const [row] = await database.query(
        `DELETE FROM sign_in_links WHERE hash = $1 RETURNING account_id, expires_at > ${NOW} AS is_valid`,
        [hash],
      );
      return row?.is_valid === true ? { accountId: String(row.account_id) as AccountId } : null;
    },

    async deleteEndedSignIns(limit) {
      const rows = await database.query(
        `WITH signed_in AS (
           DELETE FROM sign_ins WHERE hash IN (
             SELECT hash FROM sign_ins WHERE expires_at <= ${NOW} OR used_at + idle_ms <= ${NOW}
             LIMIT $1 FOR UPDATE SKIP LOCKED
           ) RETURNING hash
         ), links AS (
           DELETE FROM sign_in_links WHERE hash IN (
             SELECT hash FROM sign_in_links WHERE expires_at <= ${NOW} LIMIT $1 FOR UPDATE SKIP LOCKED
           ) RETURNING hash
         )
         SELECT hash FROM signed_in UNION ALL SELECT hash FROM links`,
        [limit],
      );
      return rows.length;
    },
  };
}
