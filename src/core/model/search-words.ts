import type { PageRecord } from './page.ts';
import { unpackRecord } from './page-record.ts';

/** A word of a text as the index has it, and where it stands in the text, in UTF-16 units. */
export interface SearchWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Longer words are cut: no database takes words of any length, and nothing is lost to a person who searches. */
const MOST_WORD_CHARS = 64;

/** 0: not part of a word; 1: as it is; 2: a capital. Of ASCII. */
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[a-z0-9]/.test(char) ? 1 : /[A-Z]/.test(char) ? 2 : 0;
});

const NOT_WORD = /[^\p{L}\p{N}\p{M}]/u;
const NOT_WORD_CHARS = /[^\p{L}\p{N}\p{M}]+/gu;
const WORD_CHAR = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that are written without spaces between words, and Hangul, whose words take endings. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff70]/u;
/** Accents of Latin, Greek and Cyrillic, vowel points of Hebrew and Arabic. Vowel signs of other scripts are letters. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
/** Letters that decomposition leaves as they are, and how they are commonly typed. */
const SPELLED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ς: 'σ',
};
const SPELLED_LETTER = new RegExp(`[${Object.keys(SPELLED).join('')}]`, 'g');

/** Case, accents, widths and ligatures do not tell words apart. */
export function foldWord(text: string): string {
  const plain = text.normalize('NFKD').toLowerCase().replace(ACCENTS, '').normalize('NFC');
  // Some signs come apart into more than letters.
  const letters = NOT_WORD.test(plain) ? plain.replace(NOT_WORD_CHARS, '') : plain;
  return letters.replace(SPELLED_LETTER, (letter) => SPELLED[letter] ?? letter);
}

/**
 * The words of a text, in its order: runs of letters, digits and marks. A run of a script without spaces is taken apart
 * into pairs of characters that overlap (東京都: 東京, 京都, 都), so that every part of it can be found.
 *
 * Both stores index exactly these words, so that they find the same.
 */
export function* wordsOf(text: string, from = 0): Generator<SearchWord> {
  const { length } = text;
  let at = from;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code < 128) {
      const kind = ASCII[code] as number;
      if (kind === 0) {
        at += 1;
        continue;
      }
      const start = at;
      let hasCapital = kind === 2;
      at += 1;
      let next = 0;
      while (at < length) {
        next = text.charCodeAt(at);
        if (next >= 128 || ASCII[next] === 0) break;
        if (ASCII[next] === 2) hasCapital = true;
        at += 1;
      }
      if (at >= length || next < 128 || !isWordChar(text, at)) {
        const word = text.slice(start, Math.min(at, start + MOST_WORD_CHARS));
        yield { word: hasCapital ? word.toLowerCase() : word, start, end: at };
        continue;
      }
      at = start;
    } else if (!isWordChar(text, at)) {
      at += code >= 0xd800 && code < 0xdc00 ? 2 : 1;
      continue;
    }
    const end = endOfRun(text, at);
    yield* wordsOfRun(text, at, end);
    at = end;
  }
}

const charAt = (text: string, at: number) => String.fromCodePoint(text.codePointAt(at) ?? 0);
const isWordChar = (text: string, at: number) => WORD_CHAR.test(charAt(text, at));

function endOfRun(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const char = charAt(text, at);
    if (!WORD_CHAR.test(char)) break;
    at += char.length;
  }
  return at;
}

/** A run is cut where scripts with and without spaces meet. */
function* wordsOfRun(text: string, start: number, end: number): Generator<SearchWord> {
  let at = start;
  while (at < end) {
    const isUnspaced = UNSPACED.test(charAt(text, at));
    let next = at;
    while (next < end) {
      const char = charAt(text, next);
      const isMark = next > at && /\p{M}/u.test(char);
      if (!isMark && UNSPACED.test(char) !== isUnspaced) break;
      next += char.length;
    }
    if (isUnspaced) yield* pairsOf(text, at, next);
    else {
      const word = foldWord(text.slice(at, Math.min(next, at + MOST_WORD_CHARS)));
      if (word !== '') yield { word, start: at, end: next };
    }
    at = next;
  }
}

function* pairsOf(text: string, start: number, end: number): Generator<SearchWord> {
  const places: number[] = [];
  for (let at = start; at < end; at += charAt(text, at).length) places.push(at);
  for (const [index, place] of places.entries()) {
    const pairEnd = places[index + 2] ?? end;
    const word = foldWord(text.slice(place, pairEnd));
    if (word !== '') yield { word, start: place, end: pairEnd };
  }
}

/** Whether the words of a text are pairs of characters: then the last one is part of the one before. */
export const isUnspacedText = (text: string): boolean => UNSPACED.test(text);

/** Words of a page that are indexed. PostgreSQL tells no more positions apart, and both stores are to find the same. */
const MOST_BODY_WORDS = 16_000;
const MOST_TITLE_WORDS = 200;
/** Texts of pages that show nothing of the page. */
const LEAST_WORDS = 1;

/** What the index gets of a page: its words, in their order. */
export interface SearchDocument {
  readonly title: readonly string[];
  readonly body: readonly string[];
}

/**
 * The text that pages are searched by: the main content where the job has kept it, else all visible text, which is read
 * from the body. Records of earlier versions have it as `searchText`.
 */
export const searchTextOf = (
  { content, text, searchText, markdown }: PageRecord,
  bodyText: () => string = () => '',
): string => content?.text ?? text ?? searchText ?? (bodyText() || (markdown ?? ''));

/** Returns null for a page that is not searched for: a block, a login wall, an error page, or a page without text. */
export function searchDocumentOf(
  title: string | null,
  packed: Uint8Array,
  bodyText?: () => string,
): SearchDocument | null {
  let record: PageRecord;
  try {
    record = JSON.parse(unpackRecord(packed).toString('utf8')) as PageRecord;
  } catch {
    return null;
  }
  if (record.outcome !== undefined && record.outcome !== 'ok') return null;
  const body = firstWords(searchTextOf(record, bodyText), MOST_BODY_WORDS);
  const titleWords = firstWords(title ?? '', MOST_TITLE_WORDS);
  return body.length + titleWords.length < LEAST_WORDS ? null : { title: titleWords, body };
}

function firstWords(text: string, most: number): string[] {
  const words: string[] = [];
  for (const { word } of wordsOf(text)) {
    words.push(word);
    if (words.length >= most) break;
  }
  return words;
}
