import type { SessionStore } from '../../core/ports/session-store.ts';
import {
  credentialEntryOf,
  credentialOf,
  cursorOf,
  sessionEntryOf,
  sessionOf,
  sliceOf,
} from '../store-rows/rows.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import type { Synchronous } from './synchronous.ts';

/** Without the data, which may be large. */
const SESSION_ENTRY = 'seq, id, account_id, name, wish, created_at, expires_at, last_used_at, request_count';
const CREDENTIAL_ENTRY = 'seq, account_id, name, kind, hosts, created_at, updated_at';

export function createSqliteSessionStore(database: SqliteDatabase): Synchronous<SessionStore> {
  const sessionRow = (account: string, name: string): SqliteRow | undefined =>
    database.get('SELECT * FROM sessions WHERE account_id = ? AND name = ?', account, name);

  return {
    openSession(session) {
      const { id, accountId, name, wish, createdAt, expiresAt, data } = session;
      database.run(
        `INSERT INTO sessions (id, account_id, name, wish, created_at, expires_at, data)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account_id, name) DO NOTHING`,
        id,
        accountId,
        name,
        JSON.stringify(wish),
        createdAt,
        expiresAt,
        data,
      );
      return sessionOf(sessionRow(accountId, name) as SqliteRow);
    },

    getSession(account, name) {
      const row = sessionRow(account, name);
      return row === undefined ? null : sessionOf(row);
    },

    listSessions({ accountId, cursor, limit }) {
      const rows = database.all(
        `SELECT ${SESSION_ENTRY} FROM sessions WHERE account_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', sessionEntryOf);
    },

    updateSession({ id, version, data, at, requests }) {
      return (
        database.run(
          `UPDATE sessions SET data = ?, version = version + 1, request_count = request_count + ?,
             last_used_at = max(coalesce(last_used_at, 0), ?)
           WHERE id = ? AND version = ?`,
          data,
          requests,
          at,
          id,
          version,
        ) > 0
      );
    },

    touchSessions(uses) {
      for (const { id, at, requests } of uses) {
        database.run(
          `UPDATE sessions SET request_count = request_count + ?,
             last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?`,
          requests,
          at,
          id,
        );
      }
    },

    deleteSession(account, name) {
      return database.run('DELETE FROM sessions WHERE account_id = ? AND name = ?', account, name) > 0;
    },

    deleteEndedSessions(endedBefore, limit) {
      return database.run(
        `DELETE FROM sessions WHERE seq IN (
           SELECT seq FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?
         )`,
        endedBefore,
        limit,
      );
    },

    putCredential({ accountId, name, kind, hosts, data, at }) {
      database.run(
        `INSERT INTO credentials (account_id, name, kind, hosts, created_at, updated_at, data)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account_id, name) DO UPDATE SET
           kind = excluded.kind, hosts = excluded.hosts, updated_at = excluded.updated_at, data = excluded.data`,
        accountId,
        name,
        kind,
        JSON.stringify(hosts),
        at,
        at,
        data,
      );
    },

    getCredential(account, name) {
      const row = database.get('SELECT * FROM credentials WHERE account_id = ? AND name = ?', account, name);
      return row === undefined ? null : credentialOf(row);
    },

    listCredentials({ accountId, cursor, limit }) {
      const rows = database.all(
        `SELECT ${CREDENTIAL_ENTRY} FROM credentials WHERE account_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
        accountId,
        cursorOf(cursor, 0),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', credentialEntryOf);
    },

    deleteCredential(account, name) {
      return database.run('DELETE FROM credentials WHERE account_id = ? AND name = ?', account, name) > 0;
    },
  };
}
