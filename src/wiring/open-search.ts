import { join } from 'node:path';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Search } from '../core/ports/search-index.ts';
import type { FoundPage, SearchablePage } from '../core/ports/search-store.ts';
import { siblingModule } from '../lib/sibling-module.ts';
import { ThreadClient } from '../lib/threads/thread-client.ts';
import type { BlobsPlace } from './open-blobs.ts';

/** A thread that has not closed the index by then is ended; the index is whole all the same. */
const CLOSE_MS = 30_000;

export type SearchPlaceSettings = Pick<Settings, 'dataDir' | 'databaseUrl'> &
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
export interface SearchMending {
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
