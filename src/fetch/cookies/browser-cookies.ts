import type { BrowserCookie } from '../../core/model/render.ts';
import type { StoredCookie } from './cookie-jar.ts';

const SAME_SITE = { strict: 'Strict', lax: 'Lax', none: 'None' } as const;
const NAMES = { Strict: 'strict', Lax: 'lax', None: 'none' } as const;

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
    sameSite: NAMES[sameSite],
    expiresAt: expires < 0 ? null : Math.round(expires * 1_000),
  };
}
