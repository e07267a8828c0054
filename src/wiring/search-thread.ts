import { workerData } from 'node:worker_threads';
import type { SearchIndex } from '../core/ports/search-index.ts';
import { answerCalls, notify } from '../lib/threads/answer-calls.ts';
import { lowerThreadPriority } from '../lib/threads/thread-priority.ts';
import { type OpenBlobs, openBlobs } from './open-blobs.ts';
import type { IndexMethods, IndexNotice, SearchThreadData } from './open-search.ts';
import { withBodies } from './search-bodies.ts';

/** The entry of a thread that works on the full-text index: it opens the index by itself. */
const { place, blobs: blobsPlace, isPatient, mends } = workerData as SearchThreadData;
/** Each loads what it needs: the client of PostgreSQL costs as much as indexing a hundred pages. */
async function openIndex(): Promise<SearchIndex> {
  if (!('url' in place)) {
    const { openSqliteSearch } = await import('../drivers/search-sqlite/search-sqlite.ts');
    const tell = (rebuilt: string | null) => notify<IndexNotice>({ rebuilt });
    return openSqliteSearch(
      place.path,
      mends ? { onRebuilt: ({ message }) => tell(message), onBehind: () => tell(null) } : {},
    );
  }
  const { openPostgresSearch } = await import('../drivers/search-postgres/search-postgres.ts');
  return openPostgresSearch({ url: place.url, readUrl: place.readUrl, poolSize: 2 });
}
const nothing = () => undefined;
/** Opened for the first body; where that fails, again for the next one. */
let blobs: Promise<OpenBlobs> | undefined;
const index = withBodies(await openIndex(), async (hash) => {
  blobs ??= openBlobs(blobsPlace, { isFirst: false, onAway: nothing, onReturn: nothing });
  const opening = blobs;
  const opened = await opening.catch((error: unknown) => {
    if (blobs === opening) blobs = undefined;
    throw error;
  });
  return opened.get(hash);
});

if (isPatient) lowerThreadPriority();

answerCalls<IndexMethods>({
  put: (pages) => index.put(pages),
  textsOf: (pages) => index.textsOf(pages),
  remove: (query) => index.remove(query),
  beginRebuild: () => index.beginRebuild(),
  endRebuild: () => index.endRebuild(),
  find: (query) => index.find(query),
  listJobs: (query) => index.listJobs(query),
  async close() {
    await (await blobs)?.close();
    await index.close();
  },
});
