import { parentPort, workerData } from 'node:worker_threads';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { startPageThread } from '../crawl/read/page-thread.ts';
import type { ThreadData } from '../crawl/read/thread-messages.ts';
import { type BlobsPlace, openBlobs } from './open-blobs.ts';

/** The entry of a thread that reads pages: it opens a blob store of its own. */
export interface PageThreadData {
  /** Null when pages are only read, and nothing of them is kept. */
  readonly blobs: BlobsPlace | null;
  /** The plug-ins, as the setting names them. */
  readonly plugins: string;
}

if (parentPort === null) throw new Error('The page thread has no parent.');
const { given, reading } = workerData as ThreadData<PageThreadData>;
const ignore = () => undefined;
const blobs =
  given.blobs === null
    ? null
    : await openBlobs(given.blobs, { isFirst: false, onAway: ignore, onReturn: ignore });

/** Each thread loads the plug-ins for itself, with the first job that may need one. */
const loadTypes = async () => {
  try {
    return (await (await import('../capabilities/plugins/load-plugins.ts')).loadPlugins(given.plugins)).types;
  } catch (error) {
    // The process has loaded them before it started, so it is something about threads.
    throw new ScrapifieError('PLUGIN_FAILED', `In a thread, ${(error as Error).message}`, { cause: error });
  }
};
startPageThread({
  port: parentPort,
  reading,
  blobs,
  loadTypes: given.plugins === '' ? null : loadTypes,
});
