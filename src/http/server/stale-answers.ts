import type { FastifyReply, FastifyRequest } from 'fastify';
import { isStoreAway } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { App } from './app.ts';

export interface StaleAnswers {
  /**
   * Answers a request that failed because the store is away as it was answered before, and says that it does; null
   * when that is not why it failed, or nothing is remembered. A store that works is always asked.
   */
  answer(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply | null;
}

const STALE = 'x-scrapifie-stale';

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 33_554_432;
const MAX_AGE_MS = 3_600_000;
/** One answer may take this part of all the room, so that a few large ones do not push out everything else. */
const LARGEST_PART = 1 / 8;
/** What a character takes in memory at most. */
const CHAR_BYTES = 2;

/** Remembers what routes added afterwards answer to GET. Streams are not remembered. */
export function keepStaleAnswers(app: App, now: () => number): StaleAnswers {
  const recent = createRecentAnswers({ now });

  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1/')) return;
    const methods = [route.method].flat();
    if (!methods.includes('GET') && !methods.includes('DELETE')) return;
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        remember(request, reply, payload);
      },
    ];
  });

  function remember(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    const question = questionOf(request);
    if (question === null || reply.hasHeader(STALE)) return;
    // Deleted through another process, or lost by a store that went back in time.
    if (request.method === 'GET' && reply.statusCode === 404) recent.drop(question);
    if (reply.statusCode !== 200) return;
    if (request.method === 'DELETE') recent.forget(question.accountId);
    if (request.method !== 'GET' || typeof payload !== 'string') return;
    recent.keep(question, {
      body: payload,
      contentType: String(reply.getHeader('content-type')),
      at: now(),
    });
  }

  return {
    answer(thrown, request, reply) {
      if (request.method !== 'GET' || !isStoreAway(thrown)) return null;
      const question = questionOf(request);
      const found = question === null ? null : recent.find(question);
      if (found === null) return null;
      return reply
        .code(200)
        .header('age', String(Math.max(0, Math.floor((now() - found.at) / 1_000))))
        .header('warning', '110 - "Response is Stale"')
        .header(STALE, 'true')
        .type(found.contentType)
        .send(found.body);
    },
  };
}

/** Returns null for a request without an API key: answers are remembered per account. */
function questionOf({ key, url, headers }: FastifyRequest): AnswerKey | null {
  return key === null ? null : { accountId: key.accountId, url, accept: headers.accept ?? '' };
}

/** What an answer was an answer to. The same words of another account are another question. */
export interface AnswerKey {
  readonly accountId: AccountId;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly accept: string;
}

interface RecentAnswer {
  readonly body: string;
  readonly contentType: string;
  readonly at: number;
}

/** Answers given before, for a time when the truth cannot be asked. */
interface RecentAnswers {
  keep(question: AnswerKey, answer: RecentAnswer): void;
  /** The last answer to exactly this question, or null when there is none or it is too old to be sent again. */
  find(question: AnswerKey): RecentAnswer | null;
  /** Drops the answer to exactly this question: what the answer described no longer exists. */
  drop(question: AnswerKey): void;
  /** Drops all of an account: something that these answers tell of is gone for good. */
  forget(account: AccountId): void;
  readonly bytes: number;
}

interface RecentAnswersOptions {
  readonly now: () => number;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
}

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
