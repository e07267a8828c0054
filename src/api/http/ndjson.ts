import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const NDJSON = 'application/x-ndjson';
const CHUNK_CHARS = 65_536;

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
