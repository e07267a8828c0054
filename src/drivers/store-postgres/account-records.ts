import type { AccountId } from '../../core/model/ids.ts';
import { type AccountRecordStore, MOST_FORMER_SECRETS } from '../../core/ports/account-store.ts';
import {
  accountOfRow,
  LIMIT_COLUMNS,
  limitValues,
  refuseWhileDeleted,
  tooManySecrets,
} from '../store-rows/account-rows.ts';
import { DELETED_ACCOUNT } from '../store-rows/expiry.ts';
import { EXPORTED_BYTES } from '../store-rows/export-rows.ts';
import { keyFromRow, sliceOf } from '../store-rows/rows.ts';
import { SNAPSHOT_BYTES } from '../store-rows/snapshot-rows.ts';
import { NOW, type PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

export function createPostgresAccountRecordStore(database: PostgresDatabase): AccountRecordStore {
  return {
    async getAccount(id) {
      const [row] = await database.query('SELECT * FROM accounts WHERE id = $1 AND id <> $2', [
        id,
        DELETED_ACCOUNT,
      ]);
      return row === undefined ? null : accountOfRow(row);
    },

    async createAccount({ id, name, plan, limits }, key) {
      const [row] = await database.query(
        `WITH made AS (
           INSERT INTO accounts (id, name, plan, ${LIMIT_COLUMNS}, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, ${NOW}, ${NOW}) ON CONFLICT (id) DO NOTHING RETURNING id
         ), first_key AS (
           INSERT INTO keys (id, account_id, name, hash, prefix, scopes, rate_per_minute, created_at, expires_at)
           SELECT $8::text, id, $9, $10, $11, $12::jsonb, $13, $14, $15 FROM made WHERE $8::text IS NOT NULL
         )
         SELECT id FROM made`,
        [
          id,
          name,
          plan,
          ...limitValues(limits),
          key?.id ?? null,
          key?.name ?? null,
          key?.hash ?? null,
          key?.prefix ?? null,
          key === null ? null : jsonParameter(key.scopes),
          key?.ratePerMinute ?? null,
          key?.createdAt ?? null,
          key?.expiresAt ?? null,
        ],
      );
      return row !== undefined;
    },

    async listAccounts({ cursor, limit }) {
      const rows = await database.query(
        'SELECT * FROM accounts WHERE id COLLATE "C" > $1 AND id <> $3 ORDER BY id COLLATE "C" LIMIT $2',
        [cursor ?? '', limit + 1, DELETED_ACCOUNT],
      );
      return sliceOf(rows, limit, 'id', accountOfRow);
    },

    changeAccount(id, { name, plan, limits, isDisabled }) {
      return database.transaction(async (query) => {
        const [before] = await query('SELECT deleting_at FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [
          id,
        ]);
        refuseWhileDeleted(id, before);
        const [row] = await query(
          `UPDATE accounts SET name = coalesce($2, name), plan = coalesce($3, plan), updated_at = ${NOW},
           disabled_at = CASE $4::boolean WHEN true THEN coalesce(disabled_at, ${NOW}) WHEN false THEN NULL
             ELSE disabled_at END,
           requests_per_minute = CASE WHEN $5 THEN $6 ELSE requests_per_minute END,
           concurrent_pages = CASE WHEN $5 THEN $7 ELSE concurrent_pages END,
           open_urls = CASE WHEN $5 THEN $8 ELSE open_urls END,
           stored_bytes = CASE WHEN $5 THEN $9 ELSE stored_bytes END
         WHERE id = $1 AND id <> $10 RETURNING *`,
          [
            id,
            name ?? null,
            plan ?? null,
            isDisabled ?? null,
            limits !== undefined,
            ...(limits === undefined ? [null, null, null, null] : limitValues(limits)),
            DELETED_ACCOUNT,
          ],
        );
        return row === undefined ? null : accountOfRow(row);
      });
    },

    async applyPlan(plan, limits) {
      const rows = await database.query(
        `UPDATE accounts SET (${LIMIT_COLUMNS}) = ROW ($2::bigint, $3::bigint, $4::bigint, $5::bigint), updated_at = ${NOW}
         WHERE plan = $1
           AND (${LIMIT_COLUMNS}) IS DISTINCT FROM ($2::bigint, $3::bigint, $4::bigint, $5::bigint)
         RETURNING id`,
        [plan, ...limitValues(limits)],
      );
      return rows.length;
    },

    async accountUse(id) {
      const [row] = await database.query(
        `SELECT coalesce(sum(open) FILTER (WHERE finished_at IS NULL), 0)::bigint AS open,
           coalesce(sum(claimed) FILTER (WHERE finished_at IS NULL), 0)::bigint AS claimed,
           (coalesce(sum(bytes), 0) + coalesce((SELECT ${EXPORTED_BYTES} + ${SNAPSHOT_BYTES} FROM accounts a WHERE a.id = $1), 0))::bigint AS bytes
         FROM jobs WHERE account_id = $1`,
        [id],
      );
      return {
        openUrls: Number(row?.open),
        claimedPages: Number(row?.claimed),
        storedBytes: Number(row?.bytes),
      };
    },

    async countOpenUrls(id) {
      const [row] = await database.query(
        'SELECT coalesce(sum(open), 0)::bigint AS n FROM jobs WHERE account_id = $1 AND finished_at IS NULL',
        [id],
      );
      return Number(row?.n);
    },

    async listFullAccounts() {
      const rows = await database.query(
        `SELECT id FROM accounts a WHERE stored_bytes IS NOT NULL
           AND (SELECT coalesce(sum(bytes), 0) FROM jobs WHERE account_id = a.id) + ${EXPORTED_BYTES} + ${SNAPSHOT_BYTES} >= stored_bytes
           AND EXISTS (SELECT FROM jobs WHERE account_id = a.id) ORDER BY id`,
      );
      return rows.map((row) => String(row.id) as AccountId);
    },

    rotateKey(account, id, { hash, prefix }, overlapMs) {
      return database.transaction(async (query) => {
        const [key] = await query(
          `SELECT hash, ${NOW} AS now FROM keys WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > ${NOW}) FOR UPDATE`,
          [account, id],
        );
        if (key === undefined) return null;
        const now = Number(key.now);
        await query('DELETE FROM former_secrets WHERE key_id = $1 AND (valid_until <= $2 OR $3)', [
          id,
          now,
          overlapMs === 0,
        ]);
        const [former] = await query('SELECT count(*) AS n FROM former_secrets WHERE key_id = $1', [id]);
        if (Number(former?.n) >= MOST_FORMER_SECRETS) throw tooManySecrets();
        if (overlapMs > 0) {
          await query('INSERT INTO former_secrets (hash, key_id, valid_until) VALUES ($1, $2, $3)', [
            key.hash,
            id,
            now + overlapMs,
          ]);
        }
        const [changed] = await query('UPDATE keys SET hash = $2, prefix = $3 WHERE id = $1 RETURNING *', [
          id,
          hash,
          prefix,
        ]);
        return changed === undefined ? null : keyFromRow(changed);
      });
    },
  };
}
