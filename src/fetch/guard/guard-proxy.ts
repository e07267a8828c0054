import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { ProxyEndpoint } from '../../model/proxy.ts';
import type { ResponseHeaders } from '../engine.ts';
import { mapError } from '../http/error-map.ts';
import { createTunnelOpener } from '../proxy/open-tunnel.ts';
import { forwardRequest } from './guard-forward.ts';
import { type ConnectBy, type FailureNotes, failureNotes, keyOf } from './guard-notes.ts';
import { createGuardedConnector, type PrivateAddresses } from './guarded-connector.ts';
import type { Resolve } from './guarded-lookup.ts';
import { createReadWindow, type ReadWindow, type ReadWindowOptions } from './read-window.ts';

export interface GuardProxyOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly connectTimeoutMs?: number | undefined;
  readonly resolve?: Resolve | undefined;
  /** How the certificate of an https proxy behind ours is checked; as the system does unless told. */
  readonly proxyTls?: ConnectionOptions | undefined;
  /** Connections of all browsers together. */
  readonly maxConnections?: number | undefined;
  /** Keeps hosts from being ahead of their readers; for clients that tell what they have read. */
  readonly readWindow?: ReadWindowOptions | undefined;
}

/** What a browser context shows to be let through, and to be told apart. */
export interface ProxyPass {
  readonly username: string;
  readonly password: string;
}

/**
 * The only way out for our browsers: a forward proxy on loopback that resolves names itself and connects only to
 * addresses that may be fetched. Chromium hands it names and never resolves one, so a name cannot mean one address
 * when it is checked and another when it is connected to; and whatever in a page makes a request (frames, workers,
 * sockets, redirects) comes through here.
 */
export interface GuardProxy {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Lets one context through, directly or by way of another proxy. */
  admit(upstream: ProxyEndpoint | null): ProxyPass;
  /** Lets a context through that reaches nothing but a small page of the proxy's own, whatever it asks for. */
  admitProbe(): ProxyPass;
  /**
   * A door of its own for who was let through, which needs no login: `http://127.0.0.1:port`. A browser that was given
   * a login for its proxy has every request looked at by its driver, and offers that login to any site that asks.
   */
  doorFor(username: string): Promise<string>;
  /** Ends a context's leave and its connections. */
  dismiss(username: string): void;
  /**
   * The window through which this client reads the host of the URL. Null without `readWindow`, and for a client that
   * was dismissed.
   */
  windowOf(username: string, url: URL): ReadWindow | null;
  /**
   * Counts what this context receives from all hosts, and calls `onExceeded` once when it is more than the limit. Where
   * several pages of a context are counted, each has its share. Returns what ends the counting.
   */
  meter(username: string, limitBytes: number, onExceeded: () => void): () => void;
  /** Why this context could not reach the host lately; null when nothing went wrong. */
  failureOf(username: string, url: URL): Error | null;
  /**
   * Whether a browser without leave has asked for this host just now. A browser does so after its network process was
   * started anew: its contexts have then forgotten which proxy is theirs, and nothing of it can be loaded any more.
   */
  wasUnknown(url: URL): boolean;
  /** Whether an answer is this proxy's own refusal, which says the same of the browser. */
  isRefusal(headers: ResponseHeaders): boolean;
  /** Contexts that have leave. */
  readonly admitted: number;
  close(): Promise<void>;
}

interface Guest {
  readonly digest: Buffer;
  readonly connect: ConnectBy;
  readonly agent: Agent;
  /** Bounded by the connections of the server. */
  readonly sockets: Set<Duplex>;
  /** Bounded by the pages of the context. */
  readonly meters: Set<Meter>;
  /** By host and port; those that are idle are forgotten when another one is added. */
  readonly windows: Map<string, ReadWindow>;
  /** Its own, once it has one. */
  door: Server | null;
  readonly isProbe: boolean;
}

