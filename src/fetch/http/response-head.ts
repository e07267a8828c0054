import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { listen, listenOnce } from '../../core/errors/guarded.ts';

/**
 * Heads of HTTP/1.1 responses that break the grammar in a way that browsers read without a doubt. The parser below reads
 * the strict form alone, so such a head is written anew in that form. A head that could be read in two ways (different
 * lengths, a NUL, a status that is no number of three digits) stays as it is, and the parser refuses it.
 */

/** Status line and fields as RFC 9112 has them. */
const STRICT =
  /^HTTP\/1\.[01] \d{3}(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;
const FRAMING = /\r\n(?:content-length|transfer-encoding):[\t ]*([^\r]*)/gi;
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** As in Chromium, a few bytes may precede the status line, and whatever follows the three digits is the reason. */
const SLOP = /^[\s\S]{0,4}?(?=HTTP)/i;
const STATUS_LINE = /^HTTP(?:\/(\d+)(?:\.(\d+))?)?[\t ]+(\d{3})(?!\d)[\t ]*(.*)$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the parser refuses these in a value
const CONTROLS = /[\x01-\x08\x0b-\x1f\x7f]/g;
const CONTINUE = '100';
/** An interim response that says as little as `100 Continue`, which the parser accepts unasked. */
const PROCESSING = '102';

interface StatusAndHead {
  /** The response is a 1xx, which another head follows. */
  readonly isInterim: boolean;
  readonly head: Buffer;
}

/** The head in strict form; the same buffer where it is, or where nothing can be done for it. */
function strictHead(head: Buffer): StatusAndHead {
  const text = head.toString('latin1');
  if (isStrict(text) && !text.startsWith(CONTINUE, 9)) {
    return { isInterim: isInterimStatus(text) && !text.startsWith('101', 9), head };
  }
  return rewritten(text) ?? { isInterim: false, head };
}

/** True for the whole head of a final response in strict form, as nearly all are. */
function isPlainHead(head: Buffer): boolean {
  const text = head.toString('latin1');
  return isStrict(text) && !isInterimStatus(text);
}

const isStrict = (text: string): boolean => STRICT.test(text) && hasPlainFraming(text);
const isInterimStatus = (text: string): boolean => text.startsWith('1', 9);

/** At most one field says how long the body is, and a length is a number. */
function hasPlainFraming(text: string): boolean {
  const fields = [...text.matchAll(FRAMING)];
  if (fields.length === 0) return true;
  const [field] = fields;
  if (fields.length > 1 || field === undefined) return false;
  const isLength = field[0].charAt(2).toLowerCase() === 'c';
  return !isLength || /^\d+[\t ]*$/.test(field[1] ?? '');
}

function rewritten(text: string): StatusAndHead | null {
  if (text.includes('\0')) return null;
  const [first = '', ...lines] = text
    .replace(SLOP, '')
    // A CR that ends no line is a space, as RFC 9112 allows and Firefox reads it.
    .replace(/\r(?!\n)/g, ' ')
    .split(/\r?\n/);
  const status = STATUS_LINE.exec(first);
  if (status === null) return null;
  const [, major, minor, digits = '', reason = ''] = status;
  const isOld = major === undefined || (major === '1' && minor === '0');
  const fields = fieldsOf(lines);
  const lengths = valuesOf(fields, 'content-length');
  const isChunked = /(?:^|,)[\t ]*chunked$/i.test(valuesOf(fields, 'transfer-encoding').join(','));
  const length = isChunked ? null : lengthIn(lengths);
  if (length === undefined) return null;
  const kept = fields.filter(([name]) => !/^(?:content-length|connection|keep-alive)$/i.test(name));
  if (length !== null) kept.push(['content-length', length]);
  // Where the next response begins is as doubtful as this head was: the connection is not used again.
  const isInterim = digits.startsWith('1') && digits !== '101';
  if (!isInterim) kept.push(['connection', 'close']);
  const code = digits === CONTINUE ? PROCESSING : digits;
  const head = [
    `HTTP/1.${isOld ? 0 : 1} ${code} ${reason.replace(CONTROLS, ' ')}`,
    ...kept.map(([name, value]) => `${name}: ${value.replace(CONTROLS, ' ')}`),
    '\r\n',
  ];
  return { isInterim, head: Buffer.from(head.join('\r\n'), 'latin1') };
}

/** Folded lines are joined; lines that are no field are left out. */
function fieldsOf(lines: readonly string[]): [name: string, value: string][] {
  const fields: [string, string][] = [];
  let canFold = false;
  for (const line of lines) {
    if (line === '') continue;
    const last = fields.at(-1);
    if (/^[\t ]/.test(line)) {
      if (canFold && last !== undefined) last[1] = `${last[1]} ${line.trim()}`.trim();
      continue;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trimEnd();
    canFold = TOKEN.test(name);
    if (canFold) fields.push([name, line.slice(colon + 1).trim()]);
  }
  return fields;
}

const valuesOf = (fields: readonly (readonly [string, string])[], wanted: string): string[] =>
  fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);

/** The one length; null when none is stated or it is no number, so that the body ends with the connection; undefined for several. */
function lengthIn(values: readonly string[]): string | null | undefined {
  const stated = new Set(values.flatMap((value) => value.split(',')).map((one) => one.trim()));
  if (stated.size > 1) return undefined;
  const [length] = stated;
  return length !== undefined && /^\d+$/.test(length) ? length : null;
}

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
    // The socket is to read on when there is nothing to pass on.
    return passed.length === 0 || push(passed, encoding);
  };
  return reader;
}

/**
 * Sees the sockets of a connector fail, just before and just after undici does. That tells two things undici
 * does not: whether an error hit a connection that had served before, and whether a response "ended" only because
 * its connection was reset. Heads of responses reach undici's parser in strict form, as far as browsers accept them.
 */
export class ConnectionWatch {
  /** True while undici handles the failure of a socket: a body that ends now was cut off. */
  isBreaking = false;
  /** Connections that are open now, those included that wait for another request. */
  open = 0;
  readonly #staleErrors = new WeakSet<Error>();

  /** The connection had carried bytes before this error: the server may have closed it while it was idle. */
  isStale(error: unknown): boolean {
    return error instanceof Error && this.#staleErrors.has(error);
  }

  wrap(connect: buildConnector.connector): buildConnector.connector {
    return (target, callback) => {
      connect(target, (...result) => {
        const [error, socket] = result;
        if (error !== null || socket === null) {
          callback(...result);
          return;
        }
        this.open += 1;
        listenOnce(socket, 'close', () => {
          this.open -= 1;
        });
        const bytesBefore = socket.bytesRead;
        const heads = isHttp2(socket) ? null : readHeads(socket);
        listen(socket, 'error', (failure) => {
          this.isBreaking = true;
          const isAnswering = heads?.isPartial ?? false;
          if (socket.bytesRead > bytesBefore && !isAnswering) this.#staleErrors.add(failure);
        });
        // undici listens from inside the callback, so these two enclose it.
        callback(...result);
        listen(socket, 'error', () => {
          this.isBreaking = false;
        });
      });
    };
  }
}

const isHttp2 = (socket: object): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';

/** undici writes each request within one turn of the event loop, and the next one when the response has ended. */
function readHeads(socket: Socket): HeadReader {
  const heads = readHeadsOf(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.write = (...given: unknown[]) => {
    heads.expect();
    return write(...given);
  };
  return heads;
}
