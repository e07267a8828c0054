import type { IncomingMessage } from 'node:http';
import { listen } from '../../errors/guarded.ts';
import type { App } from './app.ts';

/** How much of a request that no handler reads is taken off the connection before its answer is sent. */
export interface DrainLimits {
  readonly bytes: number;
  readonly ms: number;
}

const LIMITS: DrainLimits = { bytes: 64 * 1024 * 1024, ms: 2_000 };

/**
 * Reads the rest of each request before its answer is sent, and drops it: the body of a GET, or the unread rest of a
 * body above the limit. A connection that is closed while bytes of its client are unread is reset, and the client then loses
 * the answer as well. Past the limits the answer is sent all the same.
 */
export function drainRequests(app: App, limits: DrainLimits = LIMITS): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { raw } = request;
    if (isRead(raw) || raw.socket.destroyed || expectsToContinue(raw)) return done(null, payload);
    let bytes = 0;
    const end = () => {
      clearTimeout(timer);
      raw.off('data', count).off('end', end).off('close', end);
      done(null, payload);
    };
    const count = (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > limits.bytes) end();
    };
    const timer = setTimeout(end, limits.ms);
    listen(raw, 'data', count);
    listen(raw, 'end', end);
    listen(raw, 'close', end);
    raw.resume();
  });
}

/** All of it has arrived, or a handler has read it. */
function isRead({ complete, readableEnded }: IncomingMessage): boolean {
  return complete || readableEnded;
}

/** Such a client sends no body before it is told to, and the answer tells it otherwise. */
function expectsToContinue({ headers }: IncomingMessage): boolean {
  return headers.expect !== undefined;
}
