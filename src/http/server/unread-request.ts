import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import type { App } from './app.ts';
import { declaredLength, isWaitingToSend } from './request-bodies.ts';

/** How much of a body that nothing reads is taken off its connection once its request is answered. */
export interface DrainLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** Clients that send without reading get their answer when their whole body has left them. */
const WITH_KEY: DrainLimits = { bytes: 16 * 1_048_576, ms: 2_000 };
const WITHOUT_KEY: DrainLimits = { bytes: 262_144, ms: 1_000 };
/** A rest of this length is read to its end, and the connection serves the next request. */
const LITTLE_BYTES = 65_536;
/** The little rest has to arrive within this time. */
const LITTLE_MS = 15_000;

/** Connections that end with the answer under way. */
const ending = new WeakSet<Socket>();

/**
 * Answers requests whose body was not read, or not to its end, at once: a GET with a body, a path that does not exist, a
 * key that is wrong, a body that is too large. When the rest is little, the connection goes on after it. Else the
 * answer says that the connection closes; no further request on it is served, and a bounded part of the rest is read and
 * dropped before it is closed: a connection that is closed while bytes of its client are unread is reset, and the client
 * may lose the answer with it.
 */
export function closeUnread(app: App, withKey = WITH_KEY, withoutKey = WITHOUT_KEY): void {
  app.addHook('onRequest', async (request, reply) => {
    if (ending.has(request.raw.socket)) reply.hijack();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request;
    const { socket } = raw;
    if (isRead(raw) || !(socket instanceof Socket) || socket.destroyed) return done(null, payload);
    const leftBytes = declaredLength(raw) ?? Number.POSITIVE_INFINITY;
    const isClosing = !reply.raw.shouldKeepAlive || reply.hasHeader('connection');
    const isLast = isClosing || isWaitingToSend(raw) || leftBytes > LITTLE_BYTES;
    if (isLast) {
      reply.header('connection', 'close');
      closeAfterAnswer(raw, socket, request.key === null || request.key === undefined ? withoutKey : withKey);
    } else {
      const timer = setTimeout(() => socket.destroy(), LITTLE_MS).unref();
      listenOnce(raw, 'close', () => clearTimeout(timer));
      raw.resume();
    }
    done(null, payload);
  });
}

/** All of it has arrived, or there is none. */
function isRead({ complete, readableEnded, headers }: IncomingMessage): boolean {
  if (complete || readableEnded) return true;
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

function closeAfterAnswer(raw: IncomingMessage, socket: Socket, { bytes, ms }: DrainLimits): void {
  ending.add(socket);
  let leftBytes = bytes;
  let isAnswered = false;
  const drop = (chunk: Buffer) => {
    leftBytes -= chunk.byteLength;
    if (leftBytes > 0) return;
    // The answer is not cut off: what the client sends meanwhile waits in its own buffers.
    if (isAnswered) socket.destroy();
    else raw.pause();
  };
  // Node.js calls this when the answer has been handed over, and would close the connection then.
  const closeNow = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    isAnswered = true;
    if (raw.complete || leftBytes <= 0) return closeNow();
    socket.end();
    listenOnce(raw, 'end', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), ms).unref();
    listenOnce(socket, 'close', () => clearTimeout(timer));
  };
  listen(raw, 'error', () => undefined);
  listen(raw, 'data', drop);
  raw.resume();
}
