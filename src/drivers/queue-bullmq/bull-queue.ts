import { randomBytes } from 'node:crypto';
import { Queue as BullQueue, Job, type JobsOptions } from 'bullmq';
import type { Entry } from '../../core/ports/queue.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { type KeyType, redisScript } from '../redis-link/redis-script.ts';

/** A job to be; `foldBy` makes further ones of the same name fold into it. */
interface NewQueueJob {
  readonly id: string;
  readonly rank: number;
  readonly data: unknown;
  readonly foldBy?: string;
}

/** The producing side of one BullMQ queue. */
export interface JobQueue {
  /** Runs an operation on it within the link's time limit. */
  run<T>(action: (bull: BullQueue) => Promise<T>): Promise<T>;
  /** Resolves to the ids they have now: that of an earlier one where a job was folded. */
  add(jobs: readonly NewQueueJob[]): Promise<string[]>;
  /** The Redis key of a part of the queue, or of a job. */
  key(part: string): string;
  close(): Promise<void>;
}

/** Nothing reads BullMQ's stream of events; it is cut short so that it stays small. */
const EVENTS_KEPT = 100;

/** The keys of every queue of BullMQ, of those that we use. */
export const BULL_KEY_TYPES: readonly (readonly [part: string, type: KeyType])[] = [
  ['active', 'list'],
  ['completed', 'zset'],
  ['delayed', 'zset'],
  ['events', 'stream'],
  ['failed', 'zset'],
  ['id', 'string'],
  ['limiter', 'string'],
  ['marker', 'zset'],
  ['meta', 'hash'],
  ['paused', 'list'],
  ['pc', 'string'],
  ['prioritized', 'zset'],
  ['repeat', 'zset'],
  ['stalled', 'set'],
  ['stalled-check', 'string'],
  ['wait', 'list'],
];

export function openJobQueue(link: RedisLink, prefix: string, name: string): JobQueue {
  let opened: BullQueue | undefined;

  /** Returns a queue that works: a queue that was opened while Redis was away fails for good, so it is opened again. */
  async function usable(): Promise<BullQueue> {
    opened ??= open();
    const bull = opened;
    try {
      await bull.waitUntilReady();
      return bull;
    } catch (error) {
      if (opened === bull) opened = undefined;
      await bull.close().catch(() => undefined);
      throw error;
    }
  }

  function open(): BullQueue {
    const bull = new BullQueue(name, {
      connection: link.client,
      prefix,
      streams: { events: { maxLen: EVENTS_KEPT } },
    });
    // What fails here rejects where it was asked for, or the link tells of it.
    bull.on('error', () => undefined);
    return bull;
  }

  function jobOf(bull: BullQueue, { id, rank, data, foldBy }: NewQueueJob) {
    const options: JobsOptions = {
      priority: priorityOf(rank),
      removeOnComplete: true,
      removeOnFail: true,
      ...(foldBy === undefined ? {} : { deduplication: { id: foldBy, keepLastIfActive: true } }),
    };
    return { jobId: id, job: new Job(bull, name, data, options, id).asJSON() };
  }

  const run: JobQueue['run'] = (action) => link.run(async () => action(await usable()));
  return {
    run,
    add: (jobs) => run((bull) => bull.getBackend().addJobs(jobs.map((job) => jobOf(bull, job)))),
    key: (part) => `${prefix}:${name}:${part}`,
    close: async () => opened?.close(),
  };
}

/** An id that was never used before: after a flush, a job must not be taken for an older one that still runs. */
export function freshJobId(of: string): string {
  return `${of.replaceAll(':', '.')}~${randomBytes(6).toString('base64url')}`;
}

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

/**
 * BullMQ keeps what waits in a sorted set, by priority × 2³² plus a counter of arrivals. Its front door takes whole
 * priorities below 2²¹; a rank in milliseconds since 1970 would be cut down to quarter hours by it. Behind that door
 * fractions work as well, and with 2²⁰ ranks to one priority a score is rank × 4096 + counter: exact in a double
 * until 2039, and good to a few arrivals after it. So lower ranks go first and equal ones in order of arrival; a
 * queue that never ran empty for four million arrivals takes them for one second of rank.
 */
const RANKS_PER_PRIORITY = 2 ** 20;
const SCORES_PER_PRIORITY = 2 ** 32;
/** Ranks above, such as that of a host with nothing to do, count as this one. */
const LAST_RANK = 2 ** 42;

/** Never 0, which to BullMQ is no priority at all but a list of its own. */
export function priorityOf(rank: number): number {
  const whole = Number.isNaN(rank) ? 0 : Math.min(Math.max(0, Math.floor(rank)), LAST_RANK);
  return (whole + 1) / RANKS_PER_PRIORITY;
}

/** The score of the first to arrive at this rank. */
export function firstScoreOf(rank: number): number {
  return priorityOf(rank) * SCORES_PER_PRIORITY;
}
