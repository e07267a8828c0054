import type { EngineName } from './attempt.ts';
import type { DerivedOptions } from './derived.ts';
import type { ExtractOptions, PartOptions } from './extraction.ts';
import type { IdentityKind } from './identity.ts';
import type { AccountId, JobId, JobSeq, KeyId, RunId, ScheduleId, WebhookId } from './ids.ts';
import type { JobKind } from './job-kinds.ts';
import type { PlainPageOptions } from './plain-options.ts';
import type { ProxyTier } from './proxy.ts';
import type { RenderWish } from './render.ts';
import type { RetainedKind, RetentionAges } from './retention.ts';
import type { StopReason } from './task-reasons.ts';

export const JOB_STATUSES = [
  'queued',
  'running',
  'completed',
  'partially_completed',
  'failed',
  'cancelled',
] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export type Format =
  | 'html'
  | 'rawHtml'
  | 'text'
  | 'links'
  | 'metadata'
  | 'markdown'
  | 'content'
  | 'structured'
  | 'screenshot'
  | 'pdf'
  | 'xhr';

/** The time limit of an attempt whose request sets none. */
export const DEFAULT_ATTEMPT_MS = 30_000;

/** How each page is fetched and which formats are kept. Defaults are filled in where the request is parsed. */
export interface PageOptions extends PlainPageOptions {
  readonly engine: 'auto' | EngineName;
  readonly formats: readonly Format[];
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
  readonly method: 'GET' | 'POST';
  readonly body: string | null;
  /**
   * The body holds `{{username}}` and `{{password}}` for the stored credentials of the session, in a form that was found
   * on the page of this URL. Set by the program alone, never by a request.
   */
  readonly fillBodyFrom?: string;
  /** The time limit of one attempt. */
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  readonly maxBodyBytes: number;
  /** False only where the operator consents: on the command line, or by policy. */
  readonly obeyRobots: boolean;
  /** What a browser is to do on the page; null: nothing that plain HTTP could not. Pictures are among it. */
  readonly render: RenderWish | null;
  /** A page that is rendered is scrolled as its type needs it, unless the request says how. */
  readonly scrollsByType?: boolean | undefined;
  /** The name of a session of this account, whose cookies, storage, proxy and identity are used and kept. */
  readonly session: string | null;
  readonly proxy: ProxyOptions | null;
  /** The dearest tier of the operator's proxies that may be used. Missing: as policy says. */
  readonly maxProxyTier?: ProxyTier | undefined;
  /** When null, the most honest one that is possible. */
  readonly identity: IdentityKind | null;
  /** Extraction beyond formats; null: none. */
  readonly extract: ExtractOptions | null;
  /** Absent: the main content. */
  readonly parts?: PartOptions;
  /** Pictures and documents come as base64 in the answer, and not only as addresses. */
  readonly isInline: boolean;
  /** Pages that are read of a PDF. Missing: 500. */
  readonly maxPdfPages?: number;
  /** A page that the account has stored within this time answers the request. Missing: none does. */
  readonly maxAgeMs?: number;
  /** The page answers no later request, whatever age that allows. */
  readonly isReusable?: false;
}

/** Which way out is wanted. A URL is the caller's own proxy and stands alone. */
export interface ProxyOptions {
  readonly tier: ProxyTier | null;
  /** ISO 3166 in lower case. */
  readonly country: string | null;
  readonly url: string | null;
  /** Several proxies of the caller's, used in turn; `url` is the first of them. */
  readonly urls?: readonly string[] | undefined;
}

/** Which URLs belong to a job. */
export interface Scope {
  readonly maxDepth: number | null;
  /** Hosts, with or without a port; a leading `*.` admits subdomains only. Empty: the seeds' own hosts. */
  readonly allowedDomains: readonly string[];
  readonly allowSubdomains: boolean;
  readonly allowExternal: boolean;
  /**
   * `glob`: patterns are globs for the whole path, or RE2 behind `re:`. Missing in jobs of earlier versions, which knew a
   * regular expression by its signs.
   */
  readonly patternSyntax?: 'glob';
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Query parameters dropped from canonical URLs, besides the known tracking ones. `*` at the end is a wildcard. */
  readonly ignoreQueryParameters: readonly string[];
  readonly keepFragment: boolean;
  readonly sitemap: 'skip' | 'include' | 'only';
  readonly obeyNofollow: boolean;
  readonly obeyNoindex: boolean;
  readonly followCanonical: boolean;
  /** Leaves out URLs whose queries lead to pages without end. Missing in jobs of earlier versions: false. */
  readonly avoidQueryTraps?: boolean;
}

/** What becomes of pages whose URL matches; the first route that fits decides. */
export interface Route {
  /** Patterns as `include` and `exclude` of new jobs have them. */
  readonly match: readonly string[];
  /** False: the page is read for its links and not kept. */
  readonly keep: boolean;
  /** False: its links are not followed. */
  readonly follow: boolean;
  /** In place of those of the job; `render` is put over that of the job. It holds no secret: it is not sealed. */
  readonly page: Partial<Pick<PageOptions, 'engine' | 'formats' | 'extract' | 'render'>>;
}

