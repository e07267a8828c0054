import { rebuildIndex } from '../capabilities/query/search/search-reader.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Search } from '../core/ports/search-index.ts';
import type { SearchStore } from '../core/ports/search-store.ts';
import { openSearch, type SearchPlaceSettings } from './open-search.ts';

/**
 * The full-text index of a process that works on the installation. When its file was damaged, an empty one takes its place
 * and is filled from the store in the background; a process that ends meanwhile leaves that to the next one.
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
  return {
    ...search,
    async close() {
      isClosed = true;
      await search.close();
      await filling;
    },
  };
}
