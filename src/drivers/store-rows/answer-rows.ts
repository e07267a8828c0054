import type { AnswerRequest, AnswerState } from '../../core/ports/answer-store.ts';
import type { Row } from './rows.ts';

/** What becomes of a request whose key is there already, and is not too old. `isHeld`: the request holds it now. */
export function answerStateOf(row: Row, { owner, requestHash }: AnswerRequest, now: number): AnswerState {
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
