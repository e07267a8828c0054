import { createLimitsLocal } from '../../src/drivers/limits-local/limits-local.ts';
import { limitsContract } from './limits-contract.ts';

limitsContract('in process', async () => {
  const driver = createLimitsLocal();
  return { driver, close: () => driver.close() };
});
