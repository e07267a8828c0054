import type { AccountId, KeyId } from '../../core/model/ids.ts';
import { MOST_SIGN_INS, type SignIn, type SignInStore } from '../../core/ports/key-store.ts';
import type { Row } from '../store-rows/rows.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { CLOCK, either, GREATEST, NOTHING, raw, SKIP_LOCKED, sql } from './sql.ts';
import { changed, find, get, run } from './steps.ts';

/** SQLite knows no OFFSET without a LIMIT. */
const ALL_AFTER = either(raw('LIMIT -1'), NOTHING);

export const signInStore: Methods<SignInStore> = {
  addSignIn: transaction(function* ({ hash, accountId, keyId, keyHash, lastsMs, idleMs }) {
    yield* run(
      sql`INSERT INTO sign_ins (hash, account_id, key_id, key_hash, created_at, used_at, idle_ms, expires_at)
        VALUES (${hash}, ${accountId}, ${keyId}, ${keyHash}, ${CLOCK}, ${CLOCK}, ${idleMs}, ${CLOCK} + ${lastsMs})`,
    );
    // Rows that another process deletes or touches at this moment are left to it.
    yield* run(
      sql`DELETE FROM sign_ins WHERE hash IN (
        SELECT hash FROM sign_ins WHERE key_id = ${keyId} AND hash <> ${hash}
        ORDER BY used_at DESC ${ALL_AFTER} OFFSET ${MOST_SIGN_INS - 1} ${SKIP_LOCKED}
      )`,
    );
  }),

  findSignIn: read((hash) =>
    find(
      sql`SELECT * FROM sign_ins WHERE hash = ${hash} AND expires_at > ${CLOCK} AND used_at + idle_ms > ${CLOCK}`,
      signInOfRow,
    ),
  ),

  touchSignIn: change(function* (hash) {
    yield* run(sql`UPDATE sign_ins SET used_at = ${GREATEST}(used_at, ${CLOCK}) WHERE hash = ${hash}`);
  }),

  deleteSignIn: change((hash) => changed(sql`DELETE FROM sign_ins WHERE hash = ${hash}`), {
    isReserved: true,
  }),

  addSignInLink: change(function* ({ hash, accountId, lastsMs }) {
    yield* run(
      sql`INSERT INTO sign_in_links (hash, account_id, expires_at) VALUES (${hash}, ${accountId}, ${CLOCK} + ${lastsMs})`,
    );
  }),

  takeSignInLink: change(function* (hash) {
    const row = yield* get(
      sql`DELETE FROM sign_in_links WHERE hash = ${hash} RETURNING account_id, expires_at > ${CLOCK} AS is_valid`,
    );
    return row?.is_valid ? { accountId: String(row.account_id) as AccountId } : null;
  }),

  deleteEndedSignIns: transaction(function* (limit) {
    const signIns = yield* run(
      sql`DELETE FROM sign_ins WHERE hash IN (
        SELECT hash FROM sign_ins WHERE expires_at <= ${CLOCK} OR used_at + idle_ms <= ${CLOCK}
        LIMIT ${limit} ${SKIP_LOCKED}
      )`,
    );
    const links = yield* run(
      sql`DELETE FROM sign_in_links WHERE hash IN (
        SELECT hash FROM sign_in_links WHERE expires_at <= ${CLOCK} LIMIT ${limit} ${SKIP_LOCKED}
      )`,
    );
    return signIns + links;
  }),
};

function signInOfRow(row: Row): SignIn {
  return {
    hash: String(row.hash),
    accountId: String(row.account_id) as AccountId,
    keyId: String(row.key_id) as KeyId,
    keyHash: String(row.key_hash),
    createdAt: Number(row.created_at),
    usedAt: Number(row.used_at),
    expiresAt: Number(row.expires_at),
  };
}
