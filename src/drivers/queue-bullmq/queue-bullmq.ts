import { randomUUID } from 'node:crypto';
import type { CallName, Consumer, Entry, Queue, QueueName, TimerName } from '../../core/ports/queue.ts';
import { openRedisLink, type RedisLink } from '../redis-link/redis-link.ts';
import { redisScript } from '../redis-link/redis-script.ts';
import { createAnswerers } from './answerers.ts';
import { type StallTimes, startBullConsumer } from './bull-consumer.ts';
import { entryOf, type JobQueue, offerEntries, openJobQueue } from './bull-queue.ts';
import { callKeys } from './call-state.ts';
import { createIncomingCalls, type TakenJob } from './incoming-calls.ts';
import { createOfferHealth } from './offer-health.ts';
import { createOutgoingCalls } from './outgoing-calls.ts';

export interface QueueBullmqOptions {
  /** Address of Redis, as `SCRAPIFIE_REDIS_URL` has it. */
  readonly url: string;
  /** Before every key. Processes with the same one work together. */
  readonly prefix?: string;
  /** Names this process among those that answer calls; no two may share it. */
  readonly owner?: string;
  /** Called with the error of every handler that rejected; timers have no entry. */
  readonly onHandlerError: (
    error: unknown,
    name: QueueName | CallName | TimerName,
    entry: Entry | null,
  ) => void;
  /** Called with errors inside the queue that it recovers from. */
  readonly onError?: (error: Error) => void;
  /** Told once when Redis goes away and once when it is back. */
  readonly onChange?: (isUp: boolean, why: string) => void;
  readonly stall?: StallTimes;
  /**
   * Heartbeat interval of a process that answers calls; after three missed ones it counts as gone. A calling process
   * counts as gone after five.
   */
  readonly beatMs?: number;
  readonly now?: () => number;
}

export interface QueueBullmq extends Queue {
  /** Commands sent to Redis so far. */
  operations(): number;
}

const STALL: StallTimes = { lockMs: 15_000, checkMs: 10_000 };
const BEAT_MS = 2_000;
/** Callers beat once a second at most. */
const LEAST_CALLER_LIFE_MS = 3_000;

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

/** How often a process that runs a timer checks that Redis still has it. */
const LOOK_MS = 2_000;
/** What a tick may be late by, worker hung and replaced included, before the schedule counts as astray. */
const LATE_MS = 60_000;

/**
 * A queue between processes, on BullMQ. Needs Redis 6.2 or newer that never throws keys away. What Redis loses when
 * it is emptied comes back by itself: entries by the sweep of the store, calls and timers because the processes that wait for
 * them notice.
 */
