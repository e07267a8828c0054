import { LIMIT_WINDOW_MS, type Limits, takenOf } from '../../core/ports/limits.ts';
import { within } from '../../lib/waits.ts';
import { asQueueError } from '../redis-link/redis-error.ts';
import { openRedisLink } from '../redis-link/redis-link.ts';
import { redisScript, refuseWrongTypes } from '../redis-link/redis-script.ts';

export interface LimitsRedisOptions {
  /** Address of Redis, as `SCRAPIFIE_REDIS_URL` has it. */
  readonly url: string;
  /** Before every key. Processes with the same one count together. */
  readonly prefix?: string;
  /** Counts in Redis' place while it is away. */
  readonly fallback: Limits;
  /** Told once when counting goes over to the fallback, and once when it is back. */
  readonly onChange?: (isShared: boolean, why: string) => void;
  /** Told once of each key that Redis cannot count because it holds something else. */
  readonly onWrongKey?: (key: string) => void;
  /** A request waits no longer than this for its count. */
  readonly patienceMs?: number;
}

export interface LimitsRedis extends Limits {
  /** Commands sent to Redis so far. */
  operations(): number;
}

const PATIENCE_MS = 50;
/** After a failure Redis is left alone for this long, so that not every request pays for finding out. */
const REST_MS = 1_000;
const MOST_WRONG_KEYS = 100;
/** No id of a key of the API looks like it. */
const CHECK_KEY = 'readiness-probe';

/** Key: the window; value: its length. Returns the count and the remaining time of the window. */
const TAKE = redisScript(`
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return { count, left }`);

/** Limits that processes share. They fail open: without Redis each process counts for itself. */
export async function createLimitsRedis(options: LimitsRedisOptions): Promise<LimitsRedis> {
  const { url, prefix = 'scrapifie', fallback, patienceMs = PATIENCE_MS } = options;
  const link = await openRedisLink({ url, prefix });
  let isShared = true;
  let restsUntil = 0;
  /** Keys that hold something else than a count, until a check finds them sound; bounded by MOST_WRONG_KEYS. */
  const wrongKeys = new Set<string>();
  const nameOf = (key: string) => `${link.prefix}:limit:${key}`;

  function change(to: boolean, why: string): void {
    if (isShared === to) return;
    isShared = to;
    options.onChange?.(to, why);
  }

  function noteWrongKey(key: string): void {
    if (wrongKeys.has(key) || wrongKeys.size >= MOST_WRONG_KEYS) return;
    wrongKeys.add(key);
    options.onWrongKey?.(key);
  }

  return {
    async take(key, perMinute, now) {
      if (performance.now() < restsUntil) return fallback.take(key, perMinute, now);
      try {
        const answer = await within(patienceMs, TAKE.run(link.client, [nameOf(key)], [LIMIT_WINDOW_MS]));
        const [count, leftMs] = answer as [number, number];
        change(true, `Redis at ${link.address} counts again`);
        return takenOf(count, perMinute, leftMs);
      } catch (error) {
        const { message } = asQueueError(error, link.address);
        // The other keys go on being counted by all processes together.
        if (message.includes('WRONGTYPE')) noteWrongKey(nameOf(key));
        else {
          restsUntil = performance.now() + REST_MS;
          change(false, message);
        }
        return fallback.take(key, perMinute, now);
      }
    },
    async check() {
      const keys = [nameOf(CHECK_KEY), ...wrongKeys];
      await refuseWrongTypes(link, new Map(keys.map((key) => [key, 'string'])));
      wrongKeys.clear();
      await link.run((client) => TAKE.run(client, [nameOf(CHECK_KEY)], [LIMIT_WINDOW_MS]));
    },
    async close() {
      await Promise.all([link.close(), fallback.close()]);
    },
    operations: () => link.operations(),
  };
}
