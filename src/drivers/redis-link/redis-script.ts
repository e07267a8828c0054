import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A step that Redis takes as one. */
export interface RedisScript {
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