export async function createQueueBullmq(options: QueueBullmqOptions): Promise<QueueBullmq> {
  const { url, owner = randomUUID(), stall = STALL, now = Date.now, onChange } = options;
  const onError = options.onError ?? (() => undefined);
  const link = await openRedisLink({ url, prefix: options.prefix ?? 'scrapifie', onChange });
  const { prefix } = link;
  const queues = new Map<string, JobQueue>();
  const consumers = new Set<Consumer>();
  const keys = callKeys(prefix);
  const beatMs = options.beatMs ?? BEAT_MS;
  const answerers = createAnswerers(link, prefix, owner, beatMs);
  const lifeMs = Math.max(LEAST_CALLER_LIFE_MS, 5 * beatMs);
  const asked = createOutgoingCalls({ link, keys, queueOf, answerers, lifeMs });
  const answered = createIncomingCalls({ link, keys });
  const health = createOfferHealth(link);

  function queueOf(name: QueueName | CallName | TimerName): JobQueue {
    let found = queues.get(name);
    if (found === undefined) {
      found = openJobQueue(link, prefix, name);
      queues.set(name, found);
    }
    return found;
  }

  async function consume(
    name: QueueName | CallName | TimerName,
    concurrency: number,
    run: (job: TakenJob) => Promise<void>,
    /** What else ends with the consumer, before its running handlers do. */
    leave: () => void | Promise<void> = () => undefined,
  ): Promise<Consumer> {
    // Queues that are only consumed are checked too.
    queueOf(name);
    const started = await startBullConsumer({
      link,
      prefix,
      name,
      concurrency,
      stall,
      run,
      onError,
    });
    const consumer: Consumer = {
      async stop() {
        const stopped = started.stop();
        await leave();
        await stopped;
        consumers.delete(consumer);
      },
    };
    consumers.add(consumer);
    return consumer;
  }

  return {
    offer: (name, entries) =>
      health.watch(queueOf(name), entries, () => offerEntries(link, queueOf(name), entries)),
    consume: (name, concurrency, handler) =>
      consume(name, concurrency, async ({ data }) => {
        const entry = entryOf(data);
        if (entry === null) return;
        try {
          await handler(entry);
        } catch (error) {
          options.onHandlerError(error, name, entry);
        }
      }),
    async depth(name) {
      const counts = await queueOf(name).run((bull) => bull.getJobCounts('wait', 'prioritized', 'active'));
      return { waiting: (counts.wait ?? 0) + (counts.prioritized ?? 0), active: counts.active ?? 0 };
    },
    oldestCallMs: (name) => oldestJobMs(link, queueOf(name), now()),
    call: (name, request, how) => asked.call(name, request, how),
    async answer(name, concurrency, handler) {
      const leave = await answerers.join(name);
      try {
        return await consume(
          name,
          concurrency,
          (job) =>
            answered.run(
              job,
              async (...call) => handler(...call),
              (error) => options.onHandlerError(error, name, null),
            ),
          leave,
        );
      } catch (error) {
        await leave();
        throw error;
      }
    },
    countAnswerers: async (name) => (await answerers.count(name)).answerers,
    async every(name, everyMs, action) {
      const leave = await keepSchedule(link, queueOf(name), name, everyMs, now);
      try {
        return await consume(
          name,
          1,
          async () => {
            try {
              await action();
            } catch (error) {
              options.onHandlerError(error, name, null);
            }
          },
          leave,
        );
      } catch (error) {
        leave();
        throw error;
      }
    },
    check: () => health.check(queueOf('scrape-http'), [...queues.values()], answerers.keyTypes()),
    degradation: () => health.degradation(),
    async close() {
      asked.close();
      answered.close();
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      answerers.close();
      for (const queue of queues.values()) await queue.close().catch(() => undefined);
      await link.close();
    },
    operations: () => link.operations(),
  };
}

/** How long the oldest job that waits has waited, by the clock of the process that added it; 0 when none waits. */
async function oldestJobMs(link: RedisLink, queue: JobQueue, now: number): Promise<number> {
  const keys = [queue.key('wait'), queue.key('prioritized')];
  const oldest = await link.run((client) => OLDEST.run(client, keys, [queue.key(''), MOST_JOBS]));
  return oldest === '' ? 0 : Math.max(0, now - Number(oldest));
}

/**
 * Keeps the schedule of a timer in Redis: as a BullMQ job scheduler, in a queue that runs one job at a time. Returns
 * what ends that care; the schedule itself stays for the next process, with at most one tick waiting.
 */
async function keepSchedule(
  link: RedisLink,
  queue: JobQueue,
  name: TimerName,
  everyMs: number,
  now: () => number,
): Promise<() => void> {
  async function schedule(): Promise<void> {
    await queue.run((bull) => bull.setGlobalConcurrency(1));
    const opts = { removeOnComplete: true, removeOnFail: true };
    await queue.run((bull) => bull.upsertJobScheduler(name, { every: everyMs }, { name, opts }));
  }

  /** Redis may have been emptied, or a process whose clock runs ahead may have put the next tick far off. */
  async function mend(): Promise<void> {
    const next = await link.run((client) => client.zscore(queue.key('repeat'), name));
    const inMs = Number(next) - now();
    if (next !== null && inMs < 2 * everyMs + LOOK_MS && inMs > -2 * everyMs - LATE_MS) return;
    if (next !== null) await queue.run((bull) => bull.removeJobScheduler(name));
    await schedule();
  }

  await schedule();
  let isMending = false;
  const look = setInterval(() => {
    if (isMending) return;
    isMending = true;
    mend()
      .catch(() => undefined)
      .finally(() => {
        isMending = false;
      });
  }, LOOK_MS);
  return () => clearInterval(look);
}