/** Null means without limit. */
export interface Budgets {
  readonly maxPages: number | null;
  readonly maxBytes: number | null;
  readonly maxDurationMs: number | null;
  /** These are missing in jobs of earlier versions: without limit. */
  readonly maxBrowserMs?: number | null;
  readonly maxProxyBytes?: number | null;
  readonly maxMicrocredits?: number | null;
}

/** How fast a job may go, where its operator says so. */
export type Pace = Partial<Pick<JobOptions, 'hostRatePerSecond' | 'concurrency'>>;

export interface JobOptions extends DerivedOptions {
  readonly page: PageOptions;
  readonly scope: Scope;
  /** The crawl before, whose pages are asked for only if they changed. Missing: all pages are asked for. */
  readonly refreshes?: JobId;
  /** Options for parts of the site, by pattern of the URL; missing means that all pages have the options of the job. */
  readonly routes?: readonly Route[];
  readonly budgets: Budgets;
  /** Most fetches of this job under way at once, over all its hosts. Null: no limit of its own. */
  readonly concurrency: number | null;
  /** Started by the operator of the installation, which counts as consent on every host. */
  readonly isOperated: boolean;
  /** Overrides of the per-host rate from the command line. Null: policy decides. */
  readonly hostRatePerSecond: number | 'unlimited' | null;
  /**
   * Whether the key that made the job may use stored credentials, and whether it may also see what they give access to.
   * Missing in jobs of earlier versions: `use`.
   */
  readonly credentials?: CredentialAccess | undefined;
  /** How long what comes of the job is kept, at most. Missing: as the account and the installation say. */
  readonly retention?: RetentionAges | undefined;
  /** Start URLs as they were submitted are stored beside the job: see `NewJob.sources`. */
  readonly hasSources?: true | undefined;
  /** Pages in a row that ask to log in before a crawl stops; 0: it never does. Missing or null: as `loginWallLimit` says. */
  readonly maxLoginWalls?: number | null | undefined;
  /** The webhook that the events of this job are sent to; missing: those of the account. */
  readonly webhookId?: WebhookId | undefined;
  /**
   * For the job of a monitor: 0 or missing is a check by the schedule; a higher number looks again at the pages that
   * the check before was not sure of.
   */
  readonly monitorRound?: number | undefined;
  /** What an API of another shape needs to show the job as its clients expect; no other part reads it. */
  readonly shownAs?: Readonly<Record<string, unknown>> | undefined;
  /** The span that made the job, as a W3C `traceparent`: processes that work on the job continue its trace. Missing: it is not traced. */
  readonly traceParent?: string | undefined;
  /**
   * The origins that headers and cookies of `page` are sent to. Missing: those of the start URLs. Set by the program alone,
   * for jobs whose URLs the caller has not named.
   */
  readonly secretOrigins?: readonly string[] | undefined;
  /** Only as stored: the secrets of `page`, sealed by the vault, in base64. The fields themselves are hidden then. */
  readonly sealed?: string | undefined;
}

/** none: no session with credentials. use: pages are fetched with them and give nothing secret. read: everything. */
export type CredentialAccess = 'none' | 'use' | 'read';

export interface NewJob {
  readonly id: JobId;
  readonly accountId: AccountId;
  readonly kind: JobKind;
  readonly options: JobOptions;
  /** The seeds as the caller gave them, for showing. */
  readonly seeds: readonly string[];
  /** The key that made the job; null or missing: none did. */
  readonly keyId?: KeyId | null;
  /** What is reserved for each of its tasks while it is claimed: the most that one attempt may cost. Missing: nothing. */
  readonly reserveMicrocredits?: number;
  /** Task URL → the start URL exactly as it was submitted, where the two differ; missing when none do. */
  readonly sources?: Readonly<Record<string, string>>;
  /** The run of a schedule that the job is for; the id of the job is the one that the run has. */
  readonly run?: { readonly id: RunId; readonly scheduleId: ScheduleId };
}

/** Counters change in the same transaction as the tasks they count. */
export interface JobCounters {
  /** Every URL ever seen, robots.txt files and sitemaps included, also those that `skipped` leaves out. */
  readonly known: number;
  /** ready + waiting + claimed; the job is finished when it is zero. */
  readonly open: number;
  readonly claimed: number;
  /** Tasks of kind page among the done ones: what the page budget and reports count. */
  readonly pages: number;
  readonly done: number;
  readonly failed: number;
  /** Pages left out by a rule of the job. robots.txt files and sitemaps are no pages. */
  readonly skipped: number;
  readonly denied: number;
  readonly cancelled: number;
  readonly bytes: number;
  /** Time that browsers worked on attempts. */
  readonly browserMs: number;
  /** How many of `bytes` came through proxies. */
  readonly proxyBytes: number;
}

export interface Job extends Omit<NewJob, 'sources' | 'run'> {
  readonly seq: JobSeq;
  readonly createdAt: number;
  readonly status: JobStatus;
  /** Why it ended early, e.g. `budget.pages` or `login-walls`. */
  readonly stopReason: StopReason | null;
  /** What its attempts have cost. */
  readonly microcredits: number;
  readonly counters: JobCounters;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Kinds of its data of which some, or all, was deleted because its time was over; missing: none. */
  readonly expired?: readonly ExpiredKind[];
  /** Missing when no schedule made it. */
  readonly scheduleId?: ScheduleId;
}

export type ExpiredKind = Exclude<RetainedKind, 'jobs'>;
