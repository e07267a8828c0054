import type { EngineName } from '../model/attempt.ts';
import type { AccountId, UrlKey } from '../model/ids.ts';
import type { PageOptions } from '../model/job.ts';
import type { Page } from '../model/page.ts';

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
  /** That of the last attempt. */
  readonly engine: EngineName;
  /** The options of its job, secrets hidden. */
  readonly options: PageOptions;
}
