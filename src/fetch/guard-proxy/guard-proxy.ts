import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { ResponseHeaders } from '../engine.ts';
import type { PrivateAddresses } from '../guard/address-guard.ts';
import { createGuardedConnector, type Resolve } from '../guard/guarded-lookup.ts';
import { mapError } from '../network-errors.ts';
import { createTunnelOpener } from '../proxy/open-tunnel.ts';
import { forwardRequest } from './forward-request.ts';
import { createReadWindow, type ReadWindow, type ReadWindowOptions } from './read-window.ts';

export interface GuardProxyOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly connectTimeoutMs?: number | undefined;
  readonly resolve?: Resolve | undefined;
  /** How the certificate of an https proxy behind ours is checked; as the system does by default. */
  readonly proxyTls?: ConnectionOptions | undefined;
  /** Connections of all browsers together. */
  readonly maxConnections?: number | undefined;
  /** Keeps hosts from being ahead of their readers; for clients that tell what they have read. */
  readonly readWindow?: ReadWindowOptions | undefined;
}

/** Opens a connection, or rejects with the reason. */
type ConnectBy = (host: string, port: number) => Promise<Socket>;

/** The login that identifies one client (a browser context, or a client with its own handshake) to the proxy. */
export interface ProxyLogin {
  readonly username: string;
  readonly password: string;
}

/**
 * A forward proxy on loopback that all traffic of browsers goes through. It resolves names itself and connects only to
 * allowed addresses. Chromium passes names on and never resolves one, so the address that is checked is the address that
 * is connected to, for every request of a page: frames, workers, sockets and redirects included.
 */
export interface GuardProxy {
  /** Address of the proxy, as `http://127.0.0.1:port`. */
  readonly url: string;
  /** Creates an account whose requests go out directly, or through the upstream proxy. */
  admit(upstream: ProxyEndpoint | null): ProxyLogin;
  /** Creates an account whose requests are all answered with a small page of the proxy itself. */
  admitProbe(): ProxyLogin;
  /**
   * Opens a listener for one account that needs no login, and returns its address, `http://127.0.0.1:port`. A browser
   * that has a login for its proxy passes every request through its driver, and offers the login to sites that ask.
   */
  openListener(username: string): Promise<string>;
  /** Removes the account and closes its connections. */
  dismiss(username: string): void;
  /** The read window of the account for the host of the URL. Null without `readWindow`, and after `dismiss`. */
  windowOf(username: string, url: URL): ReadWindow | null;
  /**
   * Counts the bytes that the account receives from all hosts, and calls `onExceeded` once when they exceed the limit.
   * Several meters of one account share its bytes equally. Returns a function that ends the count.
   */
  meter(username: string, limitBytes: number, onExceeded: () => void): () => void;
  /** The last error of the account's connections to the host; null when there was none. */
  failureOf(username: string, url: URL): Error | null;
  /**
   * True when a request for this host came without a login within the last seconds. Browsers send such requests after a
   * restart of their network process: their contexts have then lost their proxy settings and can load nothing.
   */
  wasUnauthorized(url: URL): boolean;
  /** True for the headers of this proxy's own 407, which is a sign of the same restart. */
  isOwnChallenge(headers: ResponseHeaders): boolean;
  /** Number of accounts that may use the proxy now. */
  readonly admitted: number;
  close(): Promise<void>;
}

interface Account {
  readonly digest: Buffer;
  readonly connect: ConnectBy;
  readonly agent: Agent;
  /** Bounded by the connections of the server. */
  readonly sockets: Set<Duplex>;
  /** Bounded by the pages of the account. */
  readonly meters: Set<Meter>;
  /** By host and port. Idle windows are removed when another one is added. */
  readonly windows: Map<string, ReadWindow>;
  /**
   * The last error by host and port. Chromium only learns that a connection failed, since a page must not learn why.
   */
  readonly failures: BoundedMap<string, Error>;
  listener: Server | null;
  readonly isProbe: boolean;
}

const PROBE_PAGE = '<!doctype html><title>probe</title>';
/** How long a request without a login counts as the cause of failed loads. */
const UNAUTHORIZED_MS = 15_000;
const MAX_UNAUTHORIZED_HOSTS = 1_024;
interface Meter {
  receivedBytes: number;
  readonly limitBytes: number;
  readonly onExceeded: () => void;
}

const MAX_FAILURES = 256;
const MAX_HEADER_BYTES = 131_072;

