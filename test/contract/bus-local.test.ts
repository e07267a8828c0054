import { createBusLocal } from '../../src/drivers/bus-local/bus-local.ts';
import { busContract } from './bus-contract.ts';

busContract('in process', async () => {
  const driver = createBusLocal({ onListenerError: () => {} });
  return { driver, close: () => driver.close() };
});
