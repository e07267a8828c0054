import { LIMITS } from './limits.ts';

/** Characters the URL standard leaves as they are in a path, a query and a fragment. */
const PLAIN = /^[\w~!$()*+,;=:@&%/.?#-]*$/;
const PLAIN_ABSOLUTE = /^https?:\/\/(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*\/[\w~!$()*+,;=:@&%/.?#-]*$/;
const DOT_SEGMENT = /\/(?:\.|%2e)/i;
const FETCHABLE = /^https?:/;
/** Says that a reference is no relative one. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const WEB_SCHEME = /^https?:/i;

/** What the URL standard strips. */
const LEADING = /^[\0-\x20]+/;

const SLASH = 47;
const BACKSLASH = 92;

/**
 * Makes the references of a page absolute. Answers what `new URL(reference, base).href` would, but most references need
 * no parsing for that: on a usual page they are plain paths or plain addresses.
 */
export class BaseUrl {
  readonly href: string;
  /** All before the path; credentials in it go along, as in browsers. */
  readonly #front: string;
  readonly #root: string;
  /** Whether it is an http(s) address. */
  readonly isWeb: boolean;

  private constructor(url: URL) {
    this.href = url.href;
    this.isWeb = FETCHABLE.test(url.href);
    this.#front = url.href.slice(0, url.href.length - (url.pathname + url.search + url.hash).length);
    this.#root = `${this.#front}/`;
  }

  /** Where a page without an address is: only its absolute links lead anywhere. */
  static readonly NOWHERE = new BaseUrl(new URL('about:blank'));

  /** Null when the address is none. */
  static parse(url: string, base?: BaseUrl): BaseUrl | null {
    const parsed = URL.parse(url.trim(), base?.href);
    return parsed === null ? null : new BaseUrl(parsed);
  }

  /** The absolute http(s) URL, or null for everything a crawl can't fetch: other schemes, fragments of the page, nonsense. */
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
