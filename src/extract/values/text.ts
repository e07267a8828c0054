import { cut, decodeEntities } from '../html/page-text.ts';

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
const INVISIBLE =
  /[\p{Cc}\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]/gu;
const BLANKS = /[\s\u0085]+/gu;

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
 * The same for texts of several paragraphs: an empty line between paragraphs, a line for each item, row or line break.
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
  const clean = decoded.replace(BLANKS, ' ').replace(INVISIBLE, '').normalize('NFC');
  return cut(clean.replace(BLANKS, ' ').trim(), MAX_CHARS).toWellFormed().trim();
}
