import { ScrapifieError } from '../../errors/scrapifie-error.ts';

/** Takes a body as it arrives and gives it back whole, decoded and alone on its ArrayBuffer. */
export interface BodySink {
  /** False: stop sending until `resume` (given at creation) is called. Throws when a limit is passed. */
  write(chunk: Uint8Array): boolean;
  end(): Body | Promise<Body>;
  /** The exchange failed: let go of everything. May be called at any time, also twice. */
  drop(): void;
}

export type Body = Uint8Array<ArrayBuffer>;

export const EMPTY_BODY: Body = new Uint8Array(0);

/** A declared length up to this is believed before the bytes are there. */
const TRUSTED_LENGTH_BYTES = 1_048_576;

export function bodyLimit(maxBytes: number): ScrapifieError {
  return new ScrapifieError('BODY_LIMIT_EXCEEDED', `The response body is larger than ${maxBytes} bytes`);
}

/**
 * Bodies as they are. Each byte is copied once: into a buffer of the declared length, or into one of the right size
 * at the end.
 */
export class PlainSink implements BodySink {
  private readonly maxBytes: number;
  private readonly whole: Body | null;
  private chunks: Uint8Array[] = [];
  private length = 0;

  /** `declaredBytes`: the Content-Length, or -1. */
  constructor(declaredBytes: number, maxBytes: number) {
    if (declaredBytes > maxBytes) throw bodyLimit(maxBytes);
    this.maxBytes = maxBytes;
    const isTrusted = declaredBytes > 0 && declaredBytes <= TRUSTED_LENGTH_BYTES;
    this.whole = isTrusted ? Buffer.allocUnsafeSlow(declaredBytes) : null;
  }

  write(chunk: Uint8Array): boolean {
    const { whole, length } = this;
    this.length += chunk.byteLength;
    if (this.length > this.maxBytes) throw bodyLimit(this.maxBytes);
    if (whole === null) this.chunks.push(chunk);
    else if (this.length <= whole.byteLength) whole.set(chunk, length);
    else throw new ScrapifieError('PROTOCOL_ERROR', 'The response body is longer than its Content-Length');
    return true;
  }

  end(): Body {
    const { whole, length } = this;
    if (length === 0) return EMPTY_BODY;
    if (whole === null) return joined(this.chunks, length);
    return whole.byteLength === length ? whole : whole.slice(0, length);
  }

  drop(): void {
    this.chunks = [];
  }
}

export function joined(chunks: readonly Uint8Array[], length: number): Body {
  const body = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}
