import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { openArchive } from '../../lib/warc/open-archive.ts';
import { abortError } from '../deadline.ts';
import type { Engine, FetchRequest } from '../engine.ts';
import { EMPTY_BODY } from '../http/body-buffer.ts';
import {
  followRedirects,
  type Hop,
  type HopSender,
  isRedirect,
  type RedirectChain,
} from '../http/redirects.ts';
import { originalHeaders, readMessage, readResource } from './archived-message.ts';
import { createRenderedReplay, readFacts } from './rendered-replay.ts';
import {
  buildReplayIndex,
  type Capture,
  fileOf,
  notInArchive,
  type ReplayArchive,
  type ReplayIndex,
} from './replay-index.ts';

/** Answers requests from WARC and WACZ files, and from nothing else: it opens no connection. */
export interface ReplayEngine extends Engine {
  readonly name: 'replay';
  readonly index: Pick<ReplayIndex, 'captures' | 'truncated'>;
}

/** Opens a WARC file, a WACZ file or a folder of them. Throws BAD_ARCHIVE. */
export async function openReplayEngine(path: string): Promise<ReplayEngine> {
  const opened = await openArchive(path);
  let index: ReplayIndex;
  try {
    index = await buildReplayIndex(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
  const archive: ReplayArchive = { index, files: opened.files };
  const replayRendered = createRenderedReplay(archive);
  let isClosed = false;

  return {
    name: 'replay',
    index,
    async fetch(request) {
      if (isClosed) throw new ScrapifieError('SHUTTING_DOWN', 'The archive is closed');
      const sender = new ArchiveSender(archive);
      const response = await followRedirects(sender, request, []);
      const { last } = sender;
      return last === null ? response : replayRendered(response, last, request);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      index.close();
      await opened.close();
    },
  };
}

/** Makes the requests of one chain of redirects. */
class ArchiveSender implements HopSender {
  readonly now = () => performance.now();
  /** What the last request was answered with; null before the first, and for an answer that is in no record. */
  last: Capture | null = null;
  readonly #archive: ReplayArchive;

  constructor(archive: ReplayArchive) {
    this.#archive = archive;
  }

  async sendHop(chain: RedirectChain, request: FetchRequest): Promise<Hop> {
    if (request.signal?.aborted === true) throw abortError(request.signal.reason);
    if (request.mayStart?.() === false) throw new ScrapifieError('CANCELLED', 'The host has another owner.');
    const { url, method } = chain;
    const asked = method === 'HEAD' ? 'GET' : method;
    this.last = this.#archive.index.find(url.href, asked);
    if (this.last === null) return this.#withoutCapture(url);
    const hop = await hopOf(this.#archive, this.last, { ...request, method });
    chain.received(hop.statusCode, hop.headers, Date.now());
    return hop;
  }

  /** A page that failed fails again in the same way; a site without robots.txt has no rules. */
  async #withoutCapture({ href, pathname }: URL): Promise<Hop> {
    const failure = this.#archive.index.failureOf(href);
    const { error = null } = failure === null ? {} : await readFacts(this.#archive, failure);
    if (error !== null && Object.hasOwn(ERRORS, error.code)) {
      throw new ScrapifieError(error.code as ErrorCode, error.message);
    }
    if (pathname === '/robots.txt') return { statusCode: 404, headers: {}, ...WITHOUT_BODY };
    throw notInArchive(`${href.slice(0, 500)} is not in the archive.`);
  }
}

const WITHOUT_BODY = { body: EMPTY_BODY, wireBytes: 0, httpVersion: '1.1' } as const;

/** The answer that a record holds. Throws NOT_IN_ARCHIVE where it refers to one that is missing. */
async function hopOf(archive: ReplayArchive, capture: Capture, request: FetchRequest): Promise<Hop> {
  const source = fileOf(archive, capture);
  if (capture.kind === 'resource') {
    const headers = capture.contentType === null ? {} : { 'content-type': capture.contentType };
    if (request.method === 'HEAD') return { statusCode: 200, headers, ...WITHOUT_BODY };
    const { body, storedBytes } = await readResource(source, capture.offset, request);
    return { statusCode: 200, headers, body, wireBytes: storedBytes, httpVersion: '1.1' };
  }
  const message = await readMessage(source, capture.offset);
  const headers = originalHeaders(message.head.headers);
  const statusCode = capture.statusCode ?? 200;
  if (capture.kind === 'revisit') return originalOf(archive, capture, headers, request);
  if (isRedirect(statusCode) || request.method === 'HEAD') return { statusCode, headers, ...WITHOUT_BODY };
  const { body, storedBytes } = await message.body(request);
  return { statusCode, headers, body, wireBytes: storedBytes, httpVersion: '1.1' };
}

/** A revisit has headers of its own and the body of another record. */
async function originalOf(
  archive: ReplayArchive,
  revisit: Capture,
  own: Hop['headers'],
  request: FetchRequest,
): Promise<Hop> {
  const original = archive.index.original(revisit);
  if (original === null) {
    throw notInArchive(
      `${revisit.url.slice(0, 500)} has the body of an earlier record that is not in the archive.`,
    );
  }
  const hop = await hopOf(archive, original, request);
  const statusCode = revisit.isNotModified ? hop.statusCode : (revisit.statusCode ?? hop.statusCode);
  const headers = Object.keys(own).length === 0 ? hop.headers : { ...contentTypeOf(hop), ...own };
  return { ...hop, statusCode, headers };
}

/** The answer that a page has not changed names no type. */
function contentTypeOf({ headers }: Hop): Hop['headers'] {
  const type = headers['content-type'];
  return type === undefined ? {} : { 'content-type': type };
}
