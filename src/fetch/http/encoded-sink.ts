import { listen } from '../../core/errors/guarded.ts';
import type { HeldBytes } from '../byte-budget.ts';
import { type Body, BodyBuffer, type BodySink, bodyLimit, concatenated, EMPTY_BODY } from './body-buffer.ts';
import {
  asBadEncoding,
  badEncoding,
  type Coding,
  type Decoder,
  decodeSync,
  hasReadAll,
  openDecoder,
} from './content-decoder.ts';

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