const PROBE_PAGE = '<!doctype html><title>probe</title>';
/** How long a request of a browser without leave explains what went wrong. */
const UNKNOWN_MS = 15_000;
const MOST_UNKNOWN = 1_024;
interface Meter {
  receivedBytes: number;
  readonly limitBytes: number;
  readonly onExceeded: () => void;
}

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

  const notes: FailureNotes = failureNotes();
  /** Told by no site, so that a refusal of ours cannot be taken for the answer of one. */
  const challenge = `Basic realm="${randomBytes(12).toString('hex')}"`;
  /** Bounded by the browser pool's contexts. */
  const guests = new Map<string, Guest>();
  const directAgent = agentFor(direct);
  /** When a host was last asked for without leave. A browser that has a login shows it only once it was refused. */
  const unknown = new Map<string, number>();
  const noteUnknown = (url: URL | null): void => {
    if (url === null) return;
    unknown.delete(url.host);
    unknown.set(url.host, performance.now());
    const [oldest] = unknown.keys();
    if (unknown.size > MOST_UNKNOWN && oldest !== undefined) unknown.delete(oldest);
  };

  const byLogin = (request: IncomingMessage): [string, Guest] | null => {
    const login = /^Basic (\S+)$/i.exec(request.headers['proxy-authorization'] ?? '')?.[1] ?? '';
    const text = Buffer.from(login, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    const username = text.slice(0, Math.max(0, colon));
    const guest = guests.get(username);
    if (guest === undefined || !timingSafeEqual(digestOf(text.slice(colon + 1)), guest.digest)) return null;
    return [username, guest];
  };

  const onRequest = (
    request: IncomingMessage,
    response: ServerResponse,
    found: [string, Guest] | null,
  ): void => {
    if (found === null) {
      noteUnknown(URL.parse(request.url ?? ''));
      response.writeHead(407, { 'proxy-authenticate': challenge, 'content-length': 0 }).end();
      return;
    }
    const [username, guest] = found;
    if (request.headers['proxy-authorization'] !== undefined) {
      unknown.delete(URL.parse(request.url ?? '')?.host ?? '');
    }
    remember(guest, request.socket);
    if (guest.isProbe) {
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' }).end(PROBE_PAGE);
      return;
    }
    forwardRequest(request, response, guest.agent, {
      onFailure: (url, error) => notes.add(username, url, error),
      onBytes: (bytes) => measure(guest, bytes),
    });
  };

  const onConnect = (
    request: IncomingMessage,
    client: Duplex,
    head: Buffer,
    found: [string, Guest] | null,
  ): void => {
    client.on('error', () => client.destroy());
    const target = URL.parse(`http://${request.url}`);
    if (found === null || target === null) {
      noteUnknown(target);
      const status = target === null ? '400 Bad Request' : '407 Proxy Authentication Required';
      client.end(`HTTP/1.1 ${status}\r\nProxy-Authenticate: ${challenge}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [username, guest] = found;
    if (request.headers['proxy-authorization'] !== undefined) unknown.delete(target.host);
    remember(guest, client);
    if (guest.isProbe) {
      client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const host = target.hostname.replace(/^\[|\]$/g, '');
    guest.connect(host, Number(target.port) || 80).then(
      (server) => {
        join(client, server, head, windowFor(guest, keyOf(target)));
        server.on('data', (chunk: Uint8Array) => measure(guest, chunk.byteLength));
      },
      (error: unknown) => {
        notes.add(username, target, mapError(error, target, 'connect'));
        client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
      },
    );
  };

  const windowFor = (guest: Guest, key: string): ReadWindow | null => {
    if (options.readWindow === undefined) return null;
    const known = guest.windows.get(key);
    if (known !== undefined) return known;
    for (const [other, window] of guest.windows) if (window.isIdle) guest.windows.delete(other);
    const window = createReadWindow(options.readWindow);
    guest.windows.set(key, window);
    return window;
  };

  const open = async (guestOf: (request: IncomingMessage) => [string, Guest] | null): Promise<Server> => {
    const server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: 60_000,
      requestTimeout: 0,
    });
    server.maxConnections = options.maxConnections ?? 2_048;
    server.on('request', (request, response) => onRequest(request, response, guestOf(request)));
    server.on('connect', (request, client, head) => onConnect(request, client, head, guestOf(request)));
    server.on('upgrade', (_request, socket) => socket.destroy());
    server.on('clientError', (_error, socket) => socket.destroy());
    server.on('connection', (socket) => socket.setNoDelay(true));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  };
  const server = await open(byLogin);

  const dismiss = (username: string): void => {
    const guest = guests.get(username);
    if (guest === undefined) return;
    guests.delete(username);
    notes.forget(username);
    for (const socket of guest.sockets) socket.destroy();
    guest.door?.closeAllConnections();
    guest.door?.close();
    if (guest.agent !== directAgent) guest.agent.destroy();
  };

  const admit = (upstream: ProxyEndpoint | null, isProbe: boolean): ProxyPass => {
    const [username, password] = [randomBytes(9).toString('hex'), randomBytes(24).toString('hex')];
    const connect = upstream === null ? direct : by(upstream);
    const agent = upstream === null ? directAgent : agentFor(connect);
    const digest = digestOf(password);
    guests.set(username, {
      digest,
      connect,
      agent,
      sockets: new Set(),
      meters: new Set(),
      windows: new Map(),
      door: null,
      isProbe,
    });
    return { username, password };
  };

  return {
    url: urlOf(server),
    get admitted() {
      return guests.size;
    },
    admit: (upstream) => admit(upstream, false),
    admitProbe: () => admit(null, true),
    isRefusal: (headers) => headers['proxy-authenticate'] === challenge,
    wasUnknown({ host, hostname, port, protocol }) {
      // A tunnel's target always has its port.
      const withPort = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
      const at = Math.max(unknown.get(host) ?? 0, unknown.get(withPort) ?? 0);
      return at > 0 && performance.now() - at < UNKNOWN_MS;
    },
    async doorFor(username) {
      const door = await open(() => {
        const guest = guests.get(username);
        return guest === undefined ? null : [username, guest];
      });
      const guest = guests.get(username);
      if (guest === undefined) door.close();
      else guest.door = door;
      return urlOf(door);
    },
    dismiss,
    windowOf(username, url) {
      const guest = guests.get(username);
      return guest === undefined ? null : windowFor(guest, keyOf(url));
    },
    meter(username, limitBytes, onExceeded) {
      const meter: Meter = { receivedBytes: 0, limitBytes, onExceeded };
      const meters = guests.get(username)?.meters;
      meters?.add(meter);
      return () => void meters?.delete(meter);
    },
    failureOf: (username, url) => notes.of(username, url),
    async close() {
      closing.abort();
      for (const username of [...guests.keys()]) dismiss(username);
      directAgent.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo | null)?.port ?? 0}`;

/** Connections of plain http; Chromium asks for a tunnel for everything else. */
function agentFor(connect: ConnectBy): Agent {
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 64, timeout: 60_000 });
  // Typed for sockets that are there at once; Node takes them by callback as well.
  agent.createConnection = ((
    to: { host?: string; port?: number },
    done: (error: Error | null, socket?: Socket) => void,
  ) => {
    connect(to.host ?? '', Number(to.port)).then((socket) => done(null, socket), done);
    return undefined;
  }) as unknown as Agent['createConnection'];
  return agent;
}

function remember(guest: Guest, socket: Duplex): void {
  if (guest.sockets.has(socket)) return;
  guest.sockets.add(socket);
  socket.once('close', () => guest.sockets.delete(socket));
}

function measure({ meters }: Guest, bytes: number): void {
  for (const meter of meters) {
    meter.receivedBytes += bytes / meters.size;
    if (meter.receivedBytes <= meter.limitBytes) continue;
    meters.delete(meter);
    meter.onExceeded();
  }
}

function join(client: Duplex, server: Socket, head: Buffer, window: ReadWindow | null): void {
  server.on('error', () => client.destroy());
  server.on('close', () => client.destroy());
  client.on('close', () => server.destroy());
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
