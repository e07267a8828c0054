import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HeldBytes } from '../byte-budget.ts';
import { type Body, BodyBuffer, EMPTY_BODY } from './body-buffer.ts';

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

export interface PlainSinkOptions {
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
