import type { SetCookie } from '../../core/model/page.ts';
import type { BrowserCookie } from '../../core/model/render.ts';
import { cookieDate, type StoredCookie } from './cookie-jar.ts';

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
