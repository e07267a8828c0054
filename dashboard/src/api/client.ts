import { ApiError } from './api-error.ts';
import type { BodyAt, DataAt, Method, ParamsAt, PathWith, QueryAt } from './types.ts';

type Params = Readonly<Record<string, string | number>>;
type QueryValues = Readonly<Record<string, unknown>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the call is given up. */
  readonly timeoutMs?: number;
  /** Makes a request that creates something safe to repeat. */
  readonly idempotencyKey?: string;
}

interface Call extends CallOptions {
  readonly method: Uppercase<Method>;
  readonly path: string;
  readonly params?: Params | undefined;
  readonly query?: QueryValues | undefined;
  readonly body?: unknown;
}

/** A scrape may take as long as the server allows one. */
const DEFAULT_TIMEOUT_MS = 150_000;

/** The address of an operation: `{name}` replaced by parameters, with its query. */
export function pathOf(path: string, params: Params = {}, query: QueryValues = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name] ?? '')),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue;
    for (const entry of Array.isArray(value) ? value : [value]) search.append(name, String(entry));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

/** Sends one request and returns `data` of the answer. Every failure is an ApiError, except an abort by `signal`. */
export async function send<T>({ method, path, params, query, body, signal, ...options }: Call): Promise<T> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const response = await fetch(pathOf(path, params, query), {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      // The server takes the session's cookie for a change only together with this header: a form or a link of
      // another site cannot send it.
      'x-scrapifie-dashboard': '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(options.idempotencyKey !== undefined && { 'idempotency-key': options.idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw timeout.aborted
      ? new ApiError({ status: 0, code: 'TIMED_OUT', message: 'The server did not answer in time.' })
      : new ApiError({
          status: 0,
          code: 'CONNECTION_FAILED',
          message: 'The server cannot be reached. Is it running, and is this computer online?',
        });
  });
  return dataOf<T>(response);
}

/** `data` of an answer; throws what went wrong as an ApiError. */
export async function dataOf<T>(response: Response): Promise<T> {
  const requestId = response.headers.get('x-request-id');
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  const answer = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as {
    success?: boolean;
    data?: T;
    error?: { code?: string; message?: string; details?: unknown };
  };
  if (response.ok && answer.success === true) return answer.data as T;
  const retryAfter = Number(response.headers.get('retry-after'));
  throw new ApiError({
    status: response.status,
    code: answer.error?.code ?? 'BAD_ANSWER',
    message: answer.error?.message ?? `The server answered ${response.status} without an explanation.`,
    ...detailsOf(answer.error?.details),
    requestId,
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : null,
  });
}

function detailsOf(details: unknown): {
  details?: readonly unknown[];
  facts?: Readonly<Record<string, unknown>>;
} {
  if (Array.isArray(details)) return { details };
  return typeof details === 'object' && details !== null ? { facts: { ...details } } : {};
}

type Input<P extends PathWith<M>, M extends Method> = CallOptions & {
  readonly query?: QueryAt<P, M>;
  readonly body?: BodyAt<P, M>;
} & ([ParamsAt<P, M>] extends [never] ? { readonly params?: never } : { readonly params: ParamsAt<P, M> });

const caller =
  <M extends Method>(method: M) =>
  <P extends PathWith<M>>(
    path: P,
    ...[input]: [ParamsAt<P, M>] extends [never] ? [Input<P, M>?] : [Input<P, M>]
  ) =>
    send<DataAt<P, M>>({
      ...(input as CallOptions & { params?: Params; query?: QueryValues; body?: unknown }),
      method: method.toUpperCase() as Uppercase<M>,
      path,
    });

/** The API, typed by its OpenAPI document: `api.get('/v1/jobs/{id}', { params: { id } })`. */
export const api = {
  get: caller('get'),
  post: caller('post'),
  put: caller('put'),
  patch: caller('patch'),
  delete: caller('delete'),
};

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}
