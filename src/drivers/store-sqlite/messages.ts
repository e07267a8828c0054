import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { LedgerViewStore } from '../../core/ports/ledger-view-store.ts';
import type { QueryStore } from '../../core/ports/query-store.ts';
import type { Store } from '../../core/ports/store.ts';

/** Methods that the thread of the store answers; queries have one of their own. */
export type ThreadMethod = Exclude<keyof Store, keyof QueryStore | keyof LedgerViewStore>;

/** What the store and its thread say to each other. */
export interface Call {
  readonly id: number;
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

/** The id of answers to no call: what the operator should know. */
export const NO_CALL = 0;

export type ThreadAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: ThreadFailure };

/** Errors lose their class on the way between threads. */
export interface ThreadFailure {
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly stack: string | undefined;
  readonly details: unknown;
}

export function failureOf(error: unknown): ThreadFailure {
  if (isScrapifieError(error)) {
    return { code: error.code, message: error.message, stack: error.stack, details: error.details };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { code: null, message, stack, details: undefined };
}

export function errorOfFailure(failure: ThreadFailure): Error {
  const cause = Object.assign(new Error(failure.message), { stack: failure.stack });
  if (failure.code === null) return cause;
  const options = failure.details === undefined ? { cause } : { cause, details: failure.details };
  return new ScrapifieError(failure.code, failure.message, options);
}
