import type { AccountId } from '../../core/model/ids.ts';
import type { Account, AccountLimits, AccountRecordStore } from '../../core/ports/account-store.ts';
import { DELETED_ACCOUNT } from '../store-rows/expiry.ts';
import type { Row } from '../store-rows/rows.ts';
import { EXPORTED_BYTES } from './exports.ts';
import { insertKey, refuseWhileDeleted } from './keys.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { SNAPSHOT_BYTES } from './snapshots.ts';
import { BY_BYTES, CLOCK, FOR_NO_KEY_UPDATE, NULL, raw, type Sql, sql } from './sql.ts';
import { changed, find, list, one, run, slice } from './steps.ts';

const maybe = (value: unknown): number | null => (value === null ? null : Number(value));

/** Bytes of the files and snapshots of an account (a). */
const DERIVED_BYTES = raw(`${EXPORTED_BYTES} + ${SNAPSHOT_BYTES}`);

const limitsTo = ({ requestsPerMinute, concurrentPages, openUrls, storedBytes }: AccountLimits): Sql =>
  sql`requests_per_minute = ${requestsPerMinute}, concurrent_pages = ${concurrentPages}, open_urls = ${openUrls},
    stored_bytes = ${storedBytes}`;

const hasOtherLimits = ({ requestsPerMinute, concurrentPages, openUrls, storedBytes }: AccountLimits): Sql =>
  sql`(requests_per_minute IS DISTINCT FROM ${requestsPerMinute}
    OR concurrent_pages IS DISTINCT FROM ${concurrentPages}
    OR open_urls IS DISTINCT FROM ${openUrls} OR stored_bytes IS DISTINCT FROM ${storedBytes})`;

/** When the account was disabled, once it is to be disabled or not; a change without a word on that keeps it. */
function disabledAt(isDisabled: boolean | undefined): Sql {
  if (isDisabled === undefined) return sql`disabled_at`;
  return isDisabled ? sql`coalesce(disabled_at, ${CLOCK})` : NULL;
}

const selectAccount = (id: AccountId): Sql =>
  sql`SELECT * FROM accounts WHERE id = ${id} AND id <> ${DELETED_ACCOUNT}`;

export const accountStore: Methods<Omit<AccountRecordStore, 'rotateKey'>> = {
  getAccount: read((id) => find(selectAccount(id), accountOfRow)),

  createAccount: transaction(function* ({ id, name, plan, limits }, firstKey) {
    const { requestsPerMinute, concurrentPages, openUrls, storedBytes } = limits;
    const isMade = yield* changed(
      sql`INSERT INTO accounts (id, name, plan, created_at, updated_at, requests_per_minute, concurrent_pages, open_urls,
          stored_bytes)
        VALUES (${id}, ${name}, ${plan}, ${CLOCK}, ${CLOCK}, ${requestsPerMinute}, ${concurrentPages}, ${openUrls},
          ${storedBytes})
        ON CONFLICT (id) DO NOTHING`,
    );
    if (isMade && firstKey !== null) yield* insertKey(firstKey);
    return isMade;
  }),

  listAccounts: read(({ cursor, limit }) =>
    slice(
      sql`SELECT * FROM accounts WHERE id ${BY_BYTES} > ${cursor ?? ''} AND id <> ${DELETED_ACCOUNT}
        ORDER BY id ${BY_BYTES} LIMIT ${limit + 1}`,
      limit,
      accountOfRow,
      'id',
    ),
  ),

  changeAccount: transaction(
    function* (id, { name, plan, limits, isDisabled }) {
      const before = yield* find(sql`${selectAccount(id)} ${FOR_NO_KEY_UPDATE}`, accountOfRow);
      if (before === null) return null;
      refuseWhileDeleted(id, { deleting_at: before.deletingSince });
      return yield* one(
        sql`UPDATE accounts SET name = ${name ?? before.name}, plan = ${plan ?? before.plan},
            disabled_at = ${disabledAt(isDisabled)}, updated_at = ${CLOCK}, ${limitsTo(limits ?? before.limits)}
          WHERE id = ${id} RETURNING *`,
        accountOfRow,
      );
    },
    { isReserved: true },
  ),

  applyPlan: change((plan, limits) =>
    run(
      sql`UPDATE accounts SET ${limitsTo(limits)}, updated_at = ${CLOCK}
        WHERE plan = ${plan} AND ${hasOtherLimits(limits)}`,
    ),
  ),

  accountUse: read((id) =>
    one(
      sql`SELECT coalesce(sum(open) FILTER (WHERE finished_at IS NULL), 0) AS open,
          coalesce(sum(claimed) FILTER (WHERE finished_at IS NULL), 0) AS claimed, coalesce(sum(bytes), 0)
            + coalesce((SELECT ${DERIVED_BYTES} FROM accounts a WHERE a.id = ${id}), 0) AS bytes
        FROM jobs WHERE account_id = ${id}`,
      ({ open, claimed, bytes }) => ({
        openUrls: Number(open),
        claimedPages: Number(claimed),
        storedBytes: Number(bytes),
      }),
    ),
  ),

  countOpenUrls: read((id) =>
    one(
      sql`SELECT coalesce(sum(open), 0) AS n FROM jobs WHERE account_id = ${id} AND finished_at IS NULL`,
      ({ n }) => Number(n),
    ),
  ),

  listFullAccounts: read(() =>
    list(
      sql`SELECT id FROM accounts a WHERE stored_bytes IS NOT NULL
          AND (SELECT coalesce(sum(bytes), 0) FROM jobs WHERE account_id = a.id) + ${DERIVED_BYTES} >= stored_bytes
          AND EXISTS (SELECT 1 FROM jobs WHERE account_id = a.id) ORDER BY id`,
      ({ id }) => String(id) as AccountId,
    ),
  ),
};

function accountOfRow(row: Row): Account {
  return {
    id: String(row.id) as AccountId,
    name: String(row.name),
    plan: String(row.plan),
    limits: {
      requestsPerMinute: maybe(row.requests_per_minute),
      concurrentPages: maybe(row.concurrent_pages),
      openUrls: maybe(row.open_urls),
      storedBytes: maybe(row.stored_bytes),
    },
    disabledAt: maybe(row.disabled_at),
    deletingSince: maybe(row.deleting_at),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}
