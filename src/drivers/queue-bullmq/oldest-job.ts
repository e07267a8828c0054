import type { RedisLink } from '../redis-link/redis-link.ts';
import { redisScript } from '../redis-link/redis-script.ts';
import type { JobQueue } from './bull-queue.ts';

/** Jobs that are looked at: those that are taken next. */
const MOST_JOBS = 1_000;

/** Keys: the lists of waiting jobs. Values: how a key of a job begins, and how many to look at. Returns the earliest time. */
const OLDEST = redisScript(`
local oldest = false
local function look(ids)
  for _, id in ipairs(ids) do
    local at = tonumber(redis.call('HGET', ARGV[1] .. id, 'timestamp') or '')
    if at and (not oldest or at < oldest) then oldest = at end
  end
end
look(redis.call('LRANGE', KEYS[1], -ARGV[2], -1))
look(redis.call('ZRANGE', KEYS[2], 0, ARGV[2] - 1))
return oldest and string.format('%.0f', oldest) or ''`);

/** How long the oldest job that waits has waited, by the clock of the process that added it; 0 when none waits. */
export async function oldestJobMs(link: RedisLink, queue: JobQueue, now: number): Promise<number> {
  const keys = [queue.key('wait'), queue.key('prioritized')];
  const oldest = await link.run((client) => OLDEST.run(client, keys, [queue.key(''), MOST_JOBS]));
  return oldest === '' ? 0 : Math.max(0, now - Number(oldest));
}
