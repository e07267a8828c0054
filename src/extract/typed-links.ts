import type { PageLink, PageMetadata } from '../model/page.ts';
import type { BaseUrl } from './base-url.ts';
import { LIMITS } from './limits.ts';
import type { HeaderLink } from './link-header.ts';
import { collapse, words } from './white-space.ts';

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
const PAGE_TYPES = new Set(['', 'text/html', 'application/xhtml+xml']);

/** Collects `<link>` elements and `Link` headers: the page's place among others. The first of a kind wins. */
export class TypedLinks {
  canonical: string | null = null;
  next: string | null = null;
  prev: string | null = null;
  isTruncated = false;
  readonly hreflang: { lang: string; url: string }[] = [];
  readonly feeds: { url: string; type: string; title: string }[] = [];

  /** Takes one in, with its address already absolute; returns it as a link when it leads to a page. */
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
    if (!PAGE_TYPES.has(type) || !relations.some((relation) => PAGE_RELATIONS.has(relation))) return null;
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
