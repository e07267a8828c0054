import type { JobId } from '../../../core/model/ids.ts';
import type { PagesEventData, StoredEvent } from '../../../core/ports/event-store.ts';
import type { ReaderRange } from '../../../core/ports/reader-store.ts';
import type { SearchIndex } from '../../../core/ports/search-index.ts';
import type { Store } from '../../../core/ports/store.ts';
import { firstEvents } from '../../readers/first-events.ts';

/** Pages whose records are in memory at once. */
export const PAGES_AT_ONCE = 100;

/**
 * Indexes the pages that events tell of, then moves the cursor of the reader `search`. A crash in between indexes them
 * again, which changes nothing.
 */
export function createSearchReader(
  store: Pick<Store, 'listSearchPages' | 'advanceReader'>,
  index: Pick<SearchIndex, 'put'>,
) {
  return async function apply(
    events: readonly StoredEvent[],
    { after, next }: ReaderRange,
  ): Promise<boolean> {
    const some = firstEvents(events);
    for (const [jobId, pages] of pagesByJob(some)) {
      for (let at = 0; at < pages.length; at += PAGES_AT_ONCE) {
        const found = await store.listSearchPages(jobId, pages.slice(at, at + PAGES_AT_ONCE));
        if (found.length > 0) await index.put(found);
      }
    }
    const last = some.length === events.length ? next : (some.at(-1)?.cursor ?? next);
    return store.advanceReader('search', { after, next: last });
  };
}

function pagesByJob(events: readonly StoredEvent[]): ReadonlyMap<JobId, readonly number[]> {
  const byJob = new Map<JobId, number[]>();
  for (const { type, jobId, data } of events) {
    if (type !== 'pages.committed' || jobId === null) continue;
    const known = byJob.get(jobId) ?? [];
    known.push(...(data as unknown as PagesEventData).pages);
    byJob.set(jobId, known);
  }
  return byJob;
}
