import { getDocumentProxy } from 'unpdf';
import { answerCalls, notify } from '../../../lib/threads/answer-calls.ts';
import type { PdfPiece } from './pdf-layout.ts';
import {
  type PdfCall,
  type PdfEnd,
  type PdfFacts,
  type PdfLink,
  type PdfMethods,
  type PdfNotice,
  pdfDate,
} from './pdf-messages.ts';

/**
 * Reads one PDF. It has a thread of its own because a document can make its reader compute or allocate without
 * end and without a pause; it can be stopped only by terminating the thread. Each page is posted at once, so that pages read
 * before a limit are kept.
 */
answerCalls<PdfMethods>({ read });

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;
type Page = Awaited<ReturnType<Document['getPage']>>;

/** After this many missing pages in a row the rest is taken as missing. */
const MAX_BAD_PAGES = 20;
const MAX_LINKS_PER_PAGE = 1_000;
const MAX_PIECES_PER_PAGE = 200_000;
const VALUE_CHARS = 1_000;
const REASON_CHARS = 200;

const tell = (notice: PdfNotice): void => notify<PdfNotice>(notice);
const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARS);

async function read(call: PdfCall): Promise<PdfEnd> {
  try {
    const document = await getDocumentProxy(call.bytes, {
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      // Never compile code from a document.
      isEvalSupported: false,
    } as Parameters<typeof getDocumentProxy>[1]);
    tell({ kind: 'document', pageCount: document.numPages, facts: await factsOf(document) });
    return await readPages(document, call);
  } catch (error) {
    const isEncrypted = error instanceof Error && error.name === 'PasswordException';
    return { kind: 'failed', isEncrypted, reason: reasonOf(error) };
  }
}

async function readPages(document: Document, { pages, textChars }: PdfCall): Promise<PdfEnd> {
  let badInRow = 0;
  let chars = 0;
  for (let number = 1; number <= Math.min(document.numPages, pages); number++) {
    try {
      const page = await document.getPage(number);
      const { pieces, isCut: isTextCut } = await piecesOf(page);
      const { links, isCut: isListCut } = await linksOf(page);
      tell({ kind: 'page', pieces, links, isCut: isTextCut || isListCut });
      page.cleanup();
      badInRow = 0;
      for (const { text } of pieces) chars += text.length;
    } catch (error) {
      tell({ kind: 'bad-page', reason: reasonOf(error) });
      badInRow++;
    }
    if (badInRow >= MAX_BAD_PAGES) break;
    if (chars > textChars) return { kind: 'end', isCut: true };
  }
  return { kind: 'end', isCut: false };
}

async function piecesOf(page: Page): Promise<{ pieces: PdfPiece[]; isCut: boolean }> {
  const { items } = await page.getTextContent({ includeMarkedContent: false });
  const pieces: PdfPiece[] = [];
  for (const item of items.slice(0, MAX_PIECES_PER_PAGE)) {
    if (!('str' in item)) continue;
    const [, b = 0, , d = 0, x = 0, y = 0] = item.transform as number[];
    const size = item.height > 0 ? item.height : Math.hypot(b, d);
    pieces.push({ text: item.str, x, y, width: item.width, size, isLineEnd: item.hasEOL });
  }
  return { pieces, isCut: items.length > MAX_PIECES_PER_PAGE };
}

async function linksOf(page: Page): Promise<{ links: PdfLink[]; isCut: boolean }> {
  try {
    const annotations = (await page.getAnnotations()) as readonly { readonly url?: unknown }[];
    const links = annotations.flatMap(({ url }) => (typeof url === 'string' ? [{ url }] : []));
    return { links: links.slice(0, MAX_LINKS_PER_PAGE), isCut: links.length > MAX_LINKS_PER_PAGE };
  } catch {
    // Broken links must not lose the text of the page.
    return { links: [], isCut: false };
  }
}

async function factsOf(document: Document): Promise<PdfFacts> {
  try {
    const { info, metadata } = await document.getMetadata();
    const told = info as Readonly<Record<string, unknown>>;
    const extra = (name: string): string | null => {
      const found: unknown = metadata?.get(name);
      return textOf(Array.isArray(found) ? found.join(', ') : found);
    };
    return {
      title: textOf(told.Title) ?? extra('dc:title'),
      author: textOf(told.Author) ?? extra('dc:creator'),
      createdAt: pdfDate(told.CreationDate),
      modifiedAt: pdfDate(told.ModDate),
      language: textOf(told.Language) ?? extra('dc:language'),
    };
  } catch {
    return { title: null, author: null, createdAt: null, modifiedAt: null, language: null };
  }
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value
    .slice(0, VALUE_CHARS)
    .replace(/[\s\0]+/g, ' ')
    .trim();
  return text === '' ? null : text;
}
