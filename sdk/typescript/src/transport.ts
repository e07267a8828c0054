import { checkType, dataOf, errorTextOf } from './bodies.ts';
import {
  ApiError,
  apiErrorOf,
  CancelledError,
  ConnectionError,
  type ErrorBody,
  ScrapifieError,
  TimeoutError,
} from './errors.ts';
import {
  DEFAULT_RETRIES,
  delayBefore,
  isRetriedAnswer,
  pause,
  proxyCode,
  type RetryOptions,
  retryAfterMs,
} from './retries.ts';

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The time limit of one try, up to the first byte of the answer's body. Waiting for a page counts. */
  readonly timeoutMs?: number;
  readonly retries?: Partial<RetryOptions>;
  /** The longest answer, and the longest line of a stream, that is read; a longer one is a BadAnswerError. */
  readonly maxAnswerBytes?: number;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Makes a request that creates something safe to repeat; one is made up where it is missing. */
  readonly idempotencyKey?: string | undefined;
}

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_ANSWER_BYTES = 256 * 1024 ** 2;

/** Sends requests and repeats those that failed for a reason that passes. */
export class Transport {
  readonly maxAnswerBytes: number;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #retries: RetryOptions;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    this.maxAnswerBytes = options.maxAnswerBytes ?? DEFAULT_ANSWER_BYTES;
    this.#base = options.baseUrl.replace(/\/+$/, '');
    this.#headers = { ...options.headers, authorization: `Bearer ${options.apiKey}` };
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#retries = { ...DEFAULT_RETRIES, ...options.retries };
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** `data` of the answer. */
  async json<T>(call: Call): Promise<T> {
    return this.#repeated(call, (response) => dataOf<T>(response, this.maxAnswerBytes));
  }

  /** The answer of this content type once its head has come; its body is the caller's to read. */
  async open(call: Call, accept: string): Promise<Response> {
    const asked = { ...call, headers: { ...call.headers, accept } };
    return this.#repeated(asked, async (response) => {
      await checkType(response, accept);
      return response;
    });
  }

  async #repeated<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const headers = this.#headersOf(call);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await this.#send(call, headers);
        if (!response.ok) throw await errorOf(response);
        return await read(response).catch((error) => {
          throw brokenOff(call, error);
        });
      } catch (error) {
        const asked = error instanceof ApiError ? error.retryAfterMs : null;
        if (attempt >= this.#retries.maxRetries || !this.#isRetried(error, asked)) throw error;
        await pause(delayBefore(attempt, asked, this.#retries, Math.random), call.signal);
      }
    }
  }

  #isRetried(error: unknown, asked: number | null): boolean {
    if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
    if (!(error instanceof ApiError) || !isRetriedAnswer(error.status, error.code)) return false;
    return asked === null || asked <= this.#retries.maxRetryAfterMs;
  }

  /** The key stays the same over all tries, so that a request whose answer was lost creates nothing twice. */
  #headersOf(call: Call): Record<string, string> {
    const headers: Record<string, string> = { accept: 'application/json', ...this.#headers, ...call.headers };
    if (call.body !== undefined) headers['content-type'] = 'application/json';
    if (call.method === 'POST') headers['idempotency-key'] = call.idempotencyKey ?? crypto.randomUUID();
    return headers;
  }

  async #send(call: Call, headers: Record<string, string>): Promise<Response> {
    const limitMs = call.timeoutMs ?? this.#timeoutMs;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), limitMs);
    const signal = call.signal === undefined ? limit.signal : AbortSignal.any([call.signal, limit.signal]);
    try {
      return await this.#fetch(this.#base + call.path + queryOf(call.query), {
        method: call.method,
        headers,
        signal,
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      });
    } catch (error) {
      if (call.signal?.aborted === true) throw new CancelledError(call.signal.reason);
      if (limit.signal.aborted)
        throw new TimeoutError(`${call.method} ${call.path}: no answer within ${limitMs} ms.`);
      throw brokenOff(call, error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function brokenOff(call: Call, error: unknown): Error {
  if (call.signal?.aborted === true) return new CancelledError(call.signal.reason);
  if (error instanceof ScrapifieError) return error;
  return new ConnectionError(`${call.method} ${call.path}: the connection failed.`, error);
}

async function errorOf(response: Response): Promise<Error> {
  const asked = retryAfterMs(response.headers, Date.now());
  const text = await errorTextOf(response);
  return apiErrorOf(
    response.status,
    bodyOf(text, response.status),
    response.headers.get('x-request-id'),
    asked,
  );
}

/** A proxy in between answers with bodies of its own. */
function bodyOf(text: string, status: number): ErrorBody {
  try {
    const { error } = JSON.parse(text) as { error?: ErrorBody };
    if (typeof error?.code === 'string') return error;
  } catch {
    // Not JSON: not the server's own answer.
  }
  const code = proxyCode(status);
  return { code, message: `The answer has the status ${status}.`, retryable: isRetriedAnswer(status, code) };
}

function queryOf(query: Readonly<Record<string, unknown>> | undefined): string {
  const entries = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (entries.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, String(value)])))}`;
}
