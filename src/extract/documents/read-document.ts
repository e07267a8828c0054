import { guessUtf16 } from '../charset/charset.ts';
import { codeFence } from '../content/render/markdown-inline.ts';
import { isHtmlType, mediaTypeOf } from '../html/media-type.ts';
import { collapse, cut } from '../html/page-text.ts';
import {
  type DateContext,
  type DocumentContent,
  type DocumentProblem,
  type DocumentReading,
  LinkList,
} from './document-content.ts';
import { DOCUMENT_LIMITS, PDF_LIMITS, type PdfLimits } from './document-limits.ts';
import { readPdf } from './pdf/read-pdf.ts';
import { findDialect, readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readXmlDocument } from './read-xml.ts';

export interface DocumentOptions {
  /** Decodes bytes by byte order mark, header and declaration. */
  readonly decode: (
    bytes: Uint8Array,
    contentType: string | null,
  ) => { readonly text: string; readonly charset: string };
  /** When the body was fetched, in milliseconds: the reference of dates without a year. */
  readonly fetchedAt: number;
  readonly pdf?: Partial<PdfLimits> | undefined;
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
const JUDGED_CHARS = 1_024;
const HEAD_BYTES = 1_024;
/** Fewest rows and columns of equal length that make text a table. */
const MIN_ROWS = 3;
const MIN_COLUMNS = 3;

/**
 * Reads a body that is no web page: JSON, XML, feeds, tables, plain text, PDF. The declared
 * type decides when it is plausible; a wrong or missing type is replaced by sniffing. Returns null for web pages, which
 * are read elsewhere. Other bodies are `binary`. Never throws, and stays within its limits.
 */
export async function readDocument(
  bytes: Uint8Array,
  contentType: string | null,
  url: string,
  options: DocumentOptions,
): Promise<DocumentContent | null> {
  const type = mediaTypeOf(contentType);
  if (bytes.byteLength === 0) return whole({ kind: 'text' }, null);
  const byBytes = kindOfBytes(bytes, type);
  if (byBytes?.kind === 'binary') return whole({ kind: 'binary' }, null);
  if (byBytes?.kind === 'pdf') return whole(await readPdf(bytes, { ...PDF_LIMITS, ...options.pdf }), null);
  const { text, charset } = options.decode(bytes, contentType);
  const guess = kindOfText(text, type, url);
  if (guess.kind === 'html') return null;
  if (guess.kind === 'pdf') {
    const message = 'It is said to be a PDF, but is not.';
    return whole({ ...readText(text, type, url), problems: [{ code: 'pdf-broken', message }] }, charset);
  }
  const reading = read(text, contentType ?? '', url, guess, options);
  // Null here: XML or JSON that is a web page after all.
  return reading === null ? null : whole(reading, charset);
}

function read(
  text: string,
  contentType: string,
  url: string,
  guess: BodyGuess,
  hints: DateContext,
): DocumentReading | null {
  const type = mediaTypeOf(contentType);
  const plain = (): DocumentReading => readText(text, type, url);
  switch (guess.kind) {
    case 'json': {
      const found = readJson(text, url, hints, guess.isDeclared);
      // Declared as HTML and not valid JSON: read it as HTML.
      return found ?? (type === 'text/html' ? null : plain());
    }
    case 'xml': {
      const found = readXmlDocument(text, url, hints, guess.isDeclared);
      if (found !== null) return found;
      return isPage(text) ? null : plain();
    }
    case 'csv': {
      const isTabs = /tab-separated|tsv/.test(type) || /\.(?:tsv|tab)$/i.test(URL.parse(url)?.pathname ?? '');
      const header = /;\s*header\s*=\s*"?(present|absent)\b/i.exec(contentType)?.[1]?.toLowerCase();
      return readCsv(text, url, {
        delimiter: isTabs ? '\t' : null,
        header: header === 'present' || header === 'absent' ? header : null,
      });
    }
    default:
      return plain();
  }
}

const isPage = (text: string): boolean => /<html[\s>]/i.test(text.slice(0, 4_096));

function whole(reading: DocumentReading, charset: string | null): DocumentContent {
  const { text = '', markdown = '', problems = [] } = reading;
  const { textChars } = DOCUMENT_LIMITS;
  const isCut = text.length > textChars || markdown.length > textChars;
  const cutting: DocumentProblem = {
    code: 'text-cut',
    message: `The text was cut after ${textChars} characters.`,
  };
  return {
    title: null,
    author: null,
    publishedAt: null,
    modifiedAt: null,
    language: null,
    links: [],
    ...reading,
    charset,
    text: cut(text, textChars),
    markdown: cut(markdown, textChars),
    problems: isCut ? [...problems, cutting] : problems,
  };
}

/** Types and file names of code, with the language name for Markdown. */
const CODE: readonly (readonly [RegExp, string])[] = [
  [/javascript|ecmascript|\.m?js$/, 'js'],
  [/typescript|\.ts$/, 'ts'],
  [/\/css|\.css$/, 'css'],
  [/yaml|\.ya?ml$/, 'yaml'],
  [/\/toml|\.toml$/, 'toml'],
  [/\/(?:x-)?sql|\.sql$/, 'sql'],
  [/x-sh|shellscript|\.sh$/, 'sh'],
  [/x-python|\.py$/, 'python'],
  [/calendar|\.ics$/, 'ics'],
];
const MARKDOWN = /markdown|\.(?:md|markdown)$/;
const HEADING = /^#{1,6}\s+(.{1,1000})$/m;
const HEAD_CHARS = 10_000;

/** Reads plain text. Markdown and prose are Markdown already; code becomes a block of it. */
function readText(text: string, type: string, url: string): DocumentReading {
  const path = URL.parse(url)?.pathname.toLowerCase() ?? '';
  const isMarkdown = MARKDOWN.test(type) || MARKDOWN.test(path);
  const language = CODE.find(
    ([pattern]) => pattern.test(type) || (type === 'text/plain' && pattern.test(path)),
  )?.[1];
  const links = new LinkList(url, 'text');
  links.addFrom(text);
  const heading = isMarkdown ? HEADING.exec(text.slice(0, HEAD_CHARS))?.[1] : undefined;
  const title =
    heading === undefined ? '' : collapse(heading.replace(/\s#+\s*$/, ''), DOCUMENT_LIMITS.titleChars);
  return {
    kind: 'text',
    title: title === '' ? null : title,
    text,
    markdown: language === undefined ? text : codeFence(text, language),
    links: links.all,
  };
}

/** The kind of a body by its type and first bytes. `html` is read as a web page. */
type BodyKind = 'html' | 'json' | 'xml' | 'csv' | 'text' | 'pdf' | 'binary';

interface BodyGuess {
  readonly kind: BodyKind;
  /** True when the server declares the kind: content that does not fit is then broken, not of another kind. */
  readonly isDeclared: boolean;
}

function declaredKind(type: string): BodyKind | null {
  return isHtmlType(type) ? 'html' : (DECLARED.find(([pattern]) => pattern.test(type))?.[1] ?? null);
}

/** The kind by the bytes, before decoding; null when they may be text. */
function kindOfBytes(bytes: Uint8Array, type: string): BodyGuess | null {
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
function kindOfText(text: string, type: string, url: string): BodyGuess {
  const head = text.slice(0, JUDGED_CHARS).trimStart();
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
