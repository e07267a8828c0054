import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { MAX_URL_CHARS } from '../../../crawl/frontier/canonical.ts';
import { isHtmlType, mediaTypeOf } from '../../../extract/html/media-type.ts';
import type { Redirect } from '../../engine.ts';
import { type Body, EMPTY_BODY } from '../../http/body-buffer.ts';
import { refuseLongTarget } from '../../http/redirects.ts';
import type { DocumentWatch, ToolOptions } from './page-tools.ts';

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
