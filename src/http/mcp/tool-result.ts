import { randomBytes } from 'node:crypto';
import { defined } from '../../lib/defined.ts';
import { ApiFailure } from './api-call.ts';
import { json, type LinkPart, type Part, text } from './tool.ts';

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

/** Room for the heading of a result, which is not cut. */
export const HEAD_TOKENS = 150;
/** Items that are asked of the API at once. */
export const LISTED_AT_ONCE = 100;

/** Where a result goes on: after which page of the API's list, and how many items of the next page were shown. */
interface ListPlace {
  readonly list: string | undefined;
  readonly skip: number;
}

/** The place that a cursor names; the beginning when there is none. */
export function listPlaceOf(cursor: string | undefined): ListPlace {
  const { list, skip } = cursor === undefined ? {} : readCursor(cursor);
  return {
    list: typeof list === 'string' ? list : undefined,
    skip: typeof skip === 'number' && Number.isInteger(skip) && skip > 0 ? skip : 0,
  };
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

interface Showing<T> {
  readonly most: number;
  /** One line, or a link. */
  readonly show: (item: T) => string | LinkPart;
  /** What is said when the list has no items. */
  readonly empty: string;
  /** The items have texts or URLs that sites have written. */
  readonly isFromSites: boolean;
}

/** As many items as the tokens allow, at least one, and the cursor with which the same tool goes on. */
export function listParts<T>(
  { items, nextCursor }: Listed<T>,
  { list, skip }: ListPlace,
  { most, show, empty, isFromSites }: Showing<T>,
): readonly Part[] {
  let parts: Part[] = [];
  let lines: string[] = [];
  const endLines = () => {
    if (lines.length > 0) parts.push(text(lines.join('\n')));
    lines = [];
  };
  const ended = (place: Readonly<Record<string, string | number>> | null): readonly Part[] => {
    endLines();
    if (parts.length === 0) parts.push(text(empty));
    else if (isFromSites) parts = [...siteParts(parts)];
    if (place !== null) parts.push(text(`More: call again with cursor ${cursorOf(place)}`));
    return parts;
  };
  let tokens = HEAD_TOKENS;
  for (const [index, item] of items.entries()) {
    if (index < skip) continue;
    const shown = show(item);
    tokens += tokensIn(typeof shown === 'string' ? `${shown}\n` : json(shown));
    const isFirst = parts.length === 0 && lines.length === 0;
    if (tokens > most && !isFirst) return ended({ skip: index, ...defined({ list }) });
    if (typeof shown === 'string') lines.push(portionOf(shown, 0, most - HEAD_TOKENS).text);
    else {
      endLines();
      parts.push(shown);
    }
  }
  return ended(nextCursor === null ? null : { list: nextCursor });
}

/** Only these fields of an object, those without a value left out: what models need, in few tokens. */
export function onlyFields(value: object, names: readonly string[]): string {
  const entries = Object.entries(value).filter(
    ([name, each]) => names.includes(name) && each !== null && each !== undefined,
  );
  return json(Object.fromEntries(entries));
}

/** Where a long result goes on: values that only this program reads, as one word. */
export function cursorOf(values: Readonly<Record<string, string | number>>): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Throws VALIDATION_FAILED for a text that is no cursor. */
export function readCursor(cursor: string): Readonly<Record<string, unknown>> {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof values === 'object' && values !== null) return values as Record<string, unknown>;
  } catch {
    // Not written by this program.
  }
  throw new ApiFailure('VALIDATION_FAILED', 'The cursor is not one that a call has returned.', []);
}
