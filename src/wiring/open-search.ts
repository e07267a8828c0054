import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Settings } from '../core/config/settings.ts';
import { listen } from '../core/errors/guarded.ts';
import type { ErrorCode } from '../core/errors/registry.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Search } from '../core/ports/search-index.ts';
import type { FoundPage, SearchablePage } from '../core/ports/search-store.ts';
import type { BlobsPlace } from './open-blobs.ts';

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

export interface IndexCall {
  readonly id: number;
  readonly method: keyof Search;
  readonly values: readonly unknown[];
}

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

export type IndexAnswer =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly failure: {
        readonly code: ErrorCode | null;
        readonly message: string;
        readonly stack: string | undefined;
      };
    };

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
  const writer = createThread({ place, blobs, isPatient: true, mends: mending !== null }, mending);
  const searcher = createThread({ place, blobs, isPatient: false, mends: mending !== null }, mending);
  return {
    put: (pages) => writer.call('put', [pages], recordsOf(pages)),
    textsOf: (pages) => searcher.call('textsOf', [pages], recordsOf(pages)),
    remove: (query) => writer.call('remove', [query]),
    beginRebuild: () => writer.call('beginRebuild', []),
    endRebuild: () => writer.call('endRebuild', []),
    find: (query) => searcher.call('find', [query]),
    listJobs: (query) => searcher.call('listJobs', [query]),
    async close() {
      await Promise.all([writer.close(), searcher.close()]);
    },
  };
}

/** Records are handed over, not copied. */
const recordsOf = (pages: readonly (SearchablePage | FoundPage)[]): ArrayBuffer[] =>
  pages.map(({ record }) => record.buffer as ArrayBuffer);

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

function createThread(data: SearchThreadData, mending: SearchMending | null) {
  const calls = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;
  let isClosed = false;

  function lost(cause: unknown): void {
    worker = null;
    const error = new ScrapifieError('STORE_UNAVAILABLE', 'The thread of the search index has ended.', {
      cause,
    });
    for (const { reject } of calls.values()) reject(error);
    calls.clear();
  }

  function start(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './search-thread.ts' : './search-thread.js';
    const started = new Worker(new URL(file, import.meta.url), {
      workerData: data,
      name: data.isPatient ? 'search index' : 'search',
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 384 },
    });
    listen(started, 'message', (answer: IndexAnswer | IndexNotice) => {
      if ('rebuilt' in answer) {
        if (answer.rebuilt === null) mending?.onBehind();
        else mending?.onRebuilt(new ScrapifieError('DATABASE_CORRUPT', answer.rebuilt));
        return;
      }
      const call = calls.get(answer.id);
      calls.delete(answer.id);
      if (calls.size === 0) started.unref();
      if ('failure' in answer) call?.reject(errorOf(answer.failure));
      else call?.resolve(answer.result as never);
    });
    listen(started, 'error', lost);
    listen(started, 'exit', () => {
      if (worker === started) lost(undefined);
    });
    return started;
  }

  function call<T>(
    method: keyof Search,
    values: readonly unknown[],
    buffers: readonly ArrayBuffer[] = [],
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (isClosed) return reject(new ScrapifieError('STORE_UNAVAILABLE', 'The search index is closed.'));
      worker ??= start();
      worker.ref();
      lastId += 1;
      calls.set(lastId, { resolve, reject });
      worker.postMessage({ id: lastId, method, values } satisfies IndexCall, [...buffers]);
    });
  }

  return {
    call,
    async close() {
      if (isClosed) return;
      const running = worker;
      if (running !== null) await call('close', []).catch(() => undefined);
      isClosed = true;
      worker = null;
      await running?.terminate();
    },
  };
}

function errorOf({ code, message, stack }: Extract<IndexAnswer, { failure: unknown }>['failure']): Error {
  const cause = Object.assign(new Error(message), { stack });
  return code === null ? cause : new ScrapifieError(code, message, { cause });
}
