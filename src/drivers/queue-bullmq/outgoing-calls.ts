import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { guarded } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import {
  CallClock,
  type CallName,
  type CallOptions,
  noFreeWorker,
  readCallAnswer,
  writeCallMessage,
  writeCallReply,
} from '../../core/ports/queue.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import type { Answerers } from './answerers.ts';
import { type AskedCall, lookAfter, noWorker } from './asked-calls.ts';
import type { JobQueue } from './bull-queue.ts';
import { AFTERLIFE_MS, type CallJob, type CallKeys } from './call-state.ts';

export interface OutgoingCallsOptions {
  readonly link: RedisLink;
  readonly keys: CallKeys;
  readonly queueOf: (name: CallName) => JobQueue;
  readonly answerers: Answerers;
  /** How long this process counts as alive after each of its beats. */
  readonly lifeMs: number;
}

/** The calling side: sends calls, waits for answers, and repeats calls that Redis has lost. */
export interface OutgoingCalls {
  call(name: CallName, request: unknown, how: CallOptions): Promise<unknown>;
  close(): void;
}

const LOOK_MS = 1_000;
/** A worker that was seen is trusted to be there for this long. */
const TRUST_MS = 1_000;
const BLOCK_S = 2;
const MOST_QUESTIONS = 100;

