import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute, escapeText } from 'entities/escape';
import { LIMITS } from '../html/limits.ts';
import { type BaseUrl, srcsetCandidates } from '../html/links.ts';
import { ATTR, IMPLIES_END, TAG, TAG_FLAGS, TAG_NAMES, VOID } from '../html/names.ts';
import { OpenElements } from '../html/open-elements.ts';
import { words } from '../html/page-text.ts';
import type { HtmlScanner, ScanHandler } from '../html/scanner.ts';

export interface CleanHtml {
  readonly html: string;
  readonly isTruncated: boolean;
}

const DROPPED = new Set([TAG.script, TAG.style, TAG.noscript, TAG.template, TAG.noembed, TAG.noframes]);
const DROPPED_RELATIONS = new Set([
  'stylesheet',
  'preload',
  'modulepreload',
  'prefetch',
  'prerender',
  'preconnect',
  'dns-prefetch',
]);
const DROPPED_ATTRIBUTES = new Set(['srcdoc', 'nonce', 'integrity', 'crossorigin', 'ping']);
const URL_ATTRIBUTES = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'poster',
  'data',
  'cite',
  'background',
  'longdesc',
  'xlink:href',
]);
const SRCSET_ATTRIBUTES = new Set(['srcset', 'imagesrcset']);
const WRITABLE_NAME = /^[^\s"'<>/=]+$/;
/** URL schemes that execute code. */
const SCRIPTED = /^(?:javascript|vbscript|data):/i;
const IMAGE_DATA = /^data:image\//i;
/** Absolute URLs make a page longer; this bounds the growth of pages that consist of URLs. */
const GROWTH_CHARS = 1_048_576;
const GROWTH_FACTOR = 4;

/**
 * The page without scripts, styles, noscript, templates, comments, event handlers and hidden inputs.
 * URLs are absolute. It is the page's own markup, neither repaired nor made safe to show inside another page.
 */
export function cleanHtml(scanner: HtmlScanner, html: string, base: BaseUrl): CleanHtml {
  const writer = new HtmlWriter(scanner, base, html.length * GROWTH_FACTOR + GROWTH_CHARS);
  scanner.scan(html, writer);
  return { html: writer.html.trim(), isTruncated: writer.isTruncated };
}

class HtmlWriter implements ScanHandler {
  html = '';
  isTruncated = false;
  readonly #scanner: HtmlScanner;
  readonly #base: BaseUrl;
  readonly #mostChars: number;
  readonly #elements = new OpenElements(() => this.#dropped--);
  #dropped = 0;

  constructor(scanner: HtmlScanner, base: BaseUrl, mostChars: number) {
    this.#scanner = scanner;
    this.#base = base;
    this.#mostChars = mostChars;
  }

  get isForeign(): boolean {
    return this.#elements.isForeign;
  }

  text(start: number, end: number): void {
    if (this.#dropped === 0) this.#write(this.#scanner.html.slice(start, end));
  }

  rawText(tag: number, start: number, end: number): void {
    if (this.#dropped > 0 || tag === TAG.iframe) return;
    const text = this.#scanner.html.slice(start, end);
    this.#write(tag === 0 ? escapeText(text) : text);
  }

  open(tag: number, hash: number, isSelfClosing: boolean): void {
    const elements = this.#elements;
    const flags = TAG_FLAGS[tag] as number;
    if ((flags & IMPLIES_END) !== 0) elements.endImplied(tag);
    const isVoid = (flags & VOID) !== 0 || (isSelfClosing && elements.isForeign);
    const isDropped = this.#isDropped(tag);
    if (this.#dropped === 0 && !isDropped) this.#writeTag(tag, isVoid && (flags & VOID) === 0);
    if (isVoid) return;
    const isMarked = isDropped && elements.depth < LIMITS.depth;
    if (isMarked) this.#dropped++;
    elements.push(tag, hash, isMarked ? 1 : 0);
  }

  close(tag: number, hash: number): void {
    this.#elements.end(hash);
    if (this.#dropped > 0 || DROPPED.has(tag) || ((TAG_FLAGS[tag] as number) & VOID) !== 0) return;
    this.#write(`</${this.#name(tag)}>`);
  }

  #isDropped(tag: number): boolean {
    const scanner = this.#scanner;
    if (tag === TAG.base) return true;
    if (tag === TAG.template) return scanner.attribute(ATTR.shadowrootmode) === null;
    if (tag === TAG.input) return scanner.attribute(ATTR.type)?.trim().toLowerCase() === 'hidden';
    if (tag === TAG.link) {
      return words(scanner.attribute(ATTR.rel)).some((relation) =>
        DROPPED_RELATIONS.has(relation.toLowerCase()),
      );
    }
    return DROPPED.has(tag);
  }

  #writeTag(tag: number, isSelfClosing: boolean): void {
    const { html, ranges, attributeCount } = this.#scanner;
    let out = `<${this.#name(tag)}`;
    const seen = new Set<string>();
    for (let i = 0; i < attributeCount * 4; i += 4) {
      const name = html.slice(ranges[i], ranges[i + 1]);
      const lower = name.toLowerCase();
      if (lower.startsWith('on') || DROPPED_ATTRIBUTES.has(lower) || seen.has(lower)) continue;
      seen.add(lower);
      if (!WRITABLE_NAME.test(name)) continue;
      const value = this.#value(lower, decodeHTMLAttribute(html.slice(ranges[i + 2], ranges[i + 3])));
      if (value !== null) out += value === '' ? ` ${name}` : ` ${name}="${escapeAttribute(value)}"`;
    }
    this.#write(`${out}${isSelfClosing ? '/>' : '>'}`);
  }

  /** The value to write; null when the attribute is to be left out. */
  #value(name: string, value: string): string | null {
    if (SRCSET_ATTRIBUTES.has(name)) {
      return srcsetCandidates(value)
        .map(({ url, descriptor }) => `${this.#base.resolve(url) ?? url} ${descriptor}`.trim())
        .join(', ');
    }
    if (!URL_ATTRIBUTES.has(name)) return value;
    // Browsers ignore white space and control characters in URLs.
    const bare = value.slice(0, 64).replace(/[\0-\x20]+/g, '');
    if (SCRIPTED.test(bare) && !(name === 'src' && IMAGE_DATA.test(bare))) return null;
    return this.#base.resolve(value) ?? value;
  }

  #name(tag: number): string {
    return tag === 0 || this.#elements.isForeign
      ? this.#scanner.html.slice(this.#scanner.nameStart, this.#scanner.nameEnd)
      : (TAG_NAMES[tag] as string);
  }

  #write(piece: string): void {
    if (this.html.length + piece.length > this.#mostChars) this.isTruncated = true;
    else this.html += piece;
  }
}
