import { isPlainHead, strictHead } from './response-head.ts';

/** A head is held back until it is whole. One that is longer goes to the parser piece by piece, which has a limit of its own. */
const MOST_HEAD_BYTES = 262_144;
/** Where `HTTP` must have begun; what does not speak HTTP is the parser's to refuse at once. */
const SLOP_BYTES = 4;
const LF = 10;
const CR = 13;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Reads the bytes of a connection before the parser does, and gives it each head in strict form. Bytes of bodies pass
 * untouched: `expect` says that a request has been sent, so that the next bytes are the head of its response.
 */
export class HeadReader {
  #isExpected = false;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** How much of the end of a head the last bytes were: nothing, a line feed, or that and a carriage return. */
  #ending: 'none' | 'lf' | 'lf cr' = 'none';

  /** Part of a head has arrived, and the parser has seen none of it. */
  get isPartial(): boolean {
    return this.#bytes > 0;
  }

  expect(): void {
    this.#isExpected = true;
  }

  /** Returns the bytes that the parser gets now; none while a head is incomplete. */
  push(chunk: Buffer): Buffer {
    if (!this.#isExpected) return chunk;
    if (this.#bytes === 0 && beginsWithPlainHead(chunk)) {
      this.#isExpected = false;
      return chunk;
    }
    const out: Buffer[] = [];
    let rest = chunk;
    while (this.#isExpected && rest.length > 0) {
      if (this.#bytes === 0) rest = rest.subarray(emptyLineBytes(rest));
      const end = this.#endOfHead(rest);
      const part = end === -1 ? rest : rest.subarray(0, end);
      if (part.length > 0) this.#parts.push(part);
      this.#bytes += part.length;
      rest = rest.subarray(part.length);
      if (end !== -1) out.push(this.#take());
      else if (this.#bytes > MOST_HEAD_BYTES || this.#isForeign) {
        this.#isExpected = false;
        out.push(...this.#clear());
      }
    }
    if (rest.length > 0) out.push(rest);
    return out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out);
  }

  #take(): Buffer {
    const parts = this.#clear();
    const whole = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    const { head, isInterim } = strictHead(whole);
    this.#isExpected = isInterim;
    return head;
  }

  #clear(): Buffer[] {
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    this.#ending = 'none';
    return parts;
  }

  get #isForeign(): boolean {
    if (this.#bytes < SLOP_BYTES + 4) return false;
    const start = Buffer.concat(this.#parts.map((part) => part.subarray(0, SLOP_BYTES + 4)));
    return !start
      .toString('latin1', 0, SLOP_BYTES + 4)
      .toUpperCase()
      .includes('HTTP');
  }

  /** Where the head ends in these bytes; -1 when it does not. */
  #endOfHead(bytes: Buffer): number {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#ending === 'none') {
        at = bytes.indexOf(LF, at);
        if (at === -1) return -1;
        this.#ending = 'lf';
      } else if (bytes[at] === LF) return at + 1;
      else this.#ending = this.#ending === 'lf' && bytes[at] === CR ? 'lf cr' : 'none';
    }
    return -1;
  }
}

/** Then the bytes pass as they are. Putting head and body together again would copy the body. */
function beginsWithPlainHead(chunk: Buffer): boolean {
  const end = chunk.indexOf(END_OF_HEAD);
  return end !== -1 && isPlainHead(chunk.subarray(0, end + END_OF_HEAD.length));
}

/** Empty lines before a status line mean nothing, and a server could send them without end. */
function emptyLineBytes(bytes: Buffer): number {
  let count = 0;
  while (bytes[count] === LF || bytes[count] === CR) count += 1;
  return count;
}

interface Pushing {
  push(chunk: Buffer | null, encoding?: BufferEncoding): boolean;
}

/** Has the bytes that arrive on a socket pass a reader first. */
export function readHeadsOf(socket: object): HeadReader {
  const reader = new HeadReader();
  const pushing = socket as Pushing;
  const push = pushing.push.bind(socket);
  pushing.push = (chunk, encoding) => {
    if (chunk === null) return push(null);
    const passed = reader.push(chunk);
    // With nothing to pass on, the socket is to read on.
    return passed.length === 0 || push(passed, encoding);
  };
  return reader;
}
