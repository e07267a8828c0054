import type { ConnectionOptions } from 'node:tls';
import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import { createGuardedConnector, type PrivateAddresses } from '../guard/guarded-connector.ts';
import type { Resolve } from '../guard/guarded-lookup.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { Exchange } from './exchange.ts';
import { type OriginPool, PoolCache } from './pool-cache.ts';
import { isRedirect } from './redirect.ts';
import { defaultHeaders, type HeaderList } from './request-headers.ts';
import { Trail } from './trail.ts';

export interface HttpEngineOptions {
  readonly userAgent: string;
  /** Connect to loopback, private and link-local addresses too. */
  readonly allowPrivate: PrivateAddresses;
  /** For name resolution, TCP and TLS together. */
  readonly connectTimeoutMs?: number;
  /** From the request's last byte to the end of the response's head. */
  readonly headersTimeoutMs?: number;
  /** Longest silence within a body. */
  readonly bodyTimeoutMs?: number;
  readonly maxHeaderBytes?: number;
  /** Origins with open connections; see PoolCache. */
  readonly maxPools?: number;
  readonly idleMs?: number;
  /** Ceiling per origin; how many really run is the caller's decision. */
  readonly connectionsPerHost?: number;
  /** Use HTTP/2 where an https server prefers it. */
  readonly allowH2?: boolean;
  /** Trust other certificates than the system's. */
  readonly tls?: ConnectionOptions;
  readonly resolve?: Resolve;
  /** Monotonic milliseconds; the process's clock unless told. */
  readonly now?: () => number;
}

export function createHttpEngine(options: HttpEngineOptions): Engine {
  return new HttpEngine(options);
}

class HttpEngine implements Engine {
  readonly name = 'http';
  private readonly defaults: HeaderList;
  private readonly watch = new ConnectionWatch();
  private readonly pools: PoolCache;
  private readonly maxHeaderBytes: number;
  private readonly now: () => number;
  private isClosed = false;

  constructor(options: HttpEngineOptions) {
    const { maxPools = 512, maxHeaderBytes = 65_536, allowH2 = true } = options;
    this.maxHeaderBytes = maxHeaderBytes;
    this.now = options.now ?? (() => performance.now());
    this.defaults = defaultHeaders(options.userAgent);
    this.pools = new PoolCache({
      maxPools,
      allowH2,
      idleMs: options.idleMs ?? 15_000,
      connectionsPerHost: options.connectionsPerHost ?? 256,
      headersTimeoutMs: options.headersTimeoutMs ?? 30_000,
      bodyTimeoutMs: options.bodyTimeoutMs ?? 30_000,
      maxHeaderBytes,
      connect: this.watch.wrap(
        createGuardedConnector({
          allowPrivate: options.allowPrivate,
          timeoutMs: options.connectTimeoutMs ?? 10_000,
          allowH2,
          maxCachedSessions: maxPools,
          tls: options.tls,
          resolve: options.resolve,
        }),
      ),
    });
  }

  async fetch(request: FetchRequest): Promise<FetchResponse> {
    const startedAt = this.now();
    const trail = new Trail(request, this.defaults);
    let deadline = startedAt + request.timeoutMs;
    let wireBytes = 0;

    for (;;) {
      const pool = this.acquire(trail.url.origin);
      let exchange: Exchange;
      try {
        exchange = await this.send(trail, pool, request, deadline);
      } finally {
        this.pools.release(pool);
      }
      const { statusCode, headers, body } = exchange;
      wireBytes += exchange.wireBytes;

      let redirectedTo: string | null = null;
      if (isRedirect(statusCode)) {
        const target = trail.next(statusCode, headers, Date.now());
        const askedAt = this.now();
        const answer = await request.onRedirect(target.href, trail.redirects.length + 1);
        deadline += this.now() - askedAt;
        if (answer === 'follow') {
          trail.follow(statusCode, target);
          continue;
        }
        redirectedTo = target.href;
      }
      return {
        url: request.url,
        finalUrl: trail.url.href,
        statusCode,
        headers,
        contentType: firstOf(headers['content-type']),
        body,
        wireBytes,
        redirects: trail.redirects,
        redirectedTo,
        ms: this.now() - startedAt,
        httpVersion: pool.httpVersion,
      };
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.pools.close();
  }

  private acquire(origin: string): OriginPool {
    if (this.isClosed) throw new ScrapifieError('SHUTTING_DOWN', 'The HTTP engine is closed');
    return this.pools.acquire(origin);
  }

  /**
   * Sends one hop. A GET or HEAD that met a kept connection just as the server closed it, before any byte of a
   * response, is sent once more: most likely nobody has read it, and asking twice changes nothing.
   */
  private async send(
    trail: Trail,
    { pool }: OriginPool,
    { maxBodyBytes, timeoutMs, signal, mayStart }: FetchRequest,
    deadline: number,
  ): Promise<Exchange> {
    const { url, method, body } = trail;
    const headers = trail.headersNow(Date.now());
    const options = { path: url.pathname + url.search, method, headers: headers as string[], body };

    const limits = { maxBodyBytes, maxHeaderBytes: this.maxHeaderBytes, mayStart };
    for (let isAgain = false; ; isAgain = true) {
      const exchange = new Exchange(url, method, limits, this.watch);
      const onTimeout = () => exchange.abort(tookTooLong(url, timeoutMs));
      const timer = setTimeout(onTimeout, Math.max(1, deadline - this.now()));
      const onAbort = () => exchange.abort(abortReason(signal?.reason));
      signal?.addEventListener('abort', onAbort);
      try {
        if (signal?.aborted === true) onAbort();
        else pool.dispatch(options, exchange);
        await exchange.done;
        trail.received(exchange.statusCode, exchange.headers, Date.now());
        return exchange;
      } catch (error) {
        if (isAgain || !exchange.isStale || exchange.hasStarted || method === 'POST') throw error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    }
  }
}

function tookTooLong(url: URL, timeoutMs: number): ScrapifieError {
  return new ScrapifieError('TASK_TIMEOUT', `${url.host} took longer than ${timeoutMs} ms`);
}

function abortReason(reason: unknown): ScrapifieError {
  if (isScrapifieError(reason)) return reason;
  return new ScrapifieError('CANCELLED', 'The request was cancelled', { cause: reason });
}

function firstOf(header: string | readonly string[] | undefined): string | null {
  return (typeof header === 'string' ? header : header?.[0]) ?? null;
}
