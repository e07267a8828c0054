import type { AccountId } from '../../core/model/ids.ts';

/** What an answer was an answer to. The same words of another account are another question. */
export interface AnswerKey {
  readonly accountId: AccountId;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly accept: string;
}

export interface RecentAnswer {
  readonly body: string;
  readonly contentType: string;
  readonly at: number;
}

/** Answers given before, for a time when the truth cannot be asked. */
export interface RecentAnswers {
  keep(question: AnswerKey, answer: RecentAnswer): void;
  /** The last answer to exactly this question, or null when there is none or it is too old to be sent again. */
  find(question: AnswerKey): RecentAnswer | null;
  /** Drops the answer to exactly this question: what the answer described no longer exists. */
  drop(question: AnswerKey): void;
  /** Drops all of an account: something that these answers tell of is gone for good. */
  forget(account: AccountId): void;
  readonly bytes: number;
}

export interface RecentAnswersOptions {
  readonly now: () => number;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
}

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 33_554_432;
const MAX_AGE_MS = 3_600_000;
/** One answer may take this part of all the room, so that a few large ones do not push out everything else. */
const LARGEST_PART = 1 / 8;
/** What a character takes in memory at most. */
const CHAR_BYTES = 2;

/** Bounded in entries and bytes; the one not used for longest makes room. */
export function createRecentAnswers(options: RecentAnswersOptions): RecentAnswers {
  const { now, maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES, maxAgeMs = MAX_AGE_MS } = options;
  /** The answers in the order of their last use. */
  const answers = new Map<string, RecentAnswer & { readonly accountId: AccountId; readonly bytes: number }>();
  let bytes = 0;

  // Neither header nor URL can hold a line break, so no two questions share a key.
  const keyOf = ({ accountId, accept, url }: AnswerKey) => `${accountId}\n${accept}\n${url}`;

  function remove(key: string): void {
    const found = answers.get(key);
    if (found === undefined) return;
    bytes -= found.bytes;
    answers.delete(key);
  }

  return {
    keep(question, answer) {
      const key = keyOf(question);
      remove(key);
      const taken = CHAR_BYTES * (key.length + answer.body.length);
      if (taken > maxBytes * LARGEST_PART) return;
      answers.set(key, { ...answer, accountId: question.accountId, bytes: taken });
      bytes += taken;
      for (const oldest of answers.keys()) {
        if (answers.size <= maxEntries && bytes <= maxBytes) break;
        remove(oldest);
      }
    },
    find(question) {
      const key = keyOf(question);
      const found = answers.get(key);
      if (found === undefined) return null;
      answers.delete(key);
      if (now() - found.at > maxAgeMs) {
        bytes -= found.bytes;
        return null;
      }
      answers.set(key, found);
      return found;
    },
    drop: (question) => remove(keyOf(question)),
    forget(account) {
      for (const [key, { accountId }] of answers) if (accountId === account) remove(key);
    },
    get bytes() {
      return bytes;
    },
  };
}
