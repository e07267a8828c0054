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
import { listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HeldBytes } from '../byte-budget.ts';
import { codeOf } from '../network-errors.ts';
import { type Body, BodyBuffer, type BodySink, bodyLimit, concatenated, EMPTY_BODY } from './body-buffer.ts';

/** Compressed bodies up to this are decoded in one go at their end, which costs a fraction of a stream. */
const ONE_GO_WIRE_BYTES = 65_536;
/** As long as they don't turn out larger than this: the event loop waits meanwhile. */
const ONE_GO_OUTPUT_BYTES = 1_048_576;
/** A decoder is given this much at once, however small the chunks are: each write costs a trip to another thread. */
const LEAST_WRITE_BYTES = 16_384;

/**
 * Compressed bodies. The limit holds for what comes out and, each by itself, for what goes in, so neither a bomb
 * nor an endless stream of empty blocks is ever held; a bomb is cut as soon as its output passes the limit.
 */
export class EncodedSink implements BodySink {
  readonly #options: EncodedBodyOptions;
  /** What has not been decoded yet. */
  readonly #wire: BodyBuffer;
  #wireBytes = 0;
  #chain: DecoderChain | null = null;

  constructor(options: EncodedBodyOptions) {
    this.#options = options;
    // At most the size of one go: that never has to wait for the budget.
    this.#wire = new BodyBuffer();
  }

