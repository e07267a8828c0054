import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Blobs } from '../core/ports/blobs.ts';
import type { Search } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';
import { lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';
import { type BlobsPlace, openBlobs, openTransit } from './open-blobs.ts';
import { openSearch } from './open-search.ts';
import { openStore, type StorePlace } from './open-store.ts';

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
