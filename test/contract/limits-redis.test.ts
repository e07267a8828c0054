import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { createLimitsLocal } from '../../src/drivers/limits-local/limits-local.ts';
import { createLimitsRedis } from '../../src/drivers/limits-redis/limits-redis.ts';
import { limitsContract } from './limits-contract.ts';

limitsContract('Redis', async () => {
  const driver = await createLimitsRedis({
    url: inject('redisUrl'),
    prefix: `test-${randomUUID()}`,
    fallback: createLimitsLocal(),
    // Time enough on a busy machine: what happens without it is shown elsewhere.
    patienceMs: 5_000,
  });
  return { driver, close: () => driver.close() };
}, [{ case: 'begins anew when the window is over', reason: 'Redis goes by its own clock' }]);
