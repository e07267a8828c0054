import type { ConnectionOptions } from 'node:tls';
import { type buildConnector, Pool } from 'undici';
import { guarded } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { abortError, tookTooLong } from '../deadline.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import type { PrivateAddresses } from '../guard/address-guard.ts';
import { createGuardedConnector, type Resolve } from '../guard/guarded-lookup.ts';
import { createProxyConnector, createTunnelOpener } from '../proxy/open-tunnel.ts';
import { proxyKeyOf } from '../proxy/proxy-url.ts';
import { Exchange } from './exchange.ts';
import { followRedirects, type HopSender, type RedirectChain } from './redirects.ts';
import { defaultHeaders, type HeaderList, headersInClear, identityHeaders } from './request-headers.ts';
import { ConnectionWatch } from './response-head.ts';

export interface HttpEngineOptions {
  readonly userAgent: string;
  /** Names in lower case and values, sent beside the user agent; those of a client that wants web pages by default. */
  readonly headers?: HeaderList;
  /** Connections at once, if all fetches at once have half of them: from the other half on none is kept. */
  readonly maxConnections?: number;
  /** Connect to loopback, private and link-local addresses too. */
  readonly allowPrivate: PrivateAddresses;
  /** For name resolution, TCP and TLS together; with a proxy, for each step on the way. */
  readonly connectTimeoutMs?: number;
  /** From the request's last byte to the end of the response's head. */
  readonly headersTimeoutMs?: number;
  /** Longest silence within a body. */
  readonly bodyTimeoutMs?: number;
  readonly maxHeaderBytes?: number;
  /** Origins with open connections, each counted once per proxy; see PoolCache. */
  readonly maxPools?: number;
  readonly idleMs?: number;
  /** Ceiling per origin; how many really run is the caller's decision. */
  readonly connectionsPerHost?: number;
  /** Use HTTP/2 where an https server prefers it. */
  readonly allowH2?: boolean;
  /** Trust other certificates than the system's. */
  readonly tls?: ConnectionOptions | undefined;
  /** How the certificate of an https proxy is checked; as the system does by default. */
  readonly proxyTls?: ConnectionOptions | undefined;
  readonly resolve?: Resolve;
  /** Monotonic milliseconds; the process's clock by default. */
  readonly now?: () => number;
}

/** Requests over connections of our own. Other engines may let it make some of theirs. */
export interface HttpEngine extends Engine, HopSender {}

/** Sessions of TLS kept for one origin behind one proxy: never for another, whose servers would see who came back. */
const PROXIED_SESSIONS = 8;

export function createHttpEngine(options: HttpEngineOptions): HttpEngine {
  return new PooledHttpEngine(options);
}

class PooledHttpEngine implements HttpEngine {
  readonly name = 'http';
  readonly now: () => number;
  readonly #defaults: HeaderList;
  readonly #watch = new ConnectionWatch();
  readonly #pools: PoolCache;
  readonly #maxHeaderBytes: number;
  readonly #mostKept: number;
  readonly #closing = new AbortController();

