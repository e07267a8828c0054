import type { PageLink } from '../model/page.ts';
import { ATTR } from './attribute.ts';
import type { BaseUrl } from './base-url.ts';
import { LIMITS } from './limits.ts';
import type { HeaderLink } from './link-header.ts';
import type { HtmlScanner } from './scanner.ts';
import type { TextCapture } from './text-capture.ts';
import type { TypedLinks } from './typed-links.ts';
import { collapse, cut } from './white-space.ts';

/** A link as it stands in the page. Its address waits for the end, because a later `base` element counts for it too. */
interface FoundLink {
  readonly href: string;
  text: string;
  readonly rel: string;
  readonly from: string;
  /** Of `link` elements, whose meaning depends on more. */
  readonly typed: HeaderLink | null;
}

/** Collects the links of a page in the order they stand, repeats included. */
export class LinkCollector {
  isTruncated = false;
  readonly #found: FoundLink[] = [];
  readonly #scanner: HtmlScanner;
  readonly #capture: TextCapture;
  #anchor: FoundLink | null = null;
  #anchorStart = 0;
  #anchorAlt = '';

  constructor(scanner: HtmlScanner, capture: TextCapture) {
    this.#scanner = scanner;
    this.#capture = capture;
  }

  /** An `a` begins, and ends the one that may still be open: anchors don't nest. */
  openAnchor(): void {
    this.endAnchor();
    const scanner = this.#scanner;
    const href = scanner.attribute(ATTR.href) ?? scanner.attribute(ATTR['xlink:href']);
    const link = this.#add(href, '', 'a');
    if (link === null) return;
    this.#anchor = link;
    this.#anchorAlt = '';
    this.#anchorStart = this.#capture.begin();
  }

  /** An image within an anchor speaks for it where it has no text. */
  noteImage(alt: string): void {
    if (this.#anchor !== null && this.#anchorAlt === '') this.#anchorAlt = alt;
  }

  endAnchor(): void {
    const anchor = this.#anchor;
    if (anchor === null) return;
    anchor.text = this.#capture.since(this.#anchorStart, LIMITS.anchorChars) || this.#anchorAlt;
    this.#capture.release();
    this.#anchor = null;
  }

  /** Any other element with an address; `text` is what describes it. */
  addPlain(href: string | null, text: string | null, from: string): void {
    this.#add(href, text === null ? '' : collapse(text, LIMITS.anchorChars), from);
  }

  /** A `link` element. */
  addTyped(): void {
    const scanner = this.#scanner;
    const rel = scanner.attribute(ATTR.rel)?.toLowerCase() ?? '';
    const href = scanner.attribute(ATTR.href);
    if (rel === '' || rel === 'stylesheet' || href === null || this.#isFull()) return;
    const type = scanner.attribute(ATTR.type)?.toLowerCase() ?? null;
    const hreflang = scanner.attribute(ATTR.hreflang);
    const title = scanner.attribute(ATTR.title);
    this.#found.push({ href, text: '', rel, from: 'link', typed: { href, rel, type, hreflang, title } });
  }

  /** Makes all addresses absolute and drops what leads nowhere; `link` elements go through `typed` first. */
  resolve(base: BaseUrl, typed: TypedLinks): PageLink[] {
    const links: PageLink[] = [];
    for (const found of this.#found) {
      const url = base.resolve(found.href);
      if (url === null) continue;
      if (found.typed === null) {
        links.push({ url, text: found.text, rel: found.rel, from: found.from });
      } else {
        const link = typed.add(found.typed, url, 'link');
        if (link !== null) links.push(link);
      }
    }
    return links;
  }

  #add(href: string | null, text: string, from: string): FoundLink | null {
    if (href === null || href.length === 0 || href.charCodeAt(0) === 35 || this.#isFull()) return null;
    const rel = this.#scanner.attribute(ATTR.rel);
    const link: FoundLink = {
      href,
      text,
      rel: rel === null ? '' : cut(rel.trim().toLowerCase(), LIMITS.wordsChars),
      from,
      typed: null,
    };
    this.#found.push(link);
    return link;
  }

  #isFull(): boolean {
    if (this.#found.length < LIMITS.links) return false;
    this.isTruncated = true;
    return true;
  }
}
