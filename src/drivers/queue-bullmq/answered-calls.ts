import { setTimeout as pause } from 'node:timers/promises';
import { isScrapifieError } from '../../errors/scrapifie-error.ts';
import { writeCallAnswer, writeCallFailure } from '../../ports/call-message.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { redisScript } from '../redis-link/redis-script.ts';
import { AFTERLIFE_MS, type CallJob, type CallKeys, callJobOf } from './call-state.ts';

export interface AnsweredCallsOptions {
  readonly link: RedisLink;
  readonly keys: CallKeys;
}

/** The answering side. */
export interface AnsweredCalls {
  /** Works on the job of a call and sends the answer; never rejects. A fault goes to `onFault` as well. */
  run(
    data: unknown,
    handler: (request: unknown, signal: AbortSignal) => Promise<unknown>,
    onFault: (error: unknown) => void,
  ): Promise<void>;
  close(): void;
}

/** How often those who work on calls look whether the answer is still wanted. */
const LOOK_MS = 400;
const RESEND_MS = 500;
/** A caller that is gone does not come for its answers; the list goes after it. */
const ANSWERS_LIVE_MS = 60_000;

/** Keys: the state of the call, the list of answers; values: the message and how long both are kept. */
const ANSWER = redisScript(`
redis.call('SET', KEYS[1], 'answered', 'PX', ARGV[2])
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])`);

export function createAnsweredCalls({ link, keys }: AnsweredCallsOptions): AnsweredCalls {
  /** Owned by the running handlers, so bounded by their concurrency. */
  const running = new Map<string, AbortController>();
  let look: NodeJS.Timeout | undefined;

  /** How long the answer is still wanted; null when it is not. */
  async function wantedForMs({ id, timeoutMs }: CallJob): Promise<number | null> {
    try {
      const [state, leftMs] = await link.run((client) =>
        Promise.all([client.get(keys.state(id)), client.pttl(keys.state(id))]),
      );
      return state === 'asked' ? leftMs : null;
    } catch {
      // Redis went away just now: better an answer too many.
      return timeoutMs;
    }
  }

  async function lookWhoWaits(): Promise<void> {
    const ids = [...running.keys()];
    if (ids.length === 0) return;
    const states = await link.run((client) => client.mget(ids.map((id) => keys.state(id))));
    for (const [index, id] of ids.entries()) if (states[index] === 'cancelled') running.get(id)?.abort();
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
    async run(data, handler, onFault) {
      const call = callJobOf(data);
      if (call === null) return;
      const leftMs = await wantedForMs(call);
      if (leftMs === null) return;
      const unwanted = new AbortController();
      const timer = setTimeout(() => unwanted.abort(), leftMs);
      look ??= setInterval(() => {
        lookWhoWaits().catch(() => undefined);
      }, LOOK_MS);
      running.set(call.id, unwanted);
      let answer: string;
      try {
        answer = writeCallAnswer(await handler(JSON.parse(call.request), unwanted.signal));
      } catch (error) {
        answer = writeCallFailure(error);
        if (!isScrapifieError(error)) onFault(error);
      }
      await send(call, answer, unwanted.signal);
      clearTimeout(timer);
      if (running.get(call.id) === unwanted) running.delete(call.id);
    },
    close() {
      clearInterval(look);
      for (const unwanted of running.values()) unwanted.abort();
    },
  };
}
