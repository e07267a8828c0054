import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import iconv from 'iconv-lite';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { ownString } from '../../lib/own-memory.ts';
import { guessCharset } from './guess-charset.ts';

interface DecodedText {
  readonly text: string;
  /** Name of the encoding used, in lower case. */
  readonly charset: string;
}

/**
 * Turns a body into text. What decides, in this order: a byte order mark, the Content-Type header, a declaration
 * in the document itself (not for plain text and JSON, where it would be content), and at last the bytes: valid
 * UTF-8 is UTF-8, anything else is guessed by the frequency of its characters. Unknown labels are passed over. Bytes that the encoding does not
 * have become U+FFFD; it never throws.
 */
export function decodeText(body: Uint8Array, contentType: string | null): DecodedText {
  const charset = charsetOf(body, contentType);
  return { text: decode(body, charset), charset };
}

/** Decodes a body again with the charset it was decoded with before; labels that are unknown, or missing, mean UTF-8. */
export function decodeAs(body: Uint8Array, charset: string | null): string {
  return decode(body, (charset === null ? null : encodingFor(charset)) ?? 'utf-8');
}

function decode(body: Uint8Array, encoding: string): string {
  const decoder = decoderFor(encoding);
  if (decoder !== null) return decoder.decode(body);
  return iconv.decode(Buffer.from(body.buffer, body.byteOffset, body.byteLength), encoding);
}

/** UTF-16 has a sign of ASCII, and with it a zero, near its beginning. */
const ZERO_WINDOW_BYTES = 64;

const ESCAPE = 0x1b;

function charsetOf(body: Uint8Array, contentType: string | null): string {
  const marked = byteOrderMark(body);
  if (marked !== null) return marked;
  // Text in any other encoding has no zeros.
  const guessed = body.subarray(0, ZERO_WINDOW_BYTES).includes(0) ? guessUtf16(body) : null;
  if (guessed !== null) return guessed;
  const header = contentType === null ? null : charsetParameter(contentType);
  const named = header === null ? null : encodingFor(header);
  if (named !== null) return named;
  if (declaresItself(contentType)) {
    const label = prescanCharset(body);
    const declared = label === null ? null : encodingFor(label);
    // The declaration was readable as ASCII, so UTF-16 cannot be true.
    if (declared !== null) return declared.startsWith('utf-16') ? 'utf-8' : declared;
  }
  if (!isUtf8(body)) return guessCharset(body);
  return isEscaped(body) ? 'iso-2022-jp' : 'utf-8';
}

/** Japanese mail and old pages switch to two-byte characters by an escape sequence, with ASCII bytes alone. */
function isEscaped(body: Uint8Array): boolean {
  const at = body.indexOf(ESCAPE);
  if (at < 0 || body[at + 1] !== 0x24) return false;
  return body[at + 2] === 0x42 || body[at + 2] === 0x40;
}

function byteOrderMark(body: Uint8Array): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return null;
}

function declaresItself(contentType: string | null): boolean {
  if (contentType === null) return true;
  return !/^\s*(?:text\/plain|text\/csv|application\/(?:[\w.-]+\+)?json|application\/x-ndjson)\b/i.test(
    contentType,
  );
}

/** Decoders by the name of their encoding; null marks one that only iconv has. At most as many as there are encodings. */
const decoders = new Map<string, TextDecoder | null>();
/** Labels seen so far. Pages choose them, so their number is limited. */
const labels = new BoundedMap<string, string | null>(512);

function decoderFor(charset: string): TextDecoder | null {
  let decoder = decoders.get(charset);
  if (decoder === undefined) {
    decoder = new TextDecoder(charset);
    decoders.set(charset, decoder);
  }
  return decoder;
}

/**
 * Encodings that the web's standard does not know and old documents still use. UTF-7 is left out on purpose: it
 * lets markup hide in text that looks harmless.
 */
const ONLY_ICONV =
  /^(?:cp|ibm)-?\d{3,4}$|^utf-?32(?:[lb]e)?$|^(?:viscii|tcvn|armscii-?8|koi8-?(?:t|ru))$|^mac[a-z]{5,12}$/;

function encodingFor(label: string): string | null {
  const known = labels.get(label);
  if (known !== undefined) return known;
  const encoding = lookUp(label.trim().toLowerCase());
  labels.set(ownString(label), encoding);
  return encoding;
}

function lookUp(label: string): string | null {
  try {
    const { encoding } = new TextDecoder(label);
    // The standard maps it so for documents: its private code points are of no use as text.
    return encoding === 'x-user-defined' ? 'windows-1252' : encoding;
  } catch {
    if (!ONLY_ICONV.test(label) || !iconv.encodingExists(label)) return null;
    decoders.set(label, null);
    return label;
  }
}

/** How far into a document an encoding may be declared, by the HTML standard. */
const PRESCAN_BYTES = 1_024;

/**
 * Looks for an encoding that a document declares for itself: `<?xml … encoding="…"?>`, `<meta charset>` or
 * `<meta http-equiv="content-type" content="…; charset=…">` within its first 1,024 bytes, comments left out.
 * Returns the label as written, or null.
 */
