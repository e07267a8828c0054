import { type buildConnector, Pool } from 'undici';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { proxyKeyOf } from '../proxy/proxy-url.ts';

export interface PoolCacheOptions {
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
export interface OriginPool {
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
