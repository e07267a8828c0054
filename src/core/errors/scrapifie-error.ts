import { ERRORS, type ErrorCode, type ErrorSpec } from './registry.ts';

export interface ErrorOptions {
  readonly details?: unknown;
  readonly cause?: unknown;
  /** When trying again makes sense, where that is known. */
  readonly retryAfterMs?: number;
}

/** The only error that leaves a module on purpose. Everything else is a fault and becomes `INTERNAL` at the edge. */
export class ScrapifieError extends Error {
  readonly code: ErrorCode;
  readonly details: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ScrapifieError';
    this.code = code;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }

  get spec(): ErrorSpec {
    return ERRORS[this.code];
  }

  /** What a client of the API sees. */
  toJSON(): { code: ErrorCode; message: string; retryable: boolean; details?: unknown } {
    const shown = { code: this.code, message: this.message, retryable: this.spec.retry === 'later' };
    return this.details === undefined ? shown : { ...shown, details: this.details };
  }
}

export function isScrapifieError(error: unknown): error is ScrapifieError {
  return error instanceof ScrapifieError;
}

/** Whether the error says that the store cannot be asked; a store that will not have us cannot either. */
export function isStoreAway(error: unknown): boolean {
  return isScrapifieError(error) && (error.code === 'STORE_UNAVAILABLE' || error.code === 'STORE_REFUSED');
}

const OUT_OF_FILES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);
const MOST_CAUSES = 8;

/** Whether this process, or its machine, could not open one more file, connection or pipe: an accident of this side. */
export function isOutOfFiles(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MOST_CAUSES) return false;
  if ('code' in error && OUT_OF_FILES.has(error.code)) return true;
  if (error instanceof AggregateError && error.errors.some((each) => isOutOfFiles(each, depth + 1)))
    return true;
  return isOutOfFiles(error.cause, depth + 1);
}

export const outOfFiles = (cause: unknown): ScrapifieError =>
  new ScrapifieError('OUT_OF_FILES', ERRORS.OUT_OF_FILES.meaning, { cause });

/** Gives a fault the one shape it may leave in: its text stays in the log, never in an answer. */
export function asScrapifieError(error: unknown): ScrapifieError {
  if (isScrapifieError(error)) return error;
  if (isOutOfFiles(error)) return outOfFiles(error);
  return new ScrapifieError('INTERNAL', 'Something went wrong inside Scrapifie.', { cause: error });
}
