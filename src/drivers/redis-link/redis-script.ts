import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { RedisLink } from './redis-link.ts';

/** A step that Redis takes as one. */
interface RedisScript {
  /** Runs by its hash; a Redis that does not know the script, as after a restart, is sent it. */
  run(client: Redis, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
}

export function redisScript(lua: string): RedisScript {
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    async run(client, keys, values) {
      try {
        return await client.evalsha(sha, keys.length, ...keys, ...values);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return client.eval(lua, keys.length, ...keys, ...values);
      }
    },
  };
}

/** What Redis calls the types of keys. */
export type KeyType = 'string' | 'list' | 'set' | 'zset' | 'hash' | 'stream';

/** Keys with the type that each must have where it exists. */
export type KeyTypes = ReadonlyMap<string, KeyType>;

const TYPES = redisScript(`
local types = {}
for i = 1, #KEYS do types[i] = redis.call('TYPE', KEYS[i]).ok end
return types`);
const MOST_NAMED = 3;

/**
 * Throws QUEUE_UNAVAILABLE with the names of keys that hold something else than they should: Redis itself refuses
 * every command on such a key without naming it.
 */
export async function refuseWrongTypes(link: RedisLink, expected: KeyTypes): Promise<void> {
  const keys = [...expected.keys()];
  const found = (await link.run((client) => TYPES.run(client, keys, []))) as string[];
  const wrong = keys.filter((key, at) => found[at] !== 'none' && found[at] !== expected.get(key));
  if (wrong.length === 0) return;
  const named = wrong.slice(0, MOST_NAMED);
  const which = named.map(
    (key) => `${key} is a ${found[keys.indexOf(key)]} and must be a ${expected.get(key)}`,
  );
  const more = wrong.length > named.length ? `, and ${wrong.length - named.length} more` : '';
  throw new ScrapifieError(
    'QUEUE_UNAVAILABLE',
    `Redis at ${link.address} has keys of a wrong type under our prefix: ${which.join('; ')}${more}. ` +
      `Another program writes there, or a restore went wrong: give Scrapifie a prefix (SCRAPIFIE_REDIS_PREFIX) or a ` +
      `Redis of its own, or delete the keys (redis-cli DEL ${named.join(' ')}); their content is made again from the store.`,
  );
}
