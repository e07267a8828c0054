import type { CDPSession, Page } from 'patchright-core';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { MAX_URL_CHARS } from '../../../crawl/frontier/canonical.ts';
import { isHtmlType, mediaTypeOf } from '../../../extract/html/media-type.ts';
import type { BrowserRequest, Redirect } from '../../engine.ts';
import { type Body, EMPTY_BODY } from '../../http/body-buffer.ts';
import { isRedirect, redirectTarget, refuseLongTarget } from '../../http/redirects.ts';
import { FORBIDDEN_HEADERS, isPortable } from '../../http/request-headers.ts';
import {
  changedHeaders,
  type DocumentGate,
  type HeaderEntry,
  type PausedRequest,
  passAnswerOn,
  passOn,
  type RequestChange,
  readPausedBody,
  refuse,
} from './page-session.ts';
import type { DocumentWatch, ToolOptions } from './page-tools.ts';

/**
 * Returns the headers of a request for a document, in their order and spelling. The given ones have lower-case names and
 * include those of the request.
 */
export type ArrangeHeaders = (
  headers: ReadonlyMap<string, string>,
  url: URL,
  page: Page,
  request: BrowserRequest,
) => HeaderEntry[];

interface MainDocumentOptions extends Pick<ToolOptions, 'page' | 'request' | 'ask' | 'arrange'> {
  readonly cdp: CDPSession;
  /** A screenshot, a PDF or an action is wanted, so images and text are rendered too instead of only read. */
  readonly isVisual: boolean;
}

/**
 * Handles the requests for the page's document that Chromium pauses: sends the first with the method and headers of the
 * request, asks before each redirect and each navigation of the page itself, and reads a response that is no page.
 */
export class MainDocument implements DocumentGate {
  readonly progress: DocumentProgress;
  readonly #options: MainDocumentOptions;
  readonly #requestUrl: URL;
  /** Method and URL of the redirects so far. */
  readonly #seen = new Set<string>();
  #hasStarted = false;

  constructor(options: MainDocumentOptions) {
    this.#options = options;
    this.progress = new DocumentProgress(options);
    this.#requestUrl = new URL(options.request.url);
  }

  headersOfFrame({ request: { headers, url } }: PausedRequest): HeaderEntry[] | undefined {
    const { arrange, page, request } = this.#options;
    return arrange?.(new Map(lowerCaseNames(headers)), new URL(url), page, request);
  }

  onRefused(refusal: ScrapifieError): void {
    this.progress.onArrival();
    this.progress.fail(refusal);
  }

