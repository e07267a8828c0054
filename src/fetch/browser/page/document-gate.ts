import type { CDPSession, Page } from 'patchright-core';
import { ScrapifieError } from '../../../errors/scrapifie-error.ts';
import { isHtmlType, mediaTypeOf } from '../../../extract/html/media-type.ts';
import type { Redirect } from '../../engine.ts';
import { isRedirect, redirectTarget } from '../../http/redirect.ts';
import { FORBIDDEN_HEADERS, isPortable } from '../../http/request-headers.ts';
import type { RenderRequest } from '../render-request.ts';
import {
  changedHeaders,
  type DocumentGate,
  passAnswerOn,
  passOn,
  type RequestChange,
  refuse,
} from './page-kit.ts';
import type { DocumentWatch, ToolOptions } from './page-tools.ts';
import { type Body, readPausedBody } from './paused-body.ts';
import type { HeaderEntry, PausedRequest } from './protocol.ts';

/** The answer that the page's document came with. */
export interface DocumentAnswer {
  readonly url: string;
  readonly statusCode: number;
  readonly headers: Record<string, string | string[]>;
  readonly networkId: string | null;
}

/** How a document ended without a page to look at. */
export interface BareDocument {
  readonly answer: DocumentAnswer;
  readonly body: Body;
  readonly redirectedTo: string | null;
}

const EMPTY: Body = new Uint8Array(0);

/**
 * Decides what a request for a document is sent with, in that order and spelling. Names come in lower case, with what
 * the request wants already in place.
 */
export type ArrangeHeaders = (
  headers: ReadonlyMap<string, string>,
  url: URL,
  page: Page,
  request: RenderRequest,
) => HeaderEntry[];

export interface MainDocumentOptions extends Pick<ToolOptions, 'page' | 'request' | 'ask' | 'arrange'> {
  readonly cdp: CDPSession;
  /** Something is to be seen of the page, so also pictures and text are shown rather than only read. */
  readonly isVisual: boolean;
}

/**
 * Leads the page's document from URL to URL as the request says: its method and headers on the way out, leave for each
 * redirect, whether the server or a script on the page makes it, and no page for what is not one.
 */
export class MainDocument implements DocumentGate, DocumentWatch {
  readonly redirects: Redirect[] = [];
  readonly ended: Promise<BareDocument>;
  answer: DocumentAnswer | null = null;
  refusedTarget: string | null = null;
  readonly isStopped: Promise<null>;
  lastTarget: string | null = null;
  leaving: Promise<void> | null = null;

  private readonly options: MainDocumentOptions;
  private readonly home: URL;
  private readonly seen = new Set<string>();
  private readonly end: (document: BareDocument) => void;
  private readonly fail: (error: unknown) => void;
  private readonly stop: (nothing: null) => void;
  private arrived: (() => void) | null = null;
  private hasStarted = false;
  private hop = 0;

  constructor(options: MainDocumentOptions) {
    this.options = options;
    this.home = new URL(options.request.url);
    const { promise, resolve, reject } = Promise.withResolvers<BareDocument>();
    const stopped = Promise.withResolvers<null>();
    this.isStopped = stopped.promise;
    this.stop = stopped.resolve;
    this.ended = promise;
    this.ended.catch(() => {});
    this.end = resolve;
    this.fail = reject;
  }

  onArrival(): void {
    this.arrived?.();
    this.arrived = null;
    this.leaving = null;
  }

  headersOfFrame({ request: { headers, url } }: PausedRequest): HeaderEntry[] | undefined {
    const { arrange, page, request } = this.options;
    return arrange?.(new Map(lowerCase(headers)), new URL(url), page, request);
  }

  onRefused(refusal: ScrapifieError): void {
    this.onArrival();
    this.fail(refusal);
  }

  async onPaused(event: PausedRequest): Promise<void> {
    try {
      if (event.responseErrorReason !== undefined) {
        passOn(this.options.cdp, event.requestId);
        this.onArrival();
      } else if (event.responseStatusCode === undefined) await this.onRequest(event);
      else await this.onAnswer(event, event.responseStatusCode);
    } catch (error) {
      refuse(this.options.cdp, event.requestId);
      this.onArrival();
      this.fail(error);
    }
  }

  private async onRequest(event: PausedRequest): Promise<void> {
    const { cdp, request } = this.options;
    const isFirst = !this.hasStarted;
    this.hasStarted = true;
    this.lastTarget = event.request.url;
    if (isFirst || event.redirectedRequestId !== undefined) {
      const change: RequestChange = { headers: this.headersFor(event) };
      if (isFirst && request.method === 'POST') {
        Object.assign(change, {
          method: 'POST',
          postData: Buffer.from(request.body ?? '').toString('base64'),
        });
      }
      passOn(cdp, event.requestId, change);
      return;
    }
    await this.onDeparture(event);
  }

