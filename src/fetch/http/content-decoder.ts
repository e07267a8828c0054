import type { Transform } from 'node:stream';
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { codeOf } from '../network-errors.ts';

export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

const CODINGS: ReadonlyMap<string, Coding | null> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
  // No coding, or things servers write here by mistake and browsers pass over.
  ['identity', null],
  ['none', null],
  ['binary', null],
  ['utf8', null],
  ['utf-8', null],
  ['', null],
]);

/** Each coding costs memory. */
const MAX_CODINGS = 4;

/** The codings to undo, the last one applied first. BAD_ENCODING for ones we cannot undo. */
export function codingsOf(contentEncoding: string | readonly string[] | undefined): readonly Coding[] {
  if (contentEncoding === undefined) return [];
  const found: Coding[] = [];
  for (const token of contentEncoding.toString().split(',')) {
    const coding = CODINGS.get(token.trim().toLowerCase());
    if (coding === undefined) throw badEncoding(`unknown coding ${token.trim().slice(0, 40)}`);
    if (coding !== null) found.unshift(coding);
  }
  if (found.length > MAX_CODINGS) throw badEncoding('too many codings');
  return found;
}

export type Decoder = Transform & { readonly bytesWritten: number };

/** Larger than Node's 16 KiB: a page then mostly fits one chunk, which saves a third of the time. */
const OPTIONS = { chunkSize: 65_536 } as const;

/** RFC 9659: a window beyond 8 MB is refused. A decoder would take up to 128 MB for a response of a few bytes. */
const ZSTD_PARAMS = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/** Undoes one coding of a whole small body. Null when the output would pass `maxBytes`. */
export function decodeSync(coding: Coding, input: Uint8Array, maxBytes: number): Uint8Array | null {
  try {
    // With `info` the result is not the buffer alone, which Node's types do not say.
    const result: unknown = decompress(coding, input, { ...OPTIONS, maxOutputLength: maxBytes, info: true });
    const { buffer, engine } = result as { buffer: Uint8Array; engine: { bytesWritten: number } };
    if (hasReadAll(coding, engine.bytesWritten, input.byteLength)) return buffer;
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return null;
    throw asBadEncoding(error);
  }
  throw badEncoding('data after the end');
}

function decompress(
  coding: Coding,
  input: Uint8Array,
  options: { maxOutputLength: number; info: true },
): unknown {
  switch (coding) {
    case 'gzip':
      return gunzipSync(input, options);
    case 'deflate':
      return hasZlibHeader(input) ? inflateSync(input, options) : inflateRawSync(input, options);
    case 'br':
      return brotliDecompressSync(input, options);
    case 'zstd':
      return zstdDecompressSync(input, { ...options, ...ZSTD_PARAMS });
  }
}

/**
 * Node's zstd stops after the first frame, though a body may have several: half a page must not pass for a whole
 * one. What follows the end in the other formats is no part of the body.
 */
export function hasReadAll(coding: Coding, readBytes: number, givenBytes: number): boolean {
  return coding !== 'zstd' || readBytes >= givenBytes;
}

/** A streaming decoder for one coding; `start` are the first bytes it will get, at least two unless there are fewer. */
export function openDecoder(coding: Coding, start: Uint8Array): Decoder {
  switch (coding) {
    case 'gzip':
      return createGunzip(OPTIONS);
    case 'deflate':
      return hasZlibHeader(start) ? createInflate(OPTIONS) : createInflateRaw(OPTIONS);
    case 'br':
      return createBrotliDecompress(OPTIONS);
    case 'zstd':
      return createZstdDecompress({ ...OPTIONS, ...ZSTD_PARAMS });
  }
}

/** `deflate` means the zlib format, but some servers send it raw. */
function hasZlibHeader(input: Uint8Array): boolean {
  const [first = 0, second = 0] = input;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

export function asBadEncoding(error: unknown): ScrapifieError {
  if (error instanceof ScrapifieError) return error;
  return badEncoding(codeOf(error) || 'broken data', error);
}

export function badEncoding(detail: string, cause?: unknown): ScrapifieError {
  const message = `The body does not decode as its Content-Encoding says (${detail})`;
  return new ScrapifieError('BAD_ENCODING', message, { cause });
}
