import type { JobId } from '../../../core/model/ids.ts';
import type { SearchIndex } from '../../../core/ports/search-index.ts';
import type { SearchPlace, SearchStore } from '../../../core/ports/search-store.ts';
import { PAGES_AT_ONCE } from './search-reader.ts';

export interface IndexParts {
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