  async onPaused(event: PausedRequest): Promise<void> {
    try {
      if (event.responseErrorReason !== undefined) {
        passOn(this.#options.cdp, event.requestId);
        this.progress.onArrival();
      } else if (event.responseStatusCode === undefined) await this.#onRequest(event);
      else await this.#onAnswer(event, event.responseStatusCode);
    } catch (error) {
      refuse(this.#options.cdp, event.requestId);
      this.progress.onArrival();
      this.progress.fail(error);
    }
  }

  async #onRequest(event: PausedRequest): Promise<void> {
    const { cdp, request } = this.#options;
    const isFirst = !this.#hasStarted;
    this.#hasStarted = true;
    this.progress.lastTarget = event.request.url;
    if (isFirst || event.redirectedRequestId !== undefined) {
      const change: RequestChange = { headers: this.#headersFor(event) };
      if (isFirst && request.method === 'POST') {
        Object.assign(change, {
          method: 'POST',
          postData: Buffer.from(request.body ?? '').toString('base64'),
        });
      }
      passOn(cdp, event.requestId, change);
      return;
    }
    if (await this.progress.depart(event.request.url)) {
      passOn(cdp, event.requestId, changedHeaders(this.headersOfFrame(event)));
      return;
    }
    refuse(cdp, event.requestId);
    this.progress.onArrival();
  }

  async #onAnswer(event: PausedRequest, statusCode: number): Promise<void> {
    const { cdp, request, isVisual } = this.#options;
    const answer: DocumentResponse = {
      url: withoutFragment(event.request.url),
      statusCode,
      headers: headersOf(event.responseHeaders ?? []),
      networkId: event.networkId ?? null,
    };
    if (isRedirect(statusCode) && answer.headers.location !== undefined) {
      const target = redirectTarget(answer.headers.location, new URL(answer.url));
      this.#checkLoop(event.request.method, answer, target);
      if ((await this.progress.decide(target, true)) === 'stop') {
        this.#finish(event, { answer, body: EMPTY_BODY, redirectedTo: target.href });
        return;
      }
      this.progress.redirects.push({ url: answer.url, statusCode });
      passOn(cdp, event.requestId);
      return;
    }
    this.progress.answer = answer;
    const declared = Number(answer.headers['content-length'] ?? 0);
    if (declared > request.maxBodyBytes) throw tooLarge(request.maxBodyBytes);
    // For an error status without a body Chromium shows a page of its own, and reports no answer. A 407 goes on to
    // Chromium: it may be the guard's proxy that asks for the login which a new network process does not know.
    const isEmptyError = statusCode >= 400 && statusCode !== 407 && answer.headers['content-length'] === '0';
    if (hasNoBody(statusCode) || isEmptyError) {
      this.#finish(event, { answer, body: EMPTY_BODY, redirectedTo: null });
    } else if (isRendered(answer.headers, isVisual)) passAnswerOn(cdp, event);
    else {
      const body = await readPausedBody(cdp, event.requestId, request.maxBodyBytes, tooLarge);
      this.#finish(event, { answer, body, redirectedTo: null });
    }
  }

  #checkLoop(method: string, answer: DocumentResponse, target: URL): void {
    // A new cookie may change what a URL answers.
    if (answer.headers['set-cookie'] !== undefined) this.#seen.clear();
    this.#seen.add(`${method} ${answer.url}`);
    if (!this.#seen.has(`${method} ${target.href}`)) return;
    throw new ScrapifieError('REDIRECT_LOOP', `The redirects of ${target.host} lead in a circle`);
  }

  #finish(event: PausedRequest, document: DocumentWithoutPage): void {
    this.progress.end(document);
    refuse(this.#options.cdp, event.requestId);
    this.progress.onArrival();
  }

  /** Chromium's headers with those of the request. Headers for one origin are not sent to another. */
  #headersFor(event: PausedRequest): HeaderEntry[] {
    const { request, arrange, page } = this.#options;
    const url = new URL(event.request.url);
    const isHome = this.#requestUrl.origin === url.origin;
    // The document must come from the server; its resources may come from the cache.
    const headers = new Map([...lowerCaseNames(event.request.headers), ['cache-control', 'max-age=0']]);
    if (request.conditional?.etag != null) headers.set('if-none-match', request.conditional.etag);
    if (request.conditional?.lastModified != null) {
      headers.set('if-modified-since', request.conditional.lastModified);
    }
    for (const [name, value] of lowerCaseNames(request.headers)) {
      if (isHome || isPortable(name, request.crossOriginHeaders)) headers.set(name, value);
      else headers.delete(name);
    }
    return arrange?.(headers, url, page, request) ?? [...headers].map(([name, value]) => ({ name, value }));
  }
}

/** Throws VALIDATION_FAILED for headers that Chromium writes itself. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(headers)) {
    if (!FORBIDDEN_HEADERS.has(name.toLowerCase())) continue;
    throw new ScrapifieError(
      'VALIDATION_FAILED',
      `The header ${name.toLowerCase()} cannot be set on a request`,
      {
        details: [{ path: `headers.${name}`, message: 'is set by the engine' }],
      },
    );
  }
}

function headersOf(entries: readonly HeaderEntry[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const { name, value } of entries) {
    const lower = name.toLowerCase();
    const earlier = headers[lower];
    if (earlier === undefined) headers[lower] = lower === 'set-cookie' ? [value] : value;
    else headers[lower] = [...(typeof earlier === 'string' ? [earlier] : earlier), value];
  }
  return headers;
}

/** HTML is rendered. Other types are read instead, unless a step needs to see them and Chromium can display them. */
function isRendered(headers: DocumentResponse['headers'], isVisual: boolean): boolean {
  const disposition = String(headers['content-disposition'] ?? '');
  if (/^\s*attachment/i.test(disposition)) return false;
  const type = mediaTypeIn(headers);
  return isHtml(type) || (isVisual && /^(?:text|image)\/|[/+](?:json|xml)$/.test(type));
}

/** Status, headers and URL of the response that the page's document came with. */
export interface DocumentResponse {
  readonly url: string;
  readonly statusCode: number;
  readonly headers: Record<string, string | string[]>;
  /** Chromium's id of the request; null where it is not known. */
  readonly networkId: string | null;
}

/** The end of a navigation that renders no page: a body that is no page, no body, or a redirect that is not followed. */
export interface DocumentWithoutPage {
  readonly answer: DocumentResponse;
  readonly body: Body;
  readonly redirectedTo: string | null;
}

/** The state of a page's document on its way from URL to URL, whichever protocol reports it. */
export class DocumentProgress implements DocumentWatch {
  readonly redirects: Redirect[] = [];
  readonly ended: Promise<DocumentWithoutPage>;
  readonly isStopped: Promise<null>;
  answer: DocumentResponse | null = null;
  refusedTarget: string | null = null;
  lastTarget: string | null = null;
  leaving: Promise<void> | null = null;
  /** Resolves the promise `ended`. */
  readonly end: (document: DocumentWithoutPage) => void;
  /** Rejects the promise `ended`. */
  readonly fail: (error: unknown) => void;
  readonly #options: Pick<ToolOptions, 'request' | 'ask'>;
  readonly #stop: (nothing: null) => void;
  #arrived: (() => void) | null = null;
  #hop = 0;

