import { createSteadyClock } from '../model/steady-clock.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Store } from '../ports/store.ts';
import { type BlobsPlace, openBlobs } from './open-blobs.ts';
import { openStore, type StorePlace } from './open-store.ts';

/** Where everything is kept, without anything that works on it. */
export interface Storage {
  readonly store: Store;
  readonly blobs: Blobs;
  close(): Promise<void>;
}

const nothing = () => undefined;

/** Opens the places for reading and for small changes beside running servers. */
export async function openStorage(place: StorePlace & BlobsPlace): Promise<Storage> {
  const store = await openStore(place, nothing, createSteadyClock().now);
  try {
    const blobs = await openBlobs(place, { isFirst: false, onAway: nothing, onReturn: nothing });
    return { store, blobs, close: async () => void (await Promise.all([store.close(), blobs.close()])) };
  } catch (error) {
    await store.close();
    throw error;
  }
}
