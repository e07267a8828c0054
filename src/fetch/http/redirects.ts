import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { canBeHostName, MAX_URL_CHARS } from '../../crawl/frontier/canonical.ts';
import { type CookieJar, createCookieJar } from '../cookies/cookie-jar.ts';
import type { FetchRequest, FetchResponse, Redirect, ResponseHeaders } from '../engine.ts';
import type { Body } from './body-buffer.ts';
import {
  cookieHeader,
  type HeaderList,
  redirectHeaders,
  requestHeaders,
  withCookies,
} from './request-headers.ts';

export type Method = FetchRequest['method'];

export function isRedirect(statusCode: number): boolean {
  return (
    statusCode === 302 || statusCode === 301 || statusCode === 308 || statusCode === 307 || statusCode === 303
  );
}

/**
 * Where a redirect leads, without fragment and credentials. BAD_REDIRECT when that is nowhere this engine can go.
 */
export function redirectTarget(location: string | readonly string[] | undefined, from: URL): URL {
  const raw = typeof location === 'string' ? location : location?.[0];
  if (raw === undefined || raw.trim() === '') throw badRedirect(from, 'it has no location');
  const text = asUtf8(raw);
  const target = URL.parse(text, from.href);
  if (target === null) throw badRedirect(from, 'its location is not a URL');
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw badRedirect(from, `it leads to ${target.protocol}`);
  }
  refuseLongTarget(target, from);
  if (!canBeHostName(target.hostname)) throw badRedirect(from, 'its host name is too long');
  target.hash = '';
  target.username = '';
  target.password = '';
  return target;
}

/** Throws BAD_REDIRECT for a target that is longer than any URL that is fetched, whether a server or a page leads there. */
export function refuseLongTarget({ href }: URL, from: URL): void {
  if (href.length <= MAX_URL_CHARS) return;
  throw badRedirect(from, `its target has ${href.length} characters, more than ${MAX_URL_CHARS}`);
}

/** Header bytes arrive one per character; servers that send raw UTF-8 mean UTF-8. */
function asUtf8(header: string): string {
  for (let index = 0; index < header.length; index += 1) {
    if (header.charCodeAt(index) > 0x7f) return Buffer.from(header, 'latin1').toString('utf8');
  }
  return header;
}

/** 303 always asks with GET; 301 and 302 turn POST into GET, as every browser does; 307 and 308 change nothing. */
function redirectMethod(statusCode: number, method: Method): Method {
  if (method === 'HEAD') return 'HEAD';
  return statusCode === 307 || statusCode === 308 ? method : 'GET';
}

function badRedirect(from: URL, why: string): ScrapifieError {
  return new ScrapifieError('BAD_REDIRECT', `The redirect of ${from.host} cannot be followed: ${why}`);
}

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

/** What one request of a chain was answered with; the body is empty for redirects. */
export interface Hop {
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly body: Body;
  /** Size of the body before decompression. */
  readonly wireBytes: number;
  readonly httpVersion: FetchResponse['httpVersion'];
}

/** Makes the requests of a chain, whatever carries them. */
export interface HopSender {
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /**
   * Asks for where the chain is now and tells the chain what cookies came back. Never follows a redirect. Throws
   * TASK_TIMEOUT when `deadline` passes, and otherwise as Engine says.
   */
  sendHop(chain: RedirectChain, request: FetchRequest, deadline: number): Promise<Hop>;
}

/** One attempt from its first request to the answer that is no redirect, or is one that must not be followed. */
export async function followRedirects(
  sender: HopSender,
  request: FetchRequest,
  defaults: HeaderList,
): Promise<FetchResponse> {
  const startedAt = sender.now();
  const chain = new RedirectChain(request, defaults);
  let deadline = startedAt + request.timeoutMs;
  let wireBytes = 0;

  for (;;) {
    const hop = await sender.sendHop(chain, request, deadline);
    const { statusCode, headers } = hop;
    wireBytes += hop.wireBytes;

    let redirectedTo: string | null = null;
    if (isRedirect(statusCode)) {
      const target = chain.next(statusCode, headers, Date.now());
      const askedAt = sender.now();
      const answer = await request.onRedirect(target.href, chain.redirects.length + 1);
      deadline += sender.now() - askedAt;
      if (answer === 'follow') {
        chain.follow(statusCode, target);
        continue;
      }
      redirectedTo = target.href;
    }
    return {
      url: request.url,
      finalUrl: chain.url.href,
      statusCode,
      headers,
      contentType: firstOf(headers['content-type']),
      body: hop.body,
      wireBytes,
      redirects: chain.redirects,
      redirectedTo,
      ms: sender.now() - startedAt,
      httpVersion: hop.httpVersion,
    };
  }
}

function firstOf(header: string | readonly string[] | undefined): string | null {
  return (typeof header === 'string' ? header : header?.[0]) ?? null;
}
