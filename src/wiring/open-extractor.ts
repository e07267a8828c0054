import { availableParallelism } from 'node:os';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { PageReader } from '../crawl/read/page-reading.ts';
import { createReaderPool } from '../crawl/read/reader-pool.ts';
import { siblingModule } from '../lib/threads/thread.ts';
import type { PageThreadData } from './page-thread.ts';

/** The entry of the threads that read pages. */
export const PAGE_THREAD = siblingModule('./page-thread.ts', import.meta.url);

const HOLD_MS = 60_000;

/** As many as the setting says; 0 leaves a core to everything else. */
export const threadsFor = (setting: number): number =>
  setting || Math.min(4, Math.max(1, availableParallelism() - 1));

/** A reader that keeps nothing of its pages, with plug-ins as the setting names them. Its threads are started when the first page is to be read. */
export function openExtractor(threads: number, plugins = ''): PageReader {
  let pool: PageReader | null = null;
  let isClosed = false;
  const open = (): PageReader => {
    const data: PageThreadData = { blobs: null, plugins };
    pool ??= createReaderPool({ threads: threadsFor(threads), entry: PAGE_THREAD, data });
    return pool;
  };
  return {
    async read(request) {
      if (isClosed) throw new ScrapifieError('SHUTTING_DOWN', 'No more pages are read.');
      // The threads do not keep the process alive; a caller that waits for a page does.
      const hold = setInterval(() => undefined, HOLD_MS);
      try {
        return await open().read(request);
      } finally {
        clearInterval(hold);
      }
    },
    get ready() {
      return open().ready;
    },
    get backlog() {
      return pool?.backlog ?? 0;
    },
    // The extractor stores nothing, so its reads never wait for the disk.
    isHolding: false,
    async close() {
      isClosed = true;
      await pool?.close();
    },
  };
}
