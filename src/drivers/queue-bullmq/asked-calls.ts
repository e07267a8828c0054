import type { Redis } from 'ioredis';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { CallClock, CallName, CallOptions } from '../../core/ports/queue.ts';
import { redisScript } from '../redis-link/redis-script.ts';
import type { OutgoingCallsOptions } from './outgoing-calls.ts';

/** A call that this process has made, and waits for. */
export interface AskedCall {
  readonly id: string;
  readonly name: CallName;
  readonly rank: number;
  readonly request: string;
  readonly clock: CallClock;
  readonly onQuestion: CallOptions['onQuestion'];
  readonly startWithinMs: number | undefined;
  /** By question, so that one that arrives again is answered the same. Bounded by MOST_QUESTIONS. */
  readonly replies: Map<string, Promise<string>>;
  isSent: boolean;
  /** The job of the call was sent to Redis at least once, or that was tried: a worker may have begun the call. */
  isAsked: boolean;
  /** Consecutive checks that found the call answered or its job gone; the first may just have been too early. */
  strayLooks: number;
  settle(answer: string): void;
  fail(error: ScrapifieError): void;
}

/** Keys: for each call its state and its job. Returns the state, `lost` where a call asked for has no job. */
const LOOK = redisScript(`
local states = {}
for i = 1, #KEYS, 2 do
  local state = redis.call('GET', KEYS[i])
  if state == 'asked' and redis.call('EXISTS', KEYS[i + 1]) == 0 then state = 'lost' end
  states[#states + 1] = state or 'none'
end
return states`);

export interface LookParts extends OutgoingCallsOptions {
  /** Names this process to those that answer. */
  readonly caller: string;
  /** Sends the call, again if it was sent before. */
  readonly ask: (call: AskedCall) => Promise<void>;
  /** Keeps the state of a call in Redis for as long as its clock may stand still. */
  readonly prolong: (client: Redis, call: AskedCall) => Promise<unknown>;
}

/** Repeats calls that Redis has lost, and fails those that no worker is there to answer. */
export async function lookAfter(asked: ReadonlyMap<string, AskedCall>, parts: LookParts): Promise<void> {
  const { link, keys, queueOf, answerers, lifeMs, caller, ask, prolong } = parts;
  const those = [...asked.values()].filter(({ isSent }) => isSent);
  if (those.length === 0) return;
  const names = those.flatMap(({ id, name }) => [keys.state(id), queueOf(name).key(id)]);
  const [states] = (await link.run((client) =>
    Promise.all([
      LOOK.run(client, names, []),
      client.set(keys.beat(caller), '1', 'PX', lifeMs),
      ...those.filter(({ replies }) => replies.size > 0).map((each) => prolong(client, each)),
    ]),
  )) as [string[], ...unknown[]];
  for (const [index, each] of those.entries()) {
    const state = states[index];
    each.strayLooks = state === 'asked' ? 0 : each.strayLooks + 1;
    const isLost = state === 'none' || each.strayLooks > 1;
    if (isLost && asked.has(each.id)) {
      each.strayLooks = 0;
      await ask(each);
    }
  }
  for (const name of new Set(those.map((each) => each.name))) {
    const { answerers: known, unsureForMs } = await answerers.count(name);
    if (known > 0 || unsureForMs > 0) continue;
    const ofName = those.filter((each) => each.name === name);
    const begun = await Promise.all(ofName.map((each) => isBegun(each, parts)));
    for (const [index, each] of ofName.entries()) each.fail(noWorker(name, begun[index]));
  }
}

/** Whether a worker has taken the call up: BullMQ notes the time in the job then. */
const isBegun = ({ id, name }: AskedCall, { link, queueOf }: LookParts): Promise<boolean> =>
  link.run(async (client) => (await client.hexists(queueOf(name).key(id), 'processedOn')) === 1);

export const noWorker = (name: CallName, isBegun = false) =>
  new ScrapifieError('NO_WORKER', `No worker answers ${name}.`, isBegun ? { details: { isBegun } } : {});
