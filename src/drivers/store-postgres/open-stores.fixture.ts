import { inject, onTestFinished } from 'vitest';
import { openTimed, type TimedStore } from '../../../test/contract/store/timed-store.ts';
import { createPostgresStore } from './postgres-store.ts';
import { createSchema, type Schema, takeMigrated } from './schema.fixture.ts';

/** A fresh, migrated schema and as many stores on it as processes would have. */
export async function openStores(
  count: number,
  poolSize = 3,
): Promise<{ schema: Schema; stores: TimedStore[] }> {
  const schema = await takeMigrated(inject('postgresUrl'));
  onTestFinished(() => schema.drop());
  const stores: TimedStore[] = [];
  for (let n = 0; n < count; n += 1) stores.push(await openStore(schema.url, poolSize));
  await Promise.all(stores.map((store) => store.migrate()));
  return { schema, stores };
}

export async function openSchema(): Promise<Schema> {
  const schema = await createSchema(inject('postgresUrl'));
  onTestFinished(() => schema.drop());
  return schema;
}

export async function openStore(url: string, poolSize = 3): Promise<TimedStore> {
  const store = await openTimed((now) => createPostgresStore({ url, poolSize, now }));
  onTestFinished(() => store.close());
  return store;
}
