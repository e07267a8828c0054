import { siblingModule } from '../../../lib/threads/thread.ts';
import { ThreadClient, type ThreadEnd } from '../../../lib/threads/thread-client.ts';
import { escapeMarkdown } from '../../content/render/markdown-inline.ts';
import { cut } from '../../html/page-text.ts';
import { type DocumentProblem, type DocumentReading, LinkList } from '../document-content.ts';
import { DOCUMENT_LIMITS, type PdfLimits } from '../document-limits.ts';
import {
  bodySize,
  columnEnd,
  flowsOf,
  isHeading,
  joinedLines,
  linesOf,
  type PdfLine,
  paragraphsOf,
  partsOf,
  tableMarkdown,
  tableText,
} from './pdf-layout.ts';
import type { PdfCall, PdfEnd, PdfFacts, PdfMethods, PdfNotice } from './pdf-messages.ts';

const TITLE_LINES = 3;
const NO_FACTS: PdfFacts = { title: null, author: null, createdAt: null, modifiedAt: null, language: null };
/** Default titles that programs write. */
const NO_TITLE =
  /^(?:untitled|(?:microsoft )?(?:word|powerpoint|excel) - |document\d*$|\S+\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf)$)/i;

/** The messages of the thread until it ended or was terminated. */
interface PdfReport {
  pageCount: number | null;
  facts: PdfFacts;
  readonly pages: PdfLine[][];
  readonly links: LinkList;
  readonly problems: DocumentProblem[];
  badPages: number;
  /** Pages with more text or links than are read of one. */
  cutPages: number;
}

/**
 * Reads the text of a PDF in a thread of its own, which is terminated at the limits. Pages read by then are kept. Broken and
 * encrypted documents are problems, never errors.
 */
export async function readPdf(bytes: Uint8Array, limits: PdfLimits): Promise<DocumentReading> {
  const told: PdfReport = {
    pageCount: null,
    facts: NO_FACTS,
    pages: [],
    links: new LinkList('about:blank', 'pdf'),
    problems: [],
    badPages: 0,
    cutPages: 0,
  };
  if (bytes.byteLength > limits.bytes) {
    told.problems.push({ code: 'pdf-memory-limit', message: `It has more than ${limits.bytes} bytes.` });
  } else await askThread(bytes, limits, told);
  return readingOf(told, limits);
}

async function askThread(bytes: Uint8Array, limits: PdfLimits, told: PdfReport): Promise<void> {
  const copy = new Uint8Array(bytes);
  const thread = new ThreadClient<PdfMethods, PdfNotice>({
    name: 'pdf',
    entry: siblingModule('./thread.ts', import.meta.url),
    memory: {
      ...{ youngMb: 16, oldMb: limits.heapMb, stackMb: 4 },
      bufferBytes: limits.bufferBytes + bytes.byteLength,
    },
    // The library logs to the console.
    output: 'drop',
    errorOf: (end) => new UnreadPdf(problemOf(end, limits)),
    onNotice: (notice) => addNotice(notice, told),
  });
  const call: PdfCall = { bytes: copy, pages: limits.pages, textChars: limits.textChars };
  try {
    addEnd(await thread.call('read', [call], { limitMs: limits.timeMs, transfer: [copy.buffer] }), told);
  } catch (error) {
    if (!(error instanceof UnreadPdf)) throw error;
    told.problems.push(error.problem);
  } finally {
    await thread.close();
  }
}

/** The thread ended before the document did. */
class UnreadPdf extends Error {
  readonly problem: DocumentProblem;

