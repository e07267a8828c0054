import { codeFence } from '../content/render/markdown-inline.ts';
import { mediaTypeOf } from '../html/media-type.ts';
import { collapse, cut } from '../html/white-space.ts';
import { type BodyGuess, kindOfBytes, kindOfText } from './body-kind.ts';
import type { DateContext, DocumentContent, DocumentProblem, DocumentReading } from './document-content.ts';
import { DOCUMENT_LIMITS, PDF_LIMITS, type PdfLimits } from './document-limits.ts';
import { LinkList } from './link-list.ts';
import { readPdf } from './pdf/read-pdf.ts';
import { readCsv } from './read-csv.ts';
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
