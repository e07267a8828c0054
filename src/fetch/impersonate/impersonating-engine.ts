import { guarded } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { abortError, tookTooLong } from '../deadline.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import { type GuardProxy, startGuardProxy } from '../guard-proxy/guard-proxy.ts';
import { createHttpEngine, type HttpEngine, type HttpEngineOptions } from '../http/http-engine.ts';
import { followRedirects, type Hop, type HopSender, type RedirectChain } from '../http/redirects.ts';
import { identityHeaders } from '../http/request-headers.ts';
import { type ReadHop, RequestAbort, readDriverResponse, timedOut, untilFlood } from './driver-response.ts';
import {
  ClientCache,
  type DriverLoader,
  type Handshake,
  loadWreq,
  mapDriverError,
  type Visitor,
  type VisitorClient,
} from './handshake-clients.ts';

export interface ImpersonatingEngineOptions extends Omit<HttpEngineOptions, 'userAgent'> {
  /** Sends what needs no handshake, and everything where no driver can be had. Not closed with this engine. */
  readonly plain: HttpEngine;
  /** Fails where the library has no binary for the platform. Left out: wreq-js. */
  readonly loadDriver?: DriverLoader | undefined;
  /** How long a host may send frames without content before its request is ended. */
  readonly floodMs?: number | undefined;
  /** Visitors with open connections; see ClientCache. Each costs a megabyte. */
  readonly maxClients?: number | undefined;
}

export interface ImpersonatingEngine extends Engine {
  /** How servers are greeted; null before the first request that needed to know. */
  readonly handshake: Handshake | null;
}

/**
 * An engine for requests with an identity: over https it greets servers the way the identity's browser does, in TLS
 * and HTTP/2, and sends the identity's headers in their order. Everything else is as with the HTTP engine: limits,
 * redirects, cookies, codes. The libraries that do this open connections by themselves, so they are given no other
 * way out than a guard of their own. Nothing is loaded or started before it is needed.
 *
 * Of `tls` the drivers know `rejectUnauthorized` alone, and otherwise trust what the system does.
 */
export function createImpersonatingEngine(options: ImpersonatingEngineOptions): ImpersonatingEngine {
  return new HandshakeEngine(options);
}

interface Running {
  readonly guard: GuardProxy;
  readonly clients: ClientCache;
}

/** Our own timers decide; the library's is for when they fail. */
const GRACE_MS = 5_000;
/** What a host may be ahead of us: the libraries need up to thirty times as much to hold it. */
const WINDOW_BYTES = 1_048_576;
const FLOOD_MS = 5_000;

class HandshakeEngine implements ImpersonatingEngine, HopSender {
  readonly name = 'http';
  readonly now: () => number;
  handshake: Handshake | null = null;
  readonly #options: ImpersonatingEngineOptions;
  readonly #connectTimeoutMs: number;
  #starting: Promise<Running | null> | null = null;
  /** Bounded by the callers. */
  readonly #underWay = new Set<RequestAbort>();
  #isClosed = false;

  constructor(options: ImpersonatingEngineOptions) {
    this.#options = options;
    this.now = options.now ?? (() => performance.now());
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  }

  fetch(request: FetchRequest): Promise<FetchResponse> {
    const { identity } = request;
    return identity === undefined
      ? this.#options.plain.fetch(request)
      : followRedirects(this, request, identityHeaders(identity));
  }