  constructor(options: Pick<ToolOptions, 'request' | 'ask'>) {
    this.#options = options;
    const ended = Promise.withResolvers<DocumentWithoutPage>();
    const stopped = Promise.withResolvers<null>();
    ended.promise.catch(() => {});
    this.ended = ended.promise;
    this.end = ended.resolve;
    this.fail = ended.reject;
    this.isStopped = stopped.promise;
    this.#stop = stopped.resolve;
  }

  onArrival(): void {
    this.#arrived?.();
    this.#arrived = null;
    this.leaving = null;
  }

  /**
   * The page itself navigates: by a script, a meta refresh or an action. Resolves with false when it must not; with
   * true the caller continues the request. Throws as `decide` does.
   */
  async depart(url: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.leaving = promise;
    this.#arrived = resolve;
    const target = withoutFragment(url);
    const from = this.answer?.url ?? new URL(this.#options.request.url).href;
    if ((await this.decide(new URL(target), target !== from)) === 'follow') {
      this.redirects.push({ url: from, statusCode: this.answer?.statusCode ?? 200 });
      return true;
    }
    this.refusedTarget = target;
    this.#stop(null);
    return false;
  }

  /** Counts the hop and asks the owner of the request. Throws TOO_MANY_REDIRECTS, CANCELLED, or what the owner throws. */
  async decide(target: URL, isElsewhere: boolean): Promise<'follow' | 'stop'> {
    const { request, ask } = this.#options;
    if (target.protocol !== 'http:' && target.protocol !== 'https:') return 'stop';
    refuseLongTarget(target, new URL(request.url));
    this.#hop += 1;
    if (this.#hop > request.maxRedirects) {
      const message = `${new URL(request.url).host} redirects more than ${request.maxRedirects} times`;
      throw new ScrapifieError('TOO_MANY_REDIRECTS', message);
    }
    const verdict = isElsewhere ? await ask(target.href, this.#hop) : 'follow';
    if (verdict === 'follow' && request.mayStart?.() === false) {
      throw new ScrapifieError('CANCELLED', `The request to ${target.host} came too late`);
    }
    return verdict;
  }
}

/** Responses with these statuses have no body. */
export const hasNoBody = (statusCode: number): boolean =>
  statusCode === 204 || statusCode === 205 || statusCode === 304;

/** How Chromium reports an error status without a body, depending on its version. */
const NO_BODY = /ERR_HTTP_RESPONSE_CODE_FAILURE|ERR_INVALID_RESPONSE|ERR_EMPTY_RESPONSE/;

/**
 * The answer of a navigation that failed with this message: Chromium shows a page of its own for an error status without
 * a body, and the status is the answer all the same. Null when there is none.
 */
export function answerWithoutBody(
  answer: DocumentResponse | null,
  message: string,
): DocumentWithoutPage | null {
  if (answer === null || answer.statusCode < 400 || !NO_BODY.test(message)) return null;
  return { answer, body: EMPTY_BODY, redirectedTo: null };
}

export function lowerCaseNames(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
}

export function withoutFragment(url: string): string {
  const at = url.indexOf('#');
  return at === -1 ? url : url.slice(0, at);
}

/**
 * The URL of a document that scripts have changed by `history`: within its origin, and without a request. An address that is
 * longer than any URL that is fetched names nothing: the document keeps the one that it was requested by.
 */
export function urlOfDocument(shown: string, requested: string): string {
  const now = URL.parse(shown);
  if (now === null || now.origin !== new URL(requested).origin) return requested;
  const url = withoutFragment(now.href);
  return url.length > MAX_URL_CHARS ? requested : url;
}

/** The media type of a response, in lower case; empty when the server names none. */
export function mediaTypeIn(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  const header = headers['content-type'];
  return mediaTypeOf(typeof header === 'string' ? header : (header?.[0] ?? ''));
}

/** Browsers render a document without a media type as HTML. */
export const isHtml = (mediaType: string): boolean => mediaType === '' || isHtmlType(mediaType);

export function tooLarge(limit: number): ScrapifieError {
  return new ScrapifieError('BODY_LIMIT_EXCEEDED', `The body is larger than ${limit} bytes`);
}

export function pageTooLarge(limit: number): ScrapifieError {
  const message = `The page and what it loads are larger than ${limit} bytes`;
  return new ScrapifieError('BODY_LIMIT_EXCEEDED', message);
}
