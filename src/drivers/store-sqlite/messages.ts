import type { LedgerViewStore } from '../../core/ports/ledger-view-store.ts';
import type { QueryStore } from '../../core/ports/query-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { ThreadCall } from '../../lib/threads/thread.ts';
import type { ColdStore } from '../store-sql/cold-store.ts';

/** Methods that the thread of the store answers; queries have one of their own. */
export type ThreadMethod = Exclude<keyof Store, keyof QueryStore | keyof LedgerViewStore>;

/** Methods that this driver has to itself; the others are written once for both databases, in `store-sql`. */
export type HotMethod = Exclude<ThreadMethod, keyof ColdStore>;

/** What the store and its thread say to each other. */
export interface Call extends ThreadCall {
  readonly method: ThreadMethod;
  /** By the clock that the store was opened with. */
  readonly at: number;
  /** The values; as JSON for methods of `JSON_METHODS`, whose answers are JSON as well. */
  readonly values: readonly unknown[] | string;
  /** The caller can wait for the next sync. */
  readonly isUnsynced: boolean;
}

/**
 * Frequent methods with many small values and no bytes: as text they cross between threads in half the time that
 * cloning them takes.
 */
export const JSON_METHODS: ReadonlySet<string> = new Set<keyof Store>([
  'createJob',
  'getJob',
  'claimTasks',
  'listTasks',
  'listSightedPages',
  'findContents',
  'addSightings',
]);

/** What the thread is started with; see `SqliteStoreOptions`. */
export interface ThreadPlace {
  readonly path: string;
  readonly traces: readonly string[];
  readonly checkpointMs: number;
  readonly reserveBytes: number;
}
