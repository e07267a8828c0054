import { constants, createGzip, gzip, gzipSync } from 'node:zlib';
import { listen } from '../../core/errors/guarded.ts';

const LEAST_WINDOW_BITS = 9;
const MOST_WINDOW_BITS = 15;
const LEAST_MEMORY_LEVEL = 3;
const MOST_MEMORY_LEVEL = 8;
const LEAST_CHUNK_BYTES = 256;

/**
 * Options of zlib that fit a small input: a window that holds all of it compresses as well as one of 32 KB. Tables and
 * output of the usual size are 330 KB, which would be allocated and cleared for each of a million records.
 */
export function smallWindow(bytes: number): {
  readonly windowBits: number;
  readonly memLevel: number;
  readonly chunkSize: number;
} {
  const bits = Math.min(MOST_WINDOW_BITS, Math.max(LEAST_WINDOW_BITS, Math.ceil(Math.log2(bytes + 1))));
  return {
    windowBits: bits,
    memLevel: Math.min(MOST_MEMORY_LEVEL, Math.max(LEAST_MEMORY_LEVEL, bits - 6)),
    // Input that cannot be compressed grows by less.
    chunkSize: Math.max(LEAST_CHUNK_BYTES, bytes + (bytes >> 6) + 64),
  };
}

/** Up to this, a record is compressed at once: another thread would take longer to be asked. */
const AT_ONCE_BYTES = 16_384;
/** Up to this, in one call of another thread: a stream costs more. */
const ONE_CALL_BYTES = 1_048_576;
const PIECE_BYTES = 262_144;
const OPTIONS = { level: constants.Z_BEST_SPEED + 4, chunkSize: 65_536 };

/** One gzip member of these parts: in a compressed WARC file each record is one, so that readers can begin at any. */
export async function* gzipMember(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
  if (bytes <= AT_ONCE_BYTES) {
    yield gzipSync(Buffer.concat(parts), { ...OPTIONS, ...smallWindow(bytes) });
    return;
  }
  if (bytes <= ONE_CALL_BYTES) {
    yield await new Promise<Buffer>((resolve, reject) => {
      gzip(Buffer.concat(parts), OPTIONS, (error, result) =>
        error === null ? resolve(result) : reject(error),
      );
    });
    return;
  }
  const stream = createGzip(OPTIONS);
  void feed(stream, parts);
  yield* stream as AsyncIterable<Uint8Array>;
}

async function feed(stream: ReturnType<typeof createGzip>, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; at += PIECE_BYTES) {
      if (stream.destroyed) return;
      if (stream.write(part.subarray(at, at + PIECE_BYTES))) continue;
      await new Promise<void>((resolve) => {
        const go = () => {
          stream.off('drain', go).off('close', go);
          resolve();
        };
        listen(stream, 'drain', go);
        listen(stream, 'close', go);
      });
    }
  }
  if (!stream.destroyed) stream.end();
}
