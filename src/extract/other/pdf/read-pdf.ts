import { Worker } from 'node:worker_threads';
import { escapeMarkdown } from '../../markdown/markdown-inline.ts';
import { cut } from '../../white-space.ts';
import { LinkList } from '../link-list.ts';
import type { OtherProblem, Reading } from '../other-content.ts';
import { OTHER_LIMITS, type PdfLimits } from '../other-limits.ts';
import { bodySize, isHeading, joinedLines, linesOf, type PdfLine, paragraphsOf } from './pdf-lines.ts';
import type { PdfCall, PdfFacts, PdfMessage } from './pdf-messages.ts';

const WATCH_MS = 50;
const TITLE_LINES = 3;
const NO_FACTS: PdfFacts = { title: null, author: null, createdAt: null, modifiedAt: null, language: null };
/** What programs write when nobody gave a title. */
const NO_TITLE =
  /^(?:untitled|(?:microsoft )?(?:word|powerpoint|excel) - |document\d*$|\S+\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf)$)/i;

/** What the thread told until it ended or was ended. */
interface Told {
  pageCount: number | null;
  facts: PdfFacts;
  readonly pages: PdfLine[][];
  readonly links: LinkList;
  readonly problems: OtherProblem[];
  badPages: number;
}

/**
 * Reads the text of a PDF in a thread of its own, which is ended at the limits. What was read by then is kept. Broken and
 * encrypted documents are problems, never errors.
 */
export async function readPdf(bytes: Uint8Array, limits: PdfLimits): Promise<Reading> {
  const told: Told = {
    pageCount: null,
    facts: NO_FACTS,
    pages: [],
    links: new LinkList('about:blank', 'pdf'),
    problems: [],
    badPages: 0,
  };
  if (bytes.byteLength > limits.bytes) {
    told.problems.push({ code: 'pdf-memory-limit', message: `It has more than ${limits.bytes} bytes.` });
  } else await askThread(bytes, limits, told);
  return readingOf(told, limits);
}

async function askThread(bytes: Uint8Array, limits: PdfLimits, told: Told): Promise<void> {
  const call: PdfCall = { bytes: new Uint8Array(bytes), pages: limits.pages, textChars: limits.textChars };
  const worker = new Worker(
    new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url),
    {
      name: 'pdf',
      workerData: call,
      transferList: [call.bytes.buffer as ArrayBuffer],
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: limits.heapMb, stackSizeMb: 4 },
      // What the library says to the console is of no use to anybody.
      stdout: true,
      stderr: true,
    },
  );
  worker.stdout.resume();
  worker.stderr.resume();
  const tooMuch: OtherProblem = {
    code: 'pdf-memory-limit',
    message: 'Reading it takes more memory than allowed.',
  };
  const late: OtherProblem = {
    code: 'pdf-time-limit',
    message: `Reading it takes longer than ${limits.timeMs} ms.`,
  };
  const { promise, resolve } = Promise.withResolvers<OtherProblem | null>();
  const timer = setTimeout(resolve, limits.timeMs, late);
  const watch = setInterval(() => {
    worker.getHeapStatistics().then(
      ({ external_memory }) => {
        if (external_memory > limits.bufferBytes + bytes.byteLength) resolve(tooMuch);
      },
      () => {
        // It has ended meanwhile.
      },
    );
  }, WATCH_MS);
  worker.on('message', (message: PdfMessage) => {
    if (hear(message, told)) resolve(null);
  });
  worker.on('error', (error: Error & { readonly code?: string }) => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY' || error instanceof RangeError;
    resolve(isMemory ? tooMuch : { code: 'pdf-broken', message: 'Its reader failed on it.' });
  });
  worker.on('exit', () =>
    resolve({ code: 'pdf-broken', message: 'Its reader ended before the document did.' }),
  );
  const problem = await promise;
  clearTimeout(timer);
  clearInterval(watch);
  worker.removeAllListeners('message');
  await worker.terminate();
  if (problem !== null) told.problems.push(problem);
}

/** Whether that was the last. */
function hear(message: PdfMessage, told: Told): boolean {
  switch (message.kind) {
    case 'document':
      told.pageCount = message.pageCount;
      told.facts = message.facts;
      return false;
    case 'page':
      told.pages.push(linesOf(message.pieces));
      for (const { url } of message.links) told.links.add(url);
      return false;
    case 'bad-page':
      told.badPages++;
      return false;
    case 'end':
      if (message.isCut)
        told.problems.push({ code: 'text-cut', message: 'The rest of the document was not read.' });
      return true;
    case 'failed':
      told.problems.push(
        message.isEncrypted
          ? { code: 'pdf-encrypted', message: 'It cannot be read without its password.' }
          : { code: 'pdf-broken', message: `It cannot be read: ${message.reason}` },
      );
      return true;
  }
}

function readingOf({ pageCount, facts, pages, links, problems, badPages }: Told, limits: PdfLimits): Reading {
  const body = bodySize(pages.flat());
  const paragraphs = pages.map((lines) => paragraphsOf(lines, body));
  const text = paragraphs
    .map((page) => page.map((lines) => lines.map((line) => line.text).join('\n')).join('\n\n'))
    .filter((page) => page !== '')
    .join('\n\n');
  const markdown = paragraphs.flat().map((lines) => shown(lines, body));
  if (badPages > 0) {
    problems.push({ code: 'pdf-broken', message: `Pages that could not be read: ${badPages}.` });
  }
  if (pageCount !== null && pageCount > limits.pages && problems.length === 0) {
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
    markdown: markdown.join('\n\n'),
    ...(pageCount === null ? {} : { pageCount }),
    links: links.all,
    problems,
  };
}

function shown(lines: readonly PdfLine[], body: number): string {
  const text = joinedLines(lines);
  const [first] = lines;
  if (first === undefined || !isHeading(first, body)) return escapeMarkdown(text, true, false);
  const level = first.size >= body * 1.8 ? 1 : first.size >= body * 1.4 ? 2 : 3;
  return `${'#'.repeat(level)} ${escapeMarkdown(text, false, false)}`;
}

/** What the document calls itself, else the largest line of its first page. */
function titleOf(told: string | null, lines: readonly PdfLine[], body: number): string | null {
  if (told !== null && !NO_TITLE.test(told)) return told;
  const largest = lines
    .filter((line) => isHeading(line, body))
    .reduce<PdfLine | null>((most, line) => (most !== null && most.size >= line.size ? most : line), null);
  if (largest === null) return null;
  const from = lines.slice(lines.indexOf(largest));
  // A title may go on on the next lines.
  const end = from.findIndex((line) => Math.abs(line.size - largest.size) > 0.1);
  const rows = from.slice(0, Math.min(TITLE_LINES, end === -1 ? from.length : end));
  return cut(joinedLines(rows), OTHER_LIMITS.titleChars);
}
