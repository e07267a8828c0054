import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { guarded, listen } from '../../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import {
  CallClock,
  type CallHandler,
  readCallAnswer,
  writeCallAnswer,
  writeCallFailure,
  writeCallMessage,
} from '../../core/ports/queue.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { redisScript } from '../redis-link/redis-script.ts';
import { AFTERLIFE_MS, type CallJob, type CallKeys, callJobOf } from './call-state.ts';

export interface IncomingCallsOptions {
  readonly link: RedisLink;
  readonly keys: CallKeys;
}

/** The side of a call that answers. */
export interface IncomingCalls {
  /** Works on the job of a call and sends the answer; never rejects. A fault goes to `onFault` as well. */
  run(job: TakenJob, handler: CallHandler, onFault: (error: unknown) => void): Promise<void>;
  close(): void;
}

/** The job of a call as BullMQ gives it to a worker. */
export interface TakenJob {
  readonly data: unknown;
  /** How often BullMQ took the job away from a worker that did not renew its lock. */
  readonly stalledCounter: number;
}

interface Running {
  readonly call: CallJob;
  readonly unwanted: AbortController;
  /** Consecutive checks without a heartbeat of the caller; after Redis was emptied, the next heartbeat takes a moment. */
  silentLooks: number;
}

/** How often workers check whether the answer is still wanted. */
const LOOK_MS = 400;
const MOST_SILENT_LOOKS = 5;
const RESEND_MS = 500;
/** A reply is announced on a channel. It is looked up this often as well: publications may be lost, and callers of older versions publish none. */
const REPLY_LOOK_MS = 1_000;
/** A question that Redis lost is asked again. */
const ASK_AGAIN_MS = 2_000;
/** The caller's own limits are shorter; this one holds when there is no Redis to tell. */
const MOST_REPLY_MS = 900_000;
/** A caller that is gone does not come for its answers; the list goes after it. */
const ANSWERS_LIVE_MS = 60_000;

/** Keys: the state of the call, the list of answers; values: the message and how long both are kept. */
const ANSWER = redisScript(`
redis.call('SET', KEYS[1], 'answered', 'PX', ARGV[2])
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])`);

/** Key: the list of answers; values: the question and how long it is kept. */
const QUESTION = redisScript(`
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`);

