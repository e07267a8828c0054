import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { createQueueBullmq } from '../../src/drivers/queue-bullmq/queue-bullmq.ts';
import { queueContract } from './queue-contract.ts';

queueContract('BullMQ', async () => {
  const driver = await createQueueBullmq({
    url: inject('redisUrl'),
    prefix: `test-${randomUUID()}`,
    beatMs: 200,
    onHandlerError: () => {},
  });
  return { driver, close: () => driver.close() };
});
