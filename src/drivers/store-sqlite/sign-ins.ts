import type { AccountId } from '../../core/model/ids.ts';
import { MOST_SIGN_INS, type SignInStore } from '../../core/ports/sign-in-store.ts';
import { signInOfRow } from '../store-rows/sign-in-rows.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

export function createSqliteSignInStore(
  database: SqliteDatabase,
  now: () => number,
): Synchronous<SignInStore> {
  return {
    addSignIn({ hash, accountId, keyId, keyHash, lastsMs, idleMs }) {
      database.run(
        `INSERT INTO sign_ins (hash, account_id, key_id, key_hash, created_at, used_at, idle_ms, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)`,
        hash,
        accountId,
        keyId,
        keyHash,
        now(),
        idleMs,
        now() + lastsMs,
      );
      database.run(
        `DELETE FROM sign_ins WHERE hash IN (
           SELECT hash FROM sign_ins WHERE key_id = ? AND hash <> ? ORDER BY used_at DESC LIMIT -1 OFFSET ?
         )`,
        keyId,
        hash,
        MOST_SIGN_INS - 1,
      );
    },

    findSignIn(hash) {
      const row = database.get(
        'SELECT * FROM sign_ins WHERE hash = ?1 AND expires_at > ?2 AND used_at + idle_ms > ?2',
        hash,
        now(),
      );
      return row === undefined ? null : signInOfRow(row);
    },

    touchSignIn(hash) {
      database.run('UPDATE sign_ins SET used_at = max(used_at, ?) WHERE hash = ?', now(), hash);
    },

    deleteSignIn: (hash) => database.run('DELETE FROM sign_ins WHERE hash = ?', hash) > 0,

    addSignInLink({ hash, accountId, lastsMs }) {
      database.run(
        'INSERT INTO sign_in_links (hash, account_id, expires_at) VALUES (?, ?, ?)',
        hash,
        accountId,
        now() + lastsMs,
      );
    },

    takeSignInLink(hash) {
      const row = database.get('SELECT * FROM sign_in_links WHERE hash = ?', hash);
      if (row === undefined) return null;
      database.run('DELETE FROM sign_in_links WHERE hash = ?', hash);
      return Number(row.expires_at) > now() ? { accountId: String(row.account_id) as AccountId } : null;
    },

    deleteEndedSignIns(limit) {
      const signIns = database.run(
        `DELETE FROM sign_ins WHERE hash IN (
           SELECT hash FROM sign_ins WHERE expires_at <= ?1 OR used_at + idle_ms <= ?1 LIMIT ?2
         )`,
        now(),
        limit,
      );
      const links = database.run(
        'DELETE FROM sign_in_links WHERE hash IN (SELECT hash FROM sign_in_links WHERE expires_at <= ? LIMIT ?)',
        now(),
        limit,
      );
      return signIns + links;
    },
  };
}
