import { ATTR } from '../html/attribute.ts';
import { LIMITS } from '../html/limits.ts';
import type { HtmlScanner } from '../html/scanner.ts';
import { cut } from '../html/white-space.ts';
import { isAddressedToUs, type RobotsDirectives, readRobotsContent } from './robots-directives.ts';

/** Vocabularies that belong to the Open Graph. */
const GRAPH = /^(?:og|article|book|profile|product|video|music|fb|place|business):/;

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
