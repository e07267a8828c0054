import { statSync } from 'node:fs';
import { join } from 'node:path';
import { rebuildIndex } from '../capabilities/query/search/search-reader.ts';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { FoundPage, Search, SearchablePage, SearchStore } from '../core/ports/search-store.ts';
import { siblingModule } from '../lib/threads/thread.ts';
import { ThreadClient } from '../lib/threads/thread-client.ts';
import type { BlobsPlace } from './open-blobs.ts';

/** A thread that has not closed the index by then is ended; the index is whole all the same. */
const CLOSE_MS = 30_000;

type SearchPlaceSettings = Pick<Settings, 'dataDir' | 'databaseUrl'> &
  Partial<Pick<Settings, 'databaseReadUrl'>> &
  BlobsPlace;

export interface SearchThreadData {
  readonly place: { readonly path: string } | { readonly url: string; readonly readUrl?: string | undefined };
  /** Where the bodies of pages are. */
  readonly blobs: BlobsPlace;
  /** Its work can wait for the rest of the process. */
  readonly isPatient: boolean;
  /** A damaged file is replaced, and a notice is sent to the process. */
  readonly mends: boolean;
}

/** What a thread answers: the methods of the index. */
export type IndexMethods = { readonly [Name in keyof Search]: Search[Name] };

/** What happened to the file of the index, whichever call met it: a reason, or null for one that has to be built anew. */
export interface IndexNotice {
  readonly rebuilt: string | null;
}

/** How a process has a damaged file of the index replaced. */
interface SearchMending {
  /** The file was damaged and there is a new, empty one. */
  readonly onRebuilt: (error: ScrapifieError) => void;
  /** The index has to be built anew from the store; each thread that opens it reports so. */
  readonly onBehind: () => void;
}

/**
 * The full-text index of an installation: a file of the data folder, or tables of its database. Two threads, each started
 * by its first call: one that writes, with a low priority, and one that searches, which does not wait for the first.
 * The text of a page is read from its body in these threads, so that a crawl neither makes nor stores it.
 */
export function openSearch(settings: SearchPlaceSettings, mending: SearchMending | null = null): Search {
  const { dataDir, databaseUrl, databaseReadUrl: readUrl, s3Url, spillBytes } = settings;
  const place =
    databaseUrl === undefined ? { path: join(dataDir, 'search.db') } : { url: databaseUrl, readUrl };
  const blobs = { dataDir, databaseUrl, s3Url, spillBytes };
  const mends = mending !== null;
  const writer = openThread({ place, blobs, isPatient: true, mends }, mending);
  const searcher = openThread({ place, blobs, isPatient: false, mends }, mending);
  return {
    put: (pages) => writer.call('put', [pages], { transfer: recordsOf(pages) }),
    textsOf: (pages) => searcher.call('textsOf', [pages], { transfer: recordsOf(pages) }),
    remove: (query) => writer.call('remove', [query]),
    beginRebuild: () => writer.call('beginRebuild', []),
    endRebuild: () => writer.call('endRebuild', []),
    find: (query) => searcher.call('find', [query]),
    listJobs: (query) => searcher.call('listJobs', [query]),
    async close() {
      await Promise.all([writer, searcher].map(closeThread));
    },
  };
}

/** Records are handed over, not copied. */
const recordsOf = (pages: readonly (SearchablePage | FoundPage)[]): ArrayBuffer[] =>
  pages.map(({ record }) => record.buffer as ArrayBuffer);

function openThread(data: SearchThreadData, mending: SearchMending | null) {
  return new ThreadClient<IndexMethods, IndexNotice>({
    name: data.isPatient ? 'search index' : 'search',
    entry: siblingModule('./search-thread.ts', import.meta.url),
    data,
    memory: { youngMb: 16, oldMb: 384 },
    errorOf: ({ reason, cause }) =>
      reason === 'closed'
        ? new ScrapifieError('STORE_UNAVAILABLE', 'The search index is closed.')
        : new ScrapifieError('STORE_UNAVAILABLE', 'The thread of the search index has ended.', { cause }),
    onNotice: ({ rebuilt }) => {
      if (rebuilt === null) mending?.onBehind();
      else mending?.onRebuilt(new ScrapifieError('DATABASE_CORRUPT', rebuilt));
    },
  });
}

/** Calls that were made before are answered first. */
async function closeThread(thread: ThreadClient<IndexMethods, IndexNotice>): Promise<void> {
  if (thread.isRunning) await thread.call('close', [], { limitMs: CLOSE_MS }).catch(() => undefined);
  await thread.close();
}

/** A file of the index that holds nothing is far below this size, one with a few hundred pages above it. */
const SMALL_FILE_BYTES = 262_144;

/**
 * The full-text index of a process that works on the installation. When its file was damaged, an empty one takes its place
 * and is filled from the store in the background; a process that ends meanwhile leaves that to the next one. A file that is
 * gone, or has lost all that it held, is noticed at the start and filled in the same way.
 */
export function openMendingSearch(
  settings: SearchPlaceSettings,
  store: Pick<SearchStore, 'scanSearchPages' | 'searchJobs'>,
  logger: Logger,
): Search {
  let filling: Promise<void> | null = null;
  let isClosed = false;

  async function fill(): Promise<void> {
    try {
      const pages = await rebuildIndex({ store, index: search });
      logger.info({ pages }, 'search index filled');
    } catch (error) {
      if (!isClosed) logger.warn({ err: error }, 'search index not filled; the next start tries again');
    } finally {
      filling = null;
    }
  }

  const search = openSearch(settings, {
    onRebuilt: (error) => logger.warn({ err: error }, 'search index was damaged'),
    onBehind() {
      if (!isClosed) filling ??= fill();
    },
  });
  /** Returns true when the store has pages to search for and the index has none. */
  async function isEmptied(): Promise<boolean> {
    if (settings.databaseUrl !== undefined) return false;
    const file = statSync(join(settings.dataDir, 'search.db'), { throwIfNoEntry: false });
    if (file !== undefined && file.size > SMALL_FILE_BYTES) return false;
    const { pages } = await store.scanSearchPages({ after: null, limit: 1 });
    if (pages.length === 0) return false;
    return file === undefined || (await search.listJobs({ after: null, limit: 1 })).length === 0;
  }

  const looked = isEmptied().then(
    (isEmpty) => {
      if (!isEmpty || isClosed) return;
      logger.warn('search index was empty although pages are stored; it is filled again');
      filling ??= fill();
    },
    (error: unknown) => {
      if (!isClosed) logger.warn({ err: error }, 'search index not looked at');
    },
  );

  return {
    ...search,
    async close() {
      isClosed = true;
      await looked;
      await search.close();
      await filling;
    },
  };
}
