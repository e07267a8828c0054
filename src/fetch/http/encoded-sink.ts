import { type Body, type BodySink, bodyLimit, EMPTY_BODY, joined } from './body-sink.ts';
import { type Coding, decodeSync } from './content-decoder.ts';
import { DecoderChain } from './decoder-chain.ts';

/** Compressed bodies up to this are decoded in one go at their end, which costs a fraction of a stream. */
const ONE_GO_WIRE_BYTES = 65_536;
/** As long as they don't turn out larger than this: the event loop waits meanwhile. */
const ONE_GO_OUTPUT_BYTES = 1_048_576;

/**
 * Compressed bodies. The limit holds for what comes out and, each by itself, for what goes in, so neither a bomb
 * nor an endless stream of empty blocks is ever held; a bomb is cut as soon as its output passes the limit.
 */
export class EncodedSink implements BodySink {
  private readonly codings: readonly Coding[];
  private readonly maxBytes: number;
  private readonly resume: () => void;
  private readonly fail: (error: Error) => void;
  private held: Uint8Array[] = [];
  private wireBytes = 0;
  private chain: DecoderChain | null = null;

  constructor(
    codings: readonly Coding[],
    maxBytes: number,
    resume: () => void,
    fail: (error: Error) => void,
  ) {
    this.codings = codings;
    this.maxBytes = maxBytes;
    this.resume = resume;
    this.fail = fail;
  }

  write(chunk: Uint8Array): boolean {
    this.wireBytes += chunk.byteLength;
    if (this.wireBytes > this.maxBytes) throw bodyLimit(this.maxBytes);
    if (this.chain !== null) return this.chain.write(chunk);
    this.held.push(chunk);
    return this.wireBytes <= ONE_GO_WIRE_BYTES ? true : this.openChain().write(this.takeHeld());
  }

  end(): Body | Promise<Body> {
    if (this.wireBytes === 0) return EMPTY_BODY;
    if (this.chain !== null) return this.chain.end();
    const whole = this.takeHeld();
    const limit = Math.min(this.maxBytes, ONE_GO_OUTPUT_BYTES);
    const output = decodeAll(this.codings, whole, limit);
    if (output !== null) return output;
    if (limit === this.maxBytes) throw bodyLimit(this.maxBytes);
    const chain = this.openChain();
    chain.write(whole);
    return chain.end();
  }

  drop(): void {
    this.held = [];
    this.chain?.drop();
  }

  private takeHeld(): Uint8Array {
    const [first = EMPTY_BODY] = this.held;
    const whole = this.held.length === 1 ? first : joined(this.held, this.wireBytes);
    this.held = [];
    return whole;
  }

  private openChain(): DecoderChain {
    this.chain = new DecoderChain(this.codings, this.maxBytes, this.resume, this.fail);
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
