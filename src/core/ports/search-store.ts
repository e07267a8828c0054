import type { AccountId, ContentHash, JobId } from '../model/ids.ts';
import type { SearchQuery } from '../model/search-query.ts';
import type { QueryScope } from './query-store.ts';

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
