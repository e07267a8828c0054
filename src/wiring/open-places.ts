import { existsSync } from 'node:fs';
import { makeFolder, tightenFolder } from '../core/config/private-files.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Blobs, Files } from '../core/ports/blobs.ts';
import type { Queue } from '../core/ports/queue.ts';
import type { Search } from '../core/ports/search-store.ts';
import type { Store } from '../core/ports/store.ts';
import { lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import {
  countFailures,
  countJobEnds,
  logStoreErrors,
  openCountedBlobs,
  watchSharedStore,
} from './counted-calls.ts';
import { withOwnVaultKey } from './open-accounts.ts';
import { type OpenBlobs, openTransit } from './open-blobs.ts';
import { openExportFiles } from './open-exports.ts';
import { type Links, openLinks } from './open-links.ts';
import { openMendingSearch } from './open-search.ts';
import { type RoomWatch, watchRoom } from './room-watch.ts';
import { openStore, replicaLog } from './storage.ts';
import { openStoreClock } from './store-clock.ts';
import type { ThisProcess } from './this-process.ts';

/** Where a process keeps everything, and what links it to others. They are opened first and closed last. */
export interface Places {
  /** The settings with the keys of the vault. */
  readonly settings: Settings;
  readonly store: Store;
  /** The store for callers with clients waiting: requests fail soon when it is unavailable, and the crawl waits as long as it takes. */
  readonly front: Store;
  /** What the store lost before this process had it; null when nothing is known. */
  readonly storeDegradation: () => string | null;
  readonly onStoreError: (error: unknown) => void;
  readonly room: RoomWatch;
  readonly blobs: OpenBlobs;
  readonly exportFiles: Files;
  readonly search: Search;
  /** Only a queue that other processes share leads to one that renders elsewhere; null without it. */
  readonly transit: Blobs | null;
  readonly links: Links;
  /** The queue of the links, with its failures counted. */
  readonly queue: Queue;
  /** The time that all processes of the store share. */
  readonly now: () => number;
}

/** Enough to write down that jobs are cancelled or deleted. */
const DISK_RESERVE_BYTES = 4_194_304;

/** Keeps other processes out of the data folder, where it is for this one alone. */
export function takeFolder({ given: { dataDir }, isShared, closers }: ThisProcess): void {
  if (isShared) return;
  makeFolder(dataDir);
  closers.last.push(lockFolder(dataDir));
}

export async function openPlaces(process: ThisProcess): Promise<Places> {
  const { owner, isShared, logger, metrics, closers } = process;
  const { settings, store, room, blobs, ...errors } = await openStoreAndBlobs(process);
  const search = openMendingSearch(settings, store, logger);
  closers.places.push(() => search.close());
  if (existsSync(settings.dataDir)) {
    for (const problem of tightenFolder(settings.dataDir)) {
      logger.warn({ problem }, 'data folder: other users of this machine may read it');
    }
  }
  const transit = settings.redisUrl === undefined ? null : await openTransit(settings);
  closers.places.push(() => transit?.close());
  const links = await openLinks(settings, owner, logger, metrics);
  closers.places.push(() => links.close());
  const now = await openClock(process, store);
  // This process alone has the folder: former owners of hosts are dead.
  if (!isShared) {
    await store.releaseAllHosts();
    await store.endExportLeases();
  }
  const exportFiles = await openExportFiles(settings);
  closers.places.push(() => exportFiles.close());
  return {
    ...{ settings, store, room, blobs, exportFiles, search, transit, links, now, ...errors },
    front: isShared ? watchSharedStore(store, logger, metrics) : store,
    queue: countFailures('queue', links.queue, metrics),
  };
}

/** The two that hold what a crawl stores; what they refuse tells whether there is room for more. */
async function openStoreAndBlobs({ given, isShared, clock, logger, metrics, closers }: ThisProcess) {
  const { onStoreError, storeDegradation } = logStoreErrors(logger);
  const opened = await openStore(given, onStoreError, clock.now, DISK_RESERVE_BYTES, replicaLog(logger));
  const room = watchRoom({
    dataDir: isShared && given.s3Url !== undefined ? null : given.dataDir,
    checkStore: () => store.check(),
    bodyRefusal: () => blobs.refusal(),
  });
  const partFailed: typeof metrics.partFailed = (part, code) => {
    metrics.partFailed(part, code);
    room.noteFailure(code);
  };
  const store = countJobEnds(countFailures('store', opened, { partFailed }), metrics);
  closers.places.push(() => store.close());
  const settings = await withOwnVaultKey(given, store, logger);
  const blobs = await openCountedBlobs(settings, logger, metrics);
  closers.places.push(() => blobs.close());
  return { settings, store, room, blobs, onStoreError, storeDegradation };
}

async function openClock({ isShared, clock, logger, closers }: ThisProcess, store: Store) {
  if (!isShared) return clock.now;
  const { now, close } = await openStoreClock(store, logger, { clock });
  closers.users.push(close);
  return now;
}
