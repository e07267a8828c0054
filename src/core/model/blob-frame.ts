import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { releaseBytes } from '../../lib/own-memory.ts';

/**
 * How bodies lie wherever they are kept: one body, or several one after the other, which for the pages of one site
 * takes half the time and space of one by one. The first four bytes say which of two forms a frame has: a zstd frame
 * begins with its own magic number, anything else with `RAW` and a zero.
 */
const RAW_TAG = Buffer.from('RAW\0', 'latin1');
const ZSTD_MAGIC = 0xfd2fb528;
const HASH = /^[0-9a-f]{64}$/;

/** Below this compression saves next to nothing. */
const LEAST_COMPRESSED_BYTES = 256;

/**
 * Level 1: the next ones cost a fifth more time for 4 % less space on pages. The checksum lets zstd itself notice
 * damage before the longer SHA-256 does.
 */
const COMPRESSION = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

export function encodeFrame(bodies: readonly Uint8Array[]): Uint8Array {
  const [only] = bodies;
  if (bodies.length === 1 && only !== undefined) return frameOf(only);
  const joined = Buffer.concat(bodies);
  const frame = frameOf(joined);
  releaseBytes(joined);
  return frame;
}

function frameOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length >= LEAST_COMPRESSED_BYTES) {
    const frame = zstdCompressSync(bytes, COMPRESSION);
    // A win of less than a sixteenth does not pay for decompressing at every read.
    if (frame.length < bytes.length - (bytes.length >> 4)) return frame;
  }
  return Buffer.concat([RAW_TAG, bytes]);
}

/** The bodies of a frame, one after the other, or null when it is not what was written. */
export function decodeFrame(stored: Buffer): Buffer | null {
  if (stored.length < RAW_TAG.length) return null;
  if (stored.readUInt32LE(0) !== ZSTD_MAGIC) {
    return stored.subarray(0, RAW_TAG.length).equals(RAW_TAG) ? stored.subarray(RAW_TAG.length) : null;
  }
  try {
    return zstdDecompressSync(stored);
  } catch {
    return null;
  }
}

/** Whether this can be the hash of a body: what comes from outside is asked before it becomes a key or a path. */
export function isContentHash(text: string): boolean {
  return HASH.test(text);
}

export function isBody(bytes: Uint8Array, contentHash: string): boolean {
  return hash('sha256', bytes, 'hex') === contentHash;
}
