import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { answers } from './envelope.ts';

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
