import { LIMITS } from '../html/limits.ts';
import { BaseUrl } from '../html/links.ts';
import {
  ATTR,
  BLOCK,
  HIDDEN,
  IMPLIES_END,
  LANDMARK,
  MICRODATA_MASK,
  RDFA_MASK,
  SCANNED,
  TAG,
  TAG_FLAGS,
  VOID,
} from '../html/names.ts';
import { OpenElements } from '../html/open-elements.ts';
import { collapse, decodeEntities, TextCapture } from '../html/page-text.ts';
import type { HtmlScanner, ScanHandler } from '../html/scanner.ts';
import { parseJsonLd } from '../structured/json-ld.ts';
import { StreamedItems } from '../structured/streamed-items.ts';
import { ImageCollector, LinkCollector } from './link-collector.ts';
import { noMarkupFacts } from './markup-facts.ts';
import { MetaTags } from './meta-tags.ts';
import type { TextDigest } from './text-digest.ts';

const A = TAG.a;
const H1 = TAG.h1;
const H6 = TAG.h6;
const SCRIPT = TAG.script;
const TITLE = TAG.title;
const TEMPLATE = TAG.template;

/** Bits kept with open elements, handed back when they end. */
const ITEM = 1;
const UNSEEN = 2;
const INERT = 4;
const WITHOUT_SCRIPTS = 8;
const ASIDE = 16;
const CONTENT = 32;

const JSON_LD_TYPE = /^\s*application\/ld\+json\s*(?:;|$)/i;
const GET_METHOD = /^\s*get\s*$/i;

/** Collects links, metadata, structured items, text digest and markup facts of an HTML page in one pass of the scanner. */
export class PageScan implements ScanHandler {
  title: string | null = null;
  language: string | null = null;
  base: BaseUrl;
  readonly links: LinkCollector;
  readonly images = new ImageCollector();
  readonly headings: { level: number; text: string }[] = [];
  readonly jsonLd: unknown[] = [];
  readonly meta = new MetaTags();
  readonly facts = noMarkupFacts();
  /** Null until the page has an element with microdata or RDFa. */
  structured: StreamedItems | null = null;
  readonly #scanner: HtmlScanner;
  readonly #digest: TextDigest;
  readonly #isFull: boolean;
  readonly #elements = new OpenElements((mark, depth) => this.#ended(mark, depth));
  readonly #capture = new TextCapture();
  #hasBase = false;
  /** Open elements whose text is not rendered. */
  #unseen = 0;
  /** Open elements whose content is not part of the page (templates). */
  #inert = 0;
  #isJsonLd = false;
  #headingLevel = 0;
  #headingStart = 0;
  #noscriptStart = 0;
  #withoutScripts = 0;
  #isTruncated = false;
  /** Open elements that hold navigation and the like, and those that hold content; both counted where the text is kept. */
  #asides = 0;
  #contents = 0;

