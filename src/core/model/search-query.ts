import { isUnspacedText, wordsOf } from './search-words.ts';

/** Words that must follow each other; one word is the common case. */
export interface SearchTerm {
  readonly words: readonly string[];
  /** The last word need only begin so. */
  readonly isPrefix: boolean;
  readonly isInTitle: boolean;
}

/** A page is found when of every alternative at least one term is on it, and none of the excluded ones. */
export interface SearchQuery {
  readonly all: readonly (readonly SearchTerm[])[];
  readonly none: readonly SearchTerm[];
}

export const SEARCH_LIMITS = { queryChars: 512, terms: 32, prefixChars: 2 } as const;

/** Why a search cannot be done, as a sentence. */
export class SearchProblem extends Error {}

const PIECE = /(-?)(title:)?(?:"([^"]*)(?:"|$)(\*?)|([^\s"]+))/gi;

/**
 * The words of a person as a query. `"a b"` is a phrase, `wor*` the beginning of a word, `-word` must not be on the page,
 * `a OR b` is either, `title:word` must be in the title. Everything else is words, all of which must be on the page: there
 * is no text that cannot be read. Throws SearchProblem where nothing is left to search for, and for too much.
 */
export function parseSearch(text: string): SearchQuery {
  if (text.length > SEARCH_LIMITS.queryChars) {
    throw new SearchProblem(`must have at most ${SEARCH_LIMITS.queryChars} characters`);
  }
  const all: SearchTerm[][] = [];
  const none: SearchTerm[] = [];
  let isAlternative = false;
  let count = 0;
  for (const [, minus, title, phrase, star, word] of text.matchAll(PIECE)) {
    if (word === 'OR' && minus === '' && title === undefined) {
      isAlternative = all.length > 0;
      continue;
    }
    const term = termOf(
      phrase ?? word ?? '',
      star === '*' || (word?.endsWith('*') ?? false),
      title !== undefined,
    );
    if (term === null) continue;
    count += 1;
    if (count > SEARCH_LIMITS.terms)
      throw new SearchProblem(`must have at most ${SEARCH_LIMITS.terms} words and phrases`);
    if (minus === '-') none.push(term);
    else if (isAlternative) all.at(-1)?.push(term);
    else all.push([term]);
    isAlternative = false;
  }
  if (all.length > 0) return { all, none };
  throw new SearchProblem(
    none.length > 0
      ? 'must have a word that is to be found, not only words that are not'
      : 'must have a word to search for',
  );
}

/** Null when the text has no word. */
function termOf(text: string, hasStar: boolean, isInTitle: boolean): SearchTerm | null {
  const found = [...wordsOf(text)];
  const last = found.at(-1);
  if (last === undefined) return null;
  const words = found.map(({ word }) => word);
  // The last character of a run of pairs stands alone only at its end, on pages as well as here.
  if (isUnspacedText(text.slice(last.start, last.end))) {
    const isSingle = words.length === 1 || (found.at(-2)?.end ?? 0) <= last.start;
    return { words: isSingle ? words : words.slice(0, -1), isPrefix: isSingle, isInTitle };
  }
  const isPrefix = hasStar && last.word.length >= SEARCH_LIMITS.prefixChars;
  return { words, isPrefix, isInTitle };
}

/** Terms that may be marked on a page that was found. */
export const markedTerms = ({ all }: SearchQuery): readonly SearchTerm[] => all.flat();
