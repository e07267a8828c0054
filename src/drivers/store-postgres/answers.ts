import type { AnswerStore } from '../../core/ports/answer-store.ts';
import { answerStateOf } from '../store-rows/answer-rows.ts';
import type { Row } from '../store-rows/rows.ts';
import { NOW, type PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

const NO_BYTES = Buffer.alloc(0);

export function createPostgresAnswerStore(database: PostgresDatabase): AnswerStore {
  return {
    beginAnswer(request) {
      const { accountId, key, owner, requestHash, leaseMs, keptMs, id, seed } = request;
      return database.transaction(async (query) => {
        // The second of two that come together waits here for the first.
        const [made] = await query(
          `INSERT INTO kept_answers AS k (account_id, key, request_hash, resource_id, seed, owner, held_until, at)
           VALUES ($1, $2, $3, $4, $5, $6, ${NOW} + $7, ${NOW})
           ON CONFLICT (account_id, key) DO UPDATE SET request_hash = excluded.request_hash,
             resource_id = excluded.resource_id, seed = excluded.seed, owner = excluded.owner,
             held_until = excluded.held_until, at = excluded.at, status = NULL, headers = NULL, body = NULL
             WHERE k.at < ${NOW} - $8::bigint
           RETURNING true AS is_made`,
          [accountId, key, requestHash, id, Buffer.from(seed), owner, leaseMs, keptMs],
        );
        if (made !== undefined) return { state: 'begun', id, seed, isRepeated: false };
        // Locked by the conflict, so it is there.
        const [row] = await query(
          `SELECT *, ${NOW} AS now FROM kept_answers WHERE account_id = $1 AND key = $2`,
          [accountId, key],
        );
        const state = answerStateOf(row as Row, request, Number(row?.now));
        if (state.state === 'begun') {
          await query(
            `UPDATE kept_answers SET owner = $3, held_until = ${NOW} + $4 WHERE account_id = $1 AND key = $2`,
            [accountId, key, owner, leaseMs],
          );
        }
        return state;
      });
    },

    async keepAnswer({ accountId, key, owner }, { statusCode, headers, body }) {
      const rows = await database.query(
        `UPDATE kept_answers SET status = $4, headers = $5, body = $6, seed = $7
         WHERE account_id = $1 AND key = $2 AND owner = $3 AND status IS NULL RETURNING key`,
        [accountId, key, owner, statusCode, jsonParameter(headers), Buffer.from(body), NO_BYTES],
      );
      return rows.length > 0;
    },

    async releaseAnswer({ accountId, key, owner }) {
      await database.query(
        `UPDATE kept_answers SET held_until = 0
         WHERE account_id = $1 AND key = $2 AND owner = $3 AND status IS NULL`,
        [accountId, key, owner],
      );
    },

    async deleteOldAnswers(keptMs, limit) {
      const rows = await database.query(
        `DELETE FROM kept_answers WHERE (account_id, key) IN (
           SELECT account_id, key FROM kept_answers WHERE at < ${NOW} - $1::bigint LIMIT $2 FOR UPDATE SKIP LOCKED
         ) RETURNING key`,
        [keptMs, limit],
      );
      return rows.length;
    },
  };
}
