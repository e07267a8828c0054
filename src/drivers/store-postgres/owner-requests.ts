import type { OwnerRequestStore } from '../../core/ports/owner-request-store.ts';
import { cursorOf, ownerRequestOf } from '../store-rows/rows.ts';
import { NOW, type PostgresDatabase } from './database.ts';

const IS_KNOWN = `(proved_at IS NOT NULL OR expires_at > ${NOW})`;

export function createPostgresOwnerRequestStore(database: PostgresDatabase): OwnerRequestStore {
  return {
    async addOwnerRequest(request, limits) {
      await database.query(`DELETE FROM owner_requests WHERE proved_at IS NULL AND expires_at <= ${NOW}`);
      const rows = await database.query(
        `INSERT INTO owner_requests (id, host, seconds_between, token, contact, message, created_at, expires_at)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8
         WHERE (SELECT count(*) FROM owner_requests WHERE proved_at IS NULL) < $9
           AND (SELECT count(*) FROM owner_requests WHERE proved_at IS NULL AND host = $2) < $10
         RETURNING id`,
        [
          request.id,
          request.host,
          request.demand.kind === 'slower' ? request.demand.secondsBetweenRequests : null,
          request.token,
          request.contact,
          request.message,
          request.createdAt,
          request.expiresAt,
          limits.total,
          limits.perHost,
        ],
      );
      return rows.length > 0;
    },

    async getOwnerRequest(id) {
      const [row] = await database.query(`SELECT * FROM owner_requests WHERE id = $1 AND ${IS_KNOWN}`, [id]);
      return row === undefined ? null : ownerRequestOf(row);
    },

    async listOwnerRequests({ cursor, limit }) {
      const rows = await database.query(
        `SELECT * FROM owner_requests WHERE seq < $1 AND ${IS_KNOWN} ORDER BY seq DESC LIMIT $2`,
        [cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit],
      );
      const last = rows.at(-1);
      return {
        items: rows.map(ownerRequestOf),
        nextCursor: rows.length < limit || last === undefined ? null : String(last.seq),
      };
    },

    async proveOwnerRequest(id, by) {
      const rows = await database.query(
        `UPDATE owner_requests SET proved_at = ${NOW}, proved_by = $2
         WHERE id = $1 AND proved_at IS NULL AND expires_at > ${NOW} RETURNING id`,
        [id, by],
      );
      return rows.length > 0;
    },
  };
}
