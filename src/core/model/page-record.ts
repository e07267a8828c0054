import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { releaseBytes } from '../../lib/own-memory.ts';
import type { ContentHash } from './ids.ts';
import type { PageRecord } from './page.ts';

/** Smaller records are kept as they are: compressing them costs more time than writing them. */
const LEAST_COMPRESSED_BYTES = 65_536;
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** A record holds at most a page's text and HTML, both bounded by the body limit. */
const MAX_RECORD_BYTES = 536_870_912;
const OPENING_BRACE = 0x7b;
const RENDERED_START = Buffer.from('{"rendered":');

/** Its bytes are a piece of memory of their own: a slice of a shared one would cross between threads with the whole. */
const encoder = new TextEncoder();

/** How a record lies beside its page: JSON, or a zstd frame of it. */
export function packRecord(record: PageRecord): Uint8Array {
  const json = encoder.encode(JSON.stringify(record));
  return json.length < LEAST_COMPRESSED_BYTES ? json : zstdCompressSync(json, COMPRESSION);
}

/** The JSON of a packed record. */
export function unpackRecord(packed: Uint8Array): Buffer {
  if (packed[0] !== OPENING_BRACE) return zstdDecompressSync(packed, { maxOutputLength: MAX_RECORD_BYTES });
  return Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
}

/** Undefined also for a record that cannot be read: then no reader gets from it to a blob either. */
function renderedOf(packed: Uint8Array): PageRecord['rendered'] {
  try {
    const json = unpackRecord(packed);
    return isRenderedRecord(json) ? (JSON.parse(json.toString('utf8')) as PageRecord).rendered : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The blobs that a packed record refers to, wherever in what came of showing the page: of `bodies` the document as it was
 * sent, of `artifacts` everything else.
 */
export function blobsOfRecord(
  packed: Uint8Array,
  parts: readonly ('bodies' | 'artifacts')[] = ['bodies', 'artifacts'],
): ContentHash[] {
  if (parts.length === 0) return [];
  const { raw, ...artifacts } = renderedOf(packed) ?? {};
  const found: ContentHash[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      if (name === 'contentHash' && typeof each === 'string' && isContentHash(each))
        found.push(each as ContentHash);
      else look(each);
    }
  };
  if (parts.includes('artifacts')) look(artifacts);
  if (parts.includes('bodies')) look(raw);
  return found;
}

/** What the artifacts of a packed record add up to. */
export function bytesOfArtifacts(packed: Uint8Array): number {
  const { raw: _raw, ...artifacts } = renderedOf(packed) ?? {};
  const bytesIn = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    if ('contentHash' in value && 'bytes' in value) return Number(value.bytes);
    return Object.values(value).reduce<number>((sum, each) => sum + bytesIn(each), 0);
  };
  return bytesIn(artifacts);
}

/** Whether the page was rendered in a browser, from the JSON of its record and without parsing it. */
export function isRenderedRecord(json: Buffer): boolean {
  return json.subarray(0, RENDERED_START.length).equals(RENDERED_START);
}

/**
 * How bodies lie wherever they are kept: one body, or several one after the other, which for the pages of one site
 * takes half the time and space of one by one. The first four bytes say which of two forms a frame has: a zstd frame
 * begins with its own magic number, anything else with `RAW` and a zero.
 */
const RAW_TAG = Buffer.from('RAW\0', 'latin1');
const ZSTD_MAGIC = 0xfd2fb528;
const HASH = /^[0-9a-f]{64}$/;

/** Below this compression saves next to nothing. */
const LEAST_FRAMED_BYTES = 256;

/**
 * Level 1: the next ones cost a fifth more time for 4 % less space on pages. The checksum lets zstd itself notice
 * damage before the longer SHA-256 does.
 */
const FRAME_COMPRESSION = {
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
  if (bytes.length >= LEAST_FRAMED_BYTES) {
    const frame = zstdCompressSync(bytes, FRAME_COMPRESSION);
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
