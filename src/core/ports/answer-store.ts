import type { AccountId } from '../model/ids.ts';

/**
 * A part of the store: how requests with an Idempotency-Key were answered. A key belongs to an account, and is made of the
 * sender (an API key, or the subject of a token) and its Idempotency-Key. It is held by the one request that is to be
 * answered; the answer is kept with it and given to every repeat.
 *
 * A request that dies before its answer is kept leaves the key with its id and its seed. The next request with the key
 * gets both, makes the same thing from them, and finds what the first one had made.
 */
export interface AnswerStore {
  /**
   * Takes or keeps the key for `owner`, for `leaseMs` by the store's clock. Keys that are older than `keptMs` do not count
   * and are begun anew.
   */
  beginAnswer(request: AnswerRequest): Promise<AnswerState>;
  /** Keeps the answer and gives the key back. False when `owner` does not hold it any more: nothing is kept then. */
  keepAnswer(ref: AnswerRef, answer: KeptAnswer): Promise<boolean>;
  /** Gives the key back without an answer; nothing happens when `owner` does not hold it. */
  releaseAnswer(ref: AnswerRef): Promise<void>;
  /** Deletes up to `limit` keys that are older than `keptMs`. Returns how many. */
  deleteOldAnswers(keptMs: number, limit: number): Promise<number>;
}

export interface AnswerRef {
  readonly accountId: AccountId;
  /** The API key, or the subject of a token, and its Idempotency-Key. */
  readonly key: string;
  /** Tells one request from another. */
  readonly owner: string;
}

export interface AnswerRequest extends AnswerRef {
  /** Hash of the route and the body: a key that comes again with another request is a mistake of the client. */
  readonly requestHash: string;
  readonly leaseMs: number;
  readonly keptMs: number;
  /** What the first request is to use; its repeats get what the first one brought. */
  readonly id: string;
  readonly seed: Uint8Array;
}

export type AnswerState =
  /** The caller holds the key. `isRepeated`: an earlier request held it, and may have made something. */
  | { readonly state: 'begun'; readonly id: string; readonly seed: Uint8Array; readonly isRepeated: boolean }
  | { readonly state: 'answered'; readonly answer: KeptAnswer }
  /** Another request holds the key, for so long at most unless it goes on. */
  | { readonly state: 'busy'; readonly leftMs: number }
  /** The key was used with another request. */
  | { readonly state: 'mismatch' };

export interface KeptAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
