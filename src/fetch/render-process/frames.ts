import type { Writable } from 'node:stream';

/**
 * What travels between the server and its render process, on one pipe. A frame is a kind (1 byte), the number of the
 * call it belongs to (4 bytes), the length of its payload (4 bytes) and the payload: JSON text, or for `blob` the
 * content hash (32 bytes) and the bytes.
 */
export const FRAME_KINDS = [
  // Frames that the server sends.
  'start',
  'call',
  'cancel',
  'reply',
  'told',
  'ping',
  'close',
  // Frames that the render process sends.
  'ready',
  'answer',
  'question',
  'ask',
  'unask',
  'state',
  'event',
  'pong',
  // Frames that both sides send.
  'blob',
] as const;
export type FrameKind = (typeof FRAME_KINDS)[number];

export interface FrameHead {
  readonly kind: FrameKind;
  readonly id: number;
  readonly bytes: number;
}

export interface FrameReaderOptions {
  /**
   * The most bytes that a frame of this kind and call may have; null when it is to be skipped. Asked with the head
   * alone, before any of the payload is kept.
   */
  readonly limitOf: (head: FrameHead) => number | null;
  /** The payload stands alone on its ArrayBuffer. */
  readonly onFrame: (head: FrameHead, payload: Buffer<ArrayBuffer>) => void;
  /** The other side does not keep to the protocol; nothing more is read. */
  readonly onViolation: (reason: string) => void;
}

const HEAD_BYTES = 9;
const KIND_NUMBERS = new Map<string, number>(FRAME_KINDS.map((kind, index) => [kind, index + 1]));
export const HASH_BYTES = 32;

export function writeFrame(
  pipe: Writable,
  kind: FrameKind,
  id: number,
  ...payload: readonly (Uint8Array | string)[]
): void {
  if (!pipe.writable) return;
  const parts = payload.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt8(KIND_NUMBERS.get(kind) ?? 0, 0);
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(
    parts.reduce((sum, { byteLength }) => sum + byteLength, 0),
    5,
  );
  pipe.cork();
  pipe.write(head);
  for (const part of parts) pipe.write(part);
  pipe.uncork();
}

/** Puts the chunks of a pipe together to frames. It never holds more than one frame that its limit allows. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  #current: FrameHead | null = null;
  /** Null while the payload is skipped. */
  #payload: Buffer<ArrayBuffer> | null = null;
  #payloadBytes = 0;
  #hasEnded = false;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (!this.#hasEnded && (at < chunk.byteLength || this.#isComplete)) {
      if (this.#current === null) at += this.#readHead(chunk, at);
      else at += this.#readPayload(chunk, at, this.#current);
    }
  }

  /** A frame without a payload needs no further chunk. */
  get #isComplete(): boolean {
    return this.#current !== null && this.#payloadBytes === this.#current.bytes;
  }

  #readHead(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#head, this.#headBytes, at);
    this.#headBytes += taken;
    if (this.#headBytes < HEAD_BYTES) return taken;
    this.#headBytes = 0;
    const kind = FRAME_KINDS[this.#head.readUInt8(0) - 1];
    if (kind === undefined) return this.#violated('it sent a frame of an unknown kind', taken);
    const head = { kind, id: this.#head.readUInt32BE(1), bytes: this.#head.readUInt32BE(5) };
    const limit = this.#options.limitOf(head);
    if (limit !== null && head.bytes > limit) {
      return this.#violated(
        `it sent a frame (${kind}) of ${head.bytes} bytes, at most ${limit} are taken`,
        taken,
      );
    }
    this.#current = head;
    this.#payloadBytes = 0;
    this.#payload = limit === null ? null : Buffer.allocUnsafeSlow(head.bytes);
    return taken;
  }

  #readPayload(chunk: Buffer, at: number, head: FrameHead): number {
    const taken = Math.min(chunk.byteLength - at, head.bytes - this.#payloadBytes);
    const payload = this.#payload;
    if (payload !== null) chunk.copy(payload, this.#payloadBytes, at, at + taken);
    this.#payloadBytes += taken;
    if (this.#payloadBytes < head.bytes) return taken;
    this.#current = null;
    this.#payload = null;
    if (payload !== null) this.#options.onFrame(head, payload);
    return taken;
  }

  #violated(reason: string, taken: number): number {
    this.#hasEnded = true;
    this.#options.onViolation(reason);
    return taken;
  }
}
