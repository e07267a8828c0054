import { setFlagsFromString } from 'node:v8';

/**
 * Lets each thread have the memory limits that it is started with. Those that Node.js was started with are for the main
 * thread, which has them by now; V8 would give them to every later thread as well, in place of its own.
 */
export function keepThreadLimits(): void {
  for (const flag of ['--max-old-space-size', '--max-semi-space-size']) setFlagsFromString(`${flag}=0`);
}
