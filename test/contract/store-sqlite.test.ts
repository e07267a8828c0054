import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import type { OpenedStore } from './store/incarnation-contract.ts';
import { ownClockContract } from './store/own-clock-contract.ts';
import { openTimed } from './store/timed-store.ts';
import { storeContract } from './store-contract.ts';

async function openIn(dir: string): Promise<OpenedStore> {
  const driver = await openTimed((now) => createSqliteStore({ path: join(dir, 'scrapifie.db'), now }));
  await driver.migrate();
  return {
    driver,
    reopen: () => openIn(dir),
    comeBack: () => openIn(dir),
    async close() {
      await driver.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

storeContract('SQLite', async () => openIn(await mkdtemp(join(tmpdir(), 'scrapifie-store-'))));

ownClockContract('SQLite', async () => {
  const driver = await createSqliteStore({ path: ':memory:' });
  await driver.migrate();
  return { driver, close: () => driver.close() };
});
