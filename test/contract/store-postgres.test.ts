import { inject } from 'vitest';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import {
  restoreIncarnation,
  type Schema,
  takeMigrated,
} from '../../src/drivers/store-postgres/schema.fixture.ts';
import type { OpenedStore } from './store/incarnation-contract.ts';
import { ownClockContract } from './store/own-clock-contract.ts';
import { openTimed } from './store/timed-store.ts';
import { storeContract } from './store-contract.ts';

async function openIn(schema: Schema): Promise<OpenedStore> {
  const driver = await openTimed((now) => createPostgresStore({ url: schema.url, poolSize: 4, now }));
  await driver.migrate();
  return {
    driver,
    reopen: () => openIn(schema),
    async comeBack() {
      await restoreIncarnation(schema);
      return openIn(schema);
    },
    async close() {
      await driver.close();
      await schema.drop();
    },
  };
}

ownClockContract('PostgreSQL', async () => {
  const schema = await takeMigrated(inject('postgresUrl'));
  const driver = await createPostgresStore({ url: schema.url, poolSize: 4 });
  await driver.migrate();
  return {
    driver,
    async close() {
      await driver.close();
      await schema.drop();
    },
  };
});

const SHARED = 'a PostgreSQL store is shared: nobody can know that all owners are dead';

storeContract('PostgreSQL', async () => openIn(await takeMigrated(inject('postgresUrl'))), [
  { case: 'ends the leases of all owners that are known to be dead', reason: SHARED },
  { case: 'has work at once after its clock was set back when the store is its own', reason: SHARED },
  { case: 'goes on at once after a kill when the store is its own', reason: SHARED },
]);
