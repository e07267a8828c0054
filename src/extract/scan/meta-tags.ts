import { LIMITS } from '../html/limits.ts';
import { ATTR } from '../html/names.ts';
import { cut } from '../html/page-text.ts';
import type { HtmlScanner } from '../html/scanner.ts';

/** Vocabularies that belong to the Open Graph. */
const GRAPH = /^(?:og|article|book|profile|product|video|music|fb|place|business):/;

const OUR_NAME = 'scrapifiebot';
/** Directives that carry a colon themselves; every other word before a colon names a robot. */
const WITH_VALUE = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/** Collects the `meta` elements of a page. The first of a repeated name wins, except in the Open Graph. */
export class MetaTags {
  description: string | null = null;
  language: string | null = null;
  refresh: string | null = null;
  /** The delay in `refresh`, unless that stands in a `noscript`. */
  refreshSeconds: number | null = null;
  isTruncated = false;
  readonly robots: string[] = [];
  readonly named: Record<string, string> = Object.create(null);
  readonly openGraph: Record<string, string | string[]> = Object.create(null);
  readonly twitter: Record<string, string> = Object.create(null);
  #count = 0;

  /** Reads the current `meta` of the scanner. Without `isFull` only robots directives and refreshes are kept. */
  read(scanner: HtmlScanner, isFull: boolean, isWithoutScripts = false): void {
    const content = scanner.attribute(ATTR.content);
    if (content === null) return;
    const equivalent = scanner.attribute(ATTR['http-equiv'])?.trim().toLowerCase();
    if (equivalent === 'refresh') this.#readRefresh(content, isWithoutScripts);
    else if (equivalent === 'content-language') this.language ??= content.trim() || null;
    const name = scanner.attribute(ATTR.name)?.trim().toLowerCase() ?? '';
    if (isAddressedToUs(name)) this.robots.push(cut(content.trim(), LIMITS.wordsChars));
    else if (isFull)
      this.#keep(name, scanner.attribute(ATTR.property), cut(content.trim(), LIMITS.metaChars));
  }

  #readRefresh(content: string, isWithoutScripts: boolean): void {
    if (this.refresh !== null) return;
    this.refresh = refreshTarget(content);
    if (this.refresh !== null && !isWithoutScripts) this.refreshSeconds = Number.parseFloat(content) || 0;
  }

  /** The combined directives of all robots tags and of the header. */
  directives(header: string): RobotsDirectives {
    const all = [header, ...this.robots].map(readRobotsContent);
    return { isNofollow: all.some((one) => one.isNofollow), isNoindex: all.some((one) => one.isNoindex) };
  }

  #keep(name: string, property: string | null, content: string): void {
    const key = cut(property?.trim().toLowerCase() || name, LIMITS.wordsChars);
    if (key === '') return;
    if (++this.#count > LIMITS.metaTags) {
      this.isTruncated = true;
      return;
    }
    if (key === 'description') {
      this.description ??= content;
    } else if (key.startsWith('twitter:')) {
      this.twitter[key.slice(8)] ??= content;
    } else if (GRAPH.test(key)) {
      const short = key.startsWith('og:') ? key.slice(3) : key;
      const known = this.openGraph[short];
      if (known === undefined) this.openGraph[short] = content;
      else if (typeof known === 'string') this.openGraph[short] = [known, content];
      else known.push(content);
    } else if (name !== '') {
      this.named[name] ??= content;
    }
  }
}

const MOST_CHARS = 8_192;

/** The URL in the content of a `<meta http-equiv="refresh">` (`5; url='/next'`); null when the page only reloads. */
export function refreshTarget(content: string): string | null {
  if (content.length > MOST_CHARS) return null;
  const rest = content.trimStart().replace(/^[\d.]+/, '');
  const separated = rest.trimStart();
  const hasMark = separated.startsWith(';') || separated.startsWith(',');
  if (!hasMark && separated.length === rest.length) return null;
  const target = (hasMark ? separated.slice(1).trimStart() : separated).replace(/^url\s*=\s*/i, '');
  const quote = target.charAt(0);
  if (quote !== '"' && quote !== "'") return target.trim() || null;
  const end = target.indexOf(quote, 1);
  return target.slice(1, end < 0 ? undefined : end).trim() || null;
}

/** The robots directives of a page that a crawl obeys. */
export interface RobotsDirectives {
  readonly isNofollow: boolean;
  readonly isNoindex: boolean;
}

/** True for meta tags addressed to all robots or to this crawler. */
function isAddressedToUs(name: string): boolean {
  return name === 'robots' || name === OUR_NAME;
}

/** Reads the content of a robots meta tag. */
export function readRobotsContent(content: string): RobotsDirectives {
  let isNofollow = false;
  let isNoindex = false;
  for (const part of content.toLowerCase().split(/[,;\s]+/)) {
    if (part === 'none') return { isNofollow: true, isNoindex: true };
    if (part === 'nofollow') isNofollow = true;
    else if (part === 'noindex') isNoindex = true;
  }
  return { isNofollow, isNoindex };
}

/**
 * The directives of an `X-Robots-Tag` header that are addressed to all robots or to this crawler, joined by commas.
 * `name: a, b` binds `a` and `b` to the robot of that name, up to the next name or line; lines are separate headers.
 */
export function ownRobotsHeader(header: string | null): string {
  if (header === null) return '';
  const own: string[] = [];
  for (const line of header.split('\n')) {
    let isOurs = true;
    for (const part of line.split(',')) {
      let directive = part.trim();
      const named = /^([\w*-]+)\s*:\s*(.*)$/s.exec(directive);
      const name = named?.[1]?.toLowerCase();
      if (name !== undefined && !WITH_VALUE.has(name)) {
        isOurs = name === OUR_NAME || name === '*' || name === 'robots';
        directive = named?.[2] ?? '';
      }
      if (isOurs && directive !== '') own.push(directive);
    }
  }
  return own.join(', ');
}
