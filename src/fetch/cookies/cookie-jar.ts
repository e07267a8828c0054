import { isIP } from 'node:net';
import { getPublicSuffix } from 'tldts';
import type { SetCookie } from '../../core/model/page.ts';
import type { BrowserCookie } from '../../core/model/render.ts';

/**
 * Cookies of one job or session, after RFC 6265. It keeps what sites may set and nothing else: no cookie for
 * another site, for a whole public suffix, or a Secure one from plain http. Bad cookies are dropped in silence,
 * as browsers do. It is bounded: past the limits the cookies that were set longest ago go first.
 */
export interface CookieJar {
  /** What to send to this URL as [name, value], longer paths first, then older ones. */
  cookiesFor(url: URL, now: number): readonly (readonly [string, string])[];
  /** Takes what a response of this URL said in Set-Cookie. */
  store(url: URL, setCookie: string | readonly string[], now: number): void;
  /** Everything in it that is not over yet, oldest first: a jar made with these sends the same. */
  list(now: number): readonly StoredCookie[];
  readonly size: number;
}

interface CookieJarOptions {
  /** What an earlier jar listed. They count against the limits as if they had been set in this order. */
  readonly cookies?: readonly StoredCookie[] | undefined;
  readonly maxCookies?: number;
  readonly maxPerDomain?: number;
}

/** A cookie with all that is known of it. Plain JSON, so that a session can keep it. */
export interface StoredCookie {
  readonly name: string;
  readonly value: string;
  /** The domain, without a leading dot. */
  readonly domain: string;
  /** The cookie is sent to this host alone, and not to its subdomains. */
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
  /** Hidden from scripts. Plays no part here; a browser wants to be told. */
  readonly isHttpOnly: boolean;
  /** Null when the site did not set it. Not used for requests, since no page links to the URLs that are fetched. */
  readonly sameSite: 'strict' | 'lax' | 'none' | null;
  /** When the cookie expires; null for a cookie that lasts as long as the session, which is the jar itself. */
  readonly expiresAt: number | null;
}

interface Cookie extends StoredCookie {
  /** Order of creation; kept when a cookie is replaced. */
  readonly seq: number;
}

const MAX_COOKIE_BYTES = 4_096;

export function createCookieJar(options: CookieJarOptions = {}): CookieJar {
  const { cookies: initial = [], maxCookies = 1_000, maxPerDomain = 50 } = options;
  /** Domain → `name;path` → cookie, in the order they were last set. */
  const domains = new Map<string, Map<string, Cookie>>();
  let size = 0;
  let seq = 0;

  const remove = (domain: string, key: string): void => {
    const cookies = domains.get(domain);
    if (!cookies?.delete(key)) return;
    size -= 1;
    if (cookies.size === 0) domains.delete(domain);
  };

  const keep = (cookie: Cookie, now: number): void => {
    const key = `${cookie.name};${cookie.path}`;
    const earlier = domains.get(cookie.domain)?.get(key);
    if (earlier !== undefined) remove(cookie.domain, key);
    if (isOver(cookie, now)) return;
    let cookies = domains.get(cookie.domain);
    if (cookies !== undefined && cookies.size >= maxPerDomain) {
      const oldest = cookies.keys().next().value;
      if (oldest !== undefined) remove(cookie.domain, oldest);
      cookies = domains.get(cookie.domain);
    }
    while (size >= maxCookies) {
      const domain = domains.keys().next().value;
      const oldest = domain === undefined ? undefined : domains.get(domain)?.keys().next().value;
      if (domain === undefined || oldest === undefined) break;
      remove(domain, oldest);
      cookies = domains.get(cookie.domain);
    }
    if (cookies === undefined) {
      cookies = new Map();
      domains.set(cookie.domain, cookies);
    }
    cookies.set(key, { ...cookie, seq: earlier?.seq ?? cookie.seq });
    size += 1;
  };

  for (const cookie of initial) {
    keep({ ...cookie, seq }, Number.NEGATIVE_INFINITY);
    seq += 1;
  }

  return {
    get size() {
      return size;
    },

    cookiesFor(url, now) {
      if (size === 0) return [];
      const host = url.hostname;
      const found: Cookie[] = [];
      for (let domain = host; ; domain = domain.slice(domain.indexOf('.') + 1)) {
        for (const [key, cookie] of domains.get(domain) ?? []) {
          if (isOver(cookie, now)) remove(domain, key);
          else if (isSentTo(cookie, url, host)) found.push(cookie);
        }
        if (!domain.includes('.')) break;
      }
      found.sort((a, b) => b.path.length - a.path.length || a.seq - b.seq);
      return found.map(({ name, value }) => [name, value] as const);
    },

    store(url, setCookie, now) {
      for (const line of typeof setCookie === 'string' ? [setCookie] : setCookie) {
        const cookie = parseCookie(line, url, now, seq);
        if (cookie === null) continue;
        seq += 1;
        keep(cookie, now);
      }
    },

    list(now) {
      const all = [...domains.values()].flatMap((cookies) => [...cookies.values()]);
      return all
        .filter((cookie) => !isOver(cookie, now))
        .sort((a, b) => a.seq - b.seq)
        .map(({ seq: _, ...cookie }) => cookie);
    },
  };
}

