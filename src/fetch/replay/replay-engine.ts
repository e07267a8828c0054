import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { ACTION_TYPES, type CapturedXhr, type Picture } from '../../core/model/render.ts';
import { openArchive } from '../../lib/warc/open-archive.ts';
import { abortError } from '../deadline.ts';
import type { Engine, FetchRequest, FetchResponse, Rendered } from '../engine.ts';
import { EMPTY_BODY } from '../http/body-buffer.ts';
import {
  followRedirects,
  type Hop,
  type HopSender,
  isRedirect,
  type RedirectChain,
} from '../http/redirects.ts';
import { originalHeaders, readMessage, readResource } from './archived-message.ts';
import {
  buildReplayIndex,
  type Capture,
  fileOf,
  notInArchive,
  type ReplayArchive,
  type ReplayIndex,
} from './replay-index.ts';

/** Answers requests from WARC and WACZ files, and from nothing else: it opens no connection. */
interface ReplayEngine extends Engine {
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

const renderedSchema = z.object({
  contentType: z.string().nullable(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  hasRaw: z.boolean(),
  artifacts: z.array(z.object({ name: z.string(), contentType: z.string(), id: z.string() })),
  xhr: z.array(
    z.object({
      url: z.string(),
      method: z.string(),
      statusCode: z.number(),
      contentType: z.string().nullable(),
      isTooLarge: z.boolean(),
      id: z.string().optional(),
    }),
  ),
  consoleErrors: z.array(z.string()),
  actions: z.array(z.object({ type: z.enum(ACTION_TYPES), ms: z.number(), value: z.unknown().optional() })),
  failure: z.object({ code: z.string(), message: z.string(), step: z.string().nullable() }).nullable(),
});

const factsSchema = z.object({
  statusCode: z.number().nullable().optional(),
  error: z.object({ code: z.string(), message: z.string() }).nullable().optional(),
  rendered: renderedSchema.optional(),
});
type Facts = z.infer<typeof factsSchema>;
type RenderedFacts = z.infer<typeof renderedSchema>;

const MAX_FACTS_BYTES = 16_777_216;
const FACTS_LIMITS = { maxBodyBytes: MAX_FACTS_BYTES };

/** What Scrapifie wrote about a page. An archive may hold anything: facts that do not fit are none. */
async function readFacts(archive: ReplayArchive, capture: Capture): Promise<Facts> {
  const { body } = await readResource(fileOf(archive, capture), capture.offset, FACTS_LIMITS);
  try {
    return factsSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
  } catch {
    return {};
  }
}

/** Adds to the answer what a browser had made of the page, where the archive has it. */
function createRenderedReplay(archive: ReplayArchive) {
  const { index } = archive;

  async function bytesOf(id: string, request: FetchRequest): Promise<Uint8Array<ArrayBuffer> | null> {
    const capture = index.byId(id);
    if (capture === null) return null;
    const source = fileOf(archive, capture);
    const { body } =
      capture.kind === 'response'
        ? await (await readMessage(source, capture.offset)).body(request)
        : await readResource(source, capture.offset, request);
    return body;
  }

  async function artifact(facts: RenderedFacts, name: string, request: FetchRequest) {
    const found = facts.artifacts.find((each) => each.name === name);
    const bytes = found === undefined ? null : await bytesOf(found.id, request);
    return found === undefined || bytes === null ? null : { bytes, contentType: found.contentType };
  }

  async function picture(facts: RenderedFacts, name: string, request: FetchRequest): Promise<Picture | null> {
    const found = await artifact(facts, name, request);
    if (found === null) return null;
    return {
      bytes: found.bytes,
      contentType: found.contentType === 'image/jpeg' ? 'image/jpeg' : 'image/png',
    };
  }

  async function renderedOf(
    facts: RenderedFacts,
    rawBody: Rendered['rawBody'],
    request: FetchRequest,
  ): Promise<Rendered> {
    const xhr: CapturedXhr[] = [];
    for (const { id, ...answer } of facts.xhr) {
      xhr.push({ ...answer, body: id === undefined ? null : await bytesOf(id, request) });
    }
    const actions: Rendered['extra']['actions'][number][] = [];
    for (const [at, action] of facts.actions.entries()) {
      const shown = await picture(facts, `action-${at}`, request);
      actions.push(shown === null ? action : { ...action, picture: shown });
    }
    const failurePicture = await picture(facts, 'failure', request);
    const pdf = await artifact(facts, 'pdf', request);
    return {
      rawBody,
      extra: {
        screenshot: await picture(facts, 'view', request),
        pdf: pdf?.bytes ?? null,
        xhr,
        actions,
        consoleErrors: facts.consoleErrors,
        storage: null,
        ...(failurePicture === null ? {} : { failurePicture }),
      },
      failure: failureOf(facts),
    };
  }

  return async function replayRendered(
    response: FetchResponse,
    capture: Capture,
    request: FetchRequest,
  ): Promise<FetchResponse> {
    const written = index.factsOf(capture);
    const facts = written === null ? {} : await readFacts(archive, written);
    const { rendered } = facts;
    if (rendered === undefined) {
      refuseUnrendered(request, response.finalUrl);
      return response;
    }
    const conversion = rendered.hasRaw ? index.conversionOf(capture) : null;
    const body =
      conversion === null
        ? response.body
        : (await readResource(fileOf(archive, conversion), conversion.offset, request)).body;
    const shown = await renderedOf(rendered, rendered.hasRaw ? response.body : null, request);
    refuseMissing(request, shown, response.finalUrl);
    return {
      ...response,
      statusCode: facts.statusCode ?? response.statusCode,
      headers: rendered.hasRaw ? response.headers : headersOf(rendered),
      contentType: rendered.contentType,
      body,
      rendered: shown,
    };
  };
}

function headersOf({ headers }: RenderedFacts): FetchResponse['headers'] {
  const found: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    if (name === '__proto__') continue;
    const known = found[name];
    found[name] = known === undefined ? value : [...[known].flat(), value];
  }
  return found;
}

function failureOf({ failure }: RenderedFacts): ScrapifieError | null {
  if (failure === null || !Object.hasOwn(ERRORS, failure.code)) return null;
  const { code, message, step } = failure;
  return new ScrapifieError(code as ErrorCode, message, step === null ? {} : { details: { step } });
}

/** An archive cannot do on a page what was not done when it was recorded. */
function refuseUnrendered({ render }: FetchRequest, url: string): void {
  const { screenshot, pdf, captureXhr, actions = [] } = render ?? {};
  if (screenshot === undefined && pdf !== true && captureXhr !== true && actions.length === 0) return;
  throw notInArchive(
    `${url.slice(0, 500)} is in the archive as its server sent it, not as a browser showed it.`,
  );
}

function refuseMissing({ render }: FetchRequest, { extra }: Rendered, url: string): void {
  if (render?.screenshot !== undefined && extra.screenshot === null) {
    throw notInArchive(`The archive has no screenshot of ${url.slice(0, 500)}.`);
  }
  if (render?.pdf === true && extra.pdf === null) {
    throw notInArchive(`The archive has no PDF of ${url.slice(0, 500)}.`);
  }
}
