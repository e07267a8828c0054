import type { MarkupFacts } from '../../extract/scan/markup-facts.ts';

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
