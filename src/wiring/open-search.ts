import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Settings } from '../config/settings.ts';
import type { ErrorCode } from '../errors/registry.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { ownBuffer } from '../model/own-memory.ts';
import { isTextual } from '../pages/read-page.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Search } from '../ports/search-index.ts';
import type { FoundPage, SearchablePage, StoredBody } from '../ports/search-store.ts';

export type SearchPlaceSettings = Pick<Settings, 'dataDir' | 'databaseUrl'>;

export interface SearchThreadData {
  readonly place: { readonly path: string } | { readonly url: string };
  /** Its work can wait for the rest of the process. */
  readonly isPatient: boolean;
}

export interface IndexCall {
  readonly id: number;
  readonly method: keyof Search;
  readonly values: readonly unknown[];
}

/** A page, and its body where that is there and may have text. */
export interface PageWithBody<Kind extends SearchablePage | FoundPage> {
  readonly page: Kind;
  readonly body: Uint8Array | null;
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

/** Bodies in memory at once, apart from one that has more by itself. */
const MOST_BODY_BYTES = 8 * 1_024 * 1_024;
/** Bodies that are asked for at the same time. */
const READS_AT_ONCE = 16;

/**
 * The full-text index of an installation: a file of the data folder, or tables of its database. Two threads, each started
 * by its first call: one that writes, with a low priority, and one that searches, which does not wait for the first.
 * The text of a page is read from its body in these threads, so that a crawl neither makes nor stores it.
 */
export function openSearch({ dataDir, databaseUrl }: SearchPlaceSettings, blobs: Pick<Blobs, 'get'>): Search {
  const place = databaseUrl === undefined ? { path: join(dataDir, 'search.db') } : { url: databaseUrl };
  const writer = createThread({ place, isPatient: true });
  const searcher = createThread({ place, isPatient: false });
  return {
    async put(pages) {
      const bodyOf = (body: StoredBody) => blobs.get(body.contentHash);
      for await (const part of withBodies(pages, bodyOf)) await writer.call('put', [part], buffersOf(part));
    },
    async textsOf(pages) {
      // What was found is shown without its text while bodies cannot be read.
      const bodyOf = (body: StoredBody) => blobs.get(body.contentHash).catch(() => null);
      const texts: string[] = [];
      for await (const part of withBodies(pages, bodyOf)) {
        texts.push(...(await searcher.call<readonly string[]>('textsOf', [part], buffersOf(part))));
      }
      return texts;
    },
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

/** The pages in their order with their bodies, in parts whose bodies are in memory together. */
async function* withBodies<Kind extends SearchablePage | FoundPage>(
  pages: readonly Kind[],
  bodyOf: (body: StoredBody) => Promise<Uint8Array | null>,
): AsyncGenerator<readonly PageWithBody<Kind>[]> {
  for (let start = 0; start < pages.length; ) {
    let end = start;
    let bytes = 0;
    do bytes += bytesOf(pages[end++]);
    while (end < pages.length && bytes + bytesOf(pages[end]) <= MOST_BODY_BYTES);
    const part: PageWithBody<Kind>[] = [];
    for (; start < end; start += READS_AT_ONCE) {
      const some = pages.slice(start, Math.min(end, start + READS_AT_ONCE));
      const read = async (page: Kind): Promise<PageWithBody<Kind>> => {
        const body = page.body !== null && isTextual(page.body.contentType) ? await bodyOf(page.body) : null;
        return { page, body: body === null || ownBuffer(body) !== null ? body : new Uint8Array(body) };
      };
      part.push(...(await Promise.all(some.map(read))));
    }
    start = end;
    yield part;
  }
}

const bytesOf = (page: SearchablePage | FoundPage | undefined): number => page?.body?.bytes ?? 0;

/** Records and bodies are handed over, not copied. */
const buffersOf = (part: readonly PageWithBody<SearchablePage | FoundPage>[]): ArrayBuffer[] =>
  part.flatMap(({ page, body }) =>
    [page.record, ...(body === null ? [] : [body])].flatMap((bytes) => ownBuffer(bytes) ?? []),
  );

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

function createThread(data: SearchThreadData) {
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
    started.on('message', (answer: IndexAnswer) => {
      const call = calls.get(answer.id);
      calls.delete(answer.id);
      if (calls.size === 0) started.unref();
      if ('failure' in answer) call?.reject(errorOf(answer.failure));
      else call?.resolve(answer.result as never);
    });
    started.on('error', lost);
    started.on('exit', () => {
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
