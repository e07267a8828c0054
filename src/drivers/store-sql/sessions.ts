import type { SessionStore } from '../../core/ports/session-store.ts';
import { credentialEntryOf, credentialOf, cursorOf, sessionEntryOf, sessionOf } from '../store-rows/rows.ts';
import { change, type Methods, read } from './methods.ts';
import { FOR_NO_KEY_UPDATE, GREATEST, json, raw, rowsOf, SKIP_LOCKED, sql } from './sql.ts';
import { changed, find, one, run, slice } from './steps.ts';

/** Without the data, which may be large. */
const SESSION_ENTRY = raw(
  'seq, id, account_id, name, wish, created_at, expires_at, last_used_at, request_count',
);
const CREDENTIAL_ENTRY = raw('seq, account_id, name, kind, hosts, created_at, updated_at');

const selectSession = (account: string, name: string) =>
  sql`SELECT * FROM sessions WHERE account_id = ${account} AND name = ${name}`;

export const sessionStore: Methods<SessionStore> = {
  openSession: change(function* ({ id, accountId, name, wish, createdAt, expiresAt, data }) {
    const known = yield* find(selectSession(accountId, name), sessionOf);
    if (known !== null) return known;
    // The second writer waits for the first and gets its row, which an update that changes nothing returns.
    return yield* one(
      sql`INSERT INTO sessions (id, account_id, name, wish, created_at, expires_at, data)
        VALUES (${id}, ${accountId}, ${name}, ${json(wish)}, ${createdAt}, ${expiresAt}, ${data})
        ON CONFLICT (account_id, name) DO UPDATE SET name = excluded.name RETURNING *`,
      sessionOf,
    );
  }),

  getSession: read((account, name) => find(selectSession(account, name), sessionOf)),

  listSessions: read(({ accountId, cursor, limit }) =>
    slice(
      sql`SELECT ${SESSION_ENTRY} FROM sessions
        WHERE account_id = ${accountId} AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      sessionEntryOf,
    ),
  ),

  updateSession: change(({ id, version, data, at, requests }) =>
    changed(
      sql`UPDATE sessions SET data = ${data}, version = version + 1, request_count = request_count + ${requests},
          last_used_at = ${GREATEST}(coalesce(last_used_at, 0), ${at})
        WHERE id = ${id} AND version = ${version}`,
    ),
  ),

  touchSessions: change(
    function* (uses) {
      if (uses.length === 0) return;
      const columns = { id: 'text', at: 'bigint', requests: 'bigint' } as const;
      yield* run(
        sql`WITH used AS (
            SELECT id, max(at) AS at, sum(requests) AS requests FROM ${rowsOf('u', columns, uses)} GROUP BY id
          ), locked AS MATERIALIZED (
            SELECT id FROM sessions WHERE id IN (SELECT id FROM used) ORDER BY id ${FOR_NO_KEY_UPDATE}
          )
          UPDATE sessions SET last_used_at = ${GREATEST}(coalesce(last_used_at, 0), used.at),
            request_count = request_count + used.requests
          FROM used JOIN locked ON locked.id = used.id WHERE sessions.id = used.id`,
      );
    },
    { isUnsynced: true },
  ),

  deleteSession: change((account, name) =>
    changed(sql`DELETE FROM sessions WHERE account_id = ${account} AND name = ${name}`),
  ),

  deleteEndedSessions: change((endedBefore, limit) =>
    run(
      sql`DELETE FROM sessions WHERE seq IN (
        SELECT seq FROM sessions WHERE expires_at < ${endedBefore} ORDER BY expires_at LIMIT ${limit} ${SKIP_LOCKED}
      )`,
    ),
  ),

  putCredential: change(function* ({ accountId, name, kind, hosts, data, at }) {
    yield* run(
      sql`INSERT INTO credentials (account_id, name, kind, hosts, created_at, updated_at, data)
        VALUES (${accountId}, ${name}, ${kind}, ${json(hosts)}, ${at}, ${at}, ${data})
        ON CONFLICT (account_id, name) DO UPDATE SET
          kind = excluded.kind, hosts = excluded.hosts, updated_at = excluded.updated_at, data = excluded.data`,
    );
  }),

  getCredential: read((account, name) =>
    find(sql`SELECT * FROM credentials WHERE account_id = ${account} AND name = ${name}`, credentialOf),
  ),

  listCredentials: read(({ accountId, cursor, limit }) =>
    slice(
      sql`SELECT ${CREDENTIAL_ENTRY} FROM credentials
        WHERE account_id = ${accountId} AND seq > ${cursorOf(cursor, 0)} ORDER BY seq LIMIT ${limit + 1}`,
      limit,
      credentialEntryOf,
    ),
  ),

  deleteCredential: change((account, name) =>
    changed(sql`DELETE FROM credentials WHERE account_id = ${account} AND name = ${name}`),
  ),
};
