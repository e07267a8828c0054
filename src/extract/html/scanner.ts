import { decodeHTMLAttribute } from 'entities/decode';
import { LIMITS } from './limits.ts';
import {
  ATTRIBUTE_COUNT,
  attributeTable,
  foldName,
  RAW,
  TAG,
  TAG_FLAGS,
  TAG_NAMES,
  tagTable,
} from './names.ts';

/**
 * Receives the tokens of a page in order. Positions are indices into the page; nothing is sliced or decoded for the
 * handler, and the attributes of a start tag stay in the scanner until the next start tag.
 */
export interface ScanHandler {
  /** True inside SVG or MathML, where no element holds raw text. */
  readonly isForeign: boolean;
  /** Text with entities still in it; a run of text may come in several pieces. */
  text(start: number, end: number): void;
  /** The content of a raw element (`tag`), or of a CDATA section (`tag` is 0). */
  rawText(tag: number, start: number, end: number): void;
  /** A start tag. `hash` tells names apart where `tag` is 0, an unknown name. */
  open(tag: number, hash: number, isSelfClosing: boolean): void;
  close(tag: number, hash: number): void;
}

const TAB = 9;
const NEWLINE = 10;
const FORM_FEED = 12;
const RETURN = 13;
const SPACE = 32;
const BANG = 33;
const QUOTE = 34;
const APOSTROPHE = 39;
const DASH = 45;
const SLASH = 47;
const LESS = 60;
const EQUALS = 61;
const GREATER = 62;
const QUESTION = 63;
const PLAINTEXT = TAG.plaintext;
const IFRAME = TAG.iframe;
const NO_CODES = new Uint16Array(0);

/**
 * Tokenizes HTML by the rules of the HTML standard, as far as they affect tags and text. It jumps from `<` to `<` with
 * native searches, reads names as hashes and attribute values as ranges. No page makes it throw, and its time is
 * linear in the page: every search goes forward and a failed one ends the scan.
 */
export class HtmlScanner {
  html = '';
  codes: Uint16Array = NO_CODES;
  /** Bit n is set when attribute n (see `ATTR`) stands on the current tag. */
  mask = 0;
  /** Where the name of the current tag begins and ends. */
  nameStart = 0;
  nameEnd = 0;
  /** All attributes of the current tag, four numbers each: name start and end, value start and end. */
  readonly ranges = new Int32Array(LIMITS.attributesPerTag * 4);
  attributeCount = 0;
  isTruncated = false;
  readonly #starts = new Int32Array(ATTRIBUTE_COUNT);
  readonly #ends = new Int32Array(ATTRIBUTE_COUNT);

