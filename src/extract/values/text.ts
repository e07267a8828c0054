import { cut, decodeEntities } from '../html/page-text.ts';

/** Where the ten digits of a script begin; the digits of a script always stand in a row. */
const ZEROS: readonly number[] = [
  0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6,
  0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0,
  0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

const OTHER_DIGITS = /[^\0-\x7f]/;
const DIGIT = /(?![0-9])\p{Nd}/gu;
/** Marks of writing direction, joiners, soft hyphens: they change how a text looks, not what it says. */
const INVISIBLE = /\p{Cf}+/gu;
const BLANKS = /[\p{Z}\p{Cc}]+/gu;

function asciiDigit(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  for (const zero of ZEROS) if (point >= zero && point < zero + 10) return String(point - zero);
  return char;
}

/** Digits of every script as 0–9. */
function withAsciiDigits(text: string): string {
  return OTHER_DIGITS.test(text) ? text.replace(DIGIT, asciiDigit) : text;
}

/**
 * Normalizes a text for the value parsers: entities decoded, compatibility forms (fullwidth, ligatures) made plain,
 * digits of every script as 0–9, nothing invisible, single spaces, at most `limit` characters.
 */
export function fold(text: string, limit: number): string {
  const plain = decodeEntities(cut(text, limit)).replace(INVISIBLE, '').normalize('NFKC');
  return cut(withAsciiDigits(plain).replace(BLANKS, ' ').trim(), limit);
}

/** Lower case of the same length, so that positions in one are positions in the other. */
export function lowerInPlace(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  let result = '';
  for (const char of text) {
    const small = char.toLowerCase();
    // Only the dotted capital I of Turkish grows; its dot says nothing that the letter does not.
    result += small.length === char.length ? small : small.slice(0, char.length);
  }
  return result;
}

const MARKS = /\p{M}+/gu;

const HAS_ACCENTS = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

/** Removes accents of Latin, Greek and Cyrillic. In other scripts combining marks are vowels, and stay. */
export function withoutAccents(text: string): string {
  if (!HAS_ACCENTS.test(text)) return text;
  return text.normalize('NFD').replace(MARKS, '').normalize('NFC');
}

const LETTER = /[\p{L}\p{M}]/u;
/** Scripts that put no space between words; a word there ends wherever it ends. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u;

export function isLetter(char: string | undefined): boolean {
  return char !== undefined && LETTER.test(char);
}

/** True for letters of scripts that separate words. */
function isSpacedLetter(char: string | undefined): boolean {
  return char !== undefined && LETTER.test(char) && !UNSPACED.test(char);
}

/** True when `lower[start, end)` is a whole word. */
export function standsAlone(lower: string, start: number, end: number): boolean {
  if (isSpacedLetter(lower[start]) && isSpacedLetter(lower[start - 1])) return false;
  return !(isSpacedLetter(lower[end - 1]) && isSpacedLetter(lower[end]));
}

/** The longest entry of a table of phrases that begins at a place of a text and ends where a word does. */
export class PhraseTable<T> {
  readonly #entries = new Map<string, T>();
  #longest = 0;

  constructor(entries: Iterable<readonly [string, T]>) {
    for (const [phrase, value] of entries) {
      this.#longest = Math.max(this.#longest, phrase.length);
      if (!this.#entries.has(phrase)) this.#entries.set(phrase, value);
    }
  }

  get(phrase: string): T | undefined {
    return this.#entries.get(phrase);
  }

  at(lower: string, start: number): { readonly end: number; readonly value: T } | null {
    for (let end = Math.min(lower.length, start + this.#longest); end > start; end--) {
      const value = this.#entries.get(lower.slice(start, end));
      if (value !== undefined && standsAlone(lower, start, end)) return { end, value };
    }
    return null;
  }
}

const MAX_CHARS = 100_000;
/** Layers of escaping that are decoded; deeper escapes are kept as text. */
const MAX_LAYERS = 8;
const ELEMENTS = /<(?:script|style)\b[^>]*>[^<]*<\/(?:script|style)>/gi;
const TAGS = /<\/?[a-z][^<>]*>|<!--[^<>]*-->|<![a-z][^<>]*>/gi;
/** An ampersand escaped several times over. */
const AMPERSANDS = /&(?:amp;|#38;|#x26;)+/gi;
const BREAKS = /<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6])\b[^<>]*>/gi;
/** Tags that end a line, and tags that begin or end a paragraph. */
const LINE_ENDS = /<(?:br|\/li|\/tr|\/dt)\b[^<>]*>/gi;
const PARAGRAPH_ENDS = /<\/?(?:p|div|h[1-6]|ul|ol|table|blockquote|pre|section|article|dl|dd)\b[^<>]*>/gi;
const MARKUP = /<\/?(?:br|p|div|li|tr|h[1-6]|ul|ol|table|blockquote|section|article|dl|dt|dd)\b[^<>]*>/i;
/** Unicode's own separators, which markup and entities leave as they are. */
const LINE = '\u2028';
const PARAGRAPH = '\u2029';
const UNSEEN =
  /[\p{Cc}\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/gu;
const BLANK_RUNS = /[\s\u0085]+/gu;

/**
 * Text for people: no tags, entities decoded, no control or invisible characters (joiners stay, some scripts and emoji
 * need them), single spaces, composed (NFC), whole characters only. Normalizing twice is normalizing once.
 */
export function normalizeText(text: string): string {
  let current = cut(text, MAX_CHARS).toWellFormed();
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const next = peel(current);
    if (next === current) return next;
    current = next;
  }
  // Text that still changes was built to never settle; removing `&` and `<` ends it.
  return peel(current.replace(/[&<]/g, ' '));
}

/**
 * Normalizes texts of several paragraphs: an empty line between paragraphs, a line for each item, row or line break.
 * In text with markup the tags decide; in plain text line breaks do, and empty lines divide paragraphs.
 */
export function normalizeParagraphs(text: string): string {
  let current = cut(text, MAX_CHARS).toWellFormed();
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const next = divide(current);
    if (next === current) break;
    current = next;
  }
  return current
    .split(PARAGRAPH)
    .map((paragraph) => paragraph.split(LINE).map(normalizeText).filter(Boolean).join('\n'))
    .filter(Boolean)
    .join('\n\n');
}

/** Marks the ends of lines and paragraphs of one layer of escaping, and decodes the next one. */
function divide(text: string): string {
  const marked = MARKUP.test(text)
    ? text
        .replace(ELEMENTS, ' ')
        .replace(/[\r\n]+/g, ' ')
        .replace(LINE_ENDS, LINE)
        .replace(PARAGRAPH_ENDS, PARAGRAPH)
    : text
        .replace(/\r\n?/g, '\n')
        .replace(/\n[^\S\n]*\n\s*/g, PARAGRAPH)
        .replaceAll('\n', LINE);
  return decodeEntities(marked.includes('&') ? marked.replace(AMPERSANDS, '&') : marked);
}

function peel(text: string): string {
  const bare = text.includes('<') ? text.replace(ELEMENTS, ' ').replace(BREAKS, ' ').replace(TAGS, '') : text;
  const decoded = decodeEntities(bare.includes('&') ? bare.replace(AMPERSANDS, '&') : bare);
  const clean = decoded.replace(BLANK_RUNS, ' ').replace(UNSEEN, '').normalize('NFC');
  return cut(clean.replace(BLANK_RUNS, ' ').trim(), MAX_CHARS).toWellFormed().trim();
}
