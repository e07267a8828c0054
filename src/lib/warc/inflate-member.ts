import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { listen } from '../../core/errors/guarded.ts';
import { type ByteSource, badArchive } from './byte-source.ts';

/** The end of the file was reached within a gzip member or a record. */
export class Truncated extends Error {}

const PIECE_BYTES = 65_536;
/** Members up to these sizes are inflated in one call; a stream costs many times that. */
const ONE_CALL_BYTES = 262_144;
const ONE_CALL_OUTPUT_BYTES = 1_048_576;
/** The most that one member may inflate to. */
const MAX_OUTPUT_BYTES = 1_073_741_824;
/** Beyond this size a ratio that no document reaches is a bomb. */
const SUSPECT_BYTES = 67_108_864;
const MAX_RATIO = 250;
const MAX_HEADER_BYTES = 66_000;
const FHCRC = 2;
const FEXTRA = 4;
const FNAME = 8;
const FCOMMENT = 16;

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/**
 * What the gzip member at the offset holds; returns where the next one begins. Throws Truncated where the source ends
 * within it, and BAD_ARCHIVE for bytes that are no gzip, a wrong checksum, and bombs.
 */
export async function* inflateMember(source: ByteSource, offset: number): AsyncGenerator<Buffer, number> {
  const window = await source.read(offset, ONE_CALL_BYTES);
  const start = headerBytes(source, offset, window);
  const whole = inInOneCall(window.subarray(start));
  if (whole !== null) {
    const next = start + whole.readBytes + 8;
    if (next > window.length) throw new Truncated();
    checkTrailer(source, offset, window.subarray(next - 8, next), crc32(whole.output), whole.output.length);
    yield whole.output;
    return offset + next;
  }
  const inflated = inflateSlowly(source, offset + start);
  let checksum = 0;
  let length = 0;
  for (;;) {
    const step = await inflated.next();
    if (step.done === true) {
      const trailer = await source.read(step.value, 8);
      if (trailer.length < 8) throw new Truncated();
      checkTrailer(source, offset, trailer, checksum, length);
      return step.value + 8;
    }
    checksum = crc32(step.value, checksum);
    length += step.value.length;
    yield step.value;
  }
}

/** Null when the member is larger than one call may hold. */
function inInOneCall(bytes: Buffer): { output: Buffer; readBytes: number } | null {
  try {
    // The option `info` makes the result more than the buffer alone, which Node's types do not say.
    const result: unknown = inflateRawSync(bytes, { maxOutputLength: ONE_CALL_OUTPUT_BYTES, info: true });
    const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
    return { output: buffer, readBytes: engine.bytesWritten };
  } catch {
    return null;
  }
}

async function* inflateSlowly(source: ByteSource, from: number): AsyncGenerator<Buffer, number> {
  const stream = createInflateRaw({ chunkSize: PIECE_BYTES });
  let isShort = false;
  const feed = async () => {
    for (let at = from; !stream.destroyed && !stream.readableEnded; ) {
      const piece = await source.read(at, PIECE_BYTES);
      at += piece.length;
      if (piece.length === 0) {
        isShort = true;
        stream.end();
        return;
      }
      if (!stream.destroyed && !stream.write(piece)) await drained(stream);
    }
  };
  const feeding = feed().catch((error: unknown) => void stream.destroy(error as Error));
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length;
      const isBomb = length > SUSPECT_BYTES && length > MAX_RATIO * stream.bytesWritten;
      if (length > MAX_OUTPUT_BYTES || isBomb) {
        throw badArchive(source, from, `a record inflates to more than ${length} bytes`);
      }
      yield chunk;
    }
  } catch (error) {
    if (isShort) throw new Truncated();
    throw (error as Error).name === 'ScrapifieError' ? error : badArchive(source, from, 'damaged gzip data');
  } finally {
    stream.destroy();
    await feeding;
  }
  return from + stream.bytesWritten;
}

function drained(stream: ReturnType<typeof createInflateRaw>): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      for (const event of EVENTS) stream.off(event, go);
      resolve();
    };
    for (const event of EVENTS) listen(stream, event, go);
  });
}

const EVENTS = ['drain', 'end', 'close', 'error'] as const;

function headerBytes(source: ByteSource, offset: number, window: Buffer): number {
  if (window.length < 18) throw new Truncated();
  if (!isGzip(window) || window[2] !== 8)
    throw badArchive(source, offset, 'no gzip member where one should be');
  const flags = window[3] ?? 0;
  let at = 10;
  if ((flags & FEXTRA) !== 0) at += 2 + window.readUInt16LE(10);
  for (const flag of [FNAME, FCOMMENT]) {
    if ((flags & flag) === 0) continue;
    const end = window.indexOf(0, at);
    if (end === -1 || end > MAX_HEADER_BYTES) throw badArchive(source, offset, 'a gzip header without end');
    at = end + 1;
  }
  if ((flags & FHCRC) !== 0) at += 2;
  return at;
}

function checkTrailer(
  source: ByteSource,
  offset: number,
  trailer: Buffer,
  checksum: number,
  length: number,
): void {
  const isRight = trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === length % 2 ** 32;
  if (!isRight) throw badArchive(source, offset, 'the checksum of a gzip member is wrong');
}
