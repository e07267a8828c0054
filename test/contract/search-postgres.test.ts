import { inject } from 'vitest';
import type { SearchIndex } from '../../src/core/ports/search-store.ts';
import { openPostgresSearch } from '../../src/drivers/search-postgres/search-postgres.ts';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import { createSchema, type Schema } from '../../src/drivers/store-postgres/schema.fixture.ts';
import type { Opened } from './contract.ts';
import { searchContract } from './search-contract.ts';

async function openIn(schema: Schema, isFirst: boolean): Promise<Opened<SearchIndex>> {
  const driver = openPostgresSearch({ url: schema.url, poolSize: 2 });
  return {
    driver,
    reopen: () => openIn(schema, false),
    async close() {
      await driver.close();
      if (isFirst) await schema.drop();
    },
  };
}

searchContract('PostgreSQL', async () => {
  const schema = await createSchema(inject('postgresUrl'));
  // The tables are those of the store.
  const store = await createPostgresStore({ url: schema.url, poolSize: 1 });
  await store.migrate();
  await store.close();
  return openIn(schema, true);
});
