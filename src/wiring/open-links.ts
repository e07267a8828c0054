import type { Settings } from '../core/config/settings.ts';
import { type Logger, levelOfError } from '../core/observe/logger.ts';
import type { WorkMetrics } from '../core/observe/metrics/work-metrics.ts';
import type { Bus } from '../core/ports/bus.ts';
import type { Limits } from '../core/ports/limits.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { RedisFacts } from '../core/ports/server-facts.ts';
import { createBusLocal } from '../drivers/bus-local/bus-local.ts';
import { createLimitsLocal } from '../drivers/limits-local/limits-local.ts';
import { createQueueLocal } from '../drivers/queue-local/queue-local.ts';

/** The clients of Redis are loaded where there is one: they are a fifth of all code that a process would load. */
const redisDrivers = async () => ({
  ...(await import('../drivers/queue-bullmq/queue-bullmq.ts')),
  ...(await import('../drivers/bus-redis/bus-redis.ts')),
  ...(await import('../drivers/limits-redis/limits-redis.ts')),
});

/** The connections of this process to others, or between its own parts where it is alone. */
export interface Links {
  readonly queue: Queue;
  readonly bus: Bus;
  readonly limits: Limits;
  /** Commands sent to Redis so far; 0 without one. */
  operations(): number;
  close(): Promise<void>;
}

export async function openLinks(
  { redisUrl: url, redisPrefix: prefix }: Pick<Settings, 'redisUrl' | 'redisPrefix'>,
  owner: string,
  logger: Logger,
  metrics: Pick<WorkMetrics, 'partChanged'>,
): Promise<Links> {
  const onHandlerError = (error: unknown) => logger[levelOfError(error)]({ err: error }, 'a worker failed');
  const onListenerError = (error: unknown) =>
    logger[levelOfError(error)]({ err: error }, 'a listener failed');
  const local = createLimitsLocal();
  if (url === undefined) {
    const queue = createQueueLocal({ onHandlerError });
    const bus = createBusLocal({ onListenerError });
    return {
      queue,
      bus,
      limits: local,
      operations: () => 0,
      close: async () => void (await Promise.all([queue.close(), bus.close()])),
    };
  }
  const { createQueueBullmq, createBusRedis, createLimitsRedis } = await redisDrivers();
  const queue = await createQueueBullmq({
    url,
    prefix,
    owner,
    onHandlerError,
    onError: (error) => logger.debug({ err: error }, 'queue recovered'),
    onChange: (isUp, why) => {
      metrics.partChanged('queue', isUp);
      if (isUp) logger.info('Redis is back');
      else logger.warn({ why }, 'Redis is away: work that is accepted waits in the store');
    },
  });
  const opened: { close(): Promise<void> }[] = [queue];
  const close = async () => void (await Promise.all(opened.map((each) => each.close())));
  try {
    const bus = await createBusRedis({ url, prefix, onListenerError });
    opened.push(bus);
    const limits = await createLimitsRedis({
      url,
      prefix,
      fallback: local,
      onChange: (isShared, why) => {
        if (isShared) logger.info('limits: counted by all processes together again');
        else logger.warn({ why }, 'limits: counted by each process for itself');
      },
      onWrongKey: (key) =>
        logger.warn({ key }, 'limits: a key of Redis holds no count; delete it (redis-cli DEL)'),
    });
    opened.push(limits);
    const operations = () => queue.operations() + bus.operations() + limits.operations();
    return { queue, bus, limits, operations, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Looks at Redis and really uses its queue. Throws what keeps Redis there from being used. */
export async function inspectRedisFor(url: string, prefix: string): Promise<RedisFacts> {
  const { inspectRedis } = await import('../drivers/redis-link/inspect.ts');
  const facts = await inspectRedis(url, prefix);
  // A replica cannot be used as a queue; the facts already say so.
  if (facts.isReplica) return facts;
  const { createQueueBullmq } = await redisDrivers();
  const queue = await createQueueBullmq({ url, prefix, onHandlerError: () => undefined });
  try {
    await queue.check();
    return facts;
  } finally {
    await queue.close();
  }
}
