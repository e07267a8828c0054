import { createQueueLocal } from '../../src/drivers/queue-local/queue-local.ts';
import { queueContract } from './queue-contract.ts';

queueContract('in process', async () => {
  const driver = createQueueLocal({ onHandlerError: () => {} });
  return { driver, close: () => driver.close() };
});
