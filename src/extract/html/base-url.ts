import { LIMITS } from './limits.ts';

/** Characters the URL standard leaves as they are in a path, a query and a fragment. */
const PLAIN = /^[\w~!$()*+,;=:@&%/.?#-]*$/;
const PLAIN_ABSOLUTE = /^https?:\/\/(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*\/[\w~!$()*+,;=:@&%/.?#-]*$/;
const DOT_SEGMENT = /\/(?:\.|%2e)/i;
const FETCHABLE = /^https?:/;
/** A scheme at the start makes a reference absolute. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const WEB_SCHEME = /^https?:/i;

/** Control characters and spaces that the URL standard strips. */
const LEADING = /^[\0-\x20]+/;

const SLASH = 47;
const BACKSLASH = 92;

/**
 * Makes the references of a page absolute. Returns what `new URL(reference, base).href` would return, without parsing
 * for plain paths and plain absolute URLs, which are most references of a usual page.
 */
export class BaseUrl {
  readonly href: string;
  /** Scheme, credentials and host. Credentials are passed on to references, as in browsers. */
  readonly #front: string;
  readonly #root: string;
  /** True for http and https. */
  readonly isWeb: boolean;

  private constructor(url: URL) {
    this.href = url.href;
    this.isWeb = FETCHABLE.test(url.href);
    this.#front = url.href.slice(0, url.href.length - (url.pathname + url.search + url.hash).length);
    this.#root = `${this.#front}/`;
  }

  /** The base of a page without a URL: only its absolute links resolve. */
  static readonly NOWHERE = new BaseUrl(new URL('about:blank'));

  /**
   * Returns null for an invalid URL, and for one that a page names with more characters than any of its links may have: each
   * relative link would copy it.
   */
  static parse(url: string, base?: BaseUrl): BaseUrl | null {
    if (base !== undefined && url.length > LIMITS.urlChars) return null;
    const parsed = URL.parse(url.trim(), base?.href);
    return parsed === null ? null : new BaseUrl(parsed);
  }

  /** The absolute http(s) URL; null for references that cannot be fetched: other schemes, fragments, invalid URLs. */
  resolve(written: string): string | null {
    const reference = written.charCodeAt(0) <= 32 ? written.replace(LEADING, '') : written;
    if (reference.length === 0 || reference.length > LIMITS.urlChars) return null;
    const first = reference.charCodeAt(0);
    if (first === 35) return null;
    if (first === SLASH) {
      const second = reference.charCodeAt(1);
      if (second !== SLASH && second !== BACKSLASH && this.isWeb && isPlain(reference)) {
        return this.#front + reference;
      }
    } else if (this.isWeb && reference.startsWith(this.#root) && isPlain(reference)) {
      return reference;
    } else if (PLAIN_ABSOLUTE.test(reference)) {
      if (!DOT_SEGMENT.test(reference) && !reference.includes('xn--')) return reference;
    } else if (SCHEME.test(reference) && !WEB_SCHEME.test(reference)) {
      return null;
    }
    const href = URL.parse(reference, this.href)?.href;
    return href === undefined || href.length > LIMITS.urlChars || !FETCHABLE.test(href) ? null : href;
  }
}

function isPlain(reference: string): boolean {
  return PLAIN.test(reference) && !DOT_SEGMENT.test(reference);
}

const MOST_CANDIDATES = 64;
const MOST_CHARS = 65_536;

interface SrcsetCandidate {
  readonly url: string;
  /** `2x`, `640w` or empty. */
  readonly descriptor: string;
}

/** Reads a `srcset` by its own grammar: commas inside a URL belong to it, commas at its end do not. */
export function srcsetCandidates(srcset: string): SrcsetCandidate[] {
  const candidates: SrcsetCandidate[] = [];
  if (srcset.length > MOST_CHARS) return candidates;
  const next = /[\s,]*(\S+)/y;
  while (candidates.length < MOST_CANDIDATES) {
    const raw = next.exec(srcset)?.[1];
    if (raw === undefined) break;
    let length = raw.length;
    while (length > 0 && raw.charCodeAt(length - 1) === 44) length--;
    let descriptor = '';
    if (length === raw.length) {
      const comma = srcset.indexOf(',', next.lastIndex);
      const end = comma < 0 ? srcset.length : comma;
      descriptor = srcset.slice(next.lastIndex, end).trim();
      next.lastIndex = end;
    }
    if (length > 0) candidates.push({ url: raw.slice(0, length), descriptor });
  }
  return candidates;
}
