import { Transform, type TransformCallback, type Writable } from 'node:stream';
import { parseJSONRPCMessage } from '@modelcontextprotocol/server';

/** The library gives up its input for good at a line longer than this. */
const MOST_LINE_BYTES = 10 * 1_024 * 1_024;
/** How much of the beginning and the end of a line that is too long is searched for its id. */
const SEARCHED_BYTES = 1_000;
const NEWLINE = 0x0a;

const ERROR = { parse: -32_700, request: -32_600 } as const;

const VERSION_AND_ID = String.raw`"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15}|"[^"\\]{1,200}")\s*`;
const ID_AT_BEGINNING = new RegExp(String.raw`^\s*\{\s*${VERSION_AND_ID},`);
const ID_AT_END = new RegExp(String.raw`${VERSION_AND_ID}\}\s*$`);

/**
 * The lines of standard input that are messages of the protocol, one chunk for each. The library drops other lines without
 * an answer, for which a client would wait: they are answered here, on `output`, with an error of JSON-RPC.
 */
export class MessageLines extends Transform {
  readonly #output: Writable;
  readonly #mostBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The beginning of a line that is too long; null while the line is not. */
  #head: Buffer | null = null;

  constructor(output: Writable, mostBytes = MOST_LINE_BYTES) {
    super();
    this.#output = output;
    this.#mostBytes = mostBytes;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end + 1));
      this.#endLine();
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
    done();
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= this.#mostBytes) return;
    // When a line is too long, only its two ends are kept.
    const known = Buffer.concat(this.#pieces);
    this.#head ??= Buffer.from(known.subarray(0, SEARCHED_BYTES));
    this.#pieces = [Buffer.from(known.subarray(-SEARCHED_BYTES))];
  }

  #endLine(): void {
    const line = Buffer.concat(this.#pieces);
    const head = this.#head;
    this.#pieces = [];
    this.#bytes = 0;
    this.#head = null;
    if (head !== null) {
      const most = `${Math.floor(this.#mostBytes / 1_024 / 1_024)} MB`;
      this.#refuse(idWithin(head, line), ERROR.request, `The message is longer than ${most}.`);
    } else if (line.length > 1 && this.#isMessage(line.toString('utf8'))) this.push(line);
  }

  #isMessage(line: string): boolean {
    let value: unknown;
    try {
      if (line.trim() === '') return false;
      value = JSON.parse(line);
    } catch {
      this.#refuse(null, ERROR.parse, 'The line is not JSON.');
      return false;
    }
    try {
      parseJSONRPCMessage(value);
      return true;
    } catch {
      const id = (value as { readonly id?: unknown } | null)?.id;
      const isId = typeof id === 'string' || Number.isInteger(id);
      const told = 'The line is not a request of JSON-RPC 2.0: `params`, where given, must be an object.';
      this.#refuse(isId ? id : null, ERROR.request, told);
      return false;
    }
  }

  #refuse(id: unknown, code: number, message: string): void {
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  }
}

/** Clients write the id of a request at its beginning or at its end. Returns null when it is at neither. */
function idWithin(head: Buffer, tail: Buffer): unknown {
  const found =
    ID_AT_BEGINNING.exec(head.toString('utf8'))?.[1] ?? ID_AT_END.exec(tail.toString('utf8'))?.[1];
  return found === undefined ? null : JSON.parse(found);
}
