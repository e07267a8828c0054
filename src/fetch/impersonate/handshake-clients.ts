import { createHash } from 'node:crypto';
import type { ReadableStream } from 'node:stream/web';
import type { EmulationOS } from 'wreq-js';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Identity } from '../../core/model/identity.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import type { GuardProxy, ProxyLogin } from '../guard-proxy/guard-proxy.ts';
import type { Method } from '../http/redirects.ts';
import type { HeaderList } from '../http/request-headers.ts';
import { proxyKeyOf } from '../proxy/proxy-url.ts';

/** What speaks TLS and HTTP/2 the way a browser does; `plain` does not. */
export type Handshake = 'wreq' | 'plain';

/** A library that greets servers as a browser would. It decides nothing else: see HandshakeClient. */
interface HandshakeDriver {
  readonly handshake: Exclude<Handshake, 'plain'>;
  open(plan: ClientPlan): Promise<HandshakeClient>;
}

interface ClientPlan {
  /** Whose handshake it is: the profile nearest to this browser's version. */
  readonly identity: Identity;
  /** The proxy with its login. Everything goes through it, names unresolved. */
  readonly proxyUrl: string;
  /** For the tunnel and TLS together. */
  readonly connectTimeoutMs: number;
  readonly idleMs: number;
  readonly trustsAnyCertificate: boolean;
}

/** Connections of one visitor. It sends exactly the headers it is given, follows no redirect and keeps no cookie. */
interface HandshakeClient {
  /** Settles when the head of the response is there. What it throws is the library's. */
  send(request: SentRequest): Promise<DriverResponse>;
  close(): Promise<void>;
}

interface SentRequest {
  readonly url: string;
  readonly method: Method;
  readonly headers: HeaderList;
  readonly body: string | null;
  /** The library's own limit, beyond ours. */
  readonly timeoutMs: number;
  /** Ends the request, and the body after it. */
  readonly signal: AbortSignal;
}

export interface DriverResponse {
  readonly statusCode: number;
  /** Names in lower case; the same one may come again. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  /** As it came: the Content-Encoding is undone by the caller, under its limits. */
  readonly body: ReadableStream<Uint8Array> | null;
}

export type DriverLoader = () => Promise<HandshakeDriver>;

function pairsOf(headers: HeaderList): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    pairs.push([headers[index] ?? '', headers[index + 1] ?? '']);
  }
  return pairs;
}

/**
 * What the words of the libraries mean to us; the first match decides. They tell no codes. Whether the host could be
 * reached is not among them: that the guard knows, so a failure to connect is one of TLS.
 */
const SIGNS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/ProxyConnect|ProxyTunnel|ProxyAuth|tunnel error/, 'CONNECT_FAILED'],
  [/\(Connect\)|\bConnect,|ConnectError|ConnectTimeout|CERTIFICATE|InvalidCertificate/, 'TLS_FAILED'],
  [/head is too large|TooLarge/, 'HEADERS_LIMIT_EXCEEDED'],
  [/stream error|Reset\(/, 'CONNECTION_RESET'],
  [/Parse\(|\bparsed\b|[Ii]nvalid chunk|http2 error|Http2/, 'PROTOCOL_ERROR'],
  [/timed out|TimeoutError/, 'HEADERS_TIMEOUT'],
  [/hyper|from connection|closed|broken pipe|reset|\beof\b/i, 'CONNECTION_RESET'],
  [/\bDecode\b|decod/, 'BAD_ENCODING'],
];

/** Names what a library threw on a request to `url`. Its words hold the whole URL, so none of them is passed on. */
export function mapDriverError(error: unknown, url: URL, proxy: ProxyEndpoint | undefined): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error);
  const code = SIGNS.find(([sign]) => sign.test(text))?.[1] ?? 'CONNECTION_RESET';
  const meaning = ERRORS[code].meaning.replace(/\.$/, '');
  if (code !== 'TLS_FAILED' || proxy === undefined) {
    return new ScrapifieError(code, `${meaning} (${url.host})`);
  }
  // A proxy that meddles, and a target with a bad certificate, look the same from here.
  return new ScrapifieError(code, `${meaning} (${url.host}, proxy ${proxy.id})`, {
    details: { proxy: proxy.id, fault: 'unclear' },
  });
}

const SYSTEMS: Readonly<Record<string, EmulationOS>> = { Windows: 'windows', macOS: 'macos', Linux: 'linux' };
const MAX_CONNECTIONS = 64;

/** Loads wreq-js. Throws where it has no binary. */
export async function loadWreq(): Promise<HandshakeDriver> {
  const { createTransport, fetch, getProfiles } = await import('wreq-js');
  // The binary is needed for this, so that one that is missing shows here.
  const profiles = getProfiles();

  return {
    handshake: 'wreq',
    async open({ identity, proxyUrl, connectTimeoutMs, idleMs, trustsAnyCertificate }) {
      const transport = await createTransport({
        browser: profileFor(profiles, identity),
        os: SYSTEMS[identity.clientHints.platform] ?? 'windows',
        proxy: proxyUrl,
        connectTimeout: connectTimeoutMs,
        poolIdleTimeout: idleMs,
        poolMaxSize: MAX_CONNECTIONS,
        insecure: trustsAnyCertificate,
      });
      const client: HandshakeClient = {
        async send({ url, method, headers, body, timeoutMs, signal }) {
          const response = await fetch(url, {
            transport,
            method,
            headers: pairsOf(headers),
            body,
            signal,
            timeout: timeoutMs,
            redirect: 'manual',
            // The identity's headers are all there is, and bodies are decoded under our limits.
            disableDefaultHeaders: true,
            compress: false,
          });
          return {
            statusCode: response.status,
            headers: response.headers,
            body: response.body,
          };
        },
        close: () => transport.close(),
      };
      return client;
    },
  };
}

/** The profile of the browser that the identity claims to be, in the version next to its own. */
export function profileFor<Name extends string>(
  names: readonly Name[],
  identity: Identity,
): Name | 'chrome' | 'firefox' | 'safari' {
  const { family, userAgent } = identity;
  if (family === undefined) return nearestProfile(names, chromeVersionOf(identity)) ?? 'chrome';
  const told = /(?:Firefox|Version)\/(\d+(?:\.\d+)?)/.exec(userAgent)?.[1] ?? '0';
  return nearestProfile(names, Number(told), family) ?? family;
}

/** The version of Chrome that the identity claims to be. */
export function chromeVersionOf({ clientHints, userAgent }: Identity): number {
  const told = /(?:Chrome|Chromium)\/(\d+)/.exec(userAgent)?.[1] ?? clientHints.fullVersion;
  return Number.parseInt(told, 10) || 0;
}

/**
 * The profile of the version next to this one, the older of two that are equally far: handshakes change rarely, so
 * the nearest is most often the same. Null when no name ends in a version.
 */
export function nearestProfile<Name extends string>(
  names: readonly Name[],
  version: number,
  family = 'chrome',
): Name | null {
  let nearest: Name | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const [, of, told] = /^([a-z]+)_?(\d+(?:\.\d+)?)$/.exec(name) ?? [];
    if (of !== family || told === undefined) continue;
    const own = Number(told);
    // Half a step more for newer ones breaks ties.
    const distance = own > version ? own - version + 0.5 : version - own;
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

interface ClientCacheOptions {
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
