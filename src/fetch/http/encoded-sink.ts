import { type Body, BodyBuffer, EMPTY_BODY, joined } from './body-buffer.ts';
import { type BodySink, bodyLimit } from './body-sink.ts';
import { type Coding, decodeSync } from './content-decoder.ts';
import { DecoderChain, type EncodedBodyOptions } from './decoder-chain.ts';

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
  private readonly options: EncodedBodyOptions;
  /** What has not been decoded yet. */
  private readonly wire: BodyBuffer;
  private wireBytes = 0;
  private chain: DecoderChain | null = null;

  constructor(options: EncodedBodyOptions) {
    this.options = options;
    // At most the size of one go: that never has to wait for the budget.
    this.wire = new BodyBuffer();
  }

  write(chunk: Uint8Array): boolean {
    const { maxBytes } = this.options;
    this.wireBytes += chunk.byteLength;
    if (this.wireBytes > maxBytes) throw bodyLimit(maxBytes);
    const { chain } = this;
    if (chain !== null && this.wire.length === 0 && chunk.byteLength >= LEAST_WRITE_BYTES) {
      return chain.write(chunk);
    }
    this.wire.append(chunk);
    if (chain !== null) return this.wire.length < LEAST_WRITE_BYTES || chain.write(this.wire.take());
    return this.wireBytes <= ONE_GO_WIRE_BYTES ? true : this.openChain().write(this.wire.take());
  }

  end(): Body | Promise<Body> {
    const { codings, maxBytes, held } = this.options;
    if (this.wireBytes === 0) return EMPTY_BODY;
    const rest = this.wire.take();
    if (this.chain !== null) {
      if (rest.byteLength > 0) this.chain.write(rest);
      return this.chain.end();
    }
    const limit = Math.min(maxBytes, ONE_GO_OUTPUT_BYTES);
    const output = decodeAll(codings, rest, limit);
    if (output !== null) {
      held?.take(output.byteLength);
      return output;
    }
    if (limit === maxBytes) throw bodyLimit(maxBytes);
    const chain = this.openChain();
    chain.write(rest);
    return chain.end();
  }

  drop(): void {
    this.wire.drop();
    this.chain?.drop();
  }

  private openChain(): DecoderChain {
    this.chain = new DecoderChain(this.options);
    return this.chain;
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
  return joined([bytes], bytes.byteLength);
}
