import { statSync } from 'node:fs';
import { join } from 'node:path';
import { rebuildIndex } from '../capabilities/query/search/search-reader.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Search } from '../core/ports/search-index.ts';
import type { SearchStore } from '../core/ports/search-store.ts';
import { openSearch, type SearchPlaceSettings } from './open-search.ts';

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
