import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import { listenOnce } from '../errors/guarded.ts';

const FIRST_COLLECTION_MB = 24;

/**
 * Lets each thread have the memory limits that it is started with. Those that Node.js was started with are for the main
 * thread, which has them by now; V8 would give them to every later thread as well, in place of its own. The size from
 * which on old objects are collected is smaller than the main thread's, because there are several threads.
 */
export function keepThreadLimits(firstCollectionMb = FIRST_COLLECTION_MB): void {
  for (const flag of ['--max-old-space-size', '--max-semi-space-size']) setFlagsFromString(`${flag}=0`);
  collectFrom(firstCollectionMb);
  keptMb = firstCollectionMb;
}

/** What threads have that are started as usual; null before `keepThreadLimits`. */
let keptMb: number | null = null;

/** Sets the size of the old space at which collection begins, for threads started from now on; 0 leaves it to V8. */
const collectFrom = (megabytes: number) => setFlagsFromString(`--initial-old-space-size=${megabytes}`);

/**
 * Starts a thread that collects old objects from the beginning on: one that works for minutes and is to stay small. The flag
 * counts when the thread sets up its heap, which it has done when it is online.
 */
export function startSmallThread(start: () => Worker): Worker {
  const usualMb = keptMb;
  if (usualMb === null) return start();
  collectFrom(0);
  const thread = start();
  const restore = () => collectFrom(usualMb);
  listenOnce(thread, 'online', restore);
  listenOnce(thread, 'exit', restore);
  return thread;
}
