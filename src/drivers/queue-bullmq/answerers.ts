import { CALL_NAMES, type CallName } from '../../core/ports/queue.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { type KeyTypes, redisScript } from '../redis-link/redis-script.ts';

/** The processes that answer calls, as registered in Redis. By its clock alone, so that no process needs the right time. */
export interface Answerers {
  /** Makes this process known as one that answers, until the returned function is called. */
  join(name: CallName): Promise<() => Promise<void>>;
  count(name: CallName): Promise<Count>;
  /** The keys that it uses. */
  keyTypes(): KeyTypes;
  close(): void;
}

export interface Count {
  readonly answerers: number;
  /** How long an answer of none is not to be trusted: Redis was emptied, and they have yet to come forward. */
  readonly unsureForMs: number;
}

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Key: the sorted set of answering processes, by the time at which they count as gone; values: the process, its time to live. */
const BEAT = redisScript(`${NOW}redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])`);

/** Keys: that set, and when it was first read; value: how long processes have to register. */
const COUNT = redisScript(`${NOW}redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local known = redis.call('ZCARD', KEYS[1])
if known > 0 then return { known, 0 } end
local since = redis.call('GET', KEYS[2])
if not since then
  since = now
  redis.call('SET', KEYS[2], since)
end
return { 0, math.max(0, since + ARGV[1] - now) }`);

export function createAnswerers(link: RedisLink, prefix: string, owner: string, beatMs: number): Answerers {
  const joined = new Map<CallName, number>();
  let timer: NodeJS.Timeout | undefined;
  const watched = `${prefix}:answerers-watched`;
  const setOf = (name: CallName) => `${prefix}:answerers:${name}`;
  const beat = (name: CallName) => link.run((client) => BEAT.run(client, [setOf(name)], [owner, 3 * beatMs]));

  return {
    async join(name) {
      joined.set(name, (joined.get(name) ?? 0) + 1);
      timer ??= setInterval(() => {
        for (const each of joined.keys()) beat(each).catch(() => undefined);
      }, beatMs);
      await beat(name).catch(() => undefined);
      let hasLeft = false;
      return async () => {
        if (hasLeft) return;
        hasLeft = true;
        const left = (joined.get(name) ?? 1) - 1;
        if (left > 0) {
          joined.set(name, left);
          return;
        }
        joined.delete(name);
        // Without it they are taken for gone a few beats later.
        await link.run((client) => client.zrem(setOf(name), owner)).catch(() => undefined);
      };
    },
    async count(name) {
      const answer = await link.run((client) => COUNT.run(client, [setOf(name), watched], [2 * beatMs]));
      const [answerers, unsureForMs] = answer as [number, number];
      return { answerers, unsureForMs };
    },
    keyTypes: () =>
      new Map([...CALL_NAMES.map((name) => [setOf(name), 'zset'] as const), [watched, 'string'] as const]),
    close() {
      clearInterval(timer);
    },
  };
}
