import { getHeapStatistics } from 'node:v8';
import type { ErrorCode } from '../../core/errors/registry.ts';
import type { Incarnation, JobSeq } from '../../core/model/ids.ts';
import type { PageReading, ReadRequest } from './page-reading.ts';

/** The messages between the reader pool and its threads, several at once in both directions. */
export interface ReadCall {
  readonly id: number;
  readonly request: Omit<ReadRequest, 'job'>;
  readonly seq: JobSeq;
  readonly generation: number;
  readonly incarnation: Incarnation;
  /** The job as JSON: text crosses to another thread for next to nothing, and is read there once. */
  readonly job: string;
  /** The page belongs to a trace: the answer tells when the thread did what. */
  readonly isTimed?: true;
  /** Why the page must not be read any more: only its body is stored. */
  readonly unread?: string;
}

export type ReadAnswer =
  | { readonly id: number; readonly reading: PageReading; readonly times?: ThreadTimes }
  | { readonly id: number; readonly code: ErrorCode | null; readonly message: string };

/** Epoch milliseconds, by the clock of the machine. */
interface ThreadTimes {
  readonly begunAt: number;
  readonly readAt: number;
  /** When the body and the other blobs of the page were stored. */
  storedAt: number;
}

/** Why a thread cannot store the bodies of the pages it has read, and holds those pages; null when it can again. */
export interface HoldReport {
  readonly held: HoldReason | null;
}

export interface HoldReason {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A thread's last message: what it keeps from page to page takes too much of its heap, so it reads no more pages. */
export interface HeapReport {
  readonly heap: HeapUse;
}

export interface HeapUse {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** The data with which a thread is started. */
export interface ThreadData<T> {
  readonly given: T;
  /** One number, shared: the id of the call being read. When the thread is lost, that page is to blame. */
  readonly reading: Int32Array<SharedArrayBuffer>;
}

/** The share of its heap that a thread may use between two pages: the rest has to be enough for a large page, which takes hundreds of megabytes. */
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
