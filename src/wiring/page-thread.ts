import { parentPort, workerData } from 'node:worker_threads';
import { startPageThread } from '../pages/page-thread.ts';
import type { ThreadData } from '../pages/thread-messages.ts';
import { type BlobsPlace, openBlobs } from './open-blobs.ts';

/** The entry of a thread that reads pages: it opens a blob store of its own. */
export interface PageThreadData {
  /** Null: pages are only read, and nothing of them is kept. */
  readonly blobs: BlobsPlace | null;
}

if (parentPort === null) throw new Error('The page thread has no parent.');
const { given, reading } = workerData as ThreadData<PageThreadData>;
const ignore = () => undefined;
const blobs =
  given.blobs === null
    ? null
    : await openBlobs(given.blobs, { isFirst: false, onAway: ignore, onReturn: ignore });
startPageThread({ port: parentPort, reading, blobs });
