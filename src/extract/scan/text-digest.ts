import { createHash, type Hash, hash } from 'node:crypto';
import { decodeHTML } from 'entities/decode';

/** The text of most pages fits and is hashed in one call: a streaming hash costs more than the hashing itself. */
const CAPACITY_BYTES = 131_072;
/** A piece this long always fits an empty buffer, at three bytes a code unit. */
const PIECE_UNITS = 16_384;
const DIGEST_CHARS = 32;
const AMPERSAND = 38;
const SEMICOLON = 59;

/** Maps ASCII to itself, with white space and control characters as spaces. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => (code <= 32 || code === 127 ? 32 : code));

/**
 * The length and the hash of a text whose white space is collapsed to single spaces: two pages that differ only in
 * markup and layout get the same. It works on bytes in a buffer of fixed size, so a page's text is never built as a string.
 */
export class TextDigest {
  readonly #bytes = new Uint8Array(CAPACITY_BYTES + 8);
  #used = 0;
  /** 1 while the text so far is empty or ends with a space. */
  #afterSpace = 1;
  /** Bytes beyond one per UTF-16 unit. */
  #surplus = 0;
  #flushed = 0;
  #stream: Hash | null = null;
  #keepsText = false;
  /** What was in the buffer when it was first full; null while all of the text is in it. */
  #beginning: string | null = null;
  /** Where navigation and the like begins and ends in the buffer, in turns. */
  #asides: number[] = [];

  /** `keepsText`: `text` will be asked for. */
  reset(keepsText = false): void {
    this.#keepsText = keepsText;
    this.#beginning = null;
    this.#asides = [];
    this.#used = 0;
    this.#afterSpace = 1;
    this.#surplus = 0;
    this.#flushed = 0;
    this.#stream = null;
  }

  /** Whether `text` can be asked for. */
  get keepsText(): boolean {
    return this.#keepsText;
  }

