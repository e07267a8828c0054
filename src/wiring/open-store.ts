import { join } from 'node:path';
import { makeFolder } from '../config/make-folder.ts';
import type { Settings } from '../config/settings.ts';
import { createPostgresStore } from '../drivers/store-postgres/postgres-store.ts';
import { createSqliteStore } from '../drivers/store-sqlite/sqlite-store.ts';
import type { Store } from '../ports/store.ts';

export type StorePlace = Pick<Settings, 'databaseUrl' | 'databasePool' | 'dataDir'>;

/**
 * Opens the store where the settings say and brings its schema up to date. `now` is the clock of a store in this
 * process; one that is shared goes by its server's.
 */
export async function openStore(
  place: StorePlace,
  onError: (error: unknown) => void,
  now: () => number,
): Promise<Store> {
  const { databaseUrl, databasePool, dataDir } = place;
  if (databaseUrl === undefined) makeFolder(dataDir);
  const store =
    databaseUrl === undefined
      ? await createSqliteStore({ path: join(dataDir, 'scrapifie.db'), now })
      : await createPostgresStore({ url: databaseUrl, poolSize: databasePool, onError });
  try {
    await store.migrate();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
