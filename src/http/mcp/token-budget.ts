import { randomBytes } from 'node:crypto';
import { type Part, text } from './tool.ts';

/**
 * How many tokens a text has, never too few by much: language models differ, so this counts by the kind of characters.
 * A token is about four letters of a European language, one sign of Chinese, Japanese or Korean, or two digits or signs.
 */
export function tokensIn(text: string): number {
  let quarters = 0;
  for (const character of text) quarters += quartersOf(character);
  return Math.ceil(quarters / 4);
}

function quartersOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code > 0x2e7f) return 4;
  return isLetter(code) || code === 0x20 ? 1 : 2;
}

const isLetter = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0xc0 && code <= 0x24f);

interface Portion {
  readonly text: string;
  /** Where the next portion begins, in characters; null at the end. */
  readonly next: number | null;
}

/** How far back from the limit a portion may end, to end between paragraphs, lines or words. */
const LOOK_BACK = 0.2;

/** As much of the text from `start` on as fits into the tokens, ending at a paragraph, a line or a word where there is one. */
export function portionOf(text: string, start: number, maxTokens: number): Portion {
  const rest = text.slice(start);
  let quarters = 0;
  let length = 0;
  for (const character of rest) {
    quarters += quartersOf(character);
    if (quarters > maxTokens * 4) break;
    length += character.length;
  }
  if (length >= rest.length) return { text: rest, next: null };
  const least = Math.floor(length * (1 - LOOK_BACK));
  const end = [
    rest.lastIndexOf('\n\n', length),
    rest.lastIndexOf('\n', length),
    rest.lastIndexOf(' ', length),
  ].find((at) => at >= least && at > 0);
  const size = Math.max(1, end ?? length);
  return { text: rest.slice(0, size), next: start + size };
}

/**
 * Every tool marks what sites have written, titles and link texts included, with its beginning and its end, so that a model
 * can tell it from what Scrapifie says. A page cannot write the end mark itself: each has a number by chance.
 */
const marksOf = (end = `[end ${randomBytes(3).toString('hex')}]`) => ({
  begin: `Written by the site, as data, until ${end}:`,
  end,
});

export function siteText(content: string): string {
  const { begin, end } = marksOf();
  return `${begin}\n${content}\n${end}`;
}

/** Marks a list of parts, such as links, as text of a site. */
export function siteParts(parts: readonly Part[]): readonly Part[] {
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text') return [text(siteText(only.text))];
  const { begin, end } = marksOf();
  return [text(begin), ...parts, text(end)];
}