export function createOutgoingCalls(options: OutgoingCallsOptions): OutgoingCalls {
  const { link, keys, queueOf, answerers, lifeMs } = options;
  /** Not the name of the process: one started anew must not get answers to what the last one asked. */
  const caller = randomUUID();
  /** Owned by the callers: each leaves with its answer, its time limit or its signal. */
  const asked = new Map<string, AskedCall>();
  const seenAt = new Map<CallName, number>();
  let calls = 0;
  let isClosed = false;
  let isReceiving = false;
  let isLooking = false;
  let look: NodeJS.Timeout | undefined;
  let receiver: ReturnType<RedisLink['patient']> | undefined;

  /** Sends the call when a worker answers calls of its name, and resolves to the answer. */
  async function begin(call: AskedCall, answer: Promise<string>): Promise<string> {
    if (!(await isAnswered(call))) throw noWorker(call.name);
    // The caller may have left in the meantime.
    if (!asked.has(call.id)) return answer;
    call.isSent = true;
    await ask(call);
    // The caller left while the call was being sent, which has overwritten its cancellation.
    if (!asked.has(call.id)) callOff(call);
    void receive();
    lookRegularly();
    if (call.startWithinMs !== undefined) giveUpLater(call);
    return answer;
  }

  /** Takes the call back when no worker has begun it in time. Redis decides: the job of a call that was begun stays. */
  function giveUpLater(call: AskedCall): void {
    const { id, name, startWithinMs } = call;
    setTimeout(async () => {
      if (!asked.has(id)) return;
      try {
        const isRemoved = (await queueOf(name).run((bull) => bull.remove(id))) > 0;
        // A job is gone as well once its call is answered.
        const state = isRemoved ? await link.run((client) => client.get(keys.state(id))) : null;
        if (state === 'asked') call.fail(noFreeWorker(startWithinMs));
      } catch {
        // Redis is away; the time limit of the call holds.
      }
    }, startWithinMs).unref();
  }

  /** Whether a worker answers calls of this name. Waits while that is uncertain. */
  async function isAnswered({ id, name }: AskedCall): Promise<boolean> {
    for (;;) {
      if (performance.now() - (seenAt.get(name) ?? -TRUST_MS) < TRUST_MS) return true;
      const { answerers: known, unsureForMs } = await answerers.count(name);
      if (known > 0) {
        seenAt.set(name, performance.now());
        return true;
      }
      if (unsureForMs === 0 || !asked.has(id)) return false;
      await pause(Math.min(unsureForMs, LOOK_MS / 4));
    }
  }

  /** Heartbeat and state are written first, on the same connection: the worker that takes the job must find them. */
  async function ask(call: AskedCall): Promise<void> {
    const { id, name, rank, request, clock, onQuestion, isAsked: isRepeated } = call;
    call.isAsked = true;
    const timeoutMs = Math.ceil(Math.max(1, clock.remainingMs));
    const isAskable = onQuestion !== undefined;
    const data: CallJob = { id, caller, request, timeoutMs, isBeating: true, isAskable, isRepeated };
    await link.run((client) =>
      Promise.all([
        client.set(keys.beat(caller), '1', 'PX', lifeMs),
        client.set(keys.state(id), 'asked', 'PX', timeoutMs),
      ]),
    );
    await queueOf(name).add([{ id, rank, data }]);
  }

  async function reply(
    call: AskedCall,
    questionId: string,
    answerer: string | undefined,
    question: string,
  ): Promise<void> {
    const { id, clock, onQuestion, replies } = call;
    if (onQuestion === undefined) return;
    let text = replies.get(questionId);
    if (text === undefined) {
      if (replies.size >= MOST_QUESTIONS) return;
      text = clock.hold(() => writeCallReply(onQuestion, question));
      replies.set(questionId, text);
      await link.run((client) => prolong(client, call));
    }
    const answer = await text;
    if (!asked.has(id)) return;
    await link.run(async (client) => {
      await client.set(keys.reply(id, questionId), answer, 'PX', AFTERLIFE_MS);
      // A worker of an older version does not name itself and looks the reply up.
      if (answerer !== undefined) await client.publish(keys.announcements(answerer), questionId);
    });
  }

  /** The clock stood still, but not that of Redis. */
  function prolong(client: Redis, { id, clock }: AskedCall): Promise<unknown> {
    return client.pexpire(keys.state(id), Math.ceil(clock.remainingMs) + lifeMs);
  }

  /** The caller no longer waits: a worker that has begun is told to stop, and no other begins. */
  function callOff({ id, name }: AskedCall): void {
    link
      .run((client) => client.set(keys.state(id), 'cancelled', 'PX', AFTERLIFE_MS))
      .then(() => queueOf(name).run((bull) => bull.remove(id)))
      .catch(() => undefined);
  }

  async function receive(): Promise<void> {
    if (isReceiving) return;
    isReceiving = true;
    receiver ??= link.patient(BLOCK_S * 1_000);
    while (asked.size > 0 && !isClosed) {
      try {
        const [, message] = (await receiver.blpop(keys.answers(caller), BLOCK_S)) ?? [];
        if (message === undefined) continue;
        const end = message.indexOf('\n');
        const [id = '', questionId, answerer] = message.slice(0, end).split(' ');
        const text = message.slice(end + 1);
        const call = asked.get(id);
        if (call === undefined) continue;
        if (questionId === undefined) call.settle(text);
        // A worker that gets no reply asks again.
        else reply(call, questionId, answerer, text).catch(() => undefined);
      } catch {
        await pause(LOOK_MS / 4);
      }
    }
    isReceiving = false;
  }

  function lookRegularly(): void {
    look ??= setInterval(() => {
      if (isLooking || asked.size === 0) return;
      isLooking = true;
      // While Redis is away there is nothing to see; the callers' own time limits hold.
      lookAfter(asked, { ...options, caller, ask, prolong })
        .catch(() => undefined)
        .finally(() => {
          isLooking = false;
        });
    }, LOOK_MS);
  }

  return {
    async call(name, request, { rank, timeoutMs, startWithinMs, signal, onQuestion }) {
      const text = writeCallMessage(request);
      if (isClosed) throw closed();
      if (signal?.aborted === true) throw cancelled();
      calls += 1;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const own: AskedCall = {
        id: `${caller}-${calls}`,
        name,
        rank,
        request: text,
        clock: new CallClock(timeoutMs, () => {
          reject(new ScrapifieError('TASK_TIMEOUT', `No answer to ${name} within ${timeoutMs} ms.`));
        }),
        onQuestion,
        startWithinMs,
        replies: new Map(),
        isSent: false,
        isAsked: false,
        strayLooks: 0,
        settle: resolve,
        fail: reject,
      };
      const onAbort = guarded(() => reject(cancelled()));
      signal?.addEventListener('abort', onAbort, { once: true });
      asked.set(own.id, own);
      let isAnswer = false;
      try {
        const answer = await Promise.race([promise, begin(own, promise)]);
        isAnswer = true;
        return readCallAnswer(answer);
      } finally {
        asked.delete(own.id);
        own.clock.end();
        signal?.removeEventListener('abort', onAbort);
        if (own.isSent && !isAnswer) callOff(own);
      }
    },
    close() {
      isClosed = true;
      clearInterval(look);
      for (const call of asked.values()) call.fail(closed());
    },
  };
}

const closed = () => new ScrapifieError('QUEUE_UNAVAILABLE', 'The queue is closed.');
const cancelled = () => new ScrapifieError('CANCELLED', 'The caller no longer waits for the answer.');