  /** The decoded value of an attribute of the current tag; the first one wins; null without one. */
  attribute(id: number): string | null {
    if ((this.mask & (1 << id)) === 0) return null;
    return decodeHTMLAttribute(this.html.slice(this.#starts[id] as number, this.#ends[id] as number));
  }

  /** The value of an attribute that is not in `ATTR`. Slower: meant for few tags of a page. */
  attributeNamed(name: string): string | null {
    const { ranges, html } = this;
    for (let slot = 0; slot < this.attributeCount * 4; slot += 4) {
      const [start, end] = [ranges[slot] as number, ranges[slot + 1] as number];
      if (end - start !== name.length || html.slice(start, end).toLowerCase() !== name) continue;
      return decodeHTMLAttribute(html.slice(ranges[slot + 2], ranges[slot + 3]));
    }
    return null;
  }

  scan(html: string, handler: ScanHandler): void {
    this.html = html;
    this.codes = codeUnitsOf(html);
    this.isTruncated = false;
    this.#run(html, this.codes, handler);
    // A scanner outlives its pages and must not hold on to the last one.
    this.html = '';
    this.codes = NO_CODES;
  }

  #run(html: string, codes: Uint16Array, handler: ScanHandler): void {
    const length = html.length;
    let textStart = 0;
    let from = 0;
    let tags = 0;
    while (from < length) {
      const less = codes[from] === LESS ? from : html.indexOf('<', from);
      if (less < 0) break;
      const next = codes[less + 1] as number;
      const letter = next | 0x20;
      const isTag = letter >= 97 && letter <= 122;
      if (!isTag && next !== SLASH && next !== BANG && next !== QUESTION) {
        from = less + 1;
        continue;
      }
      if (next === SLASH && less + 2 >= length) break;
      if (less > textStart) handler.text(textStart, less);
      if (++tags > LIMITS.tags) {
        this.isTruncated = true;
        return;
      }
      if (isTag) from = this.#startTag(less + 1, length, handler);
      else if (next === SLASH) from = this.#endTag(less + 2, length, handler);
      else from = this.#declaration(less + 1, length, handler);
      textStart = from;
    }
    if (textStart < length) handler.text(textStart, length);
  }

  #startTag(start: number, length: number, handler: ScanHandler): number {
    const codes = this.codes;
    let at = start;
    let hash = 0;
    let code = codes[at] as number;
    while (code !== GREATER && code !== SLASH && !isSpace(code)) {
      if (at >= length) return length;
      hash = foldName(hash, code);
      code = codes[++at] as number;
    }
    const tag = Math.max(0, tagTable.find(hash));
    this.nameStart = start;
    this.nameEnd = at;
    this.mask = 0;
    this.attributeCount = 0;
    let isSelfClosing = false;
    if (code !== GREATER) {
      at = this.#attributes(at, length);
      if (at < 0) return length;
      isSelfClosing = codes[at - 1] === SLASH && this.#endsUnquoted !== at;
    }
    // Read before the handler opens the tag: a title inside SVG is markup, but its content is HTML again.
    // An <iframe/> occurs in <noscript>, which browsers with scripts do not parse: it must not swallow the page.
    const isClosed = isSelfClosing && tag === IFRAME;
    const isRaw = ((TAG_FLAGS[tag] as number) & RAW) !== 0 && !handler.isForeign && !isClosed;
    handler.open(tag, hash, isSelfClosing);
    at++;
    if (!isRaw) return at;
    const end = tag === PLAINTEXT ? length : this.#rawEnd(tag, at, length);
    if (end > at) handler.rawText(tag, at, end);
    return end;
  }

  /** Where the last unquoted value ended: a slash before that belongs to the value, not to the tag. */
  #endsUnquoted = -1;