export function createIncomingCalls({ link, keys }: IncomingCallsOptions): IncomingCalls {
  /** Owned by the running handlers, so bounded by their concurrency. */
  const running = new Set<Running>();
  /** By id of the question; owned by the running handlers. */
  const openQuestions = new Map<string, OpenQuestion>();
  /** Names this process in its questions and in the channel on which their replies are announced. */
  const answerer = randomUUID();
  let look: NodeJS.Timeout | undefined;
  let announcements: ReturnType<RedisLink['patient']> | undefined;

  /** Subscribes to the announcements of replies; the connection subscribes again by itself after an outage. */
  function listenForReplies(): void {
    if (announcements !== undefined) return;
    announcements = link.patient();
    listen(announcements, 'message', (_channel: string, questionId: string) => {
      openQuestions.get(questionId)?.onReply();
    });
    announcements.subscribe(keys.announcements(answerer)).catch(() => undefined);
  }

  /** How long the answer is still wanted; null when the call was cancelled or the caller is gone. */
  async function wantedForMs({ id, caller, timeoutMs, isBeating }: CallJob): Promise<number | null> {
    try {
      const [state, leftMs, beat] = await link.run((client) =>
        Promise.all([client.get(keys.state(id)), client.pttl(keys.state(id)), client.get(keys.beat(caller))]),
      );
      return state === 'asked' && (beat !== null || !isBeating) ? leftMs : null;
    } catch {
      // Redis went away just now: better an answer too many.
      return timeoutMs;
    }
  }

  async function lookWhoWaits(): Promise<void> {
    const those = [...running];
    if (those.length === 0) return;
    const found = await link.run((client) =>
      client.mget(those.flatMap(({ call }) => [keys.state(call.id), keys.beat(call.caller)])),
    );
    for (const [index, each] of those.entries()) {
      const isSilent = each.call.isBeating && found[2 * index + 1] === null;
      each.silentLooks = isSilent ? each.silentLooks + 1 : 0;
      // Answered by another worker, while this one works on the same call or waits for a reply about it.
      const isOver = found[2 * index] === 'cancelled' || found[2 * index] === 'answered';
      if (isOver || each.silentLooks >= MOST_SILENT_LOOKS) each.unwanted.abort();
    }
  }

  /** Resolves to the caller's reply. */
  async function askCaller({ id, caller }: CallJob, question: unknown, unwanted: AbortSignal) {
    const questionId = randomUUID();
    const text = `${id} ${questionId} ${answerer}\n${writeCallMessage(question)}`;
    const giveUpAt = performance.now() + MOST_REPLY_MS;
    const open = new OpenQuestion(unwanted);
    let askAgainAt = 0;
    listenForReplies();
    openQuestions.set(questionId, open);
    try {
      while (!unwanted.aborted && performance.now() < giveUpAt) {
        const isDue = performance.now() >= askAgainAt;
        const reply = await link
          .run(async (client) => {
            if (isDue) await QUESTION.run(client, [keys.answers(caller)], [text, ANSWERS_LIVE_MS]);
            return client.getdel(keys.reply(id, questionId));
          })
          .catch(() => null);
        if (reply !== null) return readCallAnswer(reply);
        if (isDue) askAgainAt = performance.now() + ASK_AGAIN_MS;
        await open.replyOr(REPLY_LOOK_MS);
      }
    } finally {
      openQuestions.delete(questionId);
      open.close();
    }
    throw new ScrapifieError('CANCELLED', 'The caller no longer waits for the answer.');
  }

  /** Tries until it is sent or not wanted any more. */
  async function send({ id, caller }: CallJob, answer: string, unwanted: AbortSignal): Promise<void> {
    while (!unwanted.aborted) {
      try {
        await link.run((client) =>
          ANSWER.run(
            client,
            [keys.state(id), keys.answers(caller)],
            [`${id}\n${answer}`, AFTERLIFE_MS, ANSWERS_LIVE_MS],
          ),
        );
        return;
      } catch {
        await pause(RESEND_MS);
      }
    }
  }

  return {
    async run({ data, stalledCounter }, handler, onFault) {
      const call = callJobOf(data);
      if (call === null) return;
      const leftMs = await wantedForMs(call);
      if (leftMs === null) return;
      const unwanted = new AbortController();
      const clock = new CallClock(leftMs, () => unwanted.abort());
      const ask = (question: unknown) => clock.hold(() => askCaller(call, question, unwanted.signal));
      look ??= setInterval(() => {
        lookWhoWaits().catch(() => undefined);
      }, LOOK_MS);
      const own: Running = { call, unwanted, silentLooks: 0 };
      running.add(own);
      let answer: string;
      try {
        const request: unknown = JSON.parse(call.request);
        answer = writeCallAnswer(
          await handler(request, unwanted.signal, call.isAskable ? ask : null, {
            isRepeated: call.isRepeated || stalledCounter > 0,
            // Both by the clock of Redis.
            waitedMs: Math.max(0, call.timeoutMs - leftMs),
          }),
        );
      } catch (error) {
        answer = writeCallFailure(error);
        if (!isScrapifieError(error)) onFault(error);
      }
      await send(call, answer, unwanted.signal);
      clock.end();
      running.delete(own);
    },
    close() {
      clearInterval(look);
      for (const { unwanted } of running) unwanted.abort();
    },
  };
}

/** A question whose reply has not been read. Remembers an announcement that arrives while Redis is asked. */
class OpenQuestion {
  readonly #unwanted: AbortSignal;
  #isReplied = false;
  #wake = (): void => undefined;
  readonly #onUnwanted = guarded((): void => this.#wake());

  constructor(unwanted: AbortSignal) {
    this.#unwanted = unwanted;
    unwanted.addEventListener('abort', this.#onUnwanted, { once: true });
  }

  onReply(): void {
    this.#isReplied = true;
    this.#wake();
  }

  /** Resolves when a reply is announced, when the call is no longer wanted, or after `timeoutMs`. */
  async replyOr(timeoutMs: number): Promise<void> {
    if (!this.#isReplied && !this.#unwanted.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.#isReplied = false;
  }

  close(): void {
    this.#unwanted.removeEventListener('abort', this.#onUnwanted);
  }
}
