import type { AccountId, ContentHash, JobId } from '../model/ids.ts';
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
