import type { Entry } from '../../ports/queue.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { redisScript } from '../redis-link/redis-script.ts';
import { freshJobId, type JobQueue } from './bull-queue.ts';
import { firstScoreOf, priorityOf } from './rank-priority.ts';

/** Jobs in one round trip: long enough to be cheap, short enough not to hold Redis up. */
const BATCH = 500;

/**
 * Moves jobs that wait at a worse rank. Keys: the sorted set, the counter of arrivals; values: for each job its id,
 * key, first score of the new rank, priority and data.
 */
const ADVANCE = redisScript(`
for i = 1, #ARGV, 5 do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
  if score then
    local better = tonumber(ARGV[i + 2]) + redis.call('INCR', KEYS[2])
    if better < tonumber(score) then
      redis.call('ZADD', KEYS[1], better, ARGV[i])
      redis.call('HSET', ARGV[i + 1], 'priority', ARGV[i + 3], 'data', ARGV[i + 4])
    end
  end
end
`);

/**
 * Offers entries. BullMQ's deduplication does the folding, in one step with the adding: while a job of the entry
 * waits, nothing is added; while one is worked on, the last offer is kept and becomes a job when that one ends. A
 * mark whose job is gone is recognised and replaced.
 */
export async function offerEntries(
  link: RedisLink,
  queue: JobQueue,
  entries: readonly Entry[],
): Promise<void> {
  for (let from = 0; from < entries.length; from += BATCH) {
    const jobs = entries.slice(from, from + BATCH).map(({ id, rank }) => ({
      id: freshJobId(id),
      rank,
      data: { id, rank },
      foldBy: id,
    }));
    const ids = await queue.add(jobs);
    const folded = jobs.flatMap(({ id, rank, data }, index) => {
      const now = ids[index];
      return now === undefined || now === id
        ? []
        : [now, queue.key(now), firstScoreOf(rank), priorityOf(rank), JSON.stringify(data)];
    });
    if (folded.length === 0) continue;
    await link.run((client) => ADVANCE.run(client, [queue.key('prioritized'), queue.key('pc')], folded));
  }
}

/** What a job carries; null for what is not ours. */
export function entryOf(data: unknown): Entry | null {
  const { id, rank } = (data ?? {}) as { id?: unknown; rank?: unknown };
  return typeof id === 'string' && typeof rank === 'number' ? { id, rank } : null;
}