  /** What is added from here to `endAside` stands around the content: `text` has it behind all other text. */
  beginAside(): void {
    if (this.#beginning === null) this.#asides.push(this.#used);
  }

  endAside(): void {
    if (this.#beginning === null) this.#asides.push(this.#used);
  }

  /** Separates the word before from the word after. */
  breakWord(): void {
    if (this.#afterSpace === 1) return;
    this.#bytes[this.#used++] = 32;
    this.#afterSpace = 1;
  }

  /** Adds `text[from, to)`, whose code units are `codes`; entities are decoded where `hasEntities`. */
  add(text: string, codes: Uint16Array, from: number, to: number, hasEntities: boolean): void {
    let at = from;
    while (at < to) {
      if (this.#used > CAPACITY_BYTES - PIECE_UNITS * 3) this.#flush();
      at = this.#addAscii(codes, at, Math.min(to, at + PIECE_UNITS));
      if (at >= to) return;
      const code = codes[at] as number;
      if (code < 127) {
        if (code === AMPERSAND && hasEntities) at = this.#addEntity(text, codes, at, to);
        else this.#put(codes[at++] as number);
      } else if (code >= 0xd800 && code < 0xdc00 && at + 1 < to && isLowSurrogate(codes[at + 1] as number)) {
        this.#put(0x10000 + ((code - 0xd800) << 10) + ((codes[at + 1] as number) - 0xdc00));
        at += 2;
      } else {
        this.#put(code);
        at++;
      }
    }
  }

  /** The text itself, navigation and the like last; of a long one the beginning: as much as the buffer holds. */
  text(): string {
    return this.#beginning ?? this.#arranged(this.#used);
  }

  #arranged(used: number): string {
    const piece = (from: number, to: number) =>
      Buffer.from(this.#bytes.buffer, from, Math.max(0, to - from)).toString('utf8');
    if (this.#asides.length === 0) return piece(0, used).trimEnd();
    const [inside, around]: [string[], string[]] = [[], []];
    let from = 0;
    for (const [turn, at] of [...this.#asides, used].entries()) {
      (turn % 2 === 0 ? inside : around).push(piece(from, at).trim());
      from = at;
    }
    return [...inside, ...around].filter((each) => each !== '').join(' ');
  }

  /** The hash is null for an empty text, so that empty pages are not duplicates of each other. */
  finish(): { readonly hash: string | null; readonly length: number } {
    const trailing = this.#afterSpace === 1 && this.#used > 0 ? 1 : 0;
    const used = this.#used - trailing;
    const length = this.#flushed + used - this.#surplus;
    if (length === 0) return { hash: null, length };
    const rest = this.#bytes.subarray(0, used);
    const digest =
      this.#stream === null ? hash('sha256', rest, 'hex') : this.#stream.update(rest).digest('hex');
    return { hash: digest.slice(0, DIGEST_CHARS), length };
  }

  /** Copies up to the first code unit that is not plain ASCII. Has no branches on spaces, which processors cannot predict. */
  #addAscii(codes: Uint16Array, from: number, to: number): number {
    const bytes = this.#bytes;
    let used = this.#used;
    let afterSpace = this.#afterSpace;
    let at = from;
    for (; at < to; at++) {
      const code = codes[at] as number;
      if (code > 126 || code === AMPERSAND) break;
      const isSpace = (code - 33) >>> 31;
      bytes[used] = FOLDED[code] as number;
      used += 1 - (isSpace & afterSpace);
      afterSpace = isSpace;
    }
    this.#used = used;
    this.#afterSpace = afterSpace;
    return at;
  }

  #addEntity(text: string, codes: Uint16Array, from: number, to: number): number {
    let end = from + 1;
    if (codes[end] === 35) end++;
    while (end < to && isAlphanumeric(codes[end] as number)) end++;
    if (end < to && codes[end] === SEMICOLON) end++;
    const decoded = decodeHTML(text.slice(from, end));
    for (let i = 0; i < decoded.length; i++) {
      if (this.#used > CAPACITY_BYTES - 8) this.#flush();
      const point = decoded.codePointAt(i) as number;
      if (point > 0xffff) i++;
      this.#put(point);
    }
    return end;
  }

  #put(point: number): void {
    if (point <= 32 || (point >= 127 && isWhite(point))) {
      this.breakWord();
      return;
    }
    const bytes = this.#bytes;
    let used = this.#used;
    if (point < 0x80) {
      bytes[used++] = point;
    } else if (point < 0x800) {
      bytes[used++] = 0xc0 | (point >> 6);
      bytes[used++] = 0x80 | (point & 63);
      this.#surplus += 1;
    } else if (point < 0x10000) {
      const valid = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
      bytes[used++] = 0xe0 | (valid >> 12);
      bytes[used++] = 0x80 | ((valid >> 6) & 63);
      bytes[used++] = 0x80 | (valid & 63);
      this.#surplus += 2;
    } else {
      bytes[used++] = 0xf0 | (point >> 18);
      bytes[used++] = 0x80 | ((point >> 12) & 63);
      bytes[used++] = 0x80 | ((point >> 6) & 63);
      bytes[used++] = 0x80 | (point & 63);
      this.#surplus += 2;
    }
    this.#used = used;
    this.#afterSpace = 0;
  }

  /** Hashes the buffer except a trailing space, which does not count if the text ends there. */
  #flush(): void {
    const kept = this.#afterSpace === 1 && this.#used > 0 ? 1 : 0;
    const used = this.#used - kept;
    if (this.#keepsText) this.#beginning ??= this.#arranged(used);
    this.#stream ??= createHash('sha256');
    this.#stream.update(this.#bytes.subarray(0, used));
    this.#flushed += used;
    this.#bytes[0] = 32;
    this.#used = kept;
  }
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}

function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || ((code | 0x20) >= 97 && (code | 0x20) <= 122);
}

/** White space beyond ASCII, and the controls between ASCII and Latin-1. */
function isWhite(code: number): boolean {
  if (code <= 0xa0) return true;
  if (code < 0x1680) return false;
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}
