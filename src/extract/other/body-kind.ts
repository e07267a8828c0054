import { findDialect } from './csv-dialect.ts';
import { guessUtf16 } from './utf16.ts';

/** What a body may be, before it is read. `html` is for the readers of pages. */
export type BodyKind = 'html' | 'json' | 'xml' | 'csv' | 'text' | 'pdf' | 'binary';

export interface BodyGuess {
  readonly kind: BodyKind;
  /** The server says so: what does not fit then is broken, not something else. */
  readonly isDeclared: boolean;
}

const DECLARED: readonly (readonly [RegExp, BodyKind])[] = [
  [/^text\/html$|^application\/xhtml\+xml$/, 'html'],
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
/** Servers send these when they do not know. */
const UNTOLD =
  /^(?:|unknown\/unknown|application\/unknown|\*\/\*|application\/(?:octet-stream|x-download|force-download|download|binary)|binary\/octet-stream)$/;
const HTML_START =
  /^(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype html|html|head|body|script|title|div|table|h1|p|a|br|meta|iframe|style)\b/i;
const XML_START = /^<(?:\?xml\b|rss\b|feed\b|rdf:rdf\b|urlset\b|sitemapindex\b|opml\b|svg\b)/i;
const JSON_START = /^(?:[{[]|\)\]\}')/;
const CSV_NAME = /\.(?:csv|tsv|tab)$/i;
const HEAD_CHARS = 1_024;
const HEAD_BYTES = 1_024;
/** Rows and columns from which text that is even in them is a table, and hardly prose. */
const MIN_ROWS = 3;
const MIN_COLUMNS = 3;

export function mediaType(contentType: string | null): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** What the bytes themselves tell, before anything is decoded; null when they may be text. */
export function kindOfBytes(bytes: Uint8Array, type: string): BodyGuess | null {
  const declared = DECLARED.find(([pattern]) => pattern.test(type))?.[1] ?? null;
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  // Readers of PDF allow for something in front of it.
  const mark = head.indexOf('%PDF-');
  if (mark === 0 || (mark > 0 && (declared === 'pdf' || UNTOLD.test(type))))
    return { kind: 'pdf', isDeclared: true };
  if (type === 'image/svg+xml') return null;
  if (declared === 'binary') return { kind: 'binary', isDeclared: true };
  if (isBinary(bytes)) return { kind: declared === 'pdf' ? 'pdf' : 'binary', isDeclared: declared === 'pdf' };
  return null;
}

/** What a decoded text is, by its type where that can be true, else by how it looks. */
export function kindOfText(text: string, type: string, url: string): BodyGuess {
  const head = text.slice(0, HEAD_CHARS).trimStart();
  const declared = DECLARED.find(([pattern]) => pattern.test(type))?.[1] ?? null;
  const isHtml = HTML_START.test(head);
  if (declared === 'html') {
    const isFeed = XML_START.test(head) && !/<html[\s>]|<!doctype html/i.test(head);
    if (isFeed) return { kind: 'xml', isDeclared: false };
    return { kind: JSON_START.test(head) ? 'json' : 'html', isDeclared: false };
  }
  // An error page under the address of a file keeps the type of the file.
  if (isHtml && (declared === 'json' || declared === 'csv' || declared === 'pdf')) {
    return { kind: 'html', isDeclared: false };
  }
  if (declared === 'json' || declared === 'xml' || declared === 'csv')
    return { kind: declared, isDeclared: true };
  if (declared === 'pdf') return { kind: 'pdf', isDeclared: true };
  const isPlain = type === 'text/plain';
  const isUntold = UNTOLD.test(type);
  if (declared === null && !isUntold) return { kind: 'text', isDeclared: false };
  if (isUntold && isHtml) return { kind: 'html', isDeclared: false };
  if (isPlain || isUntold) return { kind: sniffed(text, head, url), isDeclared: false };
  return { kind: 'text', isDeclared: true };
}

function sniffed(text: string, head: string, url: string): BodyKind {
  if (XML_START.test(head)) return 'xml';
  if (JSON_START.test(head)) return 'json';
  if (CSV_NAME.test(URL.parse(url)?.pathname ?? '')) return 'csv';
  const { evenness, width, sampledRows } = findDialect(text, null);
  return evenness === 1 && width >= MIN_COLUMNS && sampledRows >= MIN_ROWS ? 'csv' : 'text';
}

/** Signs that no text has, unless it is UTF-16. */
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
