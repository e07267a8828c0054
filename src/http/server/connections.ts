import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { type AddressTest, plainAddress } from '../../core/config/field-types.ts';
import { guarded, listen, listenOnce } from '../../core/errors/guarded.ts';

interface ConnectionLimits {
  /** The most connections at once. */
  readonly max: number;
  /** Connections at once from one address. */
  readonly maxPerAddress: number;
  /** Reverse proxies: each of them brings the clients of many addresses, so `maxPerAddress` does not apply. */
  readonly isProxy: AddressTest;
}

/** Why a connection was closed from this side. */
export type ClosedFor = 'total' | 'address' | 'unread' | 'pipelined';

export interface ConnectionOptions extends ConnectionLimits {
  readonly onClosed: (why: ClosedFor) => void;
  /** A connection on which more requests than this wait for their answers is closed. */
  readonly maxPipelined?: number;
  /** A connection that took nothing of what waits for it for so long is closed. */
  readonly unreadMs?: number;
  readonly now: () => number;
}

interface Connections {
  /** Bytes written to connections that their clients have not taken yet. */
  unreadBytes(): number;
  /** Closes connections whose client has stopped reading; called by a timer as well. */
  sweep(): void;
  close(): void;
}

/** Clients of today send one request at a time; each that waits behind another holds its answer in memory. */
const MOST_PIPELINED = 4;
const UNREAD_MS = 60_000;
const SWEEP_MS = 5_000;

/** Node.js keeps the parser of a connection on its socket, without a word in its types. */
interface ParsedSocket extends Socket {
  readonly parser?: {
    onIncoming?: ((request: IncomingMessage, isKeptAlive: boolean) => number) | null;
  } | null;
}

/** Has the parser take what follows the head of a request for no HTTP, and leave it alone. */
const NO_HTTP_AFTER = 2;

/**
 * One read may bring thousands of requests, and Node.js parses all of it, whatever became of the connection at the first of
 * them: 64 KB of short requests would cost what 2,400 connections cost. Once the connection is closed, the rest is dropped.
 */
function parseNothingOnceClosed(socket: ParsedSocket): void {
  const { parser } = socket;
  const onIncoming = parser?.onIncoming;
  if (parser === null || parser === undefined || typeof onIncoming !== 'function') return;
  parser.onIncoming = (request, isKeptAlive) =>
    socket.destroyed ? NO_HTTP_AFTER : onIncoming(request, isKeptAlive);
}

/** What was last seen of a connection with something unread. */
interface Backlog {
  takenBytes: number;
  since: number;
}

/**
 * Bounds what clients can hold of this process without a key: connections in total and per address, requests that wait
 * on one connection, and the time for which an answer may stay unread. A connection too many is closed without an answer: one that is never read would
 * need memory, too. Slow requests are the HTTP server's to end (`headersTimeout`, `requestTimeout`).
 */
export function limitConnections(server: Server, options: ConnectionOptions): Connections {
  const { max, maxPerAddress, isProxy, onClosed, unreadMs = UNREAD_MS, now } = options;
  const { maxPipelined = MOST_PIPELINED } = options;
  const sockets = new Map<Socket, Backlog | null>();
  const perAddress = new Map<string, number>();
  server.maxConnections = max;
  listen(server, 'drop', () => onClosed('total'));
  listen(server, 'connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    const count = perAddress.get(address) ?? 0;
    if (count >= maxPerAddress && !isProxy(address)) {
      onClosed('address');
      socket.destroy();
      return;
    }
    perAddress.set(address, count + 1);
    sockets.set(socket, null);
    parseNothingOnceClosed(socket);
    listenOnce(socket, 'close', () => {
      sockets.delete(socket);
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    });
  });

  const unanswered = new WeakMap<Socket, number>();
  server.prependListener(
    'request',
    guarded(({ socket }: IncomingMessage, response: ServerResponse) => {
      const count = (unanswered.get(socket) ?? 0) + 1;
      unanswered.set(socket, count);
      listenOnce(response, 'close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
      if (count <= maxPipelined || socket.destroyed) return;
      onClosed('pipelined');
      socket.destroy();
    }),
  );

  function sweep(): void {
    const at = now();
    for (const [socket, before] of sockets) {
      if (socket.writableLength === 0) {
        if (before !== null) sockets.set(socket, null);
        continue;
      }
      const takenBytes = socket.bytesWritten - socket.writableLength;
      if (before === null || before.takenBytes !== takenBytes) {
        sockets.set(socket, { takenBytes, since: at });
      } else if (at - before.since >= unreadMs) {
        onClosed('unread');
        socket.destroy();
      }
    }
  }
  const timer = setInterval(sweep, SWEEP_MS).unref();

  return {
    unreadBytes() {
      let bytes = 0;
      for (const socket of sockets.keys()) bytes += socket.writableLength;
      return bytes;
    },
    sweep,
    close: () => clearInterval(timer),
  };
}

/** The connections of a server that is about to close. */
interface ClosingConnections {
  /**
   * Ends every connection that has no request under way, now and again as answers are sent, because closing a server
   * waits for all of them, the ones that clients keep open for their next request included. After `limitMs` it ends
   * the others too.
   */
  begin(limitMs: number): void;
  /** The server has closed. */
  stop(): void;
}

const LOOK_MS = 50;

export function watchConnections(server: Server): ClosingConnections {
  /** Connections that have not asked anything yet; Node does not count them among the idle ones. */
  const silent = new Set<Socket>();
  let look: NodeJS.Timeout | undefined;
  let limit: NodeJS.Timeout | undefined;
  listen(server, 'connection', (socket: Socket) => {
    silent.add(socket);
    listenOnce(socket, 'close', () => silent.delete(socket));
  });
  listen(server, 'request', ({ socket }: IncomingMessage) => silent.delete(socket));

  function endIdle(): void {
    for (const socket of silent) socket.destroy();
    server.closeIdleConnections();
  }

  return {
    begin(limitMs) {
      endIdle();
      look = setInterval(endIdle, LOOK_MS);
      limit = setTimeout(() => server.closeAllConnections(), limitMs);
    },
    stop() {
      clearInterval(look);
      clearTimeout(limit);
    },
  };
}

/** Signals of callers within this process, whose requests have no connection that could end, by the id of the request. */
const callers = new Map<string, AbortSignal>();

/** Makes a request of this id count as left by its client when the signal aborts. */
export async function withCaller<T>(
  requestId: string,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return call();
  callers.set(requestId, signal);
  try {
    return await call();
  } finally {
    callers.delete(requestId);
  }
}

/**
 * Aborts when the connection ends before the answer is written. (The request's own `close` comes as soon as its body
 * was read, and says nothing.)
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  listenOnce(reply.raw, 'close', () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  const caller = callers.get(reply.request.id);
  return caller === undefined ? gone.signal : AbortSignal.any([gone.signal, caller]);
}