  constructor(options: HttpEngineOptions) {
    const { maxPools = 512, maxHeaderBytes = 65_536, allowH2 = true, allowPrivate, tls, resolve } = options;
    const timeoutMs = options.connectTimeoutMs ?? 10_000;
    this.#maxHeaderBytes = maxHeaderBytes;
    this.#mostKept = (options.maxConnections ?? Number.POSITIVE_INFINITY) / 2;
    this.now = options.now ?? (() => performance.now());
    const { userAgent, headers } = options;
    this.#defaults =
      headers === undefined ? defaultHeaders(userAgent) : ['user-agent', userAgent, ...headers];
    const direct = this.#watch.wrap(
      createGuardedConnector({ allowPrivate, timeoutMs, allowH2, maxCachedSessions: maxPools, tls, resolve }),
    );
    const openTunnel = createTunnelOpener({ allowPrivate, timeoutMs, resolve, proxyTls: options.proxyTls });
    const by = (proxy: ProxyEndpoint) =>
      createProxyConnector({
        proxy,
        openTunnel,
        timeoutMs,
        allowH2,
        maxCachedSessions: PROXIED_SESSIONS,
        tls,
        signal: this.#closing.signal,
      });
    this.#pools = new PoolCache({
      maxPools,
      allowH2,
      idleMs: options.idleMs ?? 15_000,
      connectionsPerHost: options.connectionsPerHost ?? 256,
      headersTimeoutMs: options.headersTimeoutMs ?? 30_000,
      bodyTimeoutMs: options.bodyTimeoutMs ?? 30_000,
      maxHeaderBytes,
      connectorFor: (proxy) => (proxy === undefined ? direct : this.#watch.wrap(by(proxy))),
    });
  }

  fetch(request: FetchRequest): Promise<FetchResponse> {
    const { identity } = request;
    return followRedirects(
      this,
      request,
      identity === undefined ? this.#defaults : identityHeaders(identity),
    );
  }

  async close(): Promise<void> {
    this.#closing.abort(shuttingDown());
    await this.#pools.close();
  }

  /**
   * A GET or HEAD that met a kept connection just as the server closed it, before any byte of a response, is sent
   * once more: most likely the server has not read it, and the methods are idempotent.
   */
  async sendHop(chain: RedirectChain, request: FetchRequest, deadline: number): Promise<Exchange> {
    const { url, method, body } = chain;
    const { maxBodyBytes, isCutAtLimit, timeoutMs, signal, mayStart, identity, held } = request;
    const entry = this.#acquire(url.origin, request.proxy);
    try {
      const own = chain.headersNow(Date.now());
      const isWorded = identity !== undefined && url.protocol === 'http:';
      const headers = isWorded ? headersInClear(own, identity, url) : own;
      const options = { path: url.pathname + url.search, method, headers: headers as string[], body };
      const limits = { maxBodyBytes, isCutAtLimit, maxHeaderBytes: this.#maxHeaderBytes, mayStart, held };

      for (let isAgain = false; ; isAgain = true) {
        const exchange = new Exchange(url, method, limits, this.#watch);
        const onTimeout = () => exchange.abort(tookTooLong(url.host, timeoutMs));
        const timer = setTimeout(onTimeout, Math.max(1, deadline - this.now()));
        const onAbort = guarded(() => exchange.abort(abortError(signal?.reason)));
        signal?.addEventListener('abort', onAbort);
        try {
          if (signal?.aborted === true) onAbort();
          // The server is asked to close a connection that may not be kept.
          else entry.pool.dispatch({ ...options, reset: this.#watch.open >= this.#mostKept }, exchange);
          await exchange.done;
          exchange.httpVersion = entry.httpVersion;
          chain.received(exchange.statusCode, exchange.headers, Date.now());
          return exchange;
        } catch (error) {
          if (isAgain || !exchange.isStale || exchange.hasStarted || method === 'POST') throw error;
        } finally {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        }
      }
    } finally {
      this.#pools.release(entry);
    }
  }

  #acquire(origin: string, proxy: ProxyEndpoint | undefined): OriginPool {
    if (this.#closing.signal.aborted) throw shuttingDown();
    return this.#pools.acquire(origin, proxy);
  }
}

function shuttingDown(): ScrapifieError {
  return new ScrapifieError('SHUTTING_DOWN', 'The HTTP engine is closed');
}

interface PoolCacheOptions {
  readonly maxPools: number;
  /** A pool unused for so long is closed; also how long a connection is kept for the next request. */
  readonly idleMs: number;
  readonly connectionsPerHost: number;
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly allowH2: boolean;
  /** How connections are opened, by that proxy or without one; asked once per pool. */
  readonly connectorFor: (proxy: ProxyEndpoint | undefined) => buildConnector.connector;
}

/** The connections to one origin through one proxy. Each `acquire` needs one `release`. */
interface OriginPool {
  readonly key: string;
  readonly pool: Pool;
  httpVersion: '1.1' | '2';
  inUse: number;
  usedAt: number;
}

/**
 * One pool per origin and proxy; another login at the same proxy counts as another one. Unused ones are closed when
 * there are too many, the longest unused first, or after a while. One that is in use is never closed, so there may be
 * more than `maxPools`, but only as many as requests run.
 */
export class PoolCache {
  readonly #options: PoolCacheOptions;
  /** Pools by origin, in the order of their last acquisition. */
  readonly #pools = new Map<string, OriginPool>();
  readonly #closing = new Set<Promise<unknown>>();
  #sweeper: NodeJS.Timeout | null = null;

  constructor(options: PoolCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#pools.size;
  }

  acquire(origin: string, proxy?: ProxyEndpoint): OriginPool {
    const key = proxy === undefined ? origin : `${origin} ${proxyKeyOf(proxy)}`;
    let entry = this.#pools.get(key);
    if (entry === undefined) {
      this.#makeRoom();
      entry = this.#open(key, origin, proxy);
    } else if (entry.inUse === 0) {
      this.#pools.delete(key);
      this.#pools.set(key, entry);
    }
    entry.inUse += 1;
    return entry;
  }

  release(entry: OriginPool): void {
    entry.inUse -= 1;
    if (entry.inUse === 0) entry.usedAt = performance.now();
  }

  /** Ends everything, requests under way too. */
  async close(): Promise<void> {
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = null;
    const all = [...this.#pools.values()].map(({ pool }) => pool.destroy());
    this.#pools.clear();
    await Promise.allSettled([...all, ...this.#closing]);
  }

  #open(key: string, origin: string, proxy: ProxyEndpoint | undefined): OriginPool {
    const options = this.#options;
    const connect = options.connectorFor(proxy);
    const pool = new Pool(origin, {
      connections: options.connectionsPerHost,
      pipelining: 1,
      keepAliveTimeout: options.idleMs,
      headersTimeout: options.headersTimeoutMs,
      bodyTimeout: options.bodyTimeoutMs,
      maxHeaderSize: options.maxHeaderBytes,
      allowH2: options.allowH2,
      connect: (target, callback) => {
        connect(target, ((error: Error | null, socket: never) => {
          if (error === null) entry.httpVersion = isH2(socket) ? '2' : '1.1';
          callback(error as null, socket);
        }) as buildConnector.Callback);
      },
    });
    const entry: OriginPool = { key, pool, httpVersion: '1.1', inUse: 0, usedAt: performance.now() };
    this.#pools.set(key, entry);
    this.#sweeper ??= setInterval(() => this.#sweep(), Math.max(250, options.idleMs / 2)).unref();
    return entry;
  }

  #makeRoom(): void {
    if (this.#pools.size < this.#options.maxPools) return;
    for (const entry of this.#pools.values()) {
      if (entry.inUse > 0) continue;
      this.#shut(entry);
      if (this.#pools.size < this.#options.maxPools) return;
    }
  }

  #sweep(): void {
    const idleSince = performance.now() - this.#options.idleMs;
    for (const entry of this.#pools.values()) {
      if (entry.inUse === 0 && entry.usedAt <= idleSince) this.#shut(entry);
    }
    if (this.#pools.size > 0 || this.#sweeper === null) return;
    clearInterval(this.#sweeper);
    this.#sweeper = null;
  }

  #shut(entry: OriginPool): void {
    this.#pools.delete(entry.key);
    const closed = entry.pool.destroy().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

function isH2(socket: object): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
}
