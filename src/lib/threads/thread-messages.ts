import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** The methods that a thread answers, by name. */
export type ThreadMethods<Methods> = { readonly [Name in keyof Methods]: (...values: never[]) => unknown };

/** The call that every thread answers when it has loaded. */
export const PING = 'ping';

export interface ThreadCall {
  readonly id: number;
  readonly method: string;
}

/** A call by name and values; a thread that reads its own port may take more with each call. */
export interface MethodCall extends ThreadCall {
  readonly values: readonly unknown[];
}

export type ThreadAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: ThreadFailure };

/** A message that answers no call. */
export interface ThreadNotice<Notice> {
  readonly notice: Notice;
}

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

/** Returns a `ScrapifieError` again where the thread threw one; its cause has the stack of the thread. */
export function errorOfFailure(failure: ThreadFailure): Error {
  const cause = Object.assign(new Error(failure.message), { stack: failure.stack });
  if (failure.code === null) return cause;
  const options = failure.details === undefined ? { cause } : { cause, details: failure.details };
  return new ScrapifieError(failure.code, failure.message, options);
}
