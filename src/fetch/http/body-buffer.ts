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