  write(chunk: Uint8Array): boolean {
    const { maxBytes, onFull } = this.#options;
    this.#wireBytes += chunk.byteLength;
    // A body that is cut has as many bytes as are wanted long before that, unless it is made of empty blocks.
    if (this.#wireBytes > (onFull === undefined ? maxBytes : maxBytes * 2)) throw bodyLimit(maxBytes);
    const chain = this.#chain;
    if (chain !== null && this.#wire.length === 0 && chunk.byteLength >= LEAST_WRITE_BYTES) {
      return chain.write(chunk);
    }
    this.#wire.append(chunk);
    if (chain !== null) return this.#wire.length < LEAST_WRITE_BYTES || chain.write(this.#wire.take());
    return this.#wireBytes <= ONE_GO_WIRE_BYTES ? true : this.#openChain().write(this.#wire.take());
  }

  end(): Body | Promise<Body> {
    const { codings, maxBytes, held } = this.#options;
    if (this.#wireBytes === 0) return EMPTY_BODY;
    const rest = this.#wire.take();
    if (this.#chain !== null) {
      if (rest.byteLength > 0) this.#chain.write(rest);
      return this.#chain.end();
    }
    const limit = Math.min(maxBytes, ONE_GO_OUTPUT_BYTES);
    const output = decodeAll(codings, rest, limit);
    if (output !== null) {
      held?.take(output.byteLength);
      return output;
    }
    if (limit === maxBytes && this.#options.onFull === undefined) throw bodyLimit(maxBytes);
    const chain = this.#openChain();
    chain.write(rest);
    return chain.end();
  }

  drop(): void {
    this.#wire.drop();
    this.#chain?.drop();
  }

  #openChain(): DecoderChain {
    this.#chain = new DecoderChain(this.#options);
    return this.#chain;
  }
}

function decodeAll(codings: readonly Coding[], wire: Uint8Array, maxBytes: number): Body | null {
  let bytes = wire;
  for (const coding of codings) {
    const decoded = decodeSync(coding, bytes, maxBytes);
    if (decoded === null) return null;
    bytes = decoded;
  }
  // zlib's output sits at the start of a larger buffer.
  return concatenated([bytes], bytes.byteLength);
}

interface EncodedBodyOptions {
  /** The last one applied first. */
  readonly codings: readonly Coding[];
  readonly maxBytes: number;
  readonly held?: HeldBytes | undefined;
  /** Asks for more after a write returned false. */
  readonly resume: () => void;
  /** Takes a body that is cut at `maxBytes` before its end arrived; without it, a longer one is refused. */
  readonly onFull?: ((body: Body) => void) | undefined;
  /** Told once when the bytes do not decode, or decode to too many. */
  readonly fail: (error: Error) => void;
}

/** Undoes codings as the bytes arrive, with backpressure from the output to the connection. */
class DecoderChain {
  readonly #options: EncodedBodyOptions;
  readonly #codings: readonly Coding[];
  readonly #stages: Decoder[] = [];
  readonly #fedBytes: number[] = [];
  readonly #finished = Promise.withResolvers<Body>();
  readonly #output: BodyBuffer;
  #isOver = false;
  #hasEnded = false;

  constructor(options: EncodedBodyOptions) {
    this.#options = options;
    this.#codings = options.codings;
    this.#output = new BodyBuffer(options.held, () => this.#stages.at(-1)?.resume());
  }

  write(chunk: Uint8Array): boolean {
    return this.#isOver || this.#feed(0, chunk);
  }

  end(): Promise<Body> {
    this.#hasEnded = true;
    this.#endStage(0);
    return this.#finished.promise;
  }

  drop(): void {
    this.#isOver = true;
    this.#output.drop();
    for (const stage of this.#stages) stage.destroy();
  }

  #feed(index: number, chunk: Uint8Array): boolean {
    if (index === this.#codings.length) {
      const { maxBytes, onFull } = this.#options;
      if (this.#output.length + chunk.byteLength <= maxBytes) return this.#output.append(chunk);
      if (onFull !== undefined) {
        this.#output.append(chunk.subarray(0, maxBytes - this.#output.length));
        const body = this.#output.take();
        this.drop();
        if (this.#hasEnded) this.#finished.resolve(body);
        else onFull(body);
        return true;
      }
      this.#breakOff(bodyLimit(maxBytes));
      return true;
    }
    this.#fedBytes[index] = (this.#fedBytes[index] ?? 0) + chunk.byteLength;
    return (this.#stages[index] ?? this.#open(index, chunk)).write(chunk);
  }

  /** Stages open with their first bytes, because `deflate` is recognised by them. */
  #open(index: number, start: Uint8Array): Decoder {
    const coding = this.#codings[index] ?? 'gzip';
    const stage = openDecoder(coding, start);
    this.#stages[index] = stage;
    listen(stage, 'data', (chunk: Uint8Array) => {
      if (!this.#isOver && !this.#feed(index + 1, chunk)) stage.pause();
    });
    listen(stage, 'drain', () => {
      if (index === 0) this.#options.resume();
      else this.#stages[index - 1]?.resume();
    });
    listen(stage, 'end', () => {
      if (hasReadAll(coding, stage.bytesWritten, this.#fedBytes[index] ?? 0)) this.#endStage(index + 1);
      else this.#breakOff(badEncoding('data after the end'));
    });
    listen(stage, 'error', (error: Error) => this.#breakOff(asBadEncoding(error)));
    return stage;
  }

  #endStage(index: number): void {
    if (this.#isOver) return;
    const stage = this.#stages[index];
    if (stage !== undefined) {
      stage.end();
      return;
    }
    this.#isOver = true;
    this.#finished.resolve(this.#output.take());
  }

  #breakOff(error: Error): void {
    if (this.#isOver) return;
    this.drop();
    if (this.#hasEnded) this.#finished.reject(error);
    else this.#options.fail(error);
  }
}

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

type Decoder = Transform & { readonly bytesWritten: number };

/** Larger than Node's 16 KiB: a page then mostly fits one chunk, which saves a third of the time. */
const OPTIONS = { chunkSize: 65_536 } as const;

/** RFC 9659: a window beyond 8 MB is refused. A decoder would take up to 128 MB for a response of a few bytes. */
const ZSTD_PARAMS = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/** Undoes one coding of a whole small body. Null when the output would pass `maxBytes`. */
function decodeSync(coding: Coding, input: Uint8Array, maxBytes: number): Uint8Array | null {
  try {
    // The option `info` makes the result more than the buffer alone, which Node's types do not say.
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
function hasReadAll(coding: Coding, readBytes: number, givenBytes: number): boolean {
  return coding !== 'zstd' || readBytes >= givenBytes;
}

/** A streaming decoder for one coding; `start` are the first bytes it will get, at least two unless there are fewer. */
function openDecoder(coding: Coding, start: Uint8Array): Decoder {
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

function asBadEncoding(error: unknown): ScrapifieError {
  if (error instanceof ScrapifieError) return error;
  return badEncoding(codeOf(error) || 'broken data', error);
}

function badEncoding(detail: string, cause?: unknown): ScrapifieError {
  const message = `The body does not decode as its Content-Encoding says (${detail})`;
  return new ScrapifieError('BAD_ENCODING', message, { cause });
}
