import { createHash } from 'node:crypto';
import type { Identity } from '../../core/model/identity.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import type { GuardProxy, ProxyLogin } from '../guard-proxy/guard-proxy.ts';
import { proxyKeyOf } from '../proxy/proxy-url.ts';
import type { ClientPlan, HandshakeClient, HandshakeDriver } from './handshake-driver.ts';

export interface ClientCacheOptions {
  readonly driver: HandshakeDriver;
  readonly guard: GuardProxy;
  readonly maxClients: number;
  /** A client that is unused for so long is closed. */
  readonly idleMs: number;
  readonly plan: Pick<ClientPlan, 'connectTimeoutMs' | 'trustsAnyCertificate'>;
}

/** Who goes out by which way. */
export interface Visitor {
  readonly identity: Identity;
  readonly proxy: ProxyEndpoint | undefined;
  readonly key: string | undefined;
}

/** The connections of one visitor. Each `acquire` needs one `release`. */
export interface VisitorClient {
  readonly key: string;
  readonly client: Promise<HandshakeClient>;
  /** Its name at the guard. */
  readonly username: string;
  inUse: number;
  usedAt: number;
  /** Its connections may be old ones. */
  hasServed: boolean;
  isRetired: boolean;
}

/** An identity is drawn once and used for long. */
const identityKeys = new WeakMap<Identity, string>();

/**
 * One client for each identity, way out and key: two visitors who came by one connection, or resumed each other's TLS
 * session, would be known as one. Unused ones are closed when there are too many or after a while; one that is in
 * use is never closed, so there may be more, but only as many as requests run.
 */
export class ClientCache {
  readonly #options: ClientCacheOptions;
  /** Clients in the order of their last acquisition. */
  readonly #clients = new Map<string, VisitorClient>();
  #sweeper: NodeJS.Timeout | null = null;

  constructor(options: ClientCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#clients.size;
  }

  acquire(visitor: Visitor): VisitorClient {
    const key = keyOf(visitor);
    let entry = this.#clients.get(key);
    if (entry === undefined) {
      this.#makeRoom();
      entry = this.#open(key, visitor);
    } else if (entry.inUse === 0) {
      this.#clients.delete(key);
      this.#clients.set(key, entry);
    }
    entry.inUse += 1;
    return entry;
  }

  release(entry: VisitorClient): void {
    entry.inUse -= 1;
    if (entry.inUse > 0) return;
    entry.usedAt = performance.now();
    if (entry.isRetired) void this.#shut(entry);
  }

  /** The client is not handed out again, and closes after its last release. */
  retire(entry: VisitorClient): void {
    entry.isRetired = true;
    if (this.#clients.get(entry.key) === entry) this.#clients.delete(entry.key);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((entry) => this.#shut(entry)));
  }

  #open(key: string, { identity, proxy }: Visitor): VisitorClient {
    const { driver, guard, idleMs, plan } = this.#options;
    const pass = guard.admit(proxy ?? null);
    const client = driver.open({ ...plan, identity, idleMs, proxyUrl: urlWith(guard.url, pass) });
    const { username } = pass;
    const entry: VisitorClient = {
      key,
      client,
      username,
      inUse: 0,
      usedAt: performance.now(),
      hasServed: false,
      isRetired: false,
    };
    // What cannot be opened is tried anew by the next request.
    client.catch(() => this.#shut(entry));
    this.#clients.set(key, entry);
    this.#sweeper ??= setInterval(() => this.#sweep(), Math.max(250, idleMs / 2)).unref();
    return entry;
  }

  #makeRoom(): void {
    for (const entry of this.#clients.values()) {
      if (this.#clients.size < this.#options.maxClients) return;
      if (entry.inUse === 0) void this.#shut(entry);
    }
  }

  #sweep(): void {
    const idleSince = performance.now() - this.#options.idleMs;
    for (const entry of this.#clients.values()) {
      if (entry.inUse === 0 && entry.usedAt <= idleSince) void this.#shut(entry);
    }
  }

  async #shut(entry: VisitorClient): Promise<void> {
    if (this.#clients.get(entry.key) === entry) this.#clients.delete(entry.key);
    if (this.#clients.size === 0 && this.#sweeper !== null) {
      clearInterval(this.#sweeper);
      this.#sweeper = null;
    }
    this.#options.guard.dismiss(entry.username);
    await entry.client.then((client) => client.close()).catch(() => {});
  }
}

function keyOf({ identity, proxy, key }: Visitor): string {
  return JSON.stringify([identityKeyOf(identity), proxy === undefined ? '' : proxyKeyOf(proxy), key ?? '']);
}

function identityKeyOf(identity: Identity): string {
  const known = identityKeys.get(identity);
  if (known !== undefined) return known;
  const key = createHash('sha256').update(JSON.stringify(identity)).digest('base64url');
  identityKeys.set(identity, key);
  return key;
}

function urlWith(url: string, { username, password }: ProxyLogin): string {
  const withLogin = new URL(url);
  withLogin.username = username;
  withLogin.password = password;
  return withLogin.href;
}
