import { cut } from '../white-space.ts';
import { type BodyGuess, kindOfBytes, kindOfText, mediaType } from './body-kind.ts';
import type { MomentHints } from './moment.ts';
import type { OtherContent, OtherProblem, Reading } from './other-content.ts';
import { OTHER_LIMITS, PDF_LIMITS, type PdfLimits } from './other-limits.ts';
import { readPdf } from './pdf/read-pdf.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readText } from './read-text.ts';
import { readXml } from './read-xml.ts';

export interface OtherOptions {
  /** Turns bytes into text by mark, header and declaration. */
  readonly decode: (
    bytes: Uint8Array,
    contentType: string | null,
  ) => { readonly text: string; readonly charset: string };
  /** When the body was fetched, in milliseconds: what dates without a year are counted from. */
  readonly fetchedAt: number;
  readonly pdf?: Partial<PdfLimits> | undefined;
}

/**
 * Reads a body that is no web page: JSON, XML, feeds, tables, plain text, PDF. The type decides where it can be true; a
 * type that lies or is missing is made up for by looking at the bytes. Null for web pages, which have readers of their
 * own. Everything else is `binary`: kept, and nothing to read. It never throws and never takes longer than its limits.
 */
export async function readOther(
  bytes: Uint8Array,
  contentType: string | null,
  url: string,
  options: OtherOptions,
): Promise<OtherContent | null> {
  const type = mediaType(contentType);
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
  // XML and JSON that turn out to be a web page after all.
  return reading === null ? null : whole(reading, charset);
}

function read(
  text: string,
  contentType: string,
  url: string,
  guess: BodyGuess,
  hints: MomentHints,
): Reading | null {
  const type = mediaType(contentType);
  const plain = (): Reading => readText(text, type, url);
  switch (guess.kind) {
    case 'json': {
      const found = readJson(text, url, hints, guess.isDeclared);
      // Said to be a page, and no JSON: then it is a page, if a strange one.
      return found ?? (type === 'text/html' ? null : plain());
    }
    case 'xml': {
      const found = readXml(text, url, hints, guess.isDeclared);
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

function whole(reading: Reading, charset: string | null): OtherContent {
  const { text = '', markdown = '', problems = [] } = reading;
  const { textChars } = OTHER_LIMITS;
  const isCut = text.length > textChars || markdown.length > textChars;
  const cutting: OtherProblem = {
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
