import { escapeAttribute } from 'entities/escape';
import { BaseUrl } from '../html/links.ts';
import { TAG } from '../html/names.ts';
import { HtmlScanner, type ScanHandler } from '../html/scanner.ts';
import { cleanHtml } from './clean-html.ts';

/** Limits of the frames of one page; frames beyond them are left out, their text only. */
export const FRAME_LIMITS = {
  /** Frames of one page, those within frames included. */
  frames: 20,
  /** How deep frames may be nested in frames. */
  depth: 3,
  /** All frames of one page, in characters. */
  chars: 2_000_000,
} as const;

const HAS_FRAME = /srcdoc/i;

// One page at a time per thread: the buffers are reused for the next page.
const scanner = new HtmlScanner();

interface FoundFrame {
  /** Where its start tag begins. */
  readonly at: number;
  readonly document: string;
  readonly src: string | null;
}

/**
 * The page with the documents that its frames carry in `srcdoc` as a part of it, each before its frame: what a reader sees in
 * a frame belongs to the page. Browsers give the frames of rendered pages such a copy. URLs within frames are absolute.
 * Pages without such frames come back as they are.
 */
export function inlineFrames(html: string, url: string): { readonly html: string; readonly isCut: boolean } {
  if (!hasFrames(html)) return { html, isCut: false };
  const base = BaseUrl.parse(url) ?? BaseUrl.NOWHERE;
  const inliner = new FrameInliner();
  return { html: inliner.inline(html, base, 1), isCut: inliner.isCut };
}

/** False for nearly all pages, after one search. */
export const hasFrames = (html: string): boolean => HAS_FRAME.test(html);

class FrameInliner {
  #frames = 0;
  #chars = 0;
  /** Some frames were left out. */
  isCut = false;

  inline(html: string, base: BaseUrl, depth: number): string {
    const finder = new FrameFinder();
    scanner.scan(html, finder);
    let out = '';
    let from = 0;
    for (const { at, document, src } of finder.found) {
      const piece = this.#contentOf(document, finder.base(base), depth);
      if (piece === null) continue;
      const source = src === null ? '' : ` data-frame-src="${escapeAttribute(src)}"`;
      out += `${html.slice(from, at)}<div${source}>${piece}</div>`;
      from = at;
    }
    return out + html.slice(from);
  }

  /** Returns null for a frame beyond the limits. */
  #contentOf(document: string, base: BaseUrl, depth: number): string | null {
    this.#frames += 1;
    this.#chars += document.length;
    this.isCut ||= this.#frames > FRAME_LIMITS.frames || this.#chars > FRAME_LIMITS.chars;
    if (this.#frames > FRAME_LIMITS.frames || this.#chars > FRAME_LIMITS.chars) return null;
    const isNested = hasFrames(document);
    if (isNested && depth >= FRAME_LIMITS.depth) this.isCut = true;
    const whole = isNested && depth < FRAME_LIMITS.depth ? this.inline(document, base, depth + 1) : document;
    const finder = new FrameFinder();
    scanner.scan(whole, finder);
    return bodyOf(cleanHtml(scanner, whole, finder.base(base)).html);
  }
}

const BODY_START = /<body\b[^>]*>/i;
const HEAD_END = /<\/head\s*>/i;
/** Elements that say something of a whole document, here of the frame and not of the page. */
const DOCUMENT_TAGS = /<\/?(?:html|head|body|frameset|meta|link|title|base)\b[^>]*>/gi;

/** The content of a document without its head. */
function bodyOf(html: string): string {
  const start = BODY_START.exec(html) ?? HEAD_END.exec(html);
  return html.slice(start === null ? 0 : start.index + start[0].length).replace(DOCUMENT_TAGS, '');
}

/** Finds frames that carry their document, and the base of relative URLs. */
class FrameFinder implements ScanHandler {
  readonly isForeign = false;
  readonly found: FoundFrame[] = [];
  #href: string | null = null;

  base(document: BaseUrl): BaseUrl {
    const base = this.#href === null ? null : BaseUrl.parse(this.#href, document);
    return base?.isWeb ? base : document;
  }

  text(): void {
    // Only tags are of interest.
  }

  rawText(): void {
    // Only tags are of interest.
  }

  open(tag: number): void {
    if (tag === TAG.base) this.#href ??= scanner.attributeNamed('href');
    if (tag !== TAG.iframe && tag !== TAG.frame) return;
    // One beyond the limit tells that there are too many.
    if (this.found.length > FRAME_LIMITS.frames) return;
    const document = scanner.attributeNamed('srcdoc');
    if (document === null || document.trim() === '') return;
    this.found.push({ at: scanner.nameStart - 1, document, src: scanner.attributeNamed('src') });
  }

  close(): void {
    // Only start tags are of interest.
  }
}
