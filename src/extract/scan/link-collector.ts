import type { PageImage, PageLink } from '../../core/model/page.ts';
import { LIMITS } from '../html/limits.ts';
import { type BaseUrl, type HeaderLink, srcsetCandidates, type TypedLinks } from '../html/links.ts';
import { ATTR } from '../html/names.ts';
import { collapse, cut, type TextCapture } from '../html/page-text.ts';
import type { HtmlScanner } from '../html/scanner.ts';

/** A link as written. Its URL is resolved at the end of the page, because a later `base` element applies to it as well. */
interface FoundLink {
  readonly href: string;
  text: string;
  readonly rel: string;
  readonly from: string;
  /** Only for `link` elements, whose meaning depends on rel, type and hreflang. */
  readonly typed: HeaderLink | null;
}

/** Collects the links of a page in document order, repeats included. */
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

  /** Opens an `a` and closes the one that is still open: anchors do not nest. */
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

  /** The alternative text of an image inside an anchor that has no text of its own. */
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

  /** Any other element with a URL; `text` is its description. */
  addPlain(href: string | null, text: string | null, from: string): void {
    this.#add(href, text === null ? '' : collapse(text, LIMITS.anchorChars), from);
  }

  /** Adds the link of a `link` element, under its `rel`. */
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

  /** Makes all URLs absolute and drops links that cannot be fetched; `link` elements go through `typed` first. */
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

/** Collects the images of a page, each URL once. */
export class ImageCollector {
  isTruncated = false;
  readonly #found: { readonly src: string; readonly alt: string }[] = [];

  /** Reads an `img` or `source`: its `src`, the attributes of lazy loaders, and all candidates of its srcset. */
  read(scanner: HtmlScanner, alt: string): void {
    this.#add(scanner.attribute(ATTR.src), alt);
    this.#add(scanner.attribute(ATTR['data-src']), alt);
    this.#addSet(scanner.attribute(ATTR.srcset), alt);
    this.#addSet(scanner.attribute(ATTR['data-srcset']), alt);
  }

  resolve(base: BaseUrl): PageImage[] {
    const images = new Map<string, PageImage>();
    for (const { src, alt } of this.#found) {
      const url = base.resolve(src);
      if (url === null) continue;
      const known = images.get(url);
      if (known === undefined || (known.alt === '' && alt !== '')) images.set(url, { url, alt });
    }
    return [...images.values()];
  }

  #addSet(srcset: string | null, alt: string): void {
    if (srcset === null) return;
    for (const candidate of srcsetCandidates(srcset)) this.#add(candidate.url, alt);
  }

  #add(src: string | null, alt: string): void {
    if (src === null || src === '') return;
    if (this.#found.length < LIMITS.images) this.#found.push({ src, alt });
    else this.isTruncated = true;
  }
}
