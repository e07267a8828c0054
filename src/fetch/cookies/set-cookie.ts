import type { SetCookie } from '../../core/model/page.ts';
import { cookieDate } from './cookie-jar.ts';

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