  /** `isFull` collects metadata as well, beside what a crawl needs. */
  constructor(scanner: HtmlScanner, digest: TextDigest, page: BaseUrl, isFull: boolean) {
    this.#scanner = scanner;
    this.#digest = digest;
    this.#isFull = isFull;
    this.base = page;
    this.links = new LinkCollector(scanner, this.#capture);
  }

  get isForeign(): boolean {
    return this.#elements.isForeign;
  }

  get isTruncated(): boolean {
    const parts = [this.#scanner, this.#elements, this.links, this.images, this.meta];
    return this.#isTruncated || parts.some((part) => part.isTruncated);
  }

  text(start: number, end: number): void {
    const scanner = this.#scanner;
    if (this.#unseen === 0) this.#digest.add(scanner.html, scanner.codes, start, end, true);
    if (this.#capture.isOn && this.#inert === 0) this.#capture.add(scanner.html.slice(start, end));
  }

  rawText(tag: number, start: number, end: number): void {
    const scanner = this.#scanner;
    if (tag === SCRIPT) {
      this.facts.scriptChars += end - start;
      if (this.#isJsonLd) this.#readJsonLd(scanner.html.slice(start, end));
    } else if (tag === TITLE) {
      if (this.#inert === 0)
        this.title ??= collapse(decodeEntities(scanner.html.slice(start, end)), LIMITS.titleChars);
    } else if (((TAG_FLAGS[tag] as number) & HIDDEN) === 0 && tag !== TAG.iframe && this.#unseen === 0) {
      this.#digest.add(scanner.html, scanner.codes, start, end, false);
    }
  }

  open(tag: number, hash: number, isSelfClosing: boolean): void {
    const elements = this.#elements;
    const flags = TAG_FLAGS[tag] as number;
    if ((flags & BLOCK) !== 0) this.#breakWord();
    if ((flags & IMPLIES_END) !== 0) elements.endImplied(tag);
    const isVoid = (flags & VOID) !== 0 || (isSelfClosing && elements.isForeign);
    const hasEnd = !isVoid && elements.depth < LIMITS.depth;
    let mark = 0;
    if (this.#inert === 0) {
      if ((flags & SCANNED) !== 0) mark = this.#read(tag, hasEnd);
      if (this.#isFull && (this.#scanner.mask & (MICRODATA_MASK | RDFA_MASK)) !== 0 && (hasEnd || isVoid)) {
        mark |= this.#readItems(tag, isVoid);
      }
    }
    if (isVoid) return;
    if (hasEnd && (flags & HIDDEN) !== 0 && tag !== TEMPLATE) mark |= UNSEEN;
    if (hasEnd && (flags & LANDMARK) !== 0 && this.#digest.keepsText) mark |= this.#openLandmark(tag);
    if ((mark & UNSEEN) !== 0) this.#unseen++;
    if ((mark & INERT) !== 0) this.#inert++;
    elements.push(tag, hash, mark);
  }

  close(tag: number, hash: number): void {
    if (((TAG_FLAGS[tag] as number) & BLOCK) !== 0) this.#breakWord();
    if (tag === A) this.links.endAnchor();
    else if (tag >= H1 && tag <= H6) this.#endHeading();
    this.#elements.end(hash);
  }

  /** Ends the page and all elements that are still open. */
  finish(): void {
    this.links.endAnchor();
    this.#endHeading();
    this.#elements.endAll();
  }

  #breakWord(): void {
    if (this.#unseen === 0) this.#digest.breakWord();
    if (this.#capture.isOn) this.#capture.add(' ');
  }

  /** Reads a start tag with a meaning of its own; returns the bits to keep with the element. */
  #read(tag: number, hasEnd: boolean): number {
    const scanner = this.#scanner;
    switch (tag) {
      case A:
        this.links.openAnchor();
        return 0;
      case TAG.img:
      case TAG.image:
      case TAG.source:
        this.#readImage();
        return 0;
      case TAG.link:
        this.links.addTyped();
        return 0;
      case TAG.meta:
        this.meta.read(scanner, this.#isFull, this.#withoutScripts > 0);
        return 0;
      case SCRIPT:
        this.#readScript();
        return 0;
      case TAG.input:
        this.facts.hasPasswordField ||= scanner.attribute(ATTR.type)?.trim().toLowerCase() === 'password';
        return 0;
      case TAG.form:
        this.facts.formCount++;
        if (GET_METHOD.test(scanner.attribute(ATTR.method) ?? 'get')) {
          this.links.addPlain(scanner.attribute(ATTR.action), null, 'form');
        }
        return 0;
      case TAG.area:
        this.links.addPlain(scanner.attribute(ATTR.href), scanner.attribute(ATTR.alt), 'area');
        return 0;
      case TAG.iframe:
        this.facts.iframeCount++;
        this.links.addPlain(scanner.attribute(ATTR.src), scanner.attribute(ATTR.title), 'iframe');
        return 0;
      case TAG.frame:
        this.links.addPlain(scanner.attribute(ATTR.src), scanner.attribute(ATTR.title), 'frame');
        return 0;
      case TAG.base:
        this.#readBase();
        return 0;
      case TAG.html:
        this.language ??= scanner.attribute(ATTR.lang) ?? scanner.attribute(ATTR['xml:lang']);
        return 0;
      case TAG.noscript:
        if (!hasEnd) return 0;
        this.#withoutScripts++;
        this.#noscriptStart = this.#capture.begin();
        return WITHOUT_SCRIPTS;
      case TEMPLATE:
        // The content of a declarative shadow root is part of the page, that of any other template is not.
        return hasEnd && scanner.attribute(ATTR.shadowrootmode) === null ? UNSEEN | INERT : 0;
      default:
        if (tag >= H1 && tag <= H6) this.#openHeading(tag - H1 + 1);
        return 0;
    }
  }

  /** The header and the footer of an article belong to it; those of the page do not. */
  #openLandmark(tag: number): number {
    if (tag === TAG.main || tag === TAG.article) {
      this.#contents++;
      return CONTENT;
    }
    if (this.#contents > 0 && (tag === TAG.header || tag === TAG.footer)) return 0;
    if (this.#asides++ === 0) this.#digest.beginAside();
    return ASIDE;
  }

  #readItems(tag: number, isVoid: boolean): number {
    this.structured ??= new StreamedItems(this.#scanner);
    const { structured, base } = this;
    const depth = this.#elements.depth;
    const capture = this.#capture;
    const mask = this.#scanner.mask;
    let mark = 0;
    if ((mask & MICRODATA_MASK) !== 0 && structured.readMicrodata(tag, depth, isVoid, capture, base))
      mark = ITEM;
    if ((mask & RDFA_MASK) !== 0 && structured.readRdfa(tag, depth, isVoid, capture, base)) mark = ITEM;
    return mark;
  }

  #readImage(): void {
    const alt = collapse(this.#scanner.attribute(ATTR.alt) ?? '', LIMITS.anchorChars);
    this.links.noteImage(alt);
    if (this.#isFull) this.images.read(this.#scanner, alt);
  }

  #readScript(): void {
    const { facts } = this;
    facts.scriptCount++;
    const source = this.#scanner.attribute(ATTR.src);
    if (
      source !== null &&
      facts.scriptSources.length < LIMITS.scriptSources &&
      source.length <= LIMITS.urlChars
    ) {
      facts.scriptSources.push(source);
    }
    this.#isJsonLd = this.#isFull && JSON_LD_TYPE.test(this.#scanner.attribute(ATTR.type) ?? '');
  }

  #readJsonLd(source: string): void {
    if (this.jsonLd.length >= LIMITS.jsonLdBlocks || source.length > LIMITS.jsonLdChars) {
      this.#isTruncated = true;
      return;
    }
    const value = parseJsonLd(source);
    if (value !== undefined) this.jsonLd.push(value);
  }

  /** Only the first `base` with an href counts, and only if URLs can be relative to it. */
  #readBase(): void {
    const href = this.#scanner.attribute(ATTR.href);
    if (href === null || this.#hasBase) return;
    this.#hasBase = true;
    const base = BaseUrl.parse(href, this.base);
    if (!base?.isWeb) return;
    this.base = base;
    this.structured?.rebase();
  }

  #openHeading(level: number): void {
    this.#endHeading();
    if (!this.#isFull) return;
    this.#headingLevel = level;
    this.#headingStart = this.#capture.begin();
  }

  #endHeading(): void {
    const level = this.#headingLevel;
    if (level === 0) return;
    this.#headingLevel = 0;
    const text = this.#capture.since(this.#headingStart, LIMITS.headingChars);
    this.#capture.release();
    if (text === '') return;
    if (this.headings.length < LIMITS.headings) this.headings.push({ level, text });
    else this.#isTruncated = true;
  }

  #ended(mark: number, depth: number): void {
    if ((mark & UNSEEN) !== 0) this.#unseen--;
    if ((mark & INERT) !== 0) this.#inert--;
    if ((mark & CONTENT) !== 0) this.#contents--;
    if ((mark & ASIDE) !== 0 && --this.#asides === 0) this.#digest.endAside();
    if ((mark & ITEM) !== 0) this.structured?.end(depth, this.#capture);
    if ((mark & WITHOUT_SCRIPTS) !== 0) {
      this.#withoutScripts--;
      const text = this.#capture.since(this.#noscriptStart, LIMITS.noscriptChars);
      this.facts.noscriptText = this.facts.noscriptText || text;
      this.#capture.release();
    }
  }
}
