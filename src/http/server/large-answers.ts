import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ByteRange } from '../../core/ports/blobs.ts';
import type { App } from './app.ts';
import type { answers } from './envelope.ts';

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

/**
 * The part of a file that a `Range` header asks for. `whole`: there is no header, or one that a server may pass over, such
 * as one of several ranges. `beyond`: the file has no such part.
 */
export function rangeOf(header: string | undefined, sizeBytes: number): ByteRange | 'whole' | 'beyond' {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  if (first === '') {
    const suffix = Math.min(Number(last), sizeBytes);
    return suffix === 0 ? 'beyond' : { start: sizeBytes - suffix, end: sizeBytes };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= sizeBytes) return 'beyond';
  return { start, end: last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes) };
}

/** Whether a header such as `If-None-Match` names the entity tag. */
export function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}

export const NDJSON = 'application/x-ndjson';
const CHUNK_CHARS = 65_536;

/** An answer of lines, for the OpenAPI document, which has no word for the schema of a line. */
export const lines = (description: string) => ({ schema: z.string().describe(description) });

/** The answers of a list that is also given as lines. */
export function orLines(documented: ReturnType<typeof answers>): ReturnType<typeof answers> {
  const { '200': list, ...others } = documented;
  if (list === undefined) return documented;
  const content = { ...list.content, [NDJSON]: lines('One object per line, each like an entry of `items`.') };
  return { ...others, 200: { ...list, content } };
}

export function wantsNdjson(request: FastifyRequest): boolean {
  return request.headers.accept?.includes(NDJSON) ?? false;
}

/** One JSON object per line, for as long as there are items; the next ones are read when the client took the last. */
export function sendNdjson(reply: FastifyReply, items: AsyncIterable<unknown>): FastifyReply {
  return reply
    .type(`${NDJSON}; charset=utf-8`)
    .send(Readable.from(linesOf(items), { objectMode: false, highWaterMark: CHUNK_CHARS }));
}

async function* linesOf(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let chunk = '';
  for await (const item of items) {
    chunk += `${JSON.stringify(item)}\n`;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
