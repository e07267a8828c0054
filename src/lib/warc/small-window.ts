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
