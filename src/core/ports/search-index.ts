import type { AccountId, JobId } from '../model/ids.ts';
import type { SearchQuery } from '../model/search-query.ts';
import type { FoundPage, PageRef, SearchablePage } from './search-store.ts';

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
