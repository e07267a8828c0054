import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../core/config/private-files.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Store } from '../core/ports/store.ts';
import { createSqliteStore } from '../drivers/store-sqlite/sqlite-store.ts';

/** Loaded where it is used: an installation without PostgreSQL need not load its client and every statement for it. */
const postgresDriver = () => import('../drivers/store-postgres/postgres-store.ts');

export type StorePlace = Pick<Settings, 'databaseUrl' | 'databasePool' | 'dataDir'> &
  Partial<Pick<Settings, 'databaseReadUrl'>>;

/**
 * Opens the store where the settings say and brings its schema up to date. `now` is the clock of a store in this
 * process; one that is shared goes by its server's. `reserveBytes` of the disk are kept for cancelling and deleting jobs.
 */
export async function openStore(
  place: StorePlace,
  onError: (error: unknown) => void,
  now: () => number,
  reserveBytes = 0,
  onReplicaChange: (isUsed: boolean, why: string) => void = () => undefined,
): Promise<Store> {
  const { databaseUrl, databaseReadUrl: readUrl, databasePool, dataDir } = place;
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
          readUrl,
          onReplicaChange,
        });
  try {
    await store.migrate();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Says once when the primary answers in place of the read replica, and once when that is over. */
export const replicaLog =
  (logger: Logger) =>
  (isUsed: boolean, why: string): void => {
    if (isUsed) logger.info('read replica used again');
    else logger.warn({ why }, 'read replica not used: the primary answers queries');
  };

/** Files that are made after the database: where they are, there was one. */
function tracesIn(dataDir: string): readonly string[] {
  return ['vault.key', 'blobs'].map((name) => join(dataDir, name)).filter(hasContent);
}

function hasContent(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (!stat.isDirectory() || readdirSync(path).length > 0);
}