  /** The page goes elsewhere of its own: by script, by meta refresh or because an action made it. */
  private async onDeparture(event: PausedRequest): Promise<void> {
    const { cdp } = this.options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.leaving = promise;
    this.arrived = resolve;
    const target = withoutFragment(event.request.url);
    const from = this.answer?.url ?? this.home.href;
    const verdict = await this.decide(new URL(target), target !== from);
    if (verdict === 'stop') {
      this.refusedTarget = target;
      this.stop(null);
      refuse(cdp, event.requestId);
      this.onArrival();
      return;
    }
    this.redirects.push({ url: from, statusCode: this.answer?.statusCode ?? 200 });
    passOn(cdp, event.requestId, changedHeaders(this.headersOfFrame(event)));
  }

  private async onAnswer(event: PausedRequest, statusCode: number): Promise<void> {
    const { cdp, request, isVisual } = this.options;
    const answer: DocumentAnswer = {
      url: withoutFragment(event.request.url),
      statusCode,
      headers: headersOf(event.responseHeaders ?? []),
      networkId: event.networkId ?? null,
    };
    if (isRedirect(statusCode) && answer.headers.location !== undefined) {
      const target = redirectTarget(answer.headers.location, new URL(answer.url));
      this.checkLoop(event.request.method, answer, target);
      if ((await this.decide(target, true)) === 'stop') {
        this.finish(event, { answer, body: EMPTY, redirectedTo: target.href });
        return;
      }
      this.redirects.push({ url: answer.url, statusCode });
      passOn(cdp, event.requestId);
      return;
    }
    this.answer = answer;
    const declared = Number(answer.headers['content-length'] ?? 0);
    if (declared > request.maxBodyBytes) throw tooLarge(request.maxBodyBytes);
    if (statusCode === 204 || statusCode === 205 || statusCode === 304) {
      this.finish(event, { answer, body: EMPTY, redirectedTo: null });
    } else if (isShown(answer.headers, isVisual)) passAnswerOn(cdp, event);
    else {
      const body = await readPausedBody(cdp, event.requestId, request.maxBodyBytes, tooLarge);
      this.finish(event, { answer, body, redirectedTo: null });
    }
  }

  private async decide(target: URL, isElsewhere: boolean): Promise<'follow' | 'stop'> {
    const { request, ask } = this.options;
    if (target.protocol !== 'http:' && target.protocol !== 'https:') return 'stop';
    this.hop += 1;
    if (this.hop > request.maxRedirects) {
      const message = `${this.home.host} redirects more than ${request.maxRedirects} times`;
      throw new ScrapifieError('TOO_MANY_REDIRECTS', message);
    }
    const verdict = isElsewhere ? await ask(target.href, this.hop) : 'follow';
    if (verdict === 'follow' && request.mayStart?.() === false) {
      throw new ScrapifieError('CANCELLED', `The request to ${target.host} came too late`);
    }
    return verdict;
  }

  private checkLoop(method: string, answer: DocumentAnswer, target: URL): void {
    // A cookie may make the second visit end differently.
    if (answer.headers['set-cookie'] !== undefined) this.seen.clear();
    this.seen.add(`${method} ${answer.url}`);
    if (!this.seen.has(`${method} ${target.href}`)) return;
    throw new ScrapifieError('REDIRECT_LOOP', `The redirects of ${target.host} lead in a circle`);
  }

  private finish(event: PausedRequest, document: BareDocument): void {
    this.end(document);
    refuse(this.options.cdp, event.requestId);
    this.onArrival();
  }

  /** Chromium's own, with those of the request; what is meant for one origin does not go to another. */
  private headersFor(event: PausedRequest): HeaderEntry[] {
    const { request, arrange, page } = this.options;
    const url = new URL(event.request.url);
    const isHome = this.home.origin === url.origin;
    // A warm cache must not answer for the server; what the page needs besides may come from it.
    const headers = new Map([...lowerCase(event.request.headers), ['cache-control', 'max-age=0']]);
    if (request.conditional?.etag != null) headers.set('if-none-match', request.conditional.etag);
    if (request.conditional?.lastModified != null) {
      headers.set('if-modified-since', request.conditional.lastModified);
    }
    for (const [name, value] of lowerCase(request.headers)) {
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

function lowerCase(headers: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
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

export function mediaTypeIn(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  const header = headers['content-type'];
  const text = typeof header === 'string' ? header : (header?.[0] ?? '');
  return mediaTypeOf(text);
}

export const isHtml = (mediaType: string): boolean => mediaType === '' || isHtmlType(mediaType);

/** Pages are shown; what is none is read instead, unless it is to be looked at and Chromium can show it. */
function isShown(headers: DocumentAnswer['headers'], isVisual: boolean): boolean {
  const disposition = String(headers['content-disposition'] ?? '');
  if (/^\s*attachment/i.test(disposition)) return false;
  const type = mediaTypeIn(headers);
  return isHtml(type) || (isVisual && /^(?:text|image)\/|[/+](?:json|xml)$/.test(type));
}

export function tooLarge(limit: number): ScrapifieError {
  return new ScrapifieError('BODY_LIMIT_EXCEEDED', `The body is larger than ${limit} bytes`);
}

export function pageTooLarge(limit: number): ScrapifieError {
  const message = `The page and what it loads are larger than ${limit} bytes`;
  return new ScrapifieError('BODY_LIMIT_EXCEEDED', message);
}

function withoutFragment(url: string): string {
  const at = url.indexOf('#');
  return at === -1 ? url : url.slice(0, at);
}
