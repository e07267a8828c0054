import type { AccountId, ContentHash, JobId } from '../model/ids.ts';
import { isUnspacedText, wordsOf } from '../model/search-words.ts';
import type { QueryScope } from './query-store.ts';

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

/**
 * A part of the store: pages for the full-text index (`SearchIndex`), and what became of them. The index is derived from
 * the store: whatever it finds is shown only as far as the store still has it.
 */
export interface SearchStore {
  /**
   * Returns those pages of a job that can be searched for: they were fetched well, and neither their body nor their
   * record has expired. Pages that were stored again or deleted since are missing.
   */
  listSearchPages(jobId: JobId, pageSeqs: readonly number[]): Promise<readonly SearchablePage[]>;
  /** All such pages of jobs with `search`, job by job; `limit` of them at most. */
  scanSearchPages(query: {
    readonly after: SearchPlace | null;
    readonly limit: number;
  }): Promise<{ readonly pages: readonly SearchablePage[]; readonly next: SearchPlace | null }>;
  /** Returns those of the pages that the scope sees, with their records, in no order. */
  readFoundPages(scope: QueryScope, pages: readonly PageRef[]): Promise<readonly FoundPage[]>;
  /** Returns those of the jobs that still exist, each with the first of its pages that can still be searched for. */
  searchJobs(ids: readonly JobId[]): Promise<readonly { readonly id: JobId; readonly firstPage: number }[]>;
}

export interface PageRef {
  readonly jobId: JobId;
  readonly pageSeq: number;
}

/** The stored body of a page, and how it is read: pages are searched by its text where the record has none. */
export interface StoredBody {
  readonly contentHash: ContentHash;
  readonly bytes: number;
  readonly contentType: string | null;
  readonly charset: string | null;
  readonly finalUrl: string;
}

export interface SearchablePage extends PageRef {
  readonly accountId: AccountId;
  /** Its job may show what stored credentials give access to. */
  readonly isPrivate: boolean;
  readonly url: string;
  readonly title: string | null;
  readonly fetchedAt: number;
  readonly record: Uint8Array;
  /** The stored body; null for a page that has none. */
  readonly body: StoredBody | null;
}

export interface FoundPage extends PageRef {
  readonly url: string;
  readonly title: string | null;
  readonly fetchedAt: number;
  readonly statusCode: number | null;
  readonly record: Uint8Array;
  readonly body: StoredBody | null;
}

/** Where a scan goes on: behind this page. */
export interface SearchPlace {
  readonly job: number;
  readonly page: number;
}

/**
 * The full-text index: for each account and URL the words of the newest content, and the page that has it; apart from it the
 * newest private content, so that neither hides the other. It holds no text. It is derived data: a search looks up in the store what the index names, and a lost index is built again from the store.
 *
 * It is kept apart from the store, so that indexing and searching hold up no crawl.
 */
export interface SearchIndex {
  /**
   * Indexes pages, in any order: of one URL the content that was fetched last stays, public and private each. Doing so again changes nothing. When
   * it resolves, the pages survive a power failure. Their records are given away.
   */
  put(pages: readonly IndexablePage[]): Promise<void>;
  /** The best pages first: a word in the title counts more than in the text. The pages that were indexed last come first among equals. */
  find(query: IndexQuery): Promise<readonly IndexHit[]>;
  /** Jobs that have entries, in the order of their ids. */
  listJobs(query: { readonly after: JobId | null; readonly limit: number }): Promise<readonly JobId[]>;
  /** Removes entries of the job for pages before this one; null: all of them. At most `limit`; returns how many. */
  remove(query: {
    readonly jobId: JobId;
    readonly before: number | null;
    readonly limit: number;
  }): Promise<number>;
  /** Begins to build the index anew: entries that are not put again until `endRebuild` go then. */
  beginRebuild(): Promise<void>;
  endRebuild(): Promise<void>;
  close(): Promise<void>;
}

export interface IndexablePage extends SearchablePage {
  /** The visible text of the body, for a page whose record has no text. Missing: there is none. */
  readonly bodyText?: (() => string) | undefined;
}

/** The texts that found pages are searched by. */
export interface PageTexts {
  /** In the order of the pages, whose records are given away; empty where the body cannot be read. */
  textsOf(pages: readonly FoundPage[]): Promise<readonly string[]>;
}

/** The index of an installation, which reads bodies by itself. */
export type Search = SearchIndex & PageTexts;

/** Pages that are ranked: of a search that finds more, the ones that were indexed last. */
export const MOST_RANKED = 2_000;

export interface IndexQuery {
  readonly accountId: AccountId;
  /** Whether private pages are searched as well. */
  readonly hasPrivate: boolean;
  readonly words: SearchQuery;
  readonly host?: string | undefined;
  readonly jobId?: JobId | undefined;
  readonly offset: number;
  readonly limit: number;
}

export interface IndexHit extends PageRef {
  /** Larger is better; only for comparing hits of one search. */
  readonly score: number;
}
