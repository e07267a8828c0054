import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { createBusRedis } from '../../src/drivers/bus-redis/bus-redis.ts';
import { busContract } from './bus-contract.ts';

busContract('Redis', async () => {
  const driver = await createBusRedis({
    url: inject('redisUrl'),
    prefix: `test-${randomUUID()}`,
    onListenerError: () => {},
  });
  return { driver, close: () => driver.close() };
});
