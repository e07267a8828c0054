import type { ContentHash, JobId, TaskId } from '../../core/model/ids.ts';
import type { Page } from '../../core/model/page.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { ExportStore } from '../../core/ports/export-store.ts';
import { createSorter } from '../../lib/external-sorter.ts';
import { readRecord } from '../jobs/page-result.ts';
import type { ExportPage } from './table/export-page.ts';

export interface PageParts {
  readonly store: Pick<ExportStore, 'listPageKeys' | 'pagesOfTasks'>;
  readonly blobs: Pick<Blobs, 'get'>;
}

/** Where pages are asked for at once: more of small ones than of large ones, whose records may be as long as they are. */
const KEYS_AT_ONCE = 5_000;
const PAGES_AT_ONCE = 100;
const BYTES_AT_ONCE = 4_194_304;

/**
 * The pages of a job in the order of their URLs, which does not depend on when they were fetched: a crawl that was
 * interrupted and resumed gives the same order as one that was not.
 */
export async function* pagesInOrder(jobId: JobId, { store, blobs }: PageParts): AsyncGenerator<ExportPage> {
  for await (const taskIds of sortedKeys(jobId, store)) {
    const pages = new Map<TaskId, Page>();
    for (const page of await store.pagesOfTasks(jobId, taskIds)) pages.set(page.taskId, page);
    for (const taskId of taskIds) {
      const page = pages.get(taskId);
      // Deleted since its key was read.
      if (page !== undefined) yield exportPage(page, blobs);
    }
  }
}

function exportPage(page: Page, blobs: Pick<Blobs, 'get'>): ExportPage {
  const isGone = page.expired?.includes('bodies') === true;
  return {
    page,
    record: readRecord(page.record),
    body: async () => (isGone || page.contentHash === null ? null : blobs.get(page.contentHash)),
    blob: (hash: ContentHash) => blobs.get(hash),
  };
}

async function* sortedKeys(
  jobId: JobId,
  store: Pick<ExportStore, 'listPageKeys'>,
): AsyncGenerator<readonly TaskId[]> {
  const sorter = createSorter();
  try {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listPageKeys({ jobId, cursor, limit: KEYS_AT_ONCE });
      for (const { url, taskId, bytes } of items) sorter.add(url, `${taskId} ${bytes}`);
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
    let batch: TaskId[] = [];
    let bytes = 0;
    for (const value of sorter.values()) {
      const [taskId, size] = value.split(' ').map(Number) as [number, number];
      batch.push(taskId as TaskId);
      bytes += size;
      if (batch.length < PAGES_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) yield batch;
  } finally {
    sorter.close();
  }
}
