import type { MarkupFacts } from '../../extract/scan/markup-facts.ts';
import { SEARCHED_MARKUP } from './vendor-signs.ts';

export interface PageFacts {
  readonly title: string | null;
  /** Text of the first `h1` element. */
  readonly heading: string | null;
  /** Characters of visible text. */
  readonly textLength: number;
  readonly linkCount: number;
  /** What the page is made of, where extraction has counted it; else it is estimated where it matters. */
  readonly markup?: Readonly<MarkupFacts>;
}

/** Elements whose content is not shown. */
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'textarea']);
const ANNOUNCEMENT_CHARS = 300;

/**
 * A rough reading of markup in one pass, for when extraction has not run. Site-made input: each character is looked
 * at a fixed number of times, whatever it is.
 */
export function roughFacts(html: string): PageFacts {
  const lower = html.toLowerCase();
  const found: { title: string | null; h1: string | null } = { title: null, h1: null };
  let collecting: 'title' | 'h1' | null = null;
  let collected = '';
  let textLength = 0;
  let linkCount = 0;
  let at = 0;

  while (at < html.length) {
    const open = html.indexOf('<', at);
    const text = html.slice(at, open === -1 ? html.length : open);
    if (collecting !== null && collected.length < ANNOUNCEMENT_CHARS) collected += text;
    if (collecting !== 'title') textLength += visibleLength(text);
    if (open === -1) break;

    if (lower.startsWith('<!--', open)) {
      at = after(html, '-->', open + 2);
      continue;
    }
    const end = after(html, '>', open);
    const isClosing = lower.charAt(open + 1) === '/';
    const name = tagName(lower, open + (isClosing ? 2 : 1));
    at = end;
    if (name === 'a' && !isClosing && lower.slice(open, end).includes('href')) linkCount += 1;
    else if (HIDDEN.has(name) && !isClosing) at = after(html, '>', indexOrEnd(lower, `</${name}`, end));
    else if (name === 'title' || name === 'h1') {
      if (isClosing && collecting === name) {
        found[name] = collected.replace(/\s+/g, ' ').trim();
        collecting = null;
      } else if (!isClosing && found[name] === null) {
        collecting = name;
        collected = '';
      }
    }
  }
  return { title: found.title, heading: found.h1, textLength, linkCount };
}

function tagName(lower: string, start: number): string {
  let end = start;
  // No name we look for is longer.
  while (end < start + 10 && isNameCharacter(lower.charCodeAt(end))) end += 1;
  return lower.slice(start, end);
}

function isNameCharacter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

function visibleLength(text: string): number {
  let length = 0;
  let isInWord = false;
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) > 32) {
      length += 1;
      isInWord = true;
    } else if (isInWord) {
      length += 1;
      isInWord = false;
    }
  }
  return length;
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index === -1 ? text.length : index;
}

function after(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index === -1 ? text.length : index + part.length;
}

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
const NOT_SHOWN = /\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden/i;
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
    if (url === undefined || NOT_SHOWN.test(attributes)) continue;
    frames.push({
      url: url.replaceAll('&amp;', '&'),
      width: pixels(attributes, 'width') ?? DEFAULT_WIDTH_PX,
      height: pixels(attributes, 'height') ?? DEFAULT_HEIGHT_PX,
    });
    if (frames.length === MOST_FRAMES) break;
  }
  let fieldCount = 0;
  for (const [, attributes = ''] of searched.matchAll(FIELD)) {
    if (!NOT_SHOWN.test(attributes) && !NO_FIELD.test(attributes)) fieldCount += 1;
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

const SCRIPT = /<script\b([^>]{0,2000})>/gi;
const SOURCE = /\bsrc\s*=\s*["']?([^"'\s>]{1,500})/i;
const DATA_TYPE =
  /\btype\s*=\s*["']?(?:application\/(?:ld\+)?json|text\/template|importmap|speculationrules)/i;
const MOST_SOURCES = 32;
const NOSCRIPT_CHARS = 500;

/** What a page is made of, seen roughly, for when extraction has not run. Linear in its size. */
export function roughMarkup(html: string): MarkupFacts {
  const scriptSources: string[] = [];
  let scriptCount = 0;
  let scriptChars = 0;
  for (const { 0: tag, 1: attributes = '', index } of html.matchAll(SCRIPT)) {
    if (DATA_TYPE.test(attributes)) continue;
    scriptCount += 1;
    const source = SOURCE.exec(attributes)?.[1];
    if (source !== undefined) {
      if (scriptSources.length < MOST_SOURCES) scriptSources.push(source);
      continue;
    }
    const start = index + tag.length;
    const end = html.indexOf('</script', start);
    scriptChars += (end === -1 ? html.length : end) - start;
    // The rest of the page is this script, and is not looked through again for every tag in it.
    if (end === -1) break;
  }
  return {
    hasPasswordField: /<input\b[^>]{0,1000}\btype\s*=\s*["']?password\b/i.test(html),
    formCount: count(html, /<form\b/gi),
    iframeCount: count(html, /<iframe\b/gi),
    scriptCount,
    scriptChars,
    scriptSources,
    noscriptText: noscriptText(html),
    refresh: /<meta\b[^>]{0,300}\bhttp-equiv\s*=\s*["']?refresh\b[^>]{0,300}\burl\s*=/i.test(html)
      ? ''
      : null,
    refreshSeconds: null,
  };
}

function count(html: string, pattern: RegExp): number {
  let found = 0;
  for (const _ of html.matchAll(pattern)) found += 1;
  return found;
}

function noscriptText(html: string): string {
  for (const { 0: tag, index } of html.matchAll(/<noscript\b[^>]{0,500}>/gi)) {
    const start = index + tag.length;
    const end = html.indexOf('</noscript', start);
    const inside = html.slice(start, Math.min(end === -1 ? html.length : end, start + 4 * NOSCRIPT_CHARS));
    const text = inside
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    if (text !== '' || end === -1) return text.slice(0, NOSCRIPT_CHARS);
  }
  return '';
}
