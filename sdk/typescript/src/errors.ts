/** One wrong field of a request. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** What every error of this client has in common. `code` is a code of the server, or one of `CLIENT_CODES`. */
export class ScrapifieError extends Error {
  readonly code: string;
  /** Whether the same request may work after a pause. */
  readonly isRetryable: boolean;

  constructor(code: string, message: string, options: { isRetryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.isRetryable = options.isRetryable ?? false;
  }
}

/** The server answered with an error. */
export class ApiError extends ScrapifieError {
  readonly status: number;
  /** One entry for each wrong field, or whatever else the server adds to its code. */
  readonly details: readonly unknown[];
  readonly requestId: string | null;
  /** The pause that the server asked for. */
  readonly retryAfterMs: number | null;

  constructor(status: number, error: ErrorBody, requestId: string | null, retryAfterMs: number | null) {
    super(error.code, error.message, { isRetryable: error.retryable ?? false });
    this.status = status;
    this.details = Array.isArray(error.details) ? error.details : [];
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** 401: no key, or one that is unknown, expired or revoked. */
export class AuthenticationError extends ApiError {}
/** 403: the key lacks a scope, or the operator has not consented. */
export class PermissionError extends ApiError {}
/** 402: the account cannot pay for one page. */
export class CreditsExhaustedError extends ApiError {}
/** 404 and 410: no such resource for this account, or none any more. */
export class NotFoundError extends ApiError {}
/** The status 409: the resource is not in a state in which the call is possible. */
export class ConflictError extends ApiError {}
/** 422 and 400: `details` names the wrong fields. */
export class ValidationError extends ApiError {
  get problems(): readonly FieldProblem[] {
    return this.details as readonly FieldProblem[];
  }
}
/** 429: too many requests, or too much work waiting; after all retries. */
export class RateLimitError extends ApiError {}
/** 5xx, after all retries. */
export class ServerError extends ApiError {}

/** The server could not be reached, or the connection broke, after all retries. */
export class ConnectionError extends ScrapifieError {
  constructor(message: string, cause: unknown) {
    super('CONNECTION_FAILED', message, { isRetryable: true, cause });
  }
}
/**
 * The server, or a proxy in between, answered a request with success and a body that is no answer of the API: a page of
 * HTML, JSON without `data`, a body beyond `maxAnswerBytes`, a cursor that leads nowhere. It is not asked for again.
 */
export class BadAnswerError extends ScrapifieError {
  constructor(message: string, cause?: unknown) {
    super('BAD_ANSWER', message, { cause });
  }
}
/** The time limit of one request is over, after all retries. */
export class TimeoutError extends ScrapifieError {
  constructor(message: string) {
    super('TIMED_OUT', message, { isRetryable: true });
  }
}
/** The caller's signal was aborted. */
export class CancelledError extends ScrapifieError {
  constructor(cause: unknown) {
    super('CANCELLED', 'The call was cancelled by its signal.', { cause });
  }
}
/** A job that was waited for has failed or was cancelled. */
export class JobFailedError extends ScrapifieError {
  readonly job: { readonly id: string; readonly status: string };

  constructor(job: { readonly id: string; readonly status: string }) {
    super('JOB_FAILED', `The job ${job.id} has ended as ${job.status}.`);
    this.job = job;
  }
}
/** A webhook whose signature is wrong or too old. */
export class SignatureError extends ScrapifieError {
  constructor(message: string) {
    super('BAD_SIGNATURE', message);
  }
}

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
  readonly details?: unknown;
}

const KINDS: Readonly<Record<number, typeof ApiError>> = {
  400: ValidationError,
  401: AuthenticationError,
  402: CreditsExhaustedError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  422: ValidationError,
  429: RateLimitError,
};

export function apiErrorOf(
  status: number,
  body: ErrorBody,
  requestId: string | null,
  retryAfterMs: number | null,
): ApiError {
  const Kind = KINDS[status] ?? (status >= 500 ? ServerError : ApiError);
  return new Kind(status, body, requestId, retryAfterMs);
}
