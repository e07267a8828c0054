/** Servers separate parameters with a semicolon; some forget it, and some send the header twice, joined by a comma. */
const MEDIA_TYPE = /^\s*([^\s;,]*)/;

/** The media type of a Content-Type header in lower case, without parameters; empty when the header is missing. */
export function mediaTypeOf(contentType: string | null): string {
  return MEDIA_TYPE.exec(contentType ?? '')?.[1]?.toLowerCase() ?? '';
}

/** True for a Content-Type header that declares an HTML document; false when the header is missing. */
export function isHtmlType(contentType: string | null): boolean {
  const type = mediaTypeOf(contentType);
  return type === 'text/html' || type === 'application/xhtml+xml';
}

export type ContentKind = 'html' | 'text' | 'json' | 'xml' | 'other';

const JSON_TYPES = /^(?:application|text)\/(?:json|[\w.+-]+\+json|x-ndjson|ndjson|json5|manifest)$/;
const XML_TYPES = /^(?:application|text)\/xml$|\+xml$/;
const TEXT_TYPES = /^text\/|^application\/(?:javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|x-sh)$/;
/** Types that servers send for content they cannot identify. */
const UNSPECIFIED = new Set(['', 'unknown/unknown', 'application/unknown', '*/*']);
const HTML_START =
  /^(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body|script|title|div|table|h1|p|a|br|meta|iframe|style)\b/s;
const SNIFFED_CHARS = 1_024;

/** The kind of a body by its Content-Type; without one, by its first characters. */
export function contentKindOf(contentType: string | null, text: string): ContentKind {
  const type = mediaTypeOf(contentType);
  if (isHtmlType(type)) return 'html';
  if (JSON_TYPES.test(type)) return 'json';
  if (XML_TYPES.test(type)) return 'xml';
  if (TEXT_TYPES.test(type)) return 'text';
  return UNSPECIFIED.has(type) ? sniff(text) : 'other';
}

function sniff(text: string): ContentKind {
  const start = text.slice(0, SNIFFED_CHARS).trimStart().toLowerCase();
  if (HTML_START.test(start)) return 'html';
  if (start.startsWith('<?xml') || start.startsWith('<rss') || start.startsWith('<feed')) return 'xml';
  if (/^[{[]/.test(start) && isJson(text)) return 'json';
  return isBinary(start) ? 'other' : 'text';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isBinary(start: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells binary from text.
  return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(start);
}
