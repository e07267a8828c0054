import { parentPort, workerData } from 'node:worker_threads';
import { listen } from '../core/errors/guarded.ts';
import { isScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { SearchIndex } from '../core/ports/search-index.ts';
import { lowerThreadPriority } from '../lib/thread-priority.ts';
import { type OpenBlobs, openBlobs } from './open-blobs.ts';
import type { IndexAnswer, IndexCall, IndexNotice, SearchThreadData } from './open-search.ts';
import { withBodies } from './search-bodies.ts';

/** The entry of a thread that works on the full-text index: it opens the index by itself. */
if (parentPort === null) throw new Error('The search thread has no parent.');
const port = parentPort;
const { place, blobs: blobsPlace, isPatient, mends } = workerData as SearchThreadData;
/** Each loads what it needs: the client of PostgreSQL costs as much as indexing a hundred pages. */
async function openIndex(): Promise<SearchIndex> {
  if (!('url' in place)) {
    const { openSqliteSearch } = await import('../drivers/search-sqlite/search-sqlite.ts');
    const tell = (rebuilt: string | null) => port.postMessage({ rebuilt } satisfies IndexNotice);
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

async function answer({ id, method, values }: IndexCall): Promise<IndexAnswer> {
  try {
    const call = index[method] as (...given: unknown[]) => Promise<unknown>;
    return { id, result: await call(...values) };
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    return { id, failure: { code: isScrapifieError(error) ? error.code : null, message, stack } };
  }
}

/** One call after the other: what was put is there for those that come later. */
let last: Promise<void> = Promise.resolve();
listen(port, 'message', (call: IndexCall) => {
  last = last.then(async () => {
    if (call.method === 'close') await (await blobs)?.close();
    port.postMessage(await answer(call));
    if (call.method === 'close') port.close();
  });
});
