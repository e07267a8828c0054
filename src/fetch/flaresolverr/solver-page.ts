import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { BrowserCookie, BrowserStorage } from '../../core/model/render.ts';
import type { FetchRequest, FetchResponse, Rendered, ResponseHeaders } from '../engine.ts';
import { EMPTY_BODY } from '../http/body-buffer.ts';
import { bodyLimit } from '../http/body-sink.ts';
import { redirectTarget } from '../http/redirect.ts';
import type { SolverSolution } from './solver-client.ts';

/** Redirects are seen by their end alone; this is what most are. */
const SOME_REDIRECT = 302;

/** Where the page ended, without fragment. Throws when that is no page of the web. */
export function finalUrlOf({ url }: SolverSolution, from: URL): URL {
  if (url.startsWith('chrome-error:')) {
    throw new ScrapifieError('CONNECT_FAILED', `FlareSolverr shows an error instead of ${from.host}`);
  }
  return redirectTarget(url, from);
}

export type PageAnswer = Omit<FetchResponse, 'url' | 'ms' | 'httpVersion'>;

export function redirectResponse(
  solution: SolverSolution,
  target: URL,
  from: URL,
  request: FetchRequest,
): PageAnswer {
  return {
    finalUrl: from.href,
    statusCode: SOME_REDIRECT,
    headers: { location: target.href },
    contentType: null,
    body: EMPTY_BODY,
    wireBytes: 0,
    redirects: [],
    redirectedTo: target.href,
    rendered: renderedOf(solution, target, request),
  };
}

export function pageResponse(
  solution: SolverSolution,
  finalUrl: URL,
  url: URL,
  request: FetchRequest,
): PageAnswer {
  const body = new TextEncoder().encode(solution.response ?? '');
  if (body.byteLength > request.maxBodyBytes) throw bodyLimit(request.maxBodyBytes);
  const isLed = finalUrl.href !== url.href;
  return {
    finalUrl: finalUrl.href,
    statusCode: solution.status,
    headers: headersOf(solution.headers ?? {}),
    // The answer is what the browser made of the page, which is always HTML.
    contentType: 'text/html; charset=utf-8',
    body,
    wireBytes: body.byteLength,
    redirects: isLed ? [{ url: url.href, statusCode: SOME_REDIRECT }] : [],
    redirectedTo: null,
    rendered: renderedOf(solution, finalUrl, request),
  };
}

function renderedOf(solution: SolverSolution, finalUrl: URL, request: FetchRequest): Rendered {
  const storage = request.wantsStorage === true ? storageOf(solution, finalUrl, request.storage) : null;
  const extra = { screenshot: null, pdf: null, xhr: [], consoleErrors: [], actions: [], storage };
  return { rawBody: null, failure: null, extra };
}

function headersOf(headers: Readonly<Record<string, unknown>>): ResponseHeaders {
  const known = Object.entries(headers).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(known.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

export function cookiesOf({ cookies }: SolverSolution): readonly BrowserCookie[] {
  return (cookies ?? []).map((cookie) => {
    const { name, value, domain, path, httpOnly, secure, sameSite } = cookie;
    const expires = cookie.expiry ?? cookie.expires ?? -1;
    const isKnown = sameSite === 'Strict' || sameSite === 'None';
    return { name, value, domain, path, expires, httpOnly, secure, sameSite: isKnown ? sameSite : 'Lax' };
  });
}

/**
 * FlareSolverr reports the cookies of the page it ended on and no local storage: everything else stays as it was
 * before.
 */
function storageOf(
  solution: SolverSolution,
  { hostname }: URL,
  before: BrowserStorage | undefined,
): BrowserStorage {
  const cookies = cookiesOf(solution);
  const others = (before?.cookies ?? []).filter(({ domain }) => {
    const bare = domain.replace(/^\./, '');
    return bare !== hostname && !hostname.endsWith(`.${bare}`);
  });
  return { cookies: [...others, ...cookies], localStorage: before?.localStorage ?? {} };
}
