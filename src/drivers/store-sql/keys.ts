import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { type AccountRecordStore, MOST_FORMER_SECRETS } from '../../core/ports/account-store.ts';
import type { FoundKey, KeyStore, NewKey } from '../../core/ports/key-store.ts';
import { keyFromRow, type Row } from '../store-rows/rows.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { CLOCK, FOR_NO_KEY_UPDATE, FOR_SHARE, FOR_UPDATE, GREATEST, json, raw, rowsOf, sql } from './sql.ts';
import { changed, find, get, list, one, run, type Steps } from './steps.ts';

/** A key, and of its account what every request needs. */
const FOUND = raw('k.*, a.disabled_at AS account_disabled_at, a.requests_per_minute AS account_rate');

const maybe = (value: unknown): number | null => (value === null ? null : Number(value));

const tooManySecrets = () =>
  new ScrapifieError(
    'CONFLICT',
    `${MOST_FORMER_SECRETS} earlier secrets of the key are still valid. Wait until one has ended, or rotate with overlapSeconds 0, which ends all of them.`,
  );

/** Stores the key unless its hash is known. */
export function* insertKey(key: NewKey): Steps<void> {
  const { id, accountId, name, hash, prefix, scopes, ratePerMinute, createdAt, expiresAt } = key;
  yield* run(
    sql`INSERT INTO keys (id, account_id, name, hash, prefix, scopes, rate_per_minute, created_at, expires_at)
      VALUES (${id}, ${accountId}, ${name}, ${hash}, ${prefix}, ${json(scopes)}, ${ratePerMinute}, ${createdAt},
        ${expiresAt})
      ON CONFLICT (hash) DO NOTHING`,
  );
}

export const keyStore: Methods<KeyStore & Pick<AccountRecordStore, 'rotateKey'>> = {
  createKey: transaction(function* (key) {
    // The lock holds off a deletion until its look at the keys finds this one.
    const account = yield* get(
      sql`SELECT deleting_at FROM accounts WHERE id = ${key.accountId} ${FOR_SHARE}`,
    );
    refuseWhileDeleted(key.accountId, account);
    yield* insertKey(key);
  }),

  findKey: read((hash) =>
    find(
      sql`SELECT ${FOUND}, NULL AS valid_until FROM keys k JOIN accounts a ON a.id = k.account_id
        WHERE k.hash = ${hash}
        UNION ALL
        SELECT ${FOUND}, f.valid_until FROM former_secrets f JOIN keys k ON k.id = f.key_id
        JOIN accounts a ON a.id = k.account_id WHERE f.hash = ${hash}`,
      (row) => foundKeyOf(row, hash, row.valid_until === null ? null : Number(row.valid_until)),
    ),
  ),

  listKeys: read((account) =>
    list(sql`SELECT * FROM keys WHERE account_id = ${account} ORDER BY created_at, id`, keyFromRow),
  ),

  revokeKey: change(
    (account, id, now) =>
      changed(
        sql`UPDATE keys SET revoked_at = ${now}
          WHERE account_id = ${account} AND id = ${id} AND revoked_at IS NULL`,
      ),
    { isReserved: true },
  ),

  touchKeys: change(
    function* (used) {
      if (used.length === 0) return;
      yield* run(
        sql`WITH used AS (
            SELECT id, max(at) AS at FROM ${rowsOf('u', { id: 'text', at: 'bigint' }, used)} GROUP BY id
          ), locked AS MATERIALIZED (
            SELECT id FROM keys WHERE id IN (SELECT id FROM used) ORDER BY id ${FOR_NO_KEY_UPDATE}
          )
          UPDATE keys SET last_used_at = ${GREATEST}(coalesce(last_used_at, 0), used.at)
          FROM used JOIN locked ON locked.id = used.id WHERE keys.id = used.id`,
      );
    },
    { isUnsynced: true },
  ),

  rotateKey: transaction(function* (account, id, { hash, prefix }, overlapMs) {
    const key = yield* get(
      sql`SELECT hash, ${CLOCK} AS now FROM keys WHERE account_id = ${account} AND id = ${id} AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > ${CLOCK}) ${FOR_UPDATE}`,
    );
    if (key === undefined) return null;
    const now = Number(key.now);
    yield* run(
      sql`DELETE FROM former_secrets WHERE key_id = ${id} AND (valid_until <= ${now} OR ${overlapMs === 0})`,
    );
    const former = yield* get(sql`SELECT count(*) AS n FROM former_secrets WHERE key_id = ${id}`);
    if (Number(former?.n) >= MOST_FORMER_SECRETS) throw tooManySecrets();
    if (overlapMs > 0) {
      yield* run(
        sql`INSERT INTO former_secrets (hash, key_id, valid_until)
          VALUES (${String(key.hash)}, ${id}, ${now + overlapMs})`,
      );
    }
    return yield* one(
      sql`UPDATE keys SET hash = ${hash}, prefix = ${prefix} WHERE id = ${id} RETURNING *`,
      keyFromRow,
    );
  }),
};

/** `until`: the end of a former secret; null for the secret that the key has now. */
function foundKeyOf(row: Row, hash: string, until: number | null): FoundKey {
  const key = keyFromRow(row);
  const expiresAt =
    until === null ? key.expiresAt : Math.min(until, key.expiresAt ?? Number.POSITIVE_INFINITY);
  return {
    ...key,
    hash,
    expiresAt,
    account: { disabledAt: maybe(row.account_disabled_at), requestsPerMinute: maybe(row.account_rate) },
  };
}

/** `row`: the `deleting_at` of the account; undefined where there is no such account. */
export function refuseWhileDeleted(id: AccountId, row: Row | undefined): void {
  if (row === undefined || row.deleting_at === null) return;
  throw new ScrapifieError('CONFLICT', `The account ${id} is being deleted.`);
}
