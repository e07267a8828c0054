import { isIP } from 'node:net';
import { getPublicSuffix } from 'tldts';
import { cookieDate } from './cookie-date.ts';

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
  readonly size: number;
}

export interface CookieJarLimits {
  readonly maxCookies?: number;
  readonly maxPerDomain?: number;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly isHostOnly: boolean;
  readonly path: string;
  readonly isSecure: boolean;
  /** Infinity for session cookies: the jar is the session. */
  readonly expiresAt: number;
  /** Order of creation; kept when a cookie is replaced. */
  readonly seq: number;
}

const MAX_COOKIE_BYTES = 4_096;

export function createCookieJar({ maxCookies = 1_000, maxPerDomain = 50 }: CookieJarLimits = {}): CookieJar {
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
    if (cookie.expiresAt <= now) return;
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
          if (cookie.expiresAt <= now) remove(domain, key);
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
  };
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

function expiry(attributes: ReadonlyMap<string, string>, now: number): number {
  const maxAge = attributes.get('max-age');
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) {
    const seconds = Number(maxAge);
    return seconds <= 0 ? Number.NEGATIVE_INFINITY : now + seconds * 1_000;
  }
  return cookieDate(attributes.get('expires') ?? '') ?? Number.POSITIVE_INFINITY;
}
