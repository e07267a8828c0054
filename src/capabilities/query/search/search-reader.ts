import type { JobId } from '../../../core/model/ids.ts';
import type { PagesEventData, ReaderRange, StoredEvent } from '../../../core/ports/event-store.ts';
import type { SearchIndex, SearchPlace, SearchStore } from '../../../core/ports/search-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import { firstEvents } from '../../readers/event-reader.ts';

/** Pages whose records are in memory at once. */
const PAGES_AT_ONCE = 100;

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

interface IndexParts {
  readonly store: Pick<SearchStore, 'scanSearchPages' | 'searchJobs'>;
  readonly index: SearchIndex;
}

const JOBS_AT_ONCE = 500;
const ENTRIES_AT_ONCE = 500;

/**
 * Removes the entries of pages that the store no longer has: of deleted jobs and accounts, and of pages whose body or
 * record was deleted because its time was over. Until then no search shows them, because the store is asked. Returns how
 * many were removed.
 */
export async function sweepIndex({ store, index }: IndexParts, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  let after: JobId | null = null;
  for (;;) {
    const ids: readonly JobId[] = await index.listJobs({ after, limit: JOBS_AT_ONCE });
    const kept = new Map((await store.searchJobs(ids)).map(({ id, firstPage }) => [id, firstPage]));
    for (const jobId of ids) {
      const before = kept.has(jobId) ? (kept.get(jobId) ?? 0) : null;
      if (before === 0) continue;
      for (;;) {
        if (signal?.aborted === true) return removed;
        const count = await index.remove({ jobId, before, limit: ENTRIES_AT_ONCE });
        removed += count;
        if (count < ENTRIES_AT_ONCE) break;
      }
    }
    after = ids.at(-1) ?? null;
    if (ids.length < JOBS_AT_ONCE) return removed;
  }
}

/**
 * Makes the whole index anew from the pages that the store has, beside running servers: what there is can be searched
 * meanwhile. Returns how many pages were looked at.
 */
export async function rebuildIndex(
  { store, index }: IndexParts,
  onProgress: (pages: number) => void = () => undefined,
): Promise<number> {
  await index.beginRebuild();
  let pages = 0;
  let after: SearchPlace | null = null;
  do {
    const step: Awaited<ReturnType<SearchStore['scanSearchPages']>> = await store.scanSearchPages({
      after,
      limit: PAGES_AT_ONCE,
    });
    await index.put(step.pages);
    pages += step.pages.length;
    onProgress(pages);
    after = step.next;
  } while (after !== null);
  await index.endRebuild();
  return pages;
}
