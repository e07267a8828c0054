import type { AnswerRequest, AnswerState, AnswerStore } from '../../core/ports/answer-store.ts';
import type { Row } from '../store-rows/rows.ts';
import { change, type Methods, transaction } from './methods.ts';
import { CLOCK, json, SKIP_LOCKED, type Sql, sql } from './sql.ts';
import { changed, get, one, run } from './steps.ts';

const NO_BYTES = new Uint8Array();

type Answer = Parameters<AnswerStore['releaseAnswer']>[0];

const isOpen = ({ accountId, key, owner }: Answer): Sql =>
  sql`account_id = ${accountId} AND key = ${key} AND owner = ${owner} AND status IS NULL`;

export const answerStore: Methods<AnswerStore> = {
  beginAnswer: transaction(function* (request) {
    const { accountId, key, owner, requestHash, leaseMs, keptMs, id, seed } = request;
    // The second of two that come together waits here for the first.
    const made = yield* get(
      sql`INSERT INTO kept_answers AS k (account_id, key, request_hash, resource_id, seed, owner, held_until, at)
        VALUES (${accountId}, ${key}, ${requestHash}, ${id}, ${seed}, ${owner}, ${CLOCK} + ${leaseMs}, ${CLOCK})
        ON CONFLICT (account_id, key) DO UPDATE SET request_hash = excluded.request_hash,
          resource_id = excluded.resource_id, seed = excluded.seed, owner = excluded.owner,
          held_until = excluded.held_until, at = excluded.at, status = NULL, headers = NULL, body = NULL
          WHERE k.at < ${CLOCK} - ${keptMs}
        RETURNING key`,
    );
    if (made !== undefined) return { state: 'begun', id, seed, isRepeated: false };
    // The conflict has locked the row, so it is there.
    const state = yield* one(
      sql`SELECT *, ${CLOCK} AS now FROM kept_answers WHERE account_id = ${accountId} AND key = ${key}`,
      (row) => answerStateOf(row, request, Number(row.now)),
    );
    if (state.state === 'begun') {
      yield* run(
        sql`UPDATE kept_answers SET owner = ${owner}, held_until = ${CLOCK} + ${leaseMs}
          WHERE account_id = ${accountId} AND key = ${key}`,
      );
    }
    return state;
  }),

  keepAnswer: change((answer, { statusCode, headers, body }) =>
    changed(
      sql`UPDATE kept_answers SET status = ${statusCode}, headers = ${json(headers)}, body = ${body}, seed = ${NO_BYTES}
        WHERE ${isOpen(answer)}`,
    ),
  ),

  releaseAnswer: change(function* (answer) {
    yield* run(sql`UPDATE kept_answers SET held_until = 0 WHERE ${isOpen(answer)}`);
  }),

  deleteOldAnswers: change((keptMs, limit) =>
    run(
      sql`DELETE FROM kept_answers WHERE (account_id, key) IN (
        SELECT account_id, key FROM kept_answers WHERE at < ${CLOCK} - ${keptMs} LIMIT ${limit} ${SKIP_LOCKED}
      )`,
    ),
  ),
};

/** What becomes of a request whose key is there already, and is not too old. `isHeld`: the request holds it now. */
function answerStateOf(row: Row, { owner, requestHash }: AnswerRequest, now: number): AnswerState {
  if (row.request_hash !== requestHash) return { state: 'mismatch' };
  if (row.status !== null) {
    return {
      state: 'answered',
      answer: {
        statusCode: Number(row.status),
        headers: JSON.parse(String(row.headers)) as Record<string, string>,
        body: row.body as Uint8Array,
      },
    };
  }
  const leftMs = Number(row.held_until) - now;
  if (row.owner !== owner && leftMs > 0) return { state: 'busy', leftMs };
  return {
    state: 'begun',
    id: String(row.resource_id),
    seed: row.seed as Uint8Array,
    isRepeated: row.owner !== owner,
  };
}
