import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerControl } from './control.ts';
import type { Answer, SiteRequest } from './exchange.ts';
import { answerTo } from './families.ts';
import { addressAt, addressOf, siteOf } from './hosts.ts';
import { createBusyGate } from './pages/again.ts';
import { SOCKET_GREETING, SOCKET_PATH } from './pages/javascript/windows.ts';
import { createRequestLog, type LogEntry, type LogMode } from './request-log.ts';
import { createVisits } from './visits.ts';
import { greetSocket } from './websocket.ts';
import { wireOf } from './wire.ts';

export interface SiteOptions {
  /** 0 takes a free one. */
  readonly port?: number;
  /** Pages of the large generated site. */
  readonly pages?: number;
  readonly log?: LogMode;
  /** Most entries of the full log, and most distinct URLs that are counted. */
  readonly logLimit?: number;
  /** How virtual hosts are named in `urlOf`: 127.0.1.x works everywhere on Linux, *.localhost where it resolves. */
  readonly naming?: 'addresses' | 'names';
}

/** Addresses of the test web, the same whether it runs in this process or another. */
export interface SiteAddresses {
  /** Address of the default host, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** A path on a virtual host by its name in the host table, or on `default`. */
  urlOf(host: string, path: string): string;
  /** The n-th nameless host: all of them have the same pages and allow all. */
  hostUrl(n: number): string;
}

/** A small, nasty web on the loopback. Connections from anywhere else are closed. */
export interface Site extends SiteAddresses {
  /** Requests since the last reset, oldest first; empty unless the log is `full`. */
  readonly log: readonly LogEntry[];
  /** How often this URL was asked for; always 0 when the log is `off`. */
  countOf(url: string): number;
  /** Forgets all requests, and makes pages that recover fail again. */
  reset(): void;
  /** Closes every connection, also those that would never end. */
  close(): Promise<void>;
}

export const DEFAULT_PAGES = 4_000;
const DEFAULT_LOG_LIMIT = 200_000;
const KEEP_ALIVE_MS = 60_000;
const MOST_BODY_BYTES = 1_048_576;
/** How often the site notes that it is awake. */
const AWAKE_EVERY_MS = 10;

export function addressesOf(port: number, naming: 'addresses' | 'names'): SiteAddresses {
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    urlOf(host, path) {
      const isNamed = naming === 'names' && host !== 'default';
      return `http://${isNamed ? `${host}.localhost` : addressOf(host)}:${port}${path}`;
    },
    hostUrl: (n) => `http://${addressAt(n)}:${port}`,
  };
}

export async function startSite(options: SiteOptions = {}): Promise<Site> {
  const { pages = DEFAULT_PAGES, naming = 'addresses' } = options;
  const log = createRequestLog(options.log ?? 'full', options.logLimit ?? DEFAULT_LOG_LIMIT);
  const visits = createVisits();
  let busy = createBusyGate();
  let port = 0;
  const awake = watchAwake();
  const reset = (): void => {
    log.reset();
    visits.reset();
    busy = createBusyGate();
  };

  const onRequest = (message: IncomingMessage, response: ServerResponse): void => {
    const target = message.url ?? '/';
    response.sendDate = false;
    if (target.startsWith('/__')) {
      answerControl(target, response, log, reset);
      return;
    }
    const host = message.headers.host ?? '';
    const method = message.method ?? 'GET';
    const at = epochNow();
    const { remotePort } = message.socket;
    const finished = log.record(at, host, target, method, message.headers, remotePort, awake.since());
    if (options.log === undefined || options.log === 'full') {
      response.once('close', () => finished(epochNow(), response.headersSent ? response.statusCode : null));
    }

    const queryAt = target.indexOf('?');
    const request: SiteRequest = {
      method,
      host,
      site: siteOf(host),
      path: queryAt < 0 ? target : target.slice(0, queryAt),
      query: queryAt < 0 ? '' : target.slice(queryAt + 1),
      headers: message.headers,
      at,
      pages,
      port,
      countVisit: () => visits.count(host + target),
      readBody: () => bodyOf(message),
    };
    const refusal = request.site === 'busy' ? busy(at) : null;
    const answer = refusal ?? answerTo(request);
    if (answer instanceof Promise) {
      answer.then(
        (made) => send(response, made),
        () => response.destroy(),
      );
    } else send(response, answer);
  };

  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, maxHeaderSize: 65_536 },
    onRequest,
  );
  server.on('connection', (socket) => {
    if (!isLoopback(socket)) socket.destroy();
  });
  server.on('clientError', (_, socket) => socket.destroy());
  const sockets = new Set<Duplex>();
  server.on('upgrade', (message, socket) => {
    const { url = '/', headers } = message;
    const { host = '' } = headers;
    const { remotePort } = message.socket;
    const finished = log.record(epochNow(), host, url, 'GET', headers, remotePort, awake.since());
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      finished(epochNow(), url === SOCKET_PATH ? 101 : null);
    });
    if (url === SOCKET_PATH) greetSocket(message, socket, SOCKET_GREETING);
    else socket.destroy();
  });
  port = await listen(server, options.port ?? 0);

  return {
    ...addressesOf(port, naming),
    get log() {
      return log.entries();
    },
    countOf(url) {
      const { host, pathname, search } = new URL(url);
      return log.countOf(host, pathname + search);
    },
    reset,
    close: () =>
      new Promise((resolve) => {
        awake.stop();
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Steady and with fractions, unlike the clock on the wall. */
const epochNow = () => performance.timeOrigin + performance.now();

/**
 * `since`: a time after which this process looked for requests. It is the look before the last one, because the last may
 * have been in the same turn of the event loop as the request.
 */
function watchAwake(): { since(): number; stop(): void } {
  let last = epochNow();
  let before = last;
  const timer = setInterval(() => {
    before = last;
    last = epochNow();
  }, AWAKE_EVERY_MS);
  timer.unref();
  return { since: () => before, stop: () => clearInterval(timer) };
}

function send(response: ServerResponse, answer: Answer): void {
  if ('write' in answer) {
    const { socket } = response;
    if (socket === null) return;
    answer.write(wireOf(socket));
    return;
  }
  const hasBody = answer.status !== 204 && answer.status !== 304;
  const headers = hasBody ? { ...answer.headers, 'content-length': answer.body.length } : answer.headers;
  response.writeHead(answer.status, headers as Record<string, string | number | string[]>);
  response.end(answer.body);
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MOST_BODY_BYTES) throw new Error('The request body is too large for the test site.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function isLoopback(socket: Socket): boolean {
  const address = socket.localAddress ?? '';
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}

/** Both families where the machine has them, since `localhost` may mean either; every 127.x.y.z is ours then. */
function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  const attempt = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  return attempt('::').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EAFNOSUPPORT' && error.code !== 'EADDRNOTAVAIL') throw error;
    return attempt('0.0.0.0');
  });
}
