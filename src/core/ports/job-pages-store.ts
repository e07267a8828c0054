import type { ErrorCode } from '../errors/registry.ts';
import type { JobId, TaskId, UrlKey } from '../model/ids.ts';
import type { Page } from '../model/page.ts';
import type { FoundBy, TaskState } from '../model/task.ts';
import type { ListPage } from './store.ts';

/** The part of a store that gives the URLs of a job in an order that is the same in every job. */
export interface SiteStore {
  /**
   * What became of each page URL of a job, in the order of `urlKey`; those behind `after` where given, or only those of
   * `urlKeys`. Two jobs can so be merged with a few rows of each in memory. Sitemaps and robots.txt files are left out.
   * Empty for a job that is gone.
   */
  listSitePages(query: SitePageQuery): Promise<readonly SitePage[]>;
  /** As `listSitePages`, without records: for looking at all of them. */
  listSiteHashes(query: Omit<SitePageQuery, 'urlKeys'>): Promise<readonly SiteHash[]>;
}

export interface SitePageQuery {
  readonly jobId: JobId;
  readonly after?: UrlKey | undefined;
  readonly urlKeys?: readonly UrlKey[] | undefined;
  readonly limit: number;
}

export interface SitePage {
  readonly urlKey: UrlKey;
  readonly url: string;
  readonly state: TaskState;
  readonly rule: string | null;
  readonly errorCode: ErrorCode | null;
  readonly foundBy: FoundBy;
  /** The URL that led here; null for start URLs. */
  readonly foundOn: string | null;
  /** Null when nothing was stored. A page with an error is what the host answered. */
  readonly page: Page | null;
}

export interface SiteHash {
  readonly urlKey: UrlKey;
  readonly url: string;
  readonly rule: string | null;
  /** Null when there is no page, or one with an error. */
  readonly textHash: string | null;
}

/** The part of a store that gives the pages of a job in an order of the reader's: first where they are, then those that are wanted next. */
export interface PageKeyStore {
  /** Where the pages of a job are, in the order they were stored. Cheap: records are not read. */
  listPageKeys(query: PageKeyQuery): Promise<ListPage<PageKey>>;
  /** The pages of these tasks, in no order. Those that are gone are missing. */
  pagesOfTasks(jobId: JobId, taskIds: readonly TaskId[]): Promise<readonly Page[]>;
}

export interface PageKeyQuery {
  readonly jobId: JobId;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface PageKey {
  readonly taskId: TaskId;
  readonly url: string;
  /** Size of the body, which tells the export how much of a page it has to hold at once. */
  readonly bytes: number;
}
