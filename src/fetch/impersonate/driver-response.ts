import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HeldBytes } from '../byte-budget.ts';
import type { ResponseHeaders } from '../engine.ts';
import type { ReadWindow } from '../guard-proxy/read-window.ts';
import { type Body, type BodySink, bodyLimit, EMPTY_BODY, PlainSink } from '../http/body-buffer.ts';
import { codingsOf, EncodedSink } from '../http/encoded-sink.ts';
import { REDIRECT_BODY_BYTES } from '../http/exchange.ts';
import { type Hop, isRedirect } from '../http/redirects.ts';
import type { DriverResponse } from './handshake-clients.ts';

interface DriverResponseLimits {
  /** Limit of the body's size after decompression. */
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  /** Longest silence within the body. */
  readonly bodyTimeoutMs: number;
  /** Has the same meaning as `FetchRequest.held`. */
  readonly held?: HeldBytes | undefined;
  /** Bounds the bytes that the library holds and that have not been read. */
  readonly window: ReadWindow | null;
}

export interface ReadHop {
  readonly hop: Hop;
  /** False when the rest of the body was not read. */
  readonly isWhole: boolean;
}

/** Reads a library's answer into ours, under our limits. A redirect is complete with its head. */
export async function readDriverResponse(
  answer: DriverResponse,
  url: URL,
  limits: DriverResponseLimits,
  requestAbort: RequestAbort,
): Promise<ReadHop> {
  const { statusCode } = answer;
  const reader = answer.body?.getReader() ?? null;
  try {
    const headers = headersOf(answer, url, limits.maxHeaderBytes);
    const httpVersion = versionOf(headers);
    limits.window?.reset();
    const next: Next = async () => {
      if (reader === null) return { done: true };
      const chunk = await requestAbort.within(
        untilFlood(reader.read(), limits.window, requestAbort, url),
        limits.bodyTimeoutMs,
        () => timedOut('BODY_TIMEOUT', url),
      );
      limits.window?.consumed(chunk.value?.byteLength ?? 0);
      return chunk;
    };
    if (isRedirect(statusCode)) {
      const { bytes, isWhole } = await skipBody(next, requestAbort);
      const hop = { statusCode, headers, body: EMPTY_BODY, wireBytes: bytes, httpVersion };
      return { hop, isWhole };
    }
    const { body, bytes } = await readBody(answer, headers, limits, next, requestAbort);
    return { hop: { statusCode, headers, body, wireBytes: bytes, httpVersion }, isWhole: true };
  } finally {
    // Without effect on a body that was read to its end.
    reader?.cancel().catch(() => {});
  }
}

/** Waits for the library, unless the host floods it with frames that hold nothing. */
export function untilFlood<T>(
  step: Promise<T>,
  window: ReadWindow | null,
  requestAbort: RequestAbort,
  url: URL,
): Promise<T> {
  if (window === null) return step;
  return window.awaiting(step, () => {
    const meaning = ERRORS.RESPONSE_FLOOD.meaning.replace(/\.$/, '');
    requestAbort.end(new ScrapifieError('RESPONSE_FLOOD', `${meaning} (${url.host})`));
  });
}

type Next = () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;

async function readBody(
  answer: DriverResponse,
  headers: ResponseHeaders,
  { maxBodyBytes, held }: DriverResponseLimits,
  next: Next,
  requestAbort: RequestAbort,
): Promise<{ body: Body; bytes: number }> {
  const codings = answer.body === null ? [] : codingsOf(headers['content-encoding']);
  const declared = answer.body === null ? -1 : (declaredLength(headers) ?? -1);
  const isEncoded = codings.length > 0;
  if (declared > maxBodyBytes) throw bodyLimit(maxBodyBytes);

  let wake = () => {};
  let failure: Error | null = null;
  const resume = () => wake();
  const sink: BodySink = isEncoded
    ? new EncodedSink({
        codings,
        maxBytes: maxBodyBytes,
        held,
        resume,
        fail(error) {
          failure = error;
          wake();
        },
      })
    : new PlainSink({ declaredBytes: declared, maxBytes: maxBodyBytes, held, resume });
  let bytes = 0;
  try {
    for (let chunk = await next(); !chunk.done; chunk = await next()) {
      const { value } = chunk;
      if (value === undefined || value.byteLength === 0) continue;
      bytes += value.byteLength;
      if (!sink.write(value)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await requestAbort.race(promise);
      }
      if (failure !== null) throw failure;
    }
    const body = await requestAbort.race(Promise.resolve(sink.end()));
    if (failure !== null) throw failure;
    return { body, bytes };
  } catch (error) {
    sink.drop();
    throw error;
  }
}

