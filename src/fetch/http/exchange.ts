import type { Dispatcher } from 'undici';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HeldBytes } from '../byte-budget.ts';
import type { FetchResponse, ResponseHeaders } from '../engine.ts';
import { mapError } from '../network-errors.ts';
import { type Body, type BodySink, bodyLimit, EMPTY_BODY, PlainSink } from './body-buffer.ts';
import { codingsOf, EncodedSink } from './encoded-sink.ts';
import { isRedirect, type Method } from './redirects.ts';
import type { ConnectionWatch } from './response-head.ts';

/** Reading more of a redirect's body than this costs more than a new connection. */
export const REDIRECT_BODY_BYTES = 65_536;
/** Interim (1xx) responses before we stop listening. */
const MAX_INTERIM = 20;

export interface ExchangeLimits {
  /** Limit of the body's size after decompression. */
  readonly maxBodyBytes: number;
  /** Has the same meaning as `FetchRequest.isCutAtLimit`. */
  readonly isCutAtLimit?: boolean | undefined;
  readonly maxHeaderBytes: number;
  /** Has the same meaning as `FetchRequest.held`. */
  readonly held?: HeldBytes | undefined;
  /** Has the same meaning as `FetchRequest.mayStart`. */
  readonly mayStart?: (() => boolean) | undefined;
}

/**
 * One request and its response on one connection, as undici's handler: the cheapest way to read a body, with no
 * stream in between. `done` settles once, when the body is whole and decoded or when that has become impossible;
 * whatever undici reports afterwards changes nothing.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly done: Promise<void>;
  statusCode = 0;
  headers: ResponseHeaders = {};
  body: Body = EMPTY_BODY;
  wireBytes = 0;
  /** Set by the owner of the connection. */
  httpVersion: FetchResponse['httpVersion'] = '1.1';
  /** A byte of the response has arrived. */
  hasStarted = false;
  /** The exchange failed on a connection that had been used before, so the server may have closed it meanwhile. */
  isStale = false;

  readonly #url: URL;
  readonly #method: Method;
  readonly #limits: ExchangeLimits;
  readonly #watch: ConnectionWatch;
  readonly #resolve: () => void;
  readonly #reject: (error: ScrapifieError) => void;
  #controller: Dispatcher.DispatchController | null = null;
  /** Null while there is no final response, and for redirects. */
  #sink: BodySink | null = null;
  #interim = 0;
  #failure: ScrapifieError | null = null;
  #isSettled = false;

  constructor(url: URL, method: Method, limits: ExchangeLimits, watch: ConnectionWatch) {
    this.#url = url;
    this.#method = method;
    this.#limits = limits;
    this.#watch = watch;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.done = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Ends the exchange from outside, with its connection; no effect once it is settled. */
  abort(error: ScrapifieError): void {
    if (this.#isSettled) return;
    this.#fail(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#limits.mayStart?.() === false) {
      this.#fail(new ScrapifieError('CANCELLED', `The request to ${this.#url.host} came too late`));
    }
    // The exchange was ended while it waited for a connection.
    if (this.#failure !== null) controller.abort(this.#failure);
  }

  onResponseStarted(): void {
    this.hasStarted = true;
  }

  // Throwing here or in onResponseData makes undici drop the connection and come back with onResponseError.
  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: ResponseHeaders,
  ): void {
    this.hasStarted = true;
    if (statusCode < 200) {
      this.#interim += 1;
      if (this.#interim > MAX_INTERIM) {
        throw new ScrapifieError('PROTOCOL_ERROR', `${this.#url.host} sends interim responses without end`);
      }
      return;
    }
    // undici's parser enforces the limit for HTTP/1.1; headers of HTTP/2 are measured here.
    if (!Array.isArray(controller.rawHeaders) && sizeOf(headers) > this.#limits.maxHeaderBytes) {
      throw new ScrapifieError(
        'HEADERS_LIMIT_EXCEEDED',
        `The response headers of ${this.#url.host} are too large`,
      );
    }
    this.statusCode = statusCode;
    this.headers = headers;
    if (!isRedirect(statusCode)) this.#sink = this.#openSink(controller, statusCode, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isSettled) return;
    this.wireBytes += chunk.byteLength;
    if (this.#sink !== null) {
      if (!this.#sink.write(chunk)) controller.pause();
    } else if (this.wireBytes > REDIRECT_BODY_BYTES) {
      this.#settle(EMPTY_BODY);
      controller.abort(bodyLimit(REDIRECT_BODY_BYTES));
    }
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    if (this.#sink === null) {
      this.#settle(EMPTY_BODY);
      return;
    }
    if (this.#watch.isBreaking) {
      const message = `${this.#url.host} closed the connection before the response was complete`;
      this.#fail(new ScrapifieError('CONNECTION_RESET', message));
      return;
    }
    try {
      const body = this.#sink.end();
      if (body instanceof Promise) body.then((bytes) => this.#settle(bytes), this.#failWith);
      else this.#settle(body);
    } catch (error) {
      this.#failWith(error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isSettled) return;
    // A redirect is complete with its head: what happens to its body is of no interest.
    if (this.statusCode !== 0 && this.#sink === null && !(error instanceof ScrapifieError)) {
      this.#settle(EMPTY_BODY);
      return;
    }
    this.isStale = this.#watch.isStale(error);
    this.#failWith(error);
  }

  #openSink(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: ResponseHeaders,
  ): BodySink {
    const { maxBodyBytes, held, isCutAtLimit = false } = this.#limits;
    const onFull = (body: Body): void => {
      this.#settle(body);
      controller.abort(bodyLimit(maxBodyBytes));
    };
    const cut = isCutAtLimit ? { onFull } : {};
    const resume = () => controller.resume();
    const hasBody = this.#method !== 'HEAD' && statusCode !== 204 && statusCode !== 304;
    const declaredBytes = hasBody ? lengthOf(headers['content-length']) : -1;
    const codings = hasBody ? codingsOf(headers['content-encoding']) : [];
    if (codings.length === 0)
      return new PlainSink({ declaredBytes, maxBytes: maxBodyBytes, held, resume, ...cut });
    if (declaredBytes > maxBodyBytes && !isCutAtLimit) throw bodyLimit(maxBodyBytes);
    return new EncodedSink({
      codings,
      maxBytes: maxBodyBytes,
      held,
      resume,
      ...cut,
      fail: (error) => this.abort(mapError(error, this.#url, 'sent')),
    });
  }

  #settle(body: Body): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.body = body;
    // undici frees the connection in an immediate that it sets when this callback returns. Waiting for that lets
    // the caller's next request use it, where it would open one more than it runs requests.
    queueMicrotask(this.#resolveSoon);
  }

  readonly #resolveSoon = (): void => {
    setImmediate(this.#resolve);
  };

  readonly #failWith = (error: unknown): void => {
    this.#fail(mapError(error, this.#url, this.#controller === null ? 'connect' : 'sent'));
  };

  #fail(error: ScrapifieError): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#failure = error;
    this.#sink?.drop();
    this.#reject(error);
  }
}

function sizeOf(headers: ResponseHeaders): number {
  let size = 0;
  for (const name in headers) size += name.length + (headers[name]?.toString().length ?? 0);
  return size;
}

function lengthOf(header: string | readonly string[] | undefined): number {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : -1;
}