function isOver({ expiresAt }: Cookie, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function isSentTo(cookie: Cookie, url: URL, host: string): boolean {
  if (cookie.isHostOnly && cookie.domain !== host) return false;
  if (cookie.isSecure && url.protocol !== 'https:') return false;
  const { pathname } = url;
  if (pathname === cookie.path) return true;
  if (!pathname.startsWith(cookie.path)) return false;
  return cookie.path.endsWith('/') || pathname.charAt(cookie.path.length) === '/';
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

function parseCookie(line: string, url: URL, now: number, seq: number): Cookie | null {
  if (CONTROL.test(line)) return null;
  const [pair = '', ...rest] = line.split(';');
  const equals = pair.indexOf('=');
  if (equals === -1) return null;
  const name = pair.slice(0, equals).trim();
  const value = pair.slice(equals + 1).trim();
  if (name === '' || name.length + value.length > MAX_COOKIE_BYTES) return null;

  const attributes = new Map<string, string>();
  for (const part of rest) {
    const at = part.indexOf('=');
    const key = (at === -1 ? part : part.slice(0, at)).trim().toLowerCase();
    attributes.set(key, at === -1 ? '' : part.slice(at + 1).trim());
  }

  const scope = scopeOf(attributes.get('domain') ?? '', url.hostname);
  if (scope === null) return null;
  const isSecure = attributes.has('secure');
  if (isSecure && url.protocol !== 'https:') return null;
  const path = attributes.get('path') ?? '';
  const prefix = name.toLowerCase();
  if (prefix.startsWith('__secure-') && !isSecure) return null;
  if (prefix.startsWith('__host-') && !(isSecure && scope.isHostOnly && path === '/')) return null;

  return {
    name,
    value,
    ...scope,
    path: path.startsWith('/') ? path : defaultPath(url.pathname),
    isSecure,
    isHttpOnly: attributes.has('httponly'),
    sameSite: sameSiteOf(attributes.get('samesite')),
    expiresAt: expiry(attributes, now),
    seq,
  };
}

/** The domain a cookie is for, or null when this host may not set it. */
function scopeOf(attribute: string, host: string): Pick<Cookie, 'domain' | 'isHostOnly'> | null {
  const domain = attribute.replace(/^\./, '').toLowerCase();
  if (domain === '' || domain === host) {
    const isAlone = domain === '' || domain === publicSuffix(host);
    return { domain: host, isHostOnly: isAlone };
  }
  if (!host.endsWith(`.${domain}`) || isIP(host) !== 0 || domain === publicSuffix(domain)) return null;
  return { domain, isHostOnly: false };
}

function publicSuffix(host: string): string | null {
  return getPublicSuffix(host, { allowPrivateDomains: true });
}

function defaultPath(pathname: string): string {
  const slash = pathname.lastIndexOf('/');
  return slash <= 0 ? '/' : pathname.slice(0, slash);
}

function sameSiteOf(text: string | undefined): StoredCookie['sameSite'] {
  const lower = text?.toLowerCase();
  return lower === 'strict' || lower === 'lax' || lower === 'none' ? lower : null;
}

/** Browsers keep no cookie for longer; a date beyond what JSON and Date can hold is none either. */
const MAX_AGE_MS = 400 * 86_400_000;

function expiry(attributes: ReadonlyMap<string, string>, now: number): number | null {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) {
    const seconds = Number(maxAge);
    return seconds <= 0 ? now : now + Math.min(seconds * 1_000, MAX_AGE_MS);
  }
  const at = cookieDate(attributes.get('expires') ?? '');
  return at === null ? null : Math.min(at, now + MAX_AGE_MS);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Reads the dates of cookies the forgiving way of RFC 6265, section 5.1.1: parts in any order, any separators.
 * Epoch milliseconds, or null when it is no date.
 */
export function cookieDate(text: string): number | null {
  let time: [number, number, number] | null = null;
  let day: number | null = null;
  let month: number | null = null;
  let year: number | null = null;

  for (const token of text.slice(0, 256).split(/[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/)) {
    const clock: RegExpExecArray | null =
      time === null ? /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)/.exec(token) : null;
    if (clock !== null) {
      time = [Number(clock[1]), Number(clock[2]), Number(clock[3])];
      continue;
    }
    if (day === null && /^\d{1,2}(?:\D|$)/.test(token)) {
      day = Number.parseInt(token, 10);
      continue;
    }
    const named: number = month === null ? MONTHS.indexOf(token.slice(0, 3).toLowerCase()) : -1;
    if (named !== -1) {
      month = named;
      continue;
    }
    if (year === null && /^\d{2,4}(?:\D|$)/.test(token)) year = Number.parseInt(token, 10);
  }

  if (time === null || day === null || month === null || year === null) return null;
  if (year < 70) year += 2_000;
  else if (year < 100) year += 1_900;
  const [hour, minute, second] = time;
  if (year < 1_601 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return null;
  const at = Date.UTC(year, month, day, hour, minute, second);
  // 31 February would have become March.
  return new Date(at).getUTCDate() === day ? at : null;
}

const MAX_COOKIE_CHARS = 8_192;
/** The last moment that a `Date` can hold. */
const LAST_MS = 8_640_000_000_000_000;

/** A `Set-Cookie` line as the site wrote it, whether or not a browser would keep the cookie. Null when it names none. */
export function readSetCookie(line: string, now: number): SetCookie | null {
  if (line.length > MAX_COOKIE_CHARS) return null;
  const [pair = '', ...rest] = line.split(';');
  const equalsAt = pair.indexOf('=');
  const name = pair.slice(0, Math.max(0, equalsAt)).trim();
  if (name === '') return null;
  const attributes = new Map<string, string>();
  for (const part of rest) {
    const at = part.indexOf('=');
    const key = (at === -1 ? part : part.slice(0, at)).trim().toLowerCase();
    attributes.set(key, at === -1 ? '' : part.slice(at + 1).trim());
  }
  const sameSite = attributes.get('samesite')?.toLowerCase();
  return {
    name,
    value: pair.slice(equalsAt + 1).trim(),
    domain: attributes.get('domain') ?? null,
    path: attributes.get('path') ?? null,
    expiresAt: expiryOf(attributes, now),
    isSecure: attributes.has('secure'),
    isHttpOnly: attributes.has('httponly'),
    sameSite: sameSite === 'strict' || sameSite === 'lax' || sameSite === 'none' ? sameSite : null,
  };
}

function expiryOf(attributes: ReadonlyMap<string, string>, now: number): string | null {
  const maxAge = attributes.get('max-age');
  const at =
    maxAge !== undefined && /^-?\d{1,12}$/.test(maxAge)
      ? now + Number(maxAge) * 1_000
      : cookieDate(attributes.get('expires') ?? '');
  return at === null || Math.abs(at) > LAST_MS ? null : new Date(at).toISOString();
}

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;
const SAME_SITE_NAMES = { Strict: 'strict', Lax: 'lax', None: 'none' } as const;

/** A cookie of a jar as a browser takes it. */
export function toBrowserCookie(cookie: StoredCookie): BrowserCookie {
  const { name, value, domain, isHostOnly, path, isSecure, isHttpOnly, sameSite, expiresAt } = cookie;
  // What says nothing is lax to browsers, and one for all sites is refused by them unless it is secure.
  const isLax = sameSite === null || (sameSite === 'none' && !isSecure);
  return {
    name,
    value,
    domain: isHostOnly ? domain : `.${domain}`,
    path,
    expires: expiresAt === null ? -1 : expiresAt / 1_000,
    httpOnly: isHttpOnly,
    secure: isSecure,
    sameSite: isLax ? 'Lax' : SAME_SITE[sameSite],
  };
}

/** A browser's cookie as a jar keeps it. */
export function fromBrowserCookie(cookie: BrowserCookie): StoredCookie {
  const { name, value, domain, path, expires, httpOnly, secure, sameSite } = cookie;
  return {
    name,
    value,
    domain: domain.replace(/^\./, '').toLowerCase(),
    isHostOnly: !domain.startsWith('.'),
    path,
    isSecure: secure,
    isHttpOnly: httpOnly,
    sameSite: SAME_SITE_NAMES[sameSite],
    expiresAt: expires < 0 ? null : Math.round(expires * 1_000),
  };
}
