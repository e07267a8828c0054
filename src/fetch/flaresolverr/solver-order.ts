import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { plainRenderWords } from '../../core/model/plain-options.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import type { BrowserCookie, BrowserStorage, RenderWish } from '../../core/model/render.ts';
import type { CookieJar } from '../cookies/cookie-jar.ts';
import type { FetchRequest, FetchResponse, Rendered, ResponseHeaders } from '../engine.ts';
import { bodyLimit, EMPTY_BODY } from '../http/body-buffer.ts';
import { redirectTarget } from '../http/redirects.ts';
import {
  type SessionOwner,
  type SolverCookie,
  type SolverProxy,
  type SolverSolution,
  unsupported,
} from './solver-client.ts';

/** A request as FlareSolverr can be asked for it. */
export interface SolverOrder {
  readonly url: URL;
  /** Body of a POST request; null for GET. */
  readonly postData: string | null;
  readonly waitInSeconds: number | null;
  readonly owner: SessionOwner;
}

/**
 * Checks what can be known to be wrong beforehand. FlareSolverr opens a URL or posts a form, and that is all: what it
 * would silently leave out is refused.
 */
export function orderFor(request: FetchRequest, idOfJar: (jar: CookieJar) => string): SolverOrder {
  const url = URL.parse(request.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new ScrapifieError('INVALID_URL', 'Not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ScrapifieError('INVALID_URL', 'A URL with credentials is not fetched');
  }
  url.hash = '';
  if (request.method === 'HEAD') throw unsupported('ask for the head alone');
  const postData = request.method === 'POST' ? formOf(request, url) : null;
  for (const name of Object.keys(request.headers)) {
    if (postData !== null && name.toLowerCase() === 'content-type') continue;
    throw unsupported(`send the header ${name.toLowerCase()}`);
  }
  if (Object.keys(request.storage?.localStorage[url.origin] ?? {}).length > 0) {
    throw unsupported('put local storage in owner');
  }
  const proxy = request.proxy === undefined ? null : proxyOf(request.proxy);
  return {
    url,
    postData,
    waitInSeconds: waitOf(request.render ?? {}),
    owner: { key: keyOf(request, url, proxy, idOfJar), proxy },
  };
}

/**
 * Returns the body as FlareSolverr expects it: it fills a form with the fields and submits it, and decodes the text
 * more than once on the way.
 */
function formOf({ headers, body }: FetchRequest, url: URL): string {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type.trim())) {
    throw unsupported('post anything but a form (application/x-www-form-urlencoded)');
  }
  if (body === null || body === '') throw unsupported('post without a body');
  if (new URLSearchParams(body).has('submit')) throw unsupported('post a field with the name submit');
  if (url.href.includes('%')) throw unsupported('post to a URL with percent signs');
  // FlareSolverr sends a plus as a plus sign, and not as the space that it stands for in a form.
  return body.replaceAll('+', '%20');
}

function waitOf(wish: RenderWish): number | null {
  const { wait, scroll, actions = [], screenshot, pdf, captureXhr, device } = wish;
  const unknown = [
    [wait?.selector !== undefined, 'wait for a selector'],
    [wait?.until === 'networkidle', 'wait until the network is idle'],
    [scroll !== undefined, 'scroll'],
    [actions.length > 0, 'do actions'],
    [screenshot !== undefined, 'take screenshots'],
    [pdf === true, 'make a PDF'],
    [captureXhr === true, 'keep what scripts load'],
    ...plainRenderWords(wish).map((words) => [true, words] as const),
    [device !== undefined, 'show a page on another screen or in another place'],
  ] as const;
  for (const [isWanted, what] of unknown) if (isWanted) throw unsupported(what);
  return wait?.ms === undefined || wait.ms <= 0 ? null : wait.ms / 1_000;
}

export function proxyOf({ protocol, host, port, credentials }: ProxyEndpoint): SolverProxy {
  const url = `${protocol}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  if (credentials === null) return { url };
  if (protocol === 'socks5') throw unsupported('log in to a SOCKS proxy');
  return { url, username: credentials.username, password: credentials.password };
}

function keyOf(
  { key, cookies, jar }: FetchRequest,
  url: URL,
  proxy: SolverProxy | null,
  idOfJar: (jar: CookieJar) => string,
): string {
  // Requests of one key share cookies, whichever jar they come from.
  const owner = key ?? [url.origin, jar === undefined ? '' : idOfJar(jar)];
  const parts = [owner, proxy, cookies];
  // Hashed because it holds secrets and outlives the request.
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/**
 * The cookies to put in owner. Each names its host: FlareSolverr sets them after a first load, which may have led
 * elsewhere, and they must not be given away there. A cookie that the browser has already is left out, because any
 * cookie makes it load the page twice.
 */
export function cookiesFor(
  { cookies, storage }: FetchRequest,
  url: URL,
  fromJar: readonly (readonly [string, string])[],
  known: ReadonlyMap<string, string>,
): readonly SolverCookie[] {
  const stored = (storage?.cookies ?? []).filter(({ domain }) => reaches(domain, url.hostname));
  const given = new Map<string, SolverCookie>(stored.map((cookie) => [cookie.name, stated(cookie)]));
  const secure = url.protocol === 'https:';
  for (const [name, value] of [...fromJar, ...Object.entries(cookies)]) {
    given.set(name, { name, value, domain: url.hostname, path: '/', secure });
  }
  return [...given.values()].filter(({ name, value }) => known.get(cookieKey(url, name)) !== value);
}

export const cookieKey = ({ hostname }: URL, name: string): string => `${hostname} ${name}`;

function reaches(domain: string, host: string): boolean {
  const bare = domain.replace(/^\./, '');
  return bare === host || (domain.startsWith('.') && host.endsWith(domain));
}

function stated({
  name,
  value,
  domain,
  path,
  secure,
  httpOnly,
  expires,
  sameSite,
}: BrowserCookie): SolverCookie {
  const until = expires > 0 ? { expiry: Math.floor(expires) } : {};
  return { name, value, domain, path, secure, httpOnly, sameSite, ...until };
}

/** Redirects are seen by their end alone; this is what most are. */
const SOME_REDIRECT = 302;

/** Where the page ended, without fragment. Throws when that is no page of the web. */
export function finalUrlOf({ url }: SolverSolution, from: URL): URL {
  if (url.startsWith('chrome-error:')) {
    throw new ScrapifieError('CONNECT_FAILED', `FlareSolverr shows an error instead of ${from.host}`);
  }
  return redirectTarget(url, from);
}

type PageAnswer = Omit<FetchResponse, 'url' | 'ms' | 'httpVersion'>;

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
