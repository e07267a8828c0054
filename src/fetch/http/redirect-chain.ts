import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type CookieJar, createCookieJar } from '../cookies/cookie-jar.ts';
import type { FetchRequest, Redirect, ResponseHeaders } from '../engine.ts';
import { isRedirect, type Method, redirectMethod, redirectTarget } from './redirect.ts';
import {
  cookieHeader,
  type HeaderList,
  redirectHeaders,
  requestHeaders,
  withCookies,
} from './request-headers.ts';

const NO_COOKIES: Readonly<Record<string, string>> = {};

/** The redirects of one attempt: method, headers, cookies and body of each request. */
export class RedirectChain {
  readonly redirects: Redirect[] = [];
  url: URL;
  method: Method;
  body: string | null;
  #headers: HeaderList;
  readonly #defaults: HeaderList;
  readonly #request: FetchRequest;
  /** Headers of the request; those that are not portable are gone for good once a redirect left for another origin. */
  #givenHeaders: Readonly<Record<string, string>>;
  /** Cookies of the request; gone for good once a redirect left for another origin. */
  #given: Readonly<Record<string, string>>;
  #jar: CookieJar | undefined;
  readonly #maxRedirects: number;
  #sentCookies = '';
  /** What was sent where: the same again, cookies included, can only end the same. */
  #sent: Set<string> | null = null;

  constructor(request: FetchRequest, defaults: HeaderList) {
    this.url = parseUrl(request.url);
    this.method = request.method;
    this.body = request.body;
    this.#request = request;
    this.#defaults = defaults;
    this.#givenHeaders = request.headers;
    this.#headers = requestHeaders(defaults, request.headers, request.conditional);
    this.#given = request.cookies;
    this.#jar = request.jar;
    this.#maxRedirects = request.maxRedirects;
  }

  /** The headers for where the chain is now. */
  headersNow(now: number): HeaderList {
    this.#sentCookies = this.#cookies(this.url, this.#given, now);
    return withCookies(this.#headers, this.#sentCookies);
  }

  /** Takes the cookies of a response. */
  received(statusCode: number, headers: ResponseHeaders, now: number): void {
    const setCookie = headers['set-cookie'];
    if (setCookie === undefined) return;
    // Without a jar they matter only on the way.
    if (this.#jar === undefined && !isRedirect(statusCode)) return;
    this.#jar ??= createCookieJar();
    this.#jar.store(this.url, setCookie, now);
  }

  /** Where this redirect leads. Throws when it cannot or must not be followed. */
  next(statusCode: number, headers: ResponseHeaders, now: number): URL {
    const target = redirectTarget(headers.location, this.url);
    this.#sent ??= new Set();
    this.#sent.add(`${this.method} ${this.url.href} ${this.#sentCookies}`);
    const given = this.url.origin === target.origin ? this.#given : NO_COOKIES;
    const method = redirectMethod(statusCode, this.method);
    if (this.#sent.has(`${method} ${target.href} ${this.#cookies(target, given, now)}`)) {
      throw new ScrapifieError('REDIRECT_LOOP', `The redirects of ${target.host} lead in a circle`);
    }
    if (this.redirects.length >= this.#maxRedirects) {
      const message = `${this.url.host} redirects more than ${this.#maxRedirects} times`;
      throw new ScrapifieError('TOO_MANY_REDIRECTS', message);
    }
    return target;
  }

  follow(statusCode: number, target: URL): void {
    this.redirects.push({ url: this.url.href, statusCode });
    const method = redirectMethod(statusCode, this.method);
    const isSame = method === this.method;
    const isSameOrigin = this.url.origin === target.origin;
    const { conditional, crossOriginHeaders: also = [] } = this.#request;
    const kept = redirectHeaders(this.#givenHeaders, { isSameOrigin, keepsBody: isSame, also });
    if (kept !== this.#givenHeaders) this.#headers = requestHeaders(this.#defaults, kept, conditional);
    this.#givenHeaders = kept;
    if (!isSameOrigin) this.#given = NO_COOKIES;
    if (!isSame) this.body = null;
    this.method = method;
    this.url = target;
  }

  #cookies(url: URL, given: Readonly<Record<string, string>>, now: number): string {
    return cookieHeader(this.#jar?.cookiesFor(url, now) ?? [], given);
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new ScrapifieError('INVALID_URL', 'Not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ScrapifieError('INVALID_URL', 'A URL with credentials is not fetched');
  }
  if (url.hash !== '') url.hash = '';
  return url;
}
