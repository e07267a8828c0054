import { isHtmlType } from '../html/media-type.ts';
import { findDialect } from './delimited.ts';
import { guessUtf16 } from './utf16.ts';

/** The kind of a body by its type and first bytes. `html` is read as a web page. */
export type BodyKind = 'html' | 'json' | 'xml' | 'csv' | 'text' | 'pdf' | 'binary';

export interface BodyGuess {
  readonly kind: BodyKind;
  /** True when the server declares the kind: content that does not fit is then broken, not of another kind. */
  readonly isDeclared: boolean;
}

const DECLARED: readonly (readonly [RegExp, BodyKind])[] = [
  [
    /^(?:application|text)\/(?:json|[\w.+-]+\+json|x-ndjson|ndjson|jsonl|x-jsonlines|json-seq|manifest)$/,
    'json',
  ],
  [/^(?:application|text)\/xml$|\+xml$/, 'xml'],
  [/^(?:text|application)\/(?:csv|x-csv|comma-separated-values|tab-separated-values|tsv)$/, 'csv'],
  [/^application\/(?:x-)?pdf$|^text\/pdf$/, 'pdf'],
  [/^(?:image|audio|video|font|model)\//, 'binary'],
  [/^text\/|^application\/(?:(?:x-)?javascript|ecmascript|(?:x-)?yaml|toml|sql|x-sh|rtf|x-subrip)$/, 'text'],
];
/** Types that servers send for content they cannot identify. */
const UNSPECIFIED =
  /^(?:|unknown\/unknown|application\/unknown|\*\/\*|application\/(?:octet-stream|x-download|force-download|download|binary)|binary\/octet-stream)$/;
const HTML_START =
  /^(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype html|html|head|body|script|title|div|table|h1|p|a|br|meta|iframe|style)\b/i;
const XML_START = /^<(?:\?xml\b|rss\b|feed\b|rdf:rdf\b|urlset\b|sitemapindex\b|opml\b|svg\b)/i;
const JSON_START = /^(?:[{[]|\)\]\}')/;
const CSV_NAME = /\.(?:csv|tsv|tab)$/i;
const HEAD_CHARS = 1_024;
const HEAD_BYTES = 1_024;
/** Fewest rows and columns of equal length that make text a table. */
const MIN_ROWS = 3;
const MIN_COLUMNS = 3;

function declaredKind(type: string): BodyKind | null {
  return isHtmlType(type) ? 'html' : (DECLARED.find(([pattern]) => pattern.test(type))?.[1] ?? null);
}

/** The kind by the bytes, before decoding; null when they may be text. */
export function kindOfBytes(bytes: Uint8Array, type: string): BodyGuess | null {
  const declared = declaredKind(type);
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  // PDF readers accept bytes before the header.
  const mark = head.indexOf('%PDF-');
  if (mark === 0 || (mark > 0 && (declared === 'pdf' || UNSPECIFIED.test(type))))
    return { kind: 'pdf', isDeclared: true };
  if (type === 'image/svg+xml') return null;
  if (declared === 'binary') return { kind: 'binary', isDeclared: true };
  if (isBinary(bytes)) return { kind: declared === 'pdf' ? 'pdf' : 'binary', isDeclared: declared === 'pdf' };
  return null;
}

/** The kind of a decoded text: its declared type when that is plausible, else by its content. */
export function kindOfText(text: string, type: string, url: string): BodyGuess {
  const head = text.slice(0, HEAD_CHARS).trimStart();
  const declared = declaredKind(type);
  const isHtml = HTML_START.test(head);
  if (declared === 'html') {
    const isFeed = XML_START.test(head) && !/<html[\s>]|<!doctype html/i.test(head);
    if (isFeed) return { kind: 'xml', isDeclared: false };
    return { kind: JSON_START.test(head) ? 'json' : 'html', isDeclared: false };
  }
  // Servers send error pages with the type of the file that was asked for.
  if (isHtml && (declared === 'json' || declared === 'csv' || declared === 'pdf')) {
    return { kind: 'html', isDeclared: false };
  }
  if (declared === 'json' || declared === 'xml' || declared === 'csv')
    return { kind: declared, isDeclared: true };
  if (declared === 'pdf') return { kind: 'pdf', isDeclared: true };
  const isPlain = type === 'text/plain';
  const isUnspecified = UNSPECIFIED.test(type);
  if (declared === null && !isUnspecified) return { kind: 'text', isDeclared: false };
  if (isUnspecified && isHtml) return { kind: 'html', isDeclared: false };
  if (isPlain || isUnspecified) return { kind: sniffed(text, head, url), isDeclared: false };
  return { kind: 'text', isDeclared: true };
}

function sniffed(text: string, head: string, url: string): BodyKind {
  if (XML_START.test(head)) return 'xml';
  if (JSON_START.test(head)) return 'json';
  if (CSV_NAME.test(URL.parse(url)?.pathname ?? '')) return 'csv';
  const { evenness, width, sampledRows } = findDialect(text, null);
  return evenness === 1 && width >= MIN_COLUMNS && sampledRows >= MIN_ROWS ? 'csv' : 'text';
}

/** True for control bytes that no text has, except UTF-16. */
function isBinary(bytes: Uint8Array): boolean {
  if (guessUtf16(bytes) !== null || (bytes[0] === 0xff && bytes[1] === 0xfe)) return false;
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return false;
  const end = Math.min(bytes.byteLength, HEAD_BYTES);
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 11) return true;
  }
  return false;
}
