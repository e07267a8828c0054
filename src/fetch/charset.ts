import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import iconv from 'iconv-lite';
import { guessUtf16 } from '../extract/documents/utf16.ts';
import { charsetParameter, prescanCharset } from './charset-prescan.ts';

export interface DecodedText {
  readonly text: string;
  /** Name of the encoding used, in lower case. */
  readonly charset: string;
}

/**
 * Turns a body into text. What decides, in this order: a byte order mark, the Content-Type header, a declaration
 * in the document itself (not for plain text and JSON, where it would be content), and at last the bytes: valid
 * UTF-8 is UTF-8, anything else windows-1252. Unknown labels are passed over. Bytes that the encoding does not
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
  return isUtf8(body) ? 'utf-8' : 'windows-1252';
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
const labels = new Map<string, string | null>();
const MAX_LABELS = 512;

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
  if (labels.size >= MAX_LABELS) labels.clear();
  labels.set(label, encoding);
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
