import type { OwnerRequestStore } from '../../core/ports/owner-request-store.ts';
import { cursorOf, ownerRequestOf } from '../store-rows/rows.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

const IS_KNOWN = '(proved_at IS NOT NULL OR expires_at > ?)';

export function createSqliteOwnerRequestStore(
  database: SqliteDatabase,
  now: () => number,
): Synchronous<OwnerRequestStore> {
  const count = (sql: string, ...values: string[]) => Number(database.get(sql, ...values)?.count ?? 0);
  return {
    addOwnerRequest(request, limits) {
      database.run('DELETE FROM owner_requests WHERE proved_at IS NULL AND expires_at <= ?', now());
      const unproved = 'SELECT count(*) AS count FROM owner_requests WHERE proved_at IS NULL';
      if (count(unproved) >= limits.total) return false;
      if (count(`${unproved} AND host = ?`, request.host) >= limits.perHost) return false;
      database.run(
        `INSERT INTO owner_requests (id, host, seconds_between, token, contact, message, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        request.id,
        request.host,
        request.demand.kind === 'slower' ? request.demand.secondsBetweenRequests : null,
        request.token,
        request.contact,
        request.message,
        request.createdAt,
        request.expiresAt,
      );
      return true;
    },

    getOwnerRequest(id) {
      const row = database.get(`SELECT * FROM owner_requests WHERE id = ? AND ${IS_KNOWN}`, id, now());
      return row === undefined ? null : ownerRequestOf(row);
    },

    listOwnerRequests({ cursor, limit }) {
      const rows = database.all(
        `SELECT * FROM owner_requests WHERE seq < ? AND ${IS_KNOWN} ORDER BY seq DESC LIMIT ?`,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        now(),
        limit,
      );
      const last = rows.at(-1);
      return {
        items: rows.map(ownerRequestOf),
        nextCursor: rows.length < limit || last === undefined ? null : String(last.seq),
      };
    },

    proveOwnerRequest(id, by) {
      return (
        database.run(
          `UPDATE owner_requests SET proved_at = ?, proved_by = ? WHERE id = ? AND proved_at IS NULL AND expires_at > ?`,
          now(),
          by,
          id,
          now(),
        ) > 0
      );
    },
  };
}