/** So that the connection can be used again, if it is not too much. What goes wrong is of no interest, an end is. */
async function skipBody(
  next: Next,
  requestAbort: RequestAbort,
): Promise<{ bytes: number; isWhole: boolean }> {
  let bytes = 0;
  try {
    for (let chunk = await next(); !chunk.done; chunk = await next()) {
      bytes += chunk.value?.byteLength ?? 0;
      if (bytes > REDIRECT_BODY_BYTES) return { bytes, isWhole: false };
    }
    return { bytes, isWhole: true };
  } catch (error) {
    if (requestAbort.signal.aborted) throw error;
    return { bytes, isWhole: false };
  }
}

function headersOf({ headers }: DriverResponse, url: URL, maxBytes: number): ResponseHeaders {
  const found: Record<string, string | string[]> = Object.create(null);
  let size = 0;
  for (const [name, value] of headers) {
    size += name.length + value.length;
    if (size > maxBytes) {
      throw new ScrapifieError('HEADERS_LIMIT_EXCEEDED', `The response headers of ${url.host} are too large`);
    }
    const earlier = found[name];
    if (earlier === undefined) found[name] = name === 'set-cookie' ? [value] : value;
    else found[name] = typeof earlier === 'string' ? [earlier, value] : [...earlier, value];
  }
  return found;
}

/** The libraries do not say. These headers are forbidden in HTTP/2, and servers that speak HTTP/1.1 send one of them. */
function versionOf(headers: ResponseHeaders): Hop['httpVersion'] {
  const isFirst = ['connection', 'keep-alive', 'transfer-encoding'].some(
    (name) => headers[name] !== undefined,
  );
  return isFirst ? '1.1' : '2';
}

function declaredLength(headers: ResponseHeaders): number | null {
  const header = headers['content-length'];
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : null;
}

export function timedOut(
  code: Extract<ErrorCode, 'BODY_TIMEOUT' | 'HEADERS_TIMEOUT'>,
  url: URL,
): ScrapifieError {
  return new ScrapifieError(code, `${ERRORS[code].meaning.replace(/\.$/, '')} (${url.host})`);
}

/** Aborts one request. Every step of the request is awaited through it. */
export class RequestAbort {
  readonly #controller = new AbortController();
  /**
   * The steps that are waited for. A race with one promise for all of them would leave something behind with each step,
   * and a body may come in millions of them.
   */
  readonly #waiting = new Set<(error: ScrapifieError) => void>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only the first counts. */
  end(error: ScrapifieError): void {
    if (this.signal.aborted) return;
    this.#controller.abort(error);
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** The step's end, or this one's. The step goes on by itself; what it still throws is of no interest. */
  race<T>(step: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) {
        step.catch(() => {});
        reject(this.signal.reason);
        return;
      }
      this.#waiting.add(reject);
      step.then(
        (value) => {
          this.#waiting.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** Waits for a step up to a limit, which ends everything. */
  async within<T>(step: Promise<T>, ms: number, error: () => ScrapifieError): Promise<T> {
    const timer = setTimeout(() => this.end(error()), ms);
    try {
      return await this.race(step);
    } finally {
      clearTimeout(timer);
    }
  }
}
