import { type SearchWord, wordsOf } from '../../../core/model/search-words.ts';
import { markedTerms, type SearchQuery, type SearchTerm } from '../../../core/ports/search-store.ts';

/** Text of a page, never markup: `marks` are what was found in it, as pairs of start and end in UTF-16 units. */
export interface MarkedText {
  readonly text: string;
  readonly marks: readonly (readonly [start: number, end: number])[];
}

const SNIPPET_CHARS = 240;
/** What was found should not stand at the very edge. */
const LEAD_CHARS = 60;
/** Words of a page that are looked at for its snippet. */
const MOST_WORDS = 20_000;
const MOST_MARKS = 50;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly term: number;
}

/** The piece of the text that has most of what was searched for; the beginning where nothing of it is. */
export function snippetOf(text: string, query: SearchQuery): MarkedText {
  const found = findTerms(text, markedTerms(query));
  const best = bestStart(found);
  const start = best === null ? 0 : wordStart(text, Math.max(0, best - LEAD_CHARS));
  const end = wordEnd(text, Math.min(text.length, start + SNIPPET_CHARS));
  const [before, after] = [start > 0 ? '… ' : '', end < text.length ? ' …' : ''];
  const shift = before.length - start;
  const marks = found
    .filter((each) => each.start >= start && each.end <= end)
    .map((each) => [each.start + shift, each.end + shift] as const);
  return { text: `${before}${text.slice(start, end)}${after}`, marks: united(marks) };
}

/** A whole text with what was found in it. */
export function markedText(text: string, query: SearchQuery): MarkedText {
  const found = findTerms(text, markedTerms(query));
  return { text, marks: united(found.map(({ start, end }) => [start, end] as const)) };
}

function findTerms(text: string, terms: readonly SearchTerm[]): Found[] {
  const words: SearchWord[] = [];
  for (const word of wordsOf(text)) {
    words.push(word);
    if (words.length >= MOST_WORDS) break;
  }
  const found: Found[] = [];
  for (const [index, first] of words.entries()) {
    for (const [term, { words: wanted, isPrefix }] of terms.entries()) {
      if (!isAt(words, index, wanted, isPrefix)) continue;
      const last = words[index + wanted.length - 1] ?? first;
      found.push({ start: first.start, end: last.end, term });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

function isAt(
  words: readonly SearchWord[],
  index: number,
  wanted: readonly string[],
  isPrefix: boolean,
): boolean {
  return wanted.every((word, offset) => {
    const there = words[index + offset]?.word;
    if (there === undefined) return false;
    return isPrefix && offset === wanted.length - 1 ? there.startsWith(word) : there === word;
  });
}

/** Where the window begins that has the most different terms, and of these the one with the most of them. */
function bestStart(found: readonly Found[]): number | null {
  let best: { readonly start: number; readonly score: number } | null = null;
  for (const [index, first] of found.entries()) {
    const terms = new Set<number>();
    let count = 0;
    for (let next = index; next < found.length && count < MOST_MARKS; next += 1) {
      const each = found[next];
      if (each === undefined || each.end > first.start + SNIPPET_CHARS - LEAD_CHARS) break;
      terms.add(each.term);
      count += 1;
    }
    const score = terms.size * 1_000 + count;
    if (best === null || score > best.score) best = { start: first.start, score };
  }
  return best?.start ?? null;
}

/** Marks that touch or overlap become one. */
function united(marks: readonly (readonly [number, number])[]): [number, number][] {
  const joined: [number, number][] = [];
  for (const [start, end] of marks) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else if (joined.length < MOST_MARKS) joined.push([start, end]);
  }
  return joined;
}

const MOST_SHIFT = 20;

/** Forward to the beginning of a word, where one is near, and never into the middle of a character. */
function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.indexOf(' ', at);
  return space !== -1 && space - at <= MOST_SHIFT ? space + 1 : wholeCharacter(text, at);
}

function wordEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const space = text.lastIndexOf(' ', at);
  return at - space <= MOST_SHIFT ? space : wholeCharacter(text, at);
}

function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
