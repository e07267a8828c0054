import type { AnswerStore } from '../../core/ports/answer-store.ts';
import { answerStateOf } from '../store-rows/answer-rows.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

const NO_BYTES = new Uint8Array();

export function createSqliteAnswerStore(
  database: SqliteDatabase,
  clock: () => number,
): Synchronous<AnswerStore> {
  return {
    beginAnswer(request) {
      const { accountId, key, owner, requestHash, leaseMs, keptMs, id, seed } = request;
      const now = clock();
      database.run(
        'DELETE FROM kept_answers WHERE account_id = ? AND key = ? AND at < ?',
        accountId,
        key,
        now - keptMs,
      );
      const row = database.get('SELECT * FROM kept_answers WHERE account_id = ? AND key = ?', accountId, key);
      if (row === undefined) {
        database.run(
          `INSERT INTO kept_answers (account_id, key, request_hash, resource_id, seed, owner, held_until, at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          accountId,
          key,
          requestHash,
          id,
          seed,
          owner,
          now + leaseMs,
          now,
        );
        return { state: 'begun', id, seed, isRepeated: false };
      }
      const state = answerStateOf(row, request, now);
      if (state.state === 'begun') {
        database.run(
          'UPDATE kept_answers SET owner = ?, held_until = ? WHERE account_id = ? AND key = ?',
          owner,
          now + leaseMs,
          accountId,
          key,
        );
      }
      return state;
    },

    keepAnswer({ accountId, key, owner }, { statusCode, headers, body }) {
      return (
        database.run(
          `UPDATE kept_answers SET status = ?, headers = ?, body = ?, seed = ?
           WHERE account_id = ? AND key = ? AND owner = ? AND status IS NULL`,
          statusCode,
          JSON.stringify(headers),
          body,
          NO_BYTES,
          accountId,
          key,
          owner,
        ) > 0
      );
    },

    releaseAnswer({ accountId, key, owner }) {
      database.run(
        `UPDATE kept_answers SET held_until = 0
         WHERE account_id = ? AND key = ? AND owner = ? AND status IS NULL`,
        accountId,
        key,
        owner,
      );
    },

    deleteOldAnswers(keptMs, limit) {
      return database.run(
        `DELETE FROM kept_answers WHERE (account_id, key) IN (
           SELECT account_id, key FROM kept_answers WHERE at < ? LIMIT ?
         )`,
        clock() - keptMs,
        limit,
      );
    },
  };
}
