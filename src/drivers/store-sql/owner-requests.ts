import type { OwnerRequestStore } from '../../core/ports/site-owner-store.ts';
import { cursorOf, ownerRequestOf } from '../store-rows/rows.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { CLOCK, sql } from './sql.ts';
import { all, changed, find, run } from './steps.ts';

const IS_KNOWN = sql`(proved_at IS NOT NULL OR expires_at > ${CLOCK})`;
const UNPROVED = sql`SELECT count(*) FROM owner_requests WHERE proved_at IS NULL`;

export const ownerRequestStore: Methods<OwnerRequestStore> = {
  addOwnerRequest: transaction(function* (request, limits) {
    const { id, host, demand, token, contact, message, createdAt, expiresAt } = request;
    const secondsBetween = demand.kind === 'slower' ? demand.secondsBetweenRequests : null;
    yield* run(sql`DELETE FROM owner_requests WHERE proved_at IS NULL AND expires_at <= ${CLOCK}`);
    return yield* changed(
      sql`INSERT INTO owner_requests (id, host, seconds_between, token, contact, message, created_at, expires_at)
        SELECT ${id}, ${host}, ${secondsBetween}, ${token}, ${contact}, ${message}, ${createdAt}, ${expiresAt}
        WHERE (${UNPROVED}) < ${limits.total} AND (${UNPROVED} AND host = ${host}) < ${limits.perHost}`,
    );
  }),

  getOwnerRequest: read((id) =>
    find(sql`SELECT * FROM owner_requests WHERE id = ${id} AND ${IS_KNOWN}`, ownerRequestOf),
  ),

  listOwnerRequests: read(function* ({ cursor, limit }) {
    const rows = yield* all(
      sql`SELECT * FROM owner_requests
        WHERE seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)} AND ${IS_KNOWN} ORDER BY seq DESC LIMIT ${limit}`,
    );
    const last = rows.at(-1);
    return {
      items: rows.map(ownerRequestOf),
      nextCursor: rows.length < limit || last === undefined ? null : String(last.seq),
    };
  }),

  proveOwnerRequest: change((id, by) =>
    changed(
      sql`UPDATE owner_requests SET proved_at = ${CLOCK}, proved_by = ${by}
        WHERE id = ${id} AND proved_at IS NULL AND expires_at > ${CLOCK}`,
    ),
  ),
};
