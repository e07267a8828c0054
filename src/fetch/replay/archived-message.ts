import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ByteSource } from '../../lib/warc/byte-source.ts';
import { readBlock } from '../../lib/warc/read-records.ts';
import { firstValue, type HttpHead, headLength, parseHead } from '../../lib/warc/warc-record.ts';
import { abortError } from '../deadline.ts';
import type { FetchRequest, ResponseHeaders } from '../engine.ts';
import { type Body, type BodySink, EMPTY_BODY, PlainSink } from '../http/body-buffer.ts';
import { type Coding, codingsOf, EncodedSink } from '../http/encoded-sink.ts';

const MAX_HEAD_BYTES = 262_144;
/** What archives put before the names of headers that no longer fit the stored body. */
const ORIGINAL = /^x-(?:archive-)?orig-/;
const CHUNK_LINE = /^([0-9a-f]{1,8})[\t ]*(?:;[^\r\n]*)?\r?\n/i;
const LONGEST_CHUNK_LINE = 1_024;

/** The HTTP message of a record; its body is read when it is asked for, once. */
export interface ArchivedMessage {
  readonly head: HttpHead;
  body(limits: BodyLimits): Promise<{ readonly body: Body; readonly storedBytes: number }>;
}

export type BodyLimits = Pick<FetchRequest, 'maxBodyBytes' | 'isCutAtLimit' | 'held' | 'signal'>;

/** Reads the head of the message at the offset. Throws BAD_ARCHIVE when there is none. */
export async function readMessage(source: ByteSource, offset: number): Promise<ArchivedMessage> {
  const block = readBlock(source, offset);
  let bytes = Buffer.alloc(0);
  for (;;) {
    const step = await block.next();
    if (step.done !== true) bytes = Buffer.concat([bytes, step.value]);
    const length = headLength(bytes.subarray(0, MAX_HEAD_BYTES));
    if (length !== -1) {
      const rest = bytes.subarray(length);
      const head = parseHead(bytes.subarray(0, length));
      return { head, body: (limits) => bodyOf(withStart(rest, block), head.headers, limits) };
    }
    // A head without an empty line behind it is one without a body.
    if (step.done === true)
      return { head: parseHead(bytes), body: async () => ({ body: EMPTY_BODY, storedBytes: 0 }) };
    if (bytes.length > MAX_HEAD_BYTES) {
      throw new ScrapifieError(
        'BAD_ARCHIVE',
        `A response in ${source.name} has headers without end, at byte ${offset}.`,
      );
    }
  }
}

/** The whole block of a record that holds no HTTP message. */
export const readResource = (
  source: ByteSource,
  offset: number,
  limits: BodyLimits,
): Promise<{ readonly body: Body; readonly storedBytes: number }> =>
  bodyOf(readBlock(source, offset), {}, limits);

/** The headers as the server sent them: what an archive has renamed gets its name back. */
export function originalHeaders(headers: HttpHead['headers']): ResponseHeaders {
  const restored: Record<string, string | string[]> = {};
  const renamed = new Set(
    Object.keys(headers).flatMap((name) => (ORIGINAL.test(name) ? [name.replace(ORIGINAL, '')] : [])),
  );
  for (const [name, value] of Object.entries(headers)) {
    if (renamed.has(name) || name === '__proto__') continue;
    restored[name.replace(ORIGINAL, '')] = value;
  }
  return restored;
}

async function* withStart(start: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (start.length > 0) yield start;
  yield* rest;
}

async function bodyOf(
  block: AsyncGenerator<Buffer>,
  headers: HttpHead['headers'],
  { maxBodyBytes: maxBytes, isCutAtLimit, held, signal }: BodyLimits,
): Promise<{ body: Body; storedBytes: number }> {
  const isChunked = /\bchunked\b/i.test(firstValue(headers['transfer-encoding']) ?? '');
  const chunks = isChunked ? withoutChunks(block) : block;
  const cut = Promise.withResolvers<Body>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let wake: () => void = () => undefined;
  let isCut = false;
  const common = {
    maxBytes,
    held,
    resume: () => wake(),
    onFull:
      isCutAtLimit === true
        ? (body: Body) => {
            isCut = true;
            cut.resolve(body);
          }
        : undefined,
  };
  let sink: BodySink | null = null;
  let storedBytes = 0;
  try {
    for await (const chunk of chunks) {
      if (signal?.aborted === true) throw abortError(signal.reason);
      storedBytes += chunk.length;
      const codings: readonly Coding[] = sink === null ? codingsIn(headers, chunk) : [];
      sink ??=
        codings.length === 0
          ? new PlainSink({ ...common, declaredBytes: -1 })
          : new EncodedSink({ ...common, codings, fail: failed.reject });
      const resumed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (!sink.write(chunk) && !isCut) await Promise.race([resumed, failed.promise, cut.promise]);
      if (isCut) return { body: await cut.promise, storedBytes };
    }
    const body = sink === null ? EMPTY_BODY : await Promise.race([sink.end(), failed.promise]);
    return { body, storedBytes };
  } catch (error) {
    sink?.drop();
    throw error;
  } finally {
    await block.return(undefined);
  }
}

/** Some archives keep the header of a body that they have decoded: gzip is recognised by its first bytes. */
function codingsIn(headers: HttpHead['headers'], start: Buffer): readonly Coding[] {
  const codings = codingsOf(headers['content-encoding']);
  const isMistaken = codings[0] === 'gzip' && !(start[0] === 0x1f && start[1] === 0x8b);
  return isMistaken ? [] : codings;
}

/** The body without the framing of its transfer, where the archive has kept that; else as it is. */
async function* withoutChunks(block: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer = Buffer.alloc(0);
  /** Bytes left of the current chunk, with the line end behind it. */
  let left = 0;
  let isFirst = true;
  let isFramed = true;
  let isOver = false;
  for await (const piece of block) {
    if (isOver) continue;
    if (!isFramed) {
      yield piece;
      continue;
    }
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
    while (pending.length > 0) {
      if (left > 2) {
        const data = pending.subarray(0, left - 2);
        yield data;
        pending = pending.subarray(data.length);
        left -= data.length;
        continue;
      }
      if (left > 0) {
        const end = pending.subarray(0, left);
        left -= end.length;
        pending = pending.subarray(end.length);
        continue;
      }
      const line = CHUNK_LINE.exec(pending.toString('latin1', 0, LONGEST_CHUNK_LINE));
      if (line === null && pending.length < LONGEST_CHUNK_LINE && !isFirst) break;
      if (line === null) {
        if (!isFirst) throw new ScrapifieError('BAD_ARCHIVE', 'A response in the archive has broken chunks.');
        isFramed = false;
        yield pending;
        pending = Buffer.alloc(0);
        break;
      }
      isFirst = false;
      const size = Number.parseInt(line[1] ?? '0', 16);
      pending = pending.subarray(line[0].length);
      left = size + 2;
      if (size === 0) {
        isOver = true;
        break;
      }
    }
  }
}