  async sendHop(chain: RedirectChain, request: FetchRequest, deadline: number): Promise<Hop> {
    const { url } = chain;
    const { identity, proxy, key, signal, timeoutMs } = request;
    // Without TLS there is nothing to be told apart by but the headers.
    const isPlain = url.protocol === 'http:' || identity === undefined;
    if (this.#isClosed) throw shuttingDown();
    const running = isPlain ? null : await this.#ready();
    if (isPlain || running === null) return this.#options.plain.sendHop(chain, request, deadline);

    const requestAbort = new RequestAbort();
    const timer = setTimeout(
      () => requestAbort.end(tookTooLong(url.host, timeoutMs)),
      Math.max(1, deadline - this.now()),
    );
    const onAbort = guarded(() => requestAbort.end(abortError(signal?.reason)));
    signal?.addEventListener('abort', onAbort);
    this.#underWay.add(requestAbort);
    try {
      if (this.#isClosed) throw shuttingDown();
      if (signal?.aborted === true) onAbort();
      const hop = await this.#exchange(running, { identity, proxy, key }, chain, request, requestAbort);
      chain.received(hop.statusCode, hop.headers, Date.now());
      return hop;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#underWay.delete(requestAbort);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const requestAbort of this.#underWay) requestAbort.end(shuttingDown());
    const running = await this.#starting?.catch(() => null);
    await running?.clients.close();
    await running?.guard.close();
  }

  /** As with the HTTP engine, a GET or HEAD that met a connection just as it was closed is sent once more. */
  async #exchange(
    running: Running,
    visitor: Visitor,
    chain: RedirectChain,
    request: FetchRequest,
    requestAbort: RequestAbort,
  ): Promise<Hop> {
    const { guard, clients } = running;
    const { url, method } = chain;
    for (let isAgain = false; ; isAgain = true) {
      const entry = clients.acquire(visitor);
      const hadServed = entry.hasServed;
      const earlier = guard.failureOf(entry.username, url);
      const progress = { hasAnswer: false };
      try {
        const { hop, isWhole } = await this.#ask(guard, entry, chain, request, requestAbort, progress);
        entry.hasServed = true;
        if (!isWhole) clients.retire(entry);
        return hop;
      } catch (error) {
        // Libraries only learn that there was no tunnel; the guard knows why.
        const noted = guard.failureOf(entry.username, url);
        if (!requestAbort.signal.aborted && noted !== null && noted !== earlier) throw noted;
        // The libraries do not always cancel the stream; closing the connection does.
        clients.retire(entry);
        if (requestAbort.signal.aborted) throw requestAbort.signal.reason;
        const mapped = mapDriverError(error, url, visitor.proxy);
        const isStale = hadServed && !progress.hasAnswer && mapped.code === 'CONNECTION_RESET';
        if (isAgain || !isStale || method === 'POST') throw mapped;
      } finally {
        clients.release(entry);
      }
    }
  }

  async #ask(
    guard: GuardProxy,
    entry: VisitorClient,
    chain: RedirectChain,
    request: FetchRequest,
    requestAbort: RequestAbort,
    progress: { hasAnswer: boolean },
  ): Promise<ReadHop> {
    const { url, method, body } = chain;
    const { headersTimeoutMs = 30_000, bodyTimeoutMs = 30_000, maxHeaderBytes = 65_536 } = this.#options;
    const client = await requestAbort.race(entry.client);
    if (request.mayStart?.() === false) {
      throw new ScrapifieError('CANCELLED', `The request to ${url.host} came too late`);
    }
    const window = guard.windowOf(entry.username, url);
    const sending = client.send({
      url: url.href,
      method,
      headers: chain.headersNow(Date.now()),
      body,
      timeoutMs: Math.ceil(request.timeoutMs) + GRACE_MS,
      signal: requestAbort.signal,
    });
    const answer = await requestAbort.within(
      untilFlood(sending, window, requestAbort, url),
      this.#longestConnectMs + headersTimeoutMs,
      () => timedOut('HEADERS_TIMEOUT', url),
    );
    progress.hasAnswer = true;
    const { maxBodyBytes, held } = request;
    if (held !== undefined) held.group = window;
    const limits = { maxBodyBytes, maxHeaderBytes, bodyTimeoutMs, held, window };
    return readDriverResponse(answer, url, limits, requestAbort);
  }

  /** Reaching a proxy, its answer and TLS with the target may each take their time. */
  get #longestConnectMs(): number {
    return 3 * this.#connectTimeoutMs;
  }

  #ready(): Promise<Running | null> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = null;
      throw error;
    });
    return this.#starting;
  }

  /** Null when no driver can be had. */
  async #start(): Promise<Running | null> {
    const { loadDriver = loadWreq, allowPrivate, resolve, proxyTls, tls } = this.#options;
    const driver = await loadDriver().catch(() => null);
    this.handshake = driver?.handshake ?? 'plain';
    if (driver === null) return null;
    const connectTimeoutMs = this.#connectTimeoutMs;
    const readWindow = { windowBytes: WINDOW_BYTES, floodMs: this.#options.floodMs ?? FLOOD_MS };
    const guard = await startGuardProxy({ allowPrivate, connectTimeoutMs, resolve, proxyTls, readWindow });
    const clients = new ClientCache({
      driver,
      guard,
      maxClients: this.#options.maxClients ?? 32,
      idleMs: this.#options.idleMs ?? 15_000,
      plan: {
        connectTimeoutMs: this.#longestConnectMs,
        trustsAnyCertificate: tls?.rejectUnauthorized === false,
      },
    });
    return { guard, clients };
  }
}

function shuttingDown(): ScrapifieError {
  return new ScrapifieError('SHUTTING_DOWN', 'The HTTP engine is closed');
}

export type WebEngineOptions = HttpEngineOptions & Omit<ImpersonatingEngineOptions, 'plain'>;

/** The `http` engine: requests without an identity name the crawler, requests with one look like its browser's. */
export function createWebEngine(options: WebEngineOptions): ImpersonatingEngine {
  const plain = createHttpEngine(options);
  const impersonating = createImpersonatingEngine({ ...options, plain });
  return {
    name: plain.name,
    get handshake() {
      return impersonating.handshake;
    },
    fetch: (request) =>
      request.identity === undefined ? plain.fetch(request) : impersonating.fetch(request),
    async close() {
      await Promise.all([impersonating.close(), plain.close()]);
    },
  };
}
