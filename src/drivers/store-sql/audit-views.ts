import { type AuditStore, NO_HASH } from '../../core/ports/audit-store.ts';
import { auditOf, cursorOf } from '../store-rows/rows.ts';
import { type Methods, read } from './methods.ts';
import { given, raw, type Sql, sql } from './sql.ts';
import { get, slice } from './steps.ts';

/** How the log is read. Each database appends to it in its own way. */
export type AuditViewStore = Omit<AuditStore, 'audit'>;

const isEqual = (column: 'action' | 'actor' | 'target', value: string | undefined): Sql =>
  given(value, (text) => sql`AND ${raw(column)} = ${text}`);

export const auditViewStore: Methods<AuditViewStore> = {
  listAudit: read(({ action, actor, target, since, until, order = 'newest', cursor, limit }) => {
    const place =
      order === 'newest'
        ? sql`seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}`
        : sql`seq > ${cursorOf(cursor, 0)}`;
    return slice(
      sql`SELECT * FROM audit_log
        WHERE ${place} ${isEqual('action', action)} ${isEqual('actor', actor)} ${isEqual('target', target)}
          ${given(since, (at) => sql`AND at >= ${at}`)} ${given(until, (at) => sql`AND at < ${at}`)}
        ORDER BY seq ${raw(order === 'newest' ? 'DESC' : 'ASC')} LIMIT ${limit + 1}`,
      limit,
      auditOf,
    );
  }),

  auditHead: read(function* () {
    const row = yield* get(sql`SELECT seq, hash FROM audit_head`);
    return row === undefined ? { seq: 0, hash: NO_HASH } : { seq: Number(row.seq), hash: String(row.hash) };
  }),
};
