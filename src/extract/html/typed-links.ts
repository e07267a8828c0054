import type { PageLink, PageMetadata } from '../../core/model/page.ts';
import type { BaseUrl } from './base-url.ts';
import { LIMITS } from './limits.ts';
import { isHtmlType } from './media-type.ts';
import { collapse, words } from './page-text.ts';

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
