import { SEARCHED_MARKUP } from './vendor-search.ts';

/** What a browser saw after scripts had run. */
export interface RenderedFacts {
  /** Characters that are to be seen on the page itself. */
  readonly textLength: number;
  /** Fields for the visitor to fill in, hidden ones and those of widgets aside. */
  readonly fieldCount: number;
  /** Frames that are to be seen, with their size in CSS pixels. */
  readonly frames: readonly { readonly url: string; readonly width: number; readonly height: number }[];
}

const FRAME = /<iframe\b([^>]{0,4000})>/gi;
const FIELD = /<(?:input|textarea|select)\b([^>]{0,2000})>/gi;
const HIDDEN = /\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden/i;
/** Buttons are no fields, and captcha widgets keep their answer in a field named after them. */
const NO_FIELD =
  /\btype\s*=\s*["']?(?:hidden|submit|button|image|reset)\b|\b(?:g-re|h-|fr-)?captcha|cf-turnstile/i;
const MOST_FRAMES = 32;
/** The size of frames whose markup does not name one. */
const DEFAULT_WIDTH_PX = 300;
const DEFAULT_HEIGHT_PX = 150;

/** Reads the facts from the document that a browser has serialised after scripts had run. Linear in its size. */
export function renderedFacts(html: string, textLength: number): RenderedFacts {
  const searched = html.slice(0, SEARCHED_MARKUP);
  const frames: RenderedFacts['frames'][number][] = [];
  for (const [, attributes = ''] of searched.matchAll(FRAME)) {
    const url = /\bsrc\s*=\s*["']?([^"'\s>]{1,2000})/i.exec(attributes)?.[1];
    if (url === undefined || HIDDEN.test(attributes)) continue;
    frames.push({
      url: url.replaceAll('&amp;', '&'),
      width: pixels(attributes, 'width') ?? DEFAULT_WIDTH_PX,
      height: pixels(attributes, 'height') ?? DEFAULT_HEIGHT_PX,
    });
    if (frames.length === MOST_FRAMES) break;
  }
  let fieldCount = 0;
  for (const [, attributes = ''] of searched.matchAll(FIELD)) {
    if (!HIDDEN.test(attributes) && !NO_FIELD.test(attributes)) fieldCount += 1;
  }
  return { textLength, fieldCount, frames };
}

/** From the attribute or from the inline style; null when neither names pixels. */
function pixels(attributes: string, name: 'width' | 'height'): number | null {
  const found = new RegExp(`\\b${name}\\s*(?:=\\s*["']?|:\\s*)(\\d{1,5})(?:px)?(?![\\d%.])`, 'i').exec(
    attributes,
  );
  return found?.[1] === undefined ? null : Number(found[1]);
}
