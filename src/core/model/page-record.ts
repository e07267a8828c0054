import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { isContentHash } from './blob-frame.ts';
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