function prescanCharset(body: Uint8Array): string | null {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, PRESCAN_BYTES));
  const text = head.toString('latin1');
  return xmlDeclaration(text) ?? metaDeclaration(text);
}

function xmlDeclaration(text: string): string | null {
  if (!text.startsWith('<?xml')) return null;
  const end = text.indexOf('>');
  if (end === -1) return null;
  return /\bencoding\s*=\s*["']([^"'\s>]+)/i.exec(text.slice(0, end))?.[1] ?? null;
}

function metaDeclaration(text: string): string | null {
  let at = text.indexOf('<');
  while (at !== -1) {
    if (text.startsWith('<!--', at)) {
      // `<!-->` is a whole comment too, hence the two characters of overlap.
      const end = text.indexOf('-->', at + 2);
      if (end === -1) return null;
      at = text.indexOf('<', end + 3);
      continue;
    }
    if (/^<meta[\s/]/i.test(text.slice(at, at + 6))) {
      const { attributes, end } = readAttributes(text, at + 5);
      const label = declaredBy(attributes);
      if (label !== null) return label;
      at = text.indexOf('<', end);
      continue;
    }
    // Attributes of other tags may hold text that looks like a tag.
    at = /^<\/?[a-z]/i.test(text.slice(at, at + 3))
      ? text.indexOf('<', readAttributes(text, tagNameEnd(text, at)).end)
      : text.indexOf('<', at + 1);
  }
  return null;
}

function declaredBy(attributes: ReadonlyMap<string, string>): string | null {
  const charset = attributes.get('charset');
  if (charset !== undefined && charset.trim() !== '') return charset.trim();
  if (attributes.get('http-equiv')?.toLowerCase() !== 'content-type') return null;
  return charsetParameter(attributes.get('content') ?? '');
}

/** The charset parameter of a content type, as written, quotes off. */
function charsetParameter(contentType: string): string | null {
  const match = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"',]+))/i.exec(contentType);
  const label = (match?.[1] ?? match?.[2] ?? match?.[3])?.trim();
  return label === undefined || label === '' ? null : label;
}

function tagNameEnd(text: string, at: number): number {
  let index = at + 1;
  while (index < text.length && !/[\s/>]/.test(text.charAt(index))) index += 1;
  return index;
}

interface Attributes {
  readonly attributes: ReadonlyMap<string, string>;
  /** Just behind the tag. */
  readonly end: number;
}

const ATTRIBUTE = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']*)))?/y;

function readAttributes(text: string, from: number): Attributes {
  const attributes = new Map<string, string>();
  let index = from;
  for (;;) {
    ATTRIBUTE.lastIndex = index;
    const match = ATTRIBUTE.exec(text);
    if (match === null) break;
    const name = (match[1] ?? '').toLowerCase();
    if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? '');
    index = ATTRIBUTE.lastIndex;
  }
  const close = text.indexOf('>', index);
  return { attributes, end: close === -1 ? text.length : close + 1 };
}

type Utf16 = 'utf-16le' | 'utf-16be';

const LOOKED_AT_BYTES = 4_096;
const MIN_UNITS = 4;
/** Even text without any Latin has this much of it: spaces, line ends, digits, mark-up. */
const MIN_SHARE = 0.1;

/**
 * Tells UTF-16 without a byte order mark by its zeros: every ASCII character has one, always on the same side, and no
 * other encoding of text has zeros at all. Null for other bytes, and for text without ASCII characters, which cannot be
 * recognised.
 */
export function guessUtf16(bytes: Uint8Array): Utf16 | null {
  const units = Math.floor(Math.min(bytes.byteLength, LOOKED_AT_BYTES) / 2);
  if (units < MIN_UNITS) return null;
  let first = 0;
  let second = 0;
  for (let at = 0; at < units * 2; at += 2) {
    const isFirstZero = bytes[at] === 0;
    const isSecondZero = bytes[at + 1] === 0;
    // U+0000 is in no text.
    if (isFirstZero && isSecondZero) return null;
    if (isFirstZero) first++;
    else if (isSecondZero) second++;
  }
  const [charset, zeros, others] =
    second > first ? (['utf-16le', second, first] as const) : (['utf-16be', first, second] as const);
  // Characters such as U+0100 have their zero on the other side; they are rare.
  if (zeros < units * MIN_SHARE || others > zeros / 8) return null;
  return isText(bytes, units, charset) ? charset : null;
}

/** True when the code units are characters of text, with surrogates in pairs. */
function isText(bytes: Uint8Array, units: number, charset: Utf16): boolean {
  const low = charset === 'utf-16le' ? 0 : 1;
  let isPairOpen = false;
  for (let at = 0; at < units * 2; at += 2) {
    const unit = (bytes[at + low] ?? 0) + (bytes[at + 1 - low] ?? 0) * 256;
    const isTrail = unit >= 0xdc00 && unit < 0xe000;
    if (isTrail !== isPairOpen) return false;
    isPairOpen = unit >= 0xd800 && unit < 0xdc00;
    if (unit >= 0xfffe || (unit < 32 && unit !== 9 && unit !== 10 && unit !== 12 && unit !== 13))
      return false;
  }
  return true;
}