  constructor(problem: DocumentProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

function problemOf({ reason }: ThreadEnd, limits: PdfLimits): DocumentProblem {
  if (reason === 'memory') {
    return { code: 'pdf-memory-limit', message: 'Reading it takes more memory than allowed.' };
  }
  if (reason === 'late') {
    return { code: 'pdf-time-limit', message: `Reading it takes longer than ${limits.timeMs} ms.` };
  }
  if (reason === 'failed') return { code: 'pdf-broken', message: 'Its reader failed on it.' };
  return { code: 'pdf-broken', message: 'Its reader ended before the document did.' };
}

function addNotice(notice: PdfNotice, told: PdfReport): void {
  switch (notice.kind) {
    case 'document':
      told.pageCount = notice.pageCount;
      told.facts = notice.facts;
      return;
    case 'page':
      told.pages.push(linesOf(notice.pieces));
      for (const { url } of notice.links) told.links.add(url);
      if (notice.isCut) told.cutPages++;
      return;
    case 'bad-page':
      told.badPages++;
      return;
  }
}

function addEnd(end: PdfEnd, { problems }: PdfReport): void {
  if (end.kind === 'end') {
    if (end.isCut) problems.push({ code: 'text-cut', message: 'The rest of the document was not read.' });
    return;
  }
  problems.push(
    end.isEncrypted
      ? { code: 'pdf-encrypted', message: 'It cannot be read without its password.' }
      : { code: 'pdf-broken', message: `It cannot be read: ${end.reason}` },
  );
}

function readingOf(
  { pageCount, facts, pages, links, problems, badPages, cutPages }: PdfReport,
  limits: PdfLimits,
): DocumentReading {
  const body = bodySize(pages.flat());
  const blocks = pages.flatMap((lines) => blocksOf(lines, body));
  const text = blocks.map((block) => block.text).join('\n\n');
  if (badPages > 0) {
    problems.push({ code: 'pdf-broken', message: `Pages that could not be read: ${badPages}.` });
  }
  if (cutPages > 0) {
    problems.push({ code: 'text-cut', message: `Pages with more text or links than are read: ${cutPages}.` });
  }
  // Whatever else went wrong: the pages beyond the limit are missing.
  if (pageCount !== null && pageCount > limits.pages && pages.length + badPages >= limits.pages) {
    problems.push({
      code: 'pdf-page-limit',
      message: `Only the first ${limits.pages} of ${pageCount} pages were read.`,
    });
  }
  if (text === '' && problems.length === 0) {
    problems.push({ code: 'pdf-no-text', message: 'Its pages hold no text; they may be pictures.' });
  }
  links.addFrom(text);
  return {
    kind: 'pdf',
    title: titleOf(facts.title, pages[0] ?? [], body),
    author: facts.author,
    publishedAt: facts.createdAt,
    modifiedAt: facts.modifiedAt,
    language: facts.language,
    text,
    markdown: blocks.map((block) => block.markdown).join('\n\n'),
    ...(pageCount === null ? {} : { pageCount, pagesRead: pages.length }),
    links: links.all,
    problems,
  };
}

/** A paragraph, a heading or a table. */
interface Block {
  readonly text: string;
  readonly markdown: string;
}

/** The blocks of a page. In the text every line is a line; in Markdown those that only the width of the page broke are joined. */
function blocksOf(page: readonly PdfLine[], body: number): Block[] {
  const running = page.filter((line) => !isHeading(line, body));
  return partsOf(page).flatMap((part): Block[] => {
    if ('table' in part) return [{ text: tableText(part.table), markdown: tableMarkdown(part.table) }];
    return paragraphsOf(part.lines, body).map((lines) => ({
      text: lines.map((line) => line.text).join('\n'),
      markdown: shown(lines, running, body),
    }));
  });
}

function shown(lines: readonly PdfLine[], running: readonly PdfLine[], body: number): string {
  const [first] = lines;
  if (first === undefined) return '';
  if (!isHeading(first, body)) {
    return flowsOf(lines, columnEnd(lines, running))
      .map((flow) => escapeMarkdown(flow, true, false))
      .join('\\\n');
  }
  const text = joinedLines(lines);
  const level = first.size >= body * 1.8 ? 1 : first.size >= body * 1.4 ? 2 : 3;
  return `${'#'.repeat(level)} ${escapeMarkdown(text, false, false)}`;
}

/** The title in the metadata, else the largest line of the first page. */
function titleOf(told: string | null, lines: readonly PdfLine[], body: number): string | null {
  if (told !== null && !NO_TITLE.test(told)) return told;
  const largest = lines
    .filter((line) => isHeading(line, body))
    .reduce<PdfLine | null>((most, line) => (most !== null && most.size >= line.size ? most : line), null);
  if (largest === null) return null;
  const from = lines.slice(lines.indexOf(largest));
  // A title may continue on the next lines.
  const end = from.findIndex((line) => Math.abs(line.size - largest.size) > 0.1);
  const rows = from.slice(0, Math.min(TITLE_LINES, end === -1 ? from.length : end));
  return cut(joinedLines(rows), DOCUMENT_LIMITS.titleChars);
}
