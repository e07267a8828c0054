import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

const LOW_PRIORITY = 10;

/** Gives the thread that calls this a low priority, where the system knows priorities of threads: its work can wait. */
export function lowerThreadPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (Number.isInteger(thread)) setPriority(thread, LOW_PRIORITY);
  } catch {
    // Only Linux tells a thread its number; elsewhere the thread is as urgent as the rest.
  }
}
