import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../config/make-folder.ts';
import type { Settings } from '../config/settings.ts';
import { createSqliteStore } from '../drivers/store-sqlite/sqlite-store.ts';
import type { Store } from '../ports/store.ts';

/** Loaded where it is used: an installation without PostgreSQL need not load its client and every statement for it. */
const postgresDriver = () => import('../drivers/store-postgres/postgres-store.ts');

export type StorePlace = Pick<Settings, 'databaseUrl' | 'databasePool' | 'dataDir'>;

/**
 * Opens the store where the settings say and brings its schema up to date. `now` is the clock of a store in this
 * process; one that is shared goes by its server's. `reserveBytes` of the disk are kept for cancelling and deleting jobs.
 */
export async function openStore(
  place: StorePlace,
  onError: (error: unknown) => void,
  now: () => number,
  reserveBytes = 0,
): Promise<Store> {
  const { databaseUrl, databasePool, dataDir } = place;
  if (databaseUrl === undefined) makeFolder(dataDir);
  const store =
    databaseUrl === undefined
      ? await createSqliteStore({
          path: join(dataDir, 'scrapifie.db'),
          now,
          traces: tracesIn(dataDir),
          onError,
          reserveBytes,
        })
      : await (await postgresDriver()).createPostgresStore({
          url: databaseUrl,
          poolSize: databasePool,
          onError,
        });
  try {
    await store.migrate();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Files that are made after the database: where they are, there was one. */
function tracesIn(dataDir: string): readonly string[] {
  return ['vault.key', 'blobs'].map((name) => join(dataDir, name)).filter(hasContent);
}

function hasContent(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (!stat.isDirectory() || readdirSync(path).length > 0);
}
