export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** An answer of the server that is no success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  /** A code of docs/errors.md, or `CONNECTION_FAILED`, `TIMED_OUT` or `BAD_ANSWER`, which are made here. */
  readonly code: string;
  readonly details: readonly unknown[];
  /** Details that are no list: of a failed scrape, its `jobId` and `attempts`. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(fields: {
    status: number;
    code: string;
    message: string;
    details?: readonly unknown[];
    facts?: Readonly<Record<string, unknown>>;
    requestId?: string | null;
    retryAfterSeconds?: number | null;
  }) {
    super(fields.message);
    this.name = 'ApiError';
    this.status = fields.status;
    this.code = fields.code;
    this.details = fields.details ?? [];
    this.facts = fields.facts ?? {};
    this.requestId = fields.requestId ?? null;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }

  /** The wrong fields of a request that was refused, such as `options.timeout`. */
  get problems(): readonly FieldProblem[] {
    return this.details.filter(
      (entry): entry is FieldProblem =>
        typeof entry === 'object' && entry !== null && 'field' in entry && 'message' in entry,
    );
  }

  get isSignedOut(): boolean {
    return this.status === 401;
  }

  get isGone(): boolean {
    return this.status === 404 || this.status === 410;
  }

  get isConnection(): boolean {
    return this.status === 0;
  }

  /** Whether the same request may succeed a moment later. */
  get isTemporary(): boolean {
    return this.isConnection || this.status === 429 || this.status === 503;
  }
}

export const asApiError = (cause: unknown): ApiError =>
  cause instanceof ApiError
    ? cause
    : new ApiError({
        status: 0,
        code: 'BAD_ANSWER',
        message: cause instanceof Error ? cause.message : String(cause),
      });

/** What the server says about one field of a refused request, for the place beside that field. */
export const problemOf = (failure: unknown, field: string): string | undefined =>
  failure instanceof ApiError
    ? failure.problems.find((problem) => problem.field === field || problem.field.startsWith(`${field}.`))
        ?.message
    : undefined;
