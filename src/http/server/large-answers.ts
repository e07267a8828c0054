import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from './app.ts';

/** Smaller answers are written in one go. */
const LARGE_BYTES = 65_536;
const CHUNK_BYTES = 65_536;

/**
 * Sends large answers of the routes added afterwards piece by piece, each when the client took the one before.
 * Written in one go, an answer is copied into its connection and stays there for as long as the client does not read.
 *
 * Answers to requests without a key are files that are the same for every client: all connections read from one copy.
 * Every other large answer is counted while it is sent, and refused with OVERLOADED when it and those under way
 * exceed `maxBytes` together; one alone is never refused.
 */
export function streamLargeAnswers(app: App, maxBytes: number): void {
  /** By route, so it is bounded by the routes. */
  const files = new Map<string, { readonly text: string; readonly bytes: Buffer }>();
  let heldBytes = 0;

  function fileOf(route: string, text: string): Buffer {
    const known = files.get(route);
    if (known?.text === text) return known.bytes;
    const bytes = Buffer.from(text);
    files.set(route, { text, bytes });
    return bytes;
  }

  function send(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    if (payload.length < LARGE_BYTES) return payload;
    const isFile = request.key === null && typeof payload === 'string';
    const bytes = isFile
      ? fileOf(request.routeOptions.url ?? '', payload)
      : typeof payload === 'string'
        ? Buffer.from(payload)
        : payload;
    const countedBytes = isFile ? 0 : bytes.length;
    if (heldBytes > 0 && heldBytes + countedBytes > maxBytes) {
      throw new ScrapifieError(
        'OVERLOADED',
        `Clients have not read ${heldBytes} bytes of answers yet; ${bytes.length} more would be too much.`,
      );
    }
    heldBytes += countedBytes;
    // Exactly once, also when the client leaves before it took anything.
    listenOnce(reply.raw, 'close', () => {
      heldBytes -= countedBytes;
    });
    reply.header('content-length', bytes.length);
    return inChunks(bytes);
  }

  app.addHook('onRoute', (route) => {
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => send(request, reply, payload),
    ];
  });
}

/** Views of the bytes, not copies. */
function inChunks(bytes: Buffer): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      const end = Math.min(bytes.length, at + CHUNK_BYTES);
      this.push(at === end ? null : bytes.subarray(at, end));
      at = end;
    },
  });
}
