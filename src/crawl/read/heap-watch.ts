import { getHeapStatistics } from 'node:v8';
import type { HeapUse } from './thread-messages.ts';

/** What is left beyond this share must do for the next page, and a large one takes hundreds of megabytes. */
const MOST_SHARE = 1 / 2;

/**
 * Looks at the heap of the thread that calls it, between two pages. Returns its use where that is so high that the next
 * page might exhaust the heap and end the thread; else null. Garbage counts as used: V8 collects it long before, except
 * after a page of some megabytes, and then a new thread is no dearer than a collection.
 */
export function highHeapUse(): HeapUse | null {
  const { used_heap_size: usedBytes, heap_size_limit: limitBytes } = getHeapStatistics();
  return usedBytes > limitBytes * MOST_SHARE ? { usedBytes, limitBytes } : null;
}