export async function startGuardProxy(options: GuardProxyOptions): Promise<GuardProxy> {
  const timeoutMs = options.connectTimeoutMs ?? 10_000;
  const connectGuarded = createGuardedConnector({
    allowPrivate: options.allowPrivate,
    timeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
    resolve: options.resolve,
  });
  const direct: ConnectBy = (host, port) =>
    new Promise((resolve, reject) => {
      const target = { hostname: host, host: `${host}:${port}`, protocol: 'http:', port: String(port) };
      connectGuarded(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
    });
  const openTunnel = createTunnelOpener({ ...options, timeoutMs });
  const closing = new AbortController();
  const by =
    (upstream: ProxyEndpoint): ConnectBy =>
    (host, port) =>
      openTunnel(upstream, host, port, closing.signal);

  /** Random, so that the 407 of a site cannot pass for one of this proxy. */
  const challenge = `Basic realm="${randomBytes(12).toString('hex')}"`;
  /** By username. Bounded by the contexts of the browser pool. */
  const accounts = new Map<string, Account>();
  const directAgent = agentFor(direct);
  /**
   * When a host was last requested without a login. A browser that has a login sends it only after a 407, so an entry is
   * removed again when the same host is requested with one.
   */
  const unauthorizedAt = new BoundedMap<string, number>(MAX_UNAUTHORIZED_HOSTS);
  const noteUnauthorized = (url: URL | null): void => {
    if (url !== null) unauthorizedAt.set(url.host, performance.now());
  };

  const byLogin = (request: IncomingMessage): Account | null => {
    const login = /^Basic (\S+)$/i.exec(request.headers['proxy-authorization'] ?? '')?.[1] ?? '';
    const text = Buffer.from(login, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    const username = text.slice(0, Math.max(0, colon));
    const account = accounts.get(username);
    if (account === undefined || !timingSafeEqual(digestOf(text.slice(colon + 1)), account.digest))
      return null;
    return account;
  };

  const onRequest = (request: IncomingMessage, response: ServerResponse, account: Account | null): void => {
    if (account === null) {
      noteUnauthorized(URL.parse(request.url ?? ''));
      response.writeHead(407, { 'proxy-authenticate': challenge, 'content-length': 0 }).end();
      return;
    }
    if (request.headers['proxy-authorization'] !== undefined) {
      unauthorizedAt.delete(URL.parse(request.url ?? '')?.host ?? '');
    }
    remember(account, request.socket);
    if (account.isProbe) {
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' }).end(PROBE_PAGE);
      return;
    }
    forwardRequest(request, response, account.agent, {
      onFailure: (url, error) => account.failures.set(hostAndPort(url), error),
      onBytes: (bytes) => measure(account, bytes),
    });
  };

  const onConnect = (
    request: IncomingMessage,
    client: Duplex,
    head: Buffer,
    account: Account | null,
  ): void => {
    listen(client, 'error', () => client.destroy());
    const target = URL.parse(`http://${request.url}`);
    if (account === null || target === null) {
      noteUnauthorized(target);
      const status = target === null ? '400 Bad Request' : '407 Proxy Authentication Required';
      client.end(`HTTP/1.1 ${status}\r\nProxy-Authenticate: ${challenge}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    if (request.headers['proxy-authorization'] !== undefined) unauthorizedAt.delete(target.host);
    remember(account, client);
    if (account.isProbe) {
      client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const host = target.hostname.replace(/^\[|\]$/g, '');
    account.connect(host, Number(target.port) || 80).then(
      (server) => {
        join(client, server, head, windowFor(account, hostAndPort(target), options.readWindow));
        listen(server, 'data', (chunk: Uint8Array) => measure(account, chunk.byteLength));
      },
      (error: unknown) => {
        account.failures.set(hostAndPort(target), mapError(error, target, 'connect'));
        client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
      },
    );
  };

  const open = async (accountOf: (request: IncomingMessage) => Account | null): Promise<Server> => {
    const server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: 60_000,
      requestTimeout: 0,
    });
    server.maxConnections = options.maxConnections ?? 2_048;
    listen(server, 'request', (request: IncomingMessage, response: ServerResponse) =>
      onRequest(request, response, accountOf(request)),
    );
    listen(server, 'connect', (request: IncomingMessage, client: Duplex, head: Buffer) =>
      onConnect(request, client, head, accountOf(request)),
    );
    listen(server, 'upgrade', (_request: IncomingMessage, socket: Duplex) => socket.destroy());
    listen(server, 'clientError', (_error: Error, socket: Duplex) => socket.destroy());
    listen(server, 'connection', (socket: Socket) => socket.setNoDelay(true));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  };
  const server = await open(byLogin);

  const dismiss = (username: string): void => {
    const account = accounts.get(username);
    if (account === undefined) return;
    accounts.delete(username);
    for (const socket of account.sockets) socket.destroy();
    account.listener?.closeAllConnections();
    account.listener?.close();
    if (account.agent !== directAgent) account.agent.destroy();
  };

  const admit = (upstream: ProxyEndpoint | null, isProbe: boolean): ProxyLogin => {
    const [username, password] = [randomBytes(9).toString('hex'), randomBytes(24).toString('hex')];
    const connect = upstream === null ? direct : by(upstream);
    const agent = upstream === null ? directAgent : agentFor(connect);
    accounts.set(username, newAccount({ digest: digestOf(password), connect, agent, isProbe }));
    return { username, password };
  };

  return {
    url: urlOf(server),
    get admitted() {
      return accounts.size;
    },
    admit: (upstream) => admit(upstream, false),
    admitProbe: () => admit(null, true),
    isOwnChallenge: (headers) => headers['proxy-authenticate'] === challenge,
    wasUnauthorized(url) {
      // The target of a tunnel always names its port.
      const at = Math.max(unauthorizedAt.get(url.host) ?? 0, unauthorizedAt.get(hostAndPort(url)) ?? 0);
      return at > 0 && performance.now() - at < UNAUTHORIZED_MS;
    },
    async openListener(username) {
      const listener = await open(() => accounts.get(username) ?? null);
      const account = accounts.get(username);
      if (account === undefined) listener.close();
      else account.listener = listener;
      return urlOf(listener);
    },
    dismiss,
    windowOf(username, url) {
      const account = accounts.get(username);
      return account === undefined ? null : windowFor(account, hostAndPort(url), options.readWindow);
    },
    meter(username, limitBytes, onExceeded) {
      const meter: Meter = { receivedBytes: 0, limitBytes, onExceeded };
      const meters = accounts.get(username)?.meters;
      meters?.add(meter);
      return () => void meters?.delete(meter);
    },
    failureOf: (username, url) => accounts.get(username)?.failures.get(hostAndPort(url)) ?? null,
    async close() {
      closing.abort();
      for (const username of [...accounts.keys()]) dismiss(username);
      directAgent.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo | null)?.port ?? 0}`;

/** Host and port, the default port included: the target of a tunnel has no scheme. */
function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** For plain http; Chromium opens a tunnel for everything else. */
function agentFor(connect: ConnectBy): Agent {
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 64, timeout: 60_000 });
  // The type only knows sockets that are returned; Node takes them by callback as well.
  agent.createConnection = ((
    to: { host?: string; port?: number },
    done: (error: Error | null, socket?: Socket) => void,
  ) => {
    connect(to.host ?? '', Number(to.port)).then((socket) => done(null, socket), done);
    return undefined;
  }) as unknown as Agent['createConnection'];
  return agent;
}

const newAccount = (own: Pick<Account, 'digest' | 'connect' | 'agent' | 'isProbe'>): Account => ({
  ...own,
  sockets: new Set(),
  meters: new Set(),
  windows: new Map(),
  failures: new BoundedMap(MAX_FAILURES),
  listener: null,
});

/** The read window of the account for a host; null where none are kept. */
function windowFor(
  { windows }: Account,
  key: string,
  options: ReadWindowOptions | undefined,
): ReadWindow | null {
  if (options === undefined) return null;
  const known = windows.get(key);
  if (known !== undefined) return known;
  for (const [other, window] of windows) if (window.isIdle) windows.delete(other);
  const window = createReadWindow(options);
  windows.set(key, window);
  return window;
}

function remember(account: Account, socket: Duplex): void {
  if (account.sockets.has(socket)) return;
  account.sockets.add(socket);
  listenOnce(socket, 'close', () => account.sockets.delete(socket));
}

function measure({ meters }: Account, bytes: number): void {
  for (const meter of meters) {
    meter.receivedBytes += bytes / meters.size;
    if (meter.receivedBytes <= meter.limitBytes) continue;
    meters.delete(meter);
    meter.onExceeded();
  }
}

function join(client: Duplex, server: Socket, head: Buffer, window: ReadWindow | null): void {
  listen(server, 'error', () => client.destroy());
  listen(server, 'close', () => client.destroy());
  listen(client, 'close', () => server.destroy());
  if (client.destroyed) {
    server.destroy();
    return;
  }
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) server.write(head);
  if (window === null) server.pipe(client);
  else window.forward(server, client);
  client.pipe(server);
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
