import type { ErrorCode } from '../errors/registry.ts';
import type { JobSeq, TaskId, UrlKey } from '../model/ids.ts';
import type { FoundBy, TaskKind, TaskState } from '../model/task.ts';
import type { ListPage } from './store.ts';

/**
 * A part of the store: the ledger of one job as a table, as counts and as a tree of paths. It is read as typed queries
 * are: from committed data, by a connection that cannot write, within `limitMs` (QUERY_TIMEOUT).
 *
 * The attempt that a row tells of is the last one of its URL.
 */
export interface LedgerViewStore {
  /**
   * Rows in the wanted order; those without a value for it come last. With a filter, a page of the list may have fewer
   * rows than `limit`, and none, although `nextCursor` leads on: a call looks at `ROWS_PER_LOOK` URLs at most where the
   * order is that of discovery. Every other order looks at all URLs of the job.
   */
  listLedgerRows(query: LedgerRowQuery): Promise<ListPage<LedgerRow>>;
  /** How many URLs have what in common. Looks at all URLs of the job. */
  countLedger(query: LedgerCountQuery): Promise<LedgerCounts>;
  /**
   * The next parts of the URLs that begin with `under`, in the order of their bytes, with what became of the URLs below
   * each. A part ends with a slash where more follows; queries are left out. Looks at all URLs of the job.
   */
  listLedgerPaths(query: LedgerPathQuery): Promise<readonly LedgerPath[]>;
  /** What became of those URLs that the job knows. */
  findLedgerStates(job: JobSeq, urlKeys: readonly UrlKey[], limitMs: number): Promise<readonly LedgerState[]>;
}

export interface LedgerPathQuery {
  readonly job: JobSeq;
  /** The beginning of URLs, up to a slash; empty: the parts are origins. */
  readonly under: string;
  /** Only parts behind this one. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly limitMs: number;
}

export interface LedgerPath {
  readonly name: string;
  readonly urls: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly denied: number;
}

export interface LedgerState {
  readonly urlKey: UrlKey;
  readonly state: TaskState;
  readonly rule: string | null;
  readonly errorCode: ErrorCode | null;
  readonly statusCode: number | null;
}

/** URLs that a filtered list in the order of discovery looks at for one answer. */
export const ROWS_PER_LOOK = 50_000;

export const LEDGER_ORDERS = [
  'discoveredAt',
  'url',
  'title',
  'statusCode',
  'finishedAt',
  'bytes',
  'durationMs',
  'depth',
] as const;
export type LedgerOrder = (typeof LEDGER_ORDERS)[number];

export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** Conditions that all hold. */
export interface LedgerFilter {
  readonly kind?: TaskKind | undefined;
  readonly state?: TaskState | undefined;
  /** In the URL or the title, whichever case its ASCII letters have. */
  readonly text?: string | undefined;
  /** A rule, the part of a rule before its colon, or an error code. */
  readonly reason?: string | undefined;
  readonly engine?: string | undefined;
  /** The beginning of the header, such as `text/html` or `image/`. */
  readonly contentType?: string | undefined;
  /** `none`: no response came. */
  readonly statusClass?: StatusClass | undefined;
  readonly statusCode?: number | undefined;
  readonly host?: string | undefined;
  readonly depth?: number | undefined;
}

export interface LedgerRowQuery {
  readonly job: JobSeq;
  readonly filter: LedgerFilter;
  readonly order: LedgerOrder;
  readonly isDescending: boolean;
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly limitMs: number;
}

export interface LedgerRow {
  readonly taskId: TaskId;
  readonly url: string;
  readonly kind: TaskKind;
  readonly state: TaskState;
  readonly rule: string | null;
  readonly errorCode: ErrorCode | null;
  readonly depth: number;
  readonly foundBy: FoundBy;
  readonly foundOn: string | null;
  readonly discoveredAt: number;
  readonly finishedAt: number | null;
  readonly attempts: number;
  readonly engine: string | null;
  readonly durationMs: number | null;
  /** Price of all attempts together. */
  readonly microcredits: number;
  /** Status code of the page, or of the last attempt when no page was stored. */
  readonly statusCode: number | null;
  readonly page: {
    readonly finalUrl: string;
    readonly contentType: string | null;
    readonly title: string | null;
    readonly bytes: number;
    readonly fetchedAt: number;
    readonly duplicateOf: string | null;
    readonly contentHash: string | null;
  } | null;
}

export interface LedgerCountQuery {
  readonly job: JobSeq;
  readonly filter: LedgerFilter;
  /** Points of the time line begin at `from` and are so long; URLs that ended before are left out of it. */
  readonly from: number;
  readonly bucketMs: number;
  /** Hosts, content types and points of time beyond this many are left out, the smallest first. */
  readonly most: number;
  readonly limitMs: number;
}

export interface LedgerCounts {
  /** Each combination that occurs, with its number of URLs. */
  readonly groups: readonly LedgerGroup[];
  readonly hosts: readonly {
    readonly host: string;
    readonly urls: number;
    readonly done: number;
    readonly failed: number;
    readonly skipped: number;
    readonly denied: number;
  }[];
  /** Counts over the first `PAGES_PER_COUNT` stored pages; content types are in lower case, without parameters. */
  readonly contentTypes: readonly {
    readonly contentType: string | null;
    readonly pages: number;
    readonly bytes: number;
  }[];
  /** In the order of time; points at which no URL ended are missing. */
  readonly timeline: readonly {
    readonly at: number;
    readonly done: number;
    readonly failed: number;
    readonly bytes: number;
  }[];
}

/** Stored pages that the count of content types looks at: their rows are long. */
export const PAGES_PER_COUNT = 100_000;

export interface LedgerGroup {
  readonly kind: TaskKind;
  readonly state: TaskState;
  /** The rule up to its colon. */
  readonly cause: string | null;
  readonly errorCode: ErrorCode | null;
  readonly depth: number;
  readonly engine: string | null;
  readonly statusCode: number | null;
  readonly urls: number;
  /** Bytes of the last attempt of each URL, summed. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly microcredits: number;
  /** An example from the group: a URL and its whole rule. */
  readonly example: { readonly url: string; readonly rule: string | null };
}
