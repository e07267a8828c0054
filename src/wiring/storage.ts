import { existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../core/config/private-files.ts';
import type { Settings } from '../core/config/settings.ts';
import { isScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Search } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';
import { LOCK_FILE, lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import { createSqliteStore } from '../drivers/store-sqlite/sqlite-store.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';
import { type BlobsPlace, openBlobs, openTransit } from './open-blobs.ts';
import { openSearch } from './open-search.ts';

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

/** Where everything is kept, without anything that works on it. */
export interface Storage {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly search: Search;
  /** Bytes on their way between processes; null where there are none. */
  readonly transit: Blobs | null;
  /** Keeps every other process out of the data folder; null where others work, or may. Call what it returns to end that. */
  lockAlone(): (() => void) | null;
  close(): Promise<void>;
}

const nothing = () => undefined;

/** Opens the places for reading and for small changes beside running servers. */
export async function openStorage(place: StorePlace & BlobsPlace): Promise<Storage> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => void (await Promise.all(closers.splice(0).map((each) => each())));
  try {
    const store = await openStore(place, nothing, createSteadyClock().now);
    closers.push(() => store.close());
    const blobs = await openBlobs(place, { isFirst: false, onAway: nothing, onReturn: nothing });
    closers.push(() => blobs.close());
    const hasTransit = place.s3Url !== undefined || existsSync(join(place.dataDir, 'transit'));
    const transit = hasTransit ? await openTransit(place) : null;
    closers.push(async () => transit?.close());
    const search = openSearch(place);
    closers.push(() => search.close());
    return { store, blobs, search, transit, lockAlone: () => lockAlone(place), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function lockAlone({ databaseUrl, s3Url, dataDir }: StorePlace & BlobsPlace): (() => void) | null {
  if (databaseUrl !== undefined || s3Url !== undefined) return null;
  try {
    return lockFolder(dataDir);
  } catch (error) {
    if (isScrapifieError(error) && error.code === 'DATA_DIR_LOCKED') return null;
    throw error;
  }
}

/** A process that has just made its lock file has not yet locked it. */
const LEAST_AGE_MS = 60_000;

/**
 * Removes the data folders in `parent` whose names begin with `prefix` and whose process has ended without removing
 * them. Only folders of this user with a lock file that no process holds; symbolic links are not followed. A folder that
 * cannot be removed stays.
 */
export async function removeAbandonedFolders(parent: string, prefix: string, now: number): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const folder = join(parent, name);
    if (!name.startsWith(prefix) || !isCandidate(folder, now)) continue;
    try {
      const unlock = lockFolder(folder);
      try {
        await rm(folder, { recursive: true, force: true });
      } finally {
        unlock();
      }
    } catch {
      // Another process works there, or removes it at this moment.
    }
  }
}

function isCandidate(folder: string, now: number): boolean {
  const [made, lock] = [statOf(folder), statOf(join(folder, LOCK_FILE))];
  if (made === undefined || lock === undefined || !made.isDirectory() || !lock.isFile()) return false;
  const isOwn = process.getuid === undefined || made.uid === process.getuid();
  return isOwn && now - lock.mtimeMs >= LEAST_AGE_MS;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
