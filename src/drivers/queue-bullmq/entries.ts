import type { Entry } from '../../core/ports/queue.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { redisScript } from '../redis-link/redis-script.ts';
import { freshJobId, type JobQueue } from './bull-queue.ts';
import { firstScoreOf, priorityOf } from './rank-priority.ts';

/** Jobs in one round trip: long enough to be cheap, short enough not to hold Redis up. */
const BATCH = 500;

/**
 * Looks after jobs into which offers were folded. One that waits at a worse rank is moved. One that is in no list of
 * the queue is removed with its marks, because every later offer would be folded into it and never be worked on: a
 * script that Redis refused half-way (a key of a wrong type) leaves such jobs. Keys: prioritized, counter of arrivals,
 * active, wait, delayed; values: for each job its id, key, first score of the new rank, priority, data, and the keys of
 * its mark and of the offer kept for later. Returns the numbers, from 0, of those that were removed.
 */
const FOLD = redisScript(`
local removed = {}
for i = 1, #ARGV, 7 do
  local id = ARGV[i]
  local score = redis.call('ZSCORE', KEYS[1], id)
  if score then
    local better = tonumber(ARGV[i + 2]) + redis.call('INCR', KEYS[2])
    if better < tonumber(score) then
      redis.call('ZADD', KEYS[1], better, id)
      redis.call('HSET', ARGV[i + 1], 'priority', ARGV[i + 3], 'data', ARGV[i + 4])
    end
  elseif redis.call('EXISTS', ARGV[i + 1]) == 1
    and not redis.call('LPOS', KEYS[3], id)
    and not redis.call('LPOS', KEYS[4], id)
    and not redis.call('ZSCORE', KEYS[5], id) then
    if redis.call('GET', ARGV[i + 5]) == id then redis.call('DEL', ARGV[i + 5]) end
    redis.call('DEL', ARGV[i + 1], ARGV[i + 6])
    removed[#removed + 1] = (i - 1) / 7
  end
end
return removed`);
const FOLD_KEYS = ['prioritized', 'pc', 'active', 'wait', 'delayed'] as const;

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
    const folded = jobs.flatMap((job, index) => {
      const now = ids[index];
      return now === undefined || now === job.id ? [] : [{ job, now }];
    });
    if (folded.length === 0) continue;
    const values = folded.flatMap(({ job: { rank, data, foldBy }, now }) => [
      ...[now, queue.key(now), firstScoreOf(rank), priorityOf(rank), JSON.stringify(data)],
      ...[queue.key(`de:${foldBy}`), queue.key(`dn:${foldBy}`)],
    ]);
    const keys = FOLD_KEYS.map((part) => queue.key(part));
    const removed = (await link.run((client) => FOLD.run(client, keys, values))) as number[];
    const again = removed.flatMap((at) => folded[at]?.job ?? []);
    if (again.length > 0) await queue.add(again);
  }
}

/** The entry of a job; null for jobs that are not ours. */
export function entryOf(data: unknown): Entry | null {
  const { id, rank } = (data ?? {}) as { id?: unknown; rank?: unknown };
  return typeof id === 'string' && typeof rank === 'number' ? { id, rank } : null;
}
