import type { FastifyReply } from 'fastify';

/**
 * Aborts when the connection ends before the answer is written. (The request's own `close` comes as soon as its body
 * was read, and says nothing.)
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  return gone.signal;
}
