import type { EngineName } from '../model/attempt.ts';
import type { AccountId, JobId, UrlKey } from '../model/ids.ts';
import type { PageOptions } from '../model/job.ts';
import type { Page } from '../model/page.ts';

/** The part of a store in which later jobs find the pages of earlier ones. */
export interface StoredPageStore {
  /** The pages without an error that the job has for these URLs, in no order; none for a job that is gone. */
  pagesOf(jobId: JobId, urlKeys: readonly UrlKey[]): Promise<readonly StoredPage[]>;
  /** Pages without an error that scrapes and batches of the account have stored for a URL, newest first. */
  recentPages(query: RecentPageQuery): Promise<readonly StoredPage[]>;
}

export interface RecentPageQuery {
  readonly accountId: AccountId;
  readonly urlKey: UrlKey;
  /** Fetched at this time or later. */
  readonly since: number;
  readonly limit: number;
}

/** A page as later jobs may use it: what was sent and received, without what was read out of it. */
export interface StoredPage
  extends Pick<
    Page,
    | 'url'
    | 'finalUrl'
    | 'statusCode'
    | 'contentType'
    | 'contentHash'
    | 'bytes'
    | 'etag'
    | 'lastModified'
    | 'fetchedAt'
  > {
  readonly urlKey: UrlKey;
  /** The engine of the last attempt. */
  readonly engine: EngineName;
  /** The options of its job, secrets hidden. */
  readonly options: PageOptions;
}
