import type { SessionStore } from '../../core/ports/session-store.ts';
import {
  credentialEntryOf,
  credentialOf,
  cursorOf,
  type Row,
  sessionEntryOf,
  sessionOf,
  sliceOf,
} from '../store-rows/rows.ts';
import type { PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

/** Without the data, which may be large. */
const SESSION_ENTRY = 'seq, id, account_id, name, wish, created_at, expires_at, last_used_at, request_count';
const CREDENTIAL_ENTRY = 'seq, account_id, name, kind, hosts, created_at, updated_at';

export function createPostgresSessionStore(database: PostgresDatabase): SessionStore {
  const sessionRow = async (account: string, name: string): Promise<Row | undefined> => {
    const [row] = await database.query('SELECT * FROM sessions WHERE account_id = $1 AND name = $2', [
      account,
      name,
    ]);
    return row;
  };

  return {
    async openSession(session) {
      const { id, accountId, name, wish, createdAt, expiresAt, data } = session;
      const known = await sessionRow(accountId, name);
      if (known !== undefined) return sessionOf(known);
      // The second writer waits for the first and gets its row, which an update that changes nothing returns.
      const [row] = await database.query(
        `INSERT INTO sessions (id, account_id, name, wish, created_at, expires_at, data)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (account_id, name) DO UPDATE SET name = excluded.name RETURNING *`,
        [id, accountId, name, jsonParameter(wish), createdAt, expiresAt, data],
      );
      return sessionOf(row as Row);
    },

    async getSession(account, name) {
      const row = await sessionRow(account, name);
      return row === undefined ? null : sessionOf(row);
    },

    async listSessions({ accountId, cursor, limit }) {
      const rows = await database.query(
        `SELECT ${SESSION_ENTRY} FROM sessions WHERE account_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
        [accountId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', sessionEntryOf);
    },

    async updateSession({ id, version, data, at, requests }) {
      const rows = await database.query(
        `UPDATE sessions SET data = $3, version = version + 1, request_count = request_count + $4,
           last_used_at = greatest(last_used_at, $5)
         WHERE id = $1 AND version = $2 RETURNING seq`,
        [id, version, data, requests, at],
      );
      return rows.length > 0;
    },

    async touchSessions(uses) {
      if (uses.length === 0) return;
      await database.query(
        `WITH used AS (
           SELECT id, max(at) AS at, sum(requests)::bigint AS requests
           FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS u (id, at, requests) GROUP BY id
         ), locked AS MATERIALIZED (
           SELECT id FROM sessions WHERE id IN (SELECT id FROM used) ORDER BY id FOR NO KEY UPDATE
         )
         UPDATE sessions s SET last_used_at = greatest(s.last_used_at, u.at),
           request_count = s.request_count + u.requests
         FROM used u JOIN locked USING (id) WHERE s.id = u.id`,
        [uses.map(({ id }) => id), uses.map(({ at }) => at), uses.map(({ requests }) => requests)],
      );
    },

    async deleteSession(account, name) {
      const rows = await database.query(
        'DELETE FROM sessions WHERE account_id = $1 AND name = $2 RETURNING seq',
        [account, name],
      );
      return rows.length > 0;
    },

    async deleteEndedSessions(endedBefore, limit) {
      const rows = await database.query(
        `DELETE FROM sessions WHERE seq IN (
           SELECT seq FROM sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
         ) RETURNING seq`,
        [endedBefore, limit],
      );
      return rows.length;
    },

    async putCredential({ accountId, name, kind, hosts, data, at }) {
      await database.query(
        `INSERT INTO credentials (account_id, name, kind, hosts, created_at, updated_at, data)
         VALUES ($1, $2, $3, $4, $5, $5, $6) ON CONFLICT (account_id, name) DO UPDATE SET
           kind = excluded.kind, hosts = excluded.hosts, updated_at = excluded.updated_at, data = excluded.data`,
        [accountId, name, kind, jsonParameter(hosts), at, data],
      );
    },

    async getCredential(account, name) {
      const [row] = await database.query('SELECT * FROM credentials WHERE account_id = $1 AND name = $2', [
        account,
        name,
      ]);
      return row === undefined ? null : credentialOf(row);
    },

    async listCredentials({ accountId, cursor, limit }) {
      const rows = await database.query(
        `SELECT ${CREDENTIAL_ENTRY} FROM credentials WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
        [accountId, cursorOf(cursor, 0), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', credentialEntryOf);
    },

    async deleteCredential(account, name) {
      const rows = await database.query(
        'DELETE FROM credentials WHERE account_id = $1 AND name = $2 RETURNING seq',
        [account, name],
      );
      return rows.length > 0;
    },
  };
}
