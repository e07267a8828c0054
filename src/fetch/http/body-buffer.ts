import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HeldBytes } from '../byte-budget.ts';

export type Body = Uint8Array<ArrayBuffer>;

export const EMPTY_BODY: Body = new Uint8Array(0);

const FIRST_BLOCK_BYTES = 4_096;
const MOST_BLOCK_BYTES = 1_048_576;
/** What one kept chunk costs besides its bytes: the view, its buffer and the entry in the list. */
const CHUNK_OVERHEAD_BYTES = 256;
/** Chunks from this size on are kept as they are; smaller ones cost more than their bytes. */
const LEAST_KEPT_BYTES = 4_096;

/**
 * The bytes of a body as they arrive, at about the price of their number: a server decides how it cuts a body into
 * chunks, and a Buffer for each of ten million chunks of one byte would take more than a gigabyte. Small chunks are
 * copied into blocks; large ones are kept, if no block has room and they fill the memory that they are a part of.
 */
export class BodyBuffer {
  length = 0;
  readonly #held: HeldBytes | undefined;
  readonly #resume: (() => void) | undefined;
  #chunks: Uint8Array[] = [];
  #block: Buffer | null = null;
  #blockBytes = 0;
  #blockSize = FIRST_BLOCK_BYTES;
  #countedBytes = 0;
  #isDropped = false;

  /** `held` counts the kept bytes. `resume` is called when more may be appended after `append` returned false. */
  constructor(held?: HeldBytes, resume?: () => void) {
    this.#held = held;
    this.#resume =
      resume === undefined
        ? undefined
        : () => {
            if (!this.#isDropped) resume();
          };
  }

  /** Kept bytes, overhead included. */
  get heldBytes(): number {
    return this.#countedBytes;
  }

  /** False: nothing more should be appended before `resume`. */
  append(chunk: Uint8Array): boolean {
    const bytes = chunk.byteLength;
    this.length += bytes;
    if (this.#block === null && bytes >= LEAST_KEPT_BYTES && bytes * 2 >= chunk.buffer.byteLength) {
      this.#chunks.push(chunk);
      return this.#count(chunk.buffer.byteLength + CHUNK_OVERHEAD_BYTES);
    }
    let mayGoOn = true;
    for (let from = 0; from < bytes; ) {
      if (this.#block === null) {
        this.#block = Buffer.allocUnsafeSlow(this.#blockSize);
        mayGoOn = this.#count(this.#blockSize + CHUNK_OVERHEAD_BYTES) && mayGoOn;
        this.#blockSize = Math.min(MOST_BLOCK_BYTES, this.#blockSize * 2);
      }
      const block = this.#block;
      const blockBytes = this.#blockBytes;
      const fits = Math.min(bytes - from, block.length - blockBytes);
      block.set(fits === bytes ? chunk : chunk.subarray(from, from + fits), blockBytes);
      this.#blockBytes += fits;
      from += fits;
      if (this.#blockBytes === block.length) this.#closeBlock();
    }
    return mayGoOn;
  }

  /** Everything so far, alone on its memory. The buffer is empty afterwards; `held` counts what was returned. */
  take(): Body {
    this.#closeBlock();
    const whole = this.length === 0 ? EMPTY_BODY : concatenated(this.#chunks, this.length);
    this.#clear();
    this.#held?.take(whole.byteLength);
    return whole;
  }

  /** Forgets everything and never resumes. */
  drop(): void {
    this.#isDropped = true;
    this.#clear();
  }

  #clear(): void {
    this.#chunks = [];
    this.#block = null;
    this.#blockBytes = 0;
    this.length = 0;
    this.#held?.give(this.#countedBytes);
    this.#countedBytes = 0;
  }

  #closeBlock(): void {
    if (this.#block === null) return;
    this.#chunks.push(this.#block.subarray(0, this.#blockBytes));
    this.#block = null;
    this.#blockBytes = 0;
  }

  #count(bytes: number): boolean {
    this.#countedBytes += bytes;
    return this.#held?.take(bytes, this.#resume) ?? true;
  }
}

export function concatenated(chunks: readonly Uint8Array[], length: number): Body {
  const body = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

/** A copy alone on its memory, which Node's small buffers are not. */
export function ownBytes(buffer: Buffer): Body {
  const bytes = new Uint8Array(buffer.length);
  bytes.set(buffer);
  return bytes;
}

/** Takes a body as it arrives and gives it back whole, decoded and alone on its ArrayBuffer. */
export interface BodySink {
  /** False: stop sending until `resume` (given at creation) is called. Throws when a limit is passed. */
  write(chunk: Uint8Array): boolean;
  end(): Body | Promise<Body>;
  /** The exchange failed: let go of everything. May be called at any time, also twice. */
  drop(): void;
}

/** A declared length up to this is believed before the bytes are there. */
const TRUSTED_LENGTH_BYTES = 1_048_576;

export function bodyLimit(maxBytes: number): ScrapifieError {
  return new ScrapifieError('BODY_LIMIT_EXCEEDED', `The response body is larger than ${maxBytes} bytes`);
}

interface PlainSinkOptions {
  /** The Content-Length, or -1. */
  readonly declaredBytes: number;
  readonly maxBytes: number;
  readonly held?: HeldBytes | undefined;
  /** Asks for more after a write returned false. */
  readonly resume?: (() => void) | undefined;
  /** Takes a body that is cut at `maxBytes`; without it, a longer one is refused. */
  readonly onFull?: ((body: Body) => void) | undefined;
}

/**
 * Bodies as they are. Each byte is copied once: into a buffer of the declared length, or into one of the right size
 * at the end; those of small chunks twice.
 */
export class PlainSink implements BodySink {
  readonly #options: PlainSinkOptions;
  readonly #whole: Body | null;
  readonly #buffer: BodyBuffer;
  #length = 0;
  #isDropped = false;

  constructor(options: PlainSinkOptions) {
    const { declaredBytes, maxBytes, held, resume, onFull } = options;
    if (declaredBytes > maxBytes && onFull === undefined) throw bodyLimit(maxBytes);
    this.#options = options;
    const isTrusted = declaredBytes > 0 && declaredBytes <= Math.min(maxBytes, TRUSTED_LENGTH_BYTES);
    this.#whole = isTrusted ? Buffer.allocUnsafeSlow(declaredBytes) : null;
    this.#buffer = new BodyBuffer(held, resume);
    if (isTrusted) held?.take(declaredBytes);
  }

  write(chunk: Uint8Array): boolean {
    const whole = this.#whole;
    const length = this.#length;
    const { maxBytes, onFull } = this.#options;
    if (onFull !== undefined && length + chunk.byteLength > maxBytes) {
      this.write(chunk.subarray(0, maxBytes - length));
      onFull(this.end());
      return true;
    }
    this.#length += chunk.byteLength;
    if (this.#length > maxBytes) throw bodyLimit(maxBytes);
    if (whole === null) return this.#buffer.append(chunk);
    if (this.#length <= whole.byteLength) whole.set(chunk, length);
    else throw new ScrapifieError('PROTOCOL_ERROR', 'The response body is longer than its Content-Length');
    return true;
  }

  end(): Body {
    const whole = this.#whole;
    const length = this.#length;
    if (length === 0) return EMPTY_BODY;
    if (whole === null) return this.#buffer.take();
    return whole.byteLength === length ? whole : whole.slice(0, length);
  }

  drop(): void {
    this.#buffer.drop();
    if (this.#isDropped) return;
    this.#isDropped = true;
    if (this.#whole !== null) this.#options.held?.give(this.#whole.byteLength);
  }
}
