import type { PageLink, PageMetadata } from '../../core/model/page.ts';
import { LIMITS } from './limits.ts';
import { isHtmlType } from './media-type.ts';
import { collapse, words } from './page-text.ts';

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

export interface HeaderLink {
  readonly href: string;
  readonly rel: string;
  readonly type: string | null;
  readonly hreflang: string | null;
  readonly title: string | null;
}

/** One parameter: `; name=token` or `; name="quoted"`, or without a value. */
const PARAMETER = /\s*;\s*([^\s=;,"]*)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/sy;
const MOST_PARAMETERS = 32;

/** The links of a `Link` header (RFC 8288). Invalid entries are skipped; the first of a repeated parameter counts. */
export function parseLinkHeader(header: string | null): HeaderLink[] {
  const links: HeaderLink[] = [];
  if (header === null) return links;
  const text = header.slice(0, LIMITS.linkHeaderChars);
  let at = text.indexOf('<');
  while (at >= 0 && links.length < LIMITS.alternates) {
    const end = text.indexOf('>', at + 1);
    if (end < 0) break;
    const parameters = new Map<string, string>();
    PARAMETER.lastIndex = end + 1;
    let next = end + 1;
    for (let count = 0; count < MOST_PARAMETERS; count++) {
      const match = PARAMETER.exec(text);
      if (match === null) break;
      next = PARAMETER.lastIndex;
      const name = (match[1] ?? '').toLowerCase();
      const value = match[2] === undefined ? (match[3] ?? '') : match[2].replace(/\\(.)/gs, '$1');
      if (!parameters.has(name)) parameters.set(name, value);
    }
    links.push({
      href: text.slice(at + 1, end).trim(),
      rel: (parameters.get('rel') ?? '').toLowerCase(),
      type: parameters.get('type')?.toLowerCase() ?? null,
      hreflang: parameters.get('hreflang') ?? null,
      title: parameters.get('title') ?? null,
    });
    at = text.indexOf('<', next);
  }
  return links;
}

/** Relations that lead to a page of the site; the others lead to styles, icons, interfaces … */
const PAGE_RELATIONS = new Set([
  'alternate',
  'amphtml',
  'appendix',
  'archives',
  'author',
  'bookmark',
  'canonical',
  'chapter',
  'contents',
  'first',
  'glossary',
  'help',
  'home',
  'index',
  'last',
  'license',
  'next',
  'prev',
  'previous',
  'section',
  'start',
  'subsection',
  'toc',
  'up',
]);
const FEED_TYPES = new Set(['application/rss+xml', 'application/atom+xml', 'application/feed+json']);

/** Collects `<link>` elements and `Link` headers: canonical, next, previous, alternates, feeds. The first of a kind wins. */
export class TypedLinks {
  canonical: string | null = null;
  next: string | null = null;
  prev: string | null = null;
  isTruncated = false;
  readonly hreflang: { lang: string; url: string }[] = [];
  readonly feeds: { url: string; type: string; title: string }[] = [];

  /** Adds a link whose URL is absolute already; returns it as a page link when it leads to a page, else null. */
  add(link: HeaderLink, url: string, from: 'link' | 'header'): PageLink | null {
    const relations = words(link.rel);
    if (relations.includes('stylesheet')) return null;
    const type = (link.type ?? '').split(';', 1)[0]?.trim() ?? '';
    let place: string = from;
    if (relations.includes('canonical')) {
      this.canonical ??= url;
      place = 'canonical';
    } else if (relations.includes('next')) {
      this.next ??= url;
      place = 'next';
    } else if (relations.includes('prev') || relations.includes('previous')) {
      this.prev ??= url;
      place = 'prev';
    } else if (relations.includes('alternate')) {
      if (link.hreflang !== null) this.#addHreflang(collapse(link.hreflang, 100), url);
      if (FEED_TYPES.has(type)) return this.#addFeed(url, type, link.title);
    }
    if ((type !== '' && !isHtmlType(type)) || !relations.some((relation) => PAGE_RELATIONS.has(relation)))
      return null;
    const text = link.title === null ? '' : collapse(link.title, LIMITS.anchorChars);
    return { url, text, rel: relations.join(' '), from: place };
  }

  pagination(): PageMetadata['pagination'] {
    return { next: this.next, prev: this.prev };
  }

  /** Reads the links of a header, whose addresses are relative to the page's own. */
  addHeader(header: readonly HeaderLink[], page: BaseUrl): PageLink[] {
    const links: PageLink[] = [];
    for (const entry of header) {
      const url = page.resolve(entry.href);
      const link = url === null ? null : this.add(entry, url, 'header');
      if (link !== null) links.push(link);
    }
    return links;
  }

  #addHreflang(lang: string, url: string): void {
    if (this.hreflang.length < LIMITS.alternates) this.hreflang.push({ lang, url });
    else this.isTruncated = true;
  }

  #addFeed(url: string, type: string, title: string | null): null {
    if (this.feeds.length < LIMITS.alternates) {
      this.feeds.push({ url, type, title: title === null ? '' : collapse(title, LIMITS.anchorChars) });
    } else {
      this.isTruncated = true;
    }
    return null;
  }
}