  /** Reads the attributes from `at`; returns the place of the closing `>`, or -1 when the page ends before it. */
  #attributes(from: number, length: number): number {
    const codes = this.codes;
    const ranges = this.ranges;
    let at = from;
    this.#endsUnquoted = -1;
    for (;;) {
      let code = codes[at] as number;
      while (isSpace(code) || code === SLASH) code = codes[++at] as number;
      if (at >= length) return -1;
      if (code === GREATER) return at;
      const nameStart = at;
      let hash = 0;
      do {
        hash = foldName(hash, code);
        code = codes[++at] as number;
        if (at >= length) return -1;
      } while (code !== EQUALS && code !== GREATER && code !== SLASH && !isSpace(code));
      const nameEnd = at;
      while (isSpace(code)) code = codes[++at] as number;
      let valueStart = nameEnd;
      let valueEnd = nameEnd;
      if (code === EQUALS) {
        do code = codes[++at] as number;
        while (isSpace(code));
        if (code === QUOTE || code === APOSTROPHE) {
          valueStart = at + 1;
          valueEnd = this.html.indexOf(code === QUOTE ? '"' : "'", valueStart);
          if (valueEnd < 0) return -1;
          at = valueEnd + 1;
        } else {
          valueStart = at;
          while (code !== GREATER && !isSpace(code)) {
            if (at >= length) return -1;
            code = codes[++at] as number;
          }
          valueEnd = at;
          this.#endsUnquoted = at;
        }
      }
      const id = attributeTable.find(hash);
      if (id >= 0 && (this.mask & (1 << id)) === 0) {
        this.mask |= 1 << id;
        this.#starts[id] = valueStart;
        this.#ends[id] = valueEnd;
      }
      const slot = this.attributeCount * 4;
      if (slot < ranges.length) {
        ranges[slot] = nameStart;
        ranges[slot + 1] = nameEnd;
        ranges[slot + 2] = valueStart;
        ranges[slot + 3] = valueEnd;
        this.attributeCount++;
      } else {
        this.isTruncated = true;
      }
    }
  }

  #endTag(start: number, length: number, handler: ScanHandler): number {
    const codes = this.codes;
    let at = start;
    let code = codes[at] as number;
    const letter = code | 0x20;
    if (code === GREATER) return at + 1;
    if (letter < 97 || letter > 122) return this.#after('>', at, length);
    let hash = 0;
    while (code !== GREATER && code !== SLASH && !isSpace(code)) {
      if (at >= length) return length;
      hash = foldName(hash, code);
      code = codes[++at] as number;
    }
    this.nameStart = start;
    this.nameEnd = at;
    handler.close(Math.max(0, tagTable.find(hash)), hash);
    return code === GREATER ? at + 1 : this.#after('>', at, length);
  }

  /** Comments, doctypes, CDATA sections and other declarations that begin with `<!` or `<?`. */
  #declaration(start: number, length: number, handler: ScanHandler): number {
    const codes = this.codes;
    if (codes[start] === BANG && codes[start + 1] === DASH && codes[start + 2] === DASH) {
      return this.#commentEnd(start + 3, length);
    }
    if (handler.isForeign && this.html.startsWith('![CDATA[', start)) {
      const from = start + 8;
      const end = this.html.indexOf(']]>', from);
      const to = end < 0 ? length : end;
      if (to > from) handler.rawText(0, from, to);
      return end < 0 ? length : end + 3;
    }
    return this.#after('>', start, length);
  }

  #commentEnd(start: number, length: number): number {
    const codes = this.codes;
    if (codes[start] === GREATER) return start + 1;
    if (codes[start] === DASH && codes[start + 1] === GREATER) return start + 2;
    let from = start;
    for (;;) {
      const dashes = this.html.indexOf('--', from);
      if (dashes < 0) return length;
      let at = dashes + 2;
      while (codes[at] === DASH) at++;
      if (codes[at] === GREATER) return at + 1;
      if (codes[at] === BANG && codes[at + 1] === GREATER) return at + 2;
      from = at;
    }
  }

  /** Where the end tag of a raw element begins; the end of the page without one. */
  #rawEnd(tag: number, start: number, length: number): number {
    const codes = this.codes;
    const name = TAG_NAMES[tag] as string;
    let from = start;
    for (;;) {
      const end = this.html.indexOf('</', from);
      if (end < 0) return length;
      let matched = 0;
      while (
        matched < name.length &&
        ((codes[end + 2 + matched] as number) | 0x20) === name.charCodeAt(matched)
      ) {
        matched++;
      }
      if (matched === name.length) {
        const code = codes[end + 2 + matched] as number;
        if (code === GREATER || code === SLASH || isSpace(code)) return end;
      }
      from = end + 2;
    }
  }

  #after(mark: string, from: number, length: number): number {
    const at = this.html.indexOf(mark, from);
    return at < 0 ? length : at + 1;
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === TAB || code === RETURN || code === FORM_FEED;
}

/** Kept between pages; larger pages get an array of their own. */
const KEPT_UNITS = 1_048_576;
/** Zeros after the end, so that short lookahead needs no bounds check. */
const PADDING = 4;

let kept = new Uint16Array(0);

/**
 * The UTF-16 code units of a string in an array, at the same indices. Reading them there is three times as fast as
 * `charCodeAt`, and the copy is one native call. The array is overwritten by the next call: one page at a time per thread.
 */
export function codeUnitsOf(text: string): Uint16Array {
  const needed = text.length + PADDING;
  let units = kept;
  if (needed > units.length) {
    units = new Uint16Array(needed > KEPT_UNITS ? needed : Math.min(KEPT_UNITS, needed * 2));
    if (units.length <= KEPT_UNITS) kept = units;
  }
  Buffer.from(units.buffer).write(text, 0, 'utf16le');
  units.fill(0, text.length, needed);
  return units;
}
