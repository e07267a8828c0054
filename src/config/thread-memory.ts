import { setFlagsFromString } from 'node:v8';

const FIRST_COLLECTION_MB = 32;

/**
 * Lets each thread have the memory limits that it is started with. Those that Node.js was started with are for the main
 * thread, which has them by now; V8 would give them to every later thread as well, in place of its own. The size from
 * which on old objects are collected is smaller than the main thread's, because there are several threads.
 */
export function keepThreadLimits(): void {
  for (const flag of ['--max-old-space-size', '--max-semi-space-size']) setFlagsFromString(`${flag}=0`);
  setFlagsFromString(`--initial-old-space-size=${FIRST_COLLECTION_MB}`);
}
