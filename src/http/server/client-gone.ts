import type { FastifyReply } from 'fastify';
import { listenOnce } from '../../core/errors/guarded.ts';

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
