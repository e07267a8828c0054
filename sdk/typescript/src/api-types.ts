// Made from the OpenAPI document by scripts/write-client-types.ts.

export interface AcceptedBatch extends AcceptedJob {
  /** With `ignoreInvalidUrls`: what was submitted and is no URL, each with the reason. */
  invalidUrls?: AcceptedBatchInvalidUrls[];
}

export interface AcceptedBatchInvalidUrls {
  url: string;
  message: string;
}

export interface AcceptedJob {
  id: string;
  kind: string;
  status: string;
  /** The page asked for, for a single scrape or a map. */
  url?: string;
  /** URLs the job starts with, duplicates left out. */
  urls: number;
  statusUrl: string;
  resultsUrl: string;
  links: JobLinks;
}

export interface Account {
  id: string;
  name: string;
  /** A plan of the settings, or `custom`. */
  plan: string;
  limits: AccountLimits;
  /** Since when its keys are refused; null: it is in use. */
  disabledAt: string | null;
  /** Since when it is being deleted, which cannot be undone; null: it is not. */
  deletingSince: string | null;
  createdAt: string;
  updatedAt: string;
  links: SelfLink;
}

export interface AccountCredits {
  /** What is left to spend; null: it is not limited. */
  credits: Credits | null;
}

export interface AccountLimits {
  /** Requests to the API per minute, over all keys; null: no limit of its own. */
  requestsPerMinute: number | null;
  /** Pages fetched at the same time, over all processes; null: no limit. */
  concurrentPages: number | null;
  /** URLs of its jobs that have not ended; null: no limit. */
  openUrls: number | null;
  /** Bytes of the bodies that its jobs have stored, before compression; null: no limit. */
  storedBytes: number | null;
}

export interface AccountLimitsRequest {
  /** Requests to the API per minute, over all keys; null: no limit of its own. */
  requestsPerMinute?: number | null;
  /** Pages fetched at the same time, over all processes; null: no limit. */
  concurrentPages?: number | null;
  /** URLs of its jobs that have not ended; null: no limit. */
  openUrls?: number | null;
  /** Bytes of the bodies that its jobs have stored, before compression; null: no limit. */
  storedBytes?: number | null;
}

export interface AccountUse {
  openUrls: number;
  /** Pages that are claimed by a worker. */
  concurrentPages: number;
  storedBytes: number;
}

export interface AccountWithUse extends Account {
  used: AccountUse;
}

export interface ActionResult {
  type: string;
  ms: number;
  /** Of `evaluate`: what the script returned. */
  value?: unknown;
  /** Of `screenshot`. */
  screenshot?: Artifact;
}

export interface ActiveHours {
  /** The local time at which they begin, `08:30`. */
  from: string;
  /** The local time at which they end, at most `24:00`; before `from`: the next day. */
  to: string;
  /**
   * Days on which they begin, 0 is Sunday; empty: every day.
   * @default []
   */
  days?: number[];
}

export interface AddOptOutRequest {
  /** @default "site owner’s request" */
  reason?: string;
  /**
   * Contact of the person who asked for the opt-out.
   * @default null
   */
  contact?: string | null;
}

export interface Artifact {
  /** Where it can be fetched, with the API key. */
  url: string;
  contentType: string;
  bytes: number;
  /** With `inline: true`; null when the bytes are gone. */
  base64?: string | null;
}

export interface Attempt {
  engine: string;
  proxyTier: string | null;
  /** The proxy by its id, as in `GET /v1/proxies`; `own/…` for one of the caller’s. */
  proxyId?: string;
  /** `browser` when the request carried the identity of a regular browser. */
  identity?: string;
  /** A solver service was allowed to help. */
  hasSolver?: boolean;
  /** Why this attempt was made this way. */
  reason: string;
  outcome: string;
  /** What decided the outcome. */
  evidence?: string;
  /** Of an attempt that led on: the redirects it followed. */
  redirects?: Redirect[];
  /** The page led on to another host, where the next attempt was made. */
  ledOn?: boolean;
  /** Whose block or challenge it is, where that is known. */
  vendor?: string;
  errorCode?: string;
  /** How much there was to read, where that decides about rendering. */
  yield?: AttemptYield;
  statusCode: number | null;
  /** Between the claim of the URL by a worker and the request: for robots.txt, the host’s gate and a free place. */
  waitedMs?: number;
  ms: number;
  bytes: number;
  /** What was used beside the request, as far as it has a price. */
  extras?: AttemptExtras;
  /** What it costs in millionths of a credit; left out: nothing. */
  microcredits?: number;
  at: string;
}

/** How much there was to read, where that decides about rendering. */
export interface AttemptYield {
  textLength: number;
  linkCount: number;
}

/** What was used beside the request, as far as it has a price. */
export interface AttemptExtras {
  tokens?: number;
  solverCalls?: number;
  screenshots?: number;
  pdfs?: number;
}

export interface AuditEntry {
  /** 1 for the first entry; no number is left out. */
  seq: number;
  at: string;
  /** The id of an API key, an address, an account, or `command line`. */
  actor: string;
  /** What was done, such as `key.create`. */
  action: string;
  target: string;
  details: Record<string, unknown>;
  /** `hash` of the entry before; zeros for the first. */
  previousHash: string;
  /** SHA-256 over this entry and `previousHash`; docs/security.md says how. */
  hash: string;
}

export interface BatchPageOptions extends CrawlPageOptions {
  /**
   * HTTP method.
   * @default "GET"
   */
  method?: 'GET' | 'POST';
  /**
   * Request body; needs `method: "POST"`.
   * @default null
   */
  body?: string | null;
  /**
   * A page that this account has stored within this time (milliseconds, or `2h`) answers without a request; 0: none does. Never for requests with headers, cookies, a session, a proxy, actions or a body.
   * @default 0
   */
  maxAge?: number | string;
  /**
   * Whether the page that is fetched may answer later requests with `maxAge`.
   * @default true
   */
  reuse?: boolean;
}

export interface PageActionClick {
  type: 'click';
  /** A CSS selector, or one of Playwright’s. */
  selector: string;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionHover {
  type: 'hover';
  /** A CSS selector, or one of Playwright’s. */
  selector: string;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

/** To the page that an earlier action left. */
export interface PageActionBack {
  type: 'back';
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionUpload {
  type: 'upload';
  /** An `<input type="file">`. */
  selector: string;
  files: PageActionUploadFiles[];
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionUploadFiles {
  name: string;
  /** `application/octet-stream` unless given. */
  contentType?: string;
  /** The bytes of the file. */
  base64: string;
}

export interface PageActionType {
  type: 'type';
  /** A CSS selector, or one of Playwright’s. */
  selector: string;
  text: string;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionPress {
  type: 'press';
  /** `Enter`, `a`, `Control+A` … */
  key: string;
  /** Where; else wherever the focus is. */
  selector?: string;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionSelect {
  type: 'select';
  /** A CSS selector, or one of Playwright’s. */
  selector: string;
  /** Value or label of the option. */
  value: string;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionWait {
  type: 'wait';
  /** A CSS selector, or one of Playwright’s. */
  selector?: string;
  ms?: number;
  /** How far the page must have loaded. */
  until?: 'load' | 'domcontentloaded' | 'networkidle';
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionScroll {
  type: 'scroll';
  /** Until this element is in sight. */
  selector?: string;
  /** Else one screen down. */
  pixels?: number;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionEvaluate {
  type: 'evaluate';
  /** JavaScript: an expression, or the body of a function with `return` and `await`. Its value is in the answer. */
  script: string;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface PageActionScreenshot {
  type: 'screenshot';
  /** The whole page instead of what a window shows. */
  fullPage?: boolean;
  /** Only the first element that matches. */
  selector?: string;
  /** png unless given. */
  format?: 'png' | 'jpeg';
  /** Of a jpeg. */
  quality?: number;
  /** Time for this step; 10 s unless given. */
  timeoutMs?: number;
}

export interface BatchRequest {
  /** The pages to fetch; a URL given twice is fetched once. */
  urls: string[];
  /**
   * Fetch the valid URLs when others are none; these are listed as `invalidUrls` in the answer. Otherwise one invalid URL refuses the request.
   * @default false
   */
  ignoreInvalidUrls?: boolean;
  /**
   * How each page is fetched.
   * @default {}
   */
  options?: BatchPageOptions;
  /**
   * Query parameters that do not make a URL another one; `*` at the end is a wildcard.
   * @default []
   */
  ignoreQueryParameters?: string[];
  /**
   * Bytes the job may download before it stops; null: no limit.
   * @default null
   */
  maxBytes?: number | null;
  /**
   * Time after which the job stops; null: no limit.
   * @default null
   */
  maxDurationMs?: number | null;
  /**
   * Time that browsers may work for the job, over all its pages, before it stops; null: no limit.
   * @default null
   */
  maxBrowserMs?: number | null;
  /**
   * Bytes the job may download through proxies before it stops; null: no limit.
   * @default null
   */
  maxProxyBytes?: number | null;
  /**
   * Credits the job may cost before it stops; pages under way then are finished. Null: no limit.
   * @default null
   */
  maxCredits?: number | null;
  /**
   * Most fetches of this job at once, over all hosts; null: no limit of its own.
   * @default null
   */
  concurrency?: number | null;
  /**
   * How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
   * @default null
   * @example {"bodies":"24h","jobs":"30d"}
   */
  retention?: JobRetention | null;
  /**
   * Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
   * @default false
   */
  snapshots?: boolean;
  /**
   * Make the pages of the job findable by `GET /v1/search`.
   * @default false
   */
  search?: boolean;
  /**
   * Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
   * @default false
   */
  lake?: boolean;
  /**
   * Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
   * @default []
   * @example [{"type":"full","format":"csv"}]
   */
  exports?: JobExport[];
  /** Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks. */
  webhook?: JobWebhook;
}

export interface ChangeAccountRequest {
  name?: string;
  plan?: string;
  limits?: AccountLimitsRequest;
}

export interface ChangeThreshold {
  /**
   * Least share that changes: of the characters, of the larger number, of the pixels.
   * @default 0
   */
  share?: number;
  /**
   * Least amount that changes: characters, the difference of two numbers, pixels.
   * @default 0
   */
  amount?: number;
}

export interface ChangedWebhook extends Webhook {
  /** Only when it has changed, with another origin or format. Shown this one time. */
  secret?: string;
}

export interface ChangedWebhookLinks {
  self: string;
  deliveries: string;
}

export interface CheckedOwnerRequest extends OwnerRequest {
  /** What was found in place of the proof. */
  seen: string[];
}

export interface CrawlPageOptions extends PageOptions {
  /**
   * Formats that are kept of each page and returned.
   * @default ["metadata","links"]
   * @example ["metadata","links","text"]
   */
  formats?: PageFormat[];
  /**
   * Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.
   * @default false
   */
  inline?: boolean;
  /**
   * What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
   * @default null
   */
  extract?: ExtractOptions | null;
  /**
   * `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
   * @default true
   */
  onlyMainContent?: boolean;
  /**
   * CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
   * @default []
   * @example ["main",".reviews"]
   */
  includeTags?: string[];
  /**
   * CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
   * @default []
   * @example [".advertisement","footer"]
   */
  excludeTags?: string[];
  /**
   * Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
   * @default 500
   */
  maxPdfPages?: number;
  /**
   * How the picture is taken; asks for the format `screenshot` as well. Needs a browser.
   * @default null
   * @example {"fullPage":true}
   */
  screenshot?: PageScreenshot | null;
}

export interface CrawlRequest {
  /**
   * Where the crawl starts.
   * @default []
   */
  urls?: string[];
  /**
   * Sitemaps to start from.
   * @default []
   */
  sitemapUrls?: string[];
  /**
   * Pages to fetch at most; null: no limit.
   * @default 10000
   */
  maxPages?: number | null;
  /**
   * Links to follow from a seed at most; null: no limit.
   * @default null
   */
  maxDepth?: number | null;
  /**
   * Domains or hosts that belong to the crawl, `*.` for subdomains only. Empty: the seeds’ hosts.
   * @default []
   */
  allowedDomains?: string[];
  /**
   * Follow links to subdomains of the allowed hosts.
   * @default false
   */
  allowSubdomains?: boolean;
  /**
   * Follow links to any host.
   * @default false
   */
  allowExternal?: boolean;
  /**
   * Only URLs that match one are fetched; empty: all. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
   * @default []
   */
  include?: string[];
  /**
   * URLs that match one are not fetched. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
   * @default []
   */
  exclude?: string[];
  /**
   * Query parameters that do not make a URL another one; `*` at the end is a wildcard.
   * @default []
   */
  ignoreQueryParameters?: string[];
  /**
   * Treat URLs that differ after `#` as different pages.
   * @default false
   */
  keepFragment?: boolean;
  /**
   * Whether sitemaps (declared in robots.txt or at /sitemap.xml) are read: not at all, too, or nothing else.
   * @default "include"
   */
  sitemap?: 'skip' | 'include' | 'only';
  /**
   * Do not follow links marked nofollow.
   * @default true
   */
  obeyNofollow?: boolean;
  /**
   * Do not keep pages marked noindex.
   * @default true
   */
  obeyNoindex?: boolean;
  /**
   * Treat rel=canonical as the same page.
   * @default true
   */
  followCanonical?: boolean;
  /**
   * Leave out links whose queries lead to pages without end: calendars, combinations of filters, ids of sessions.
   * @default true
   */
  avoidQueryTraps?: boolean;
  /**
   * Ask for pages that the last finished crawl of the same start URLs has stored only if they changed; unchanged ones keep the stored body and are marked `notModified`.
   * @default false
   */
  ifModified?: boolean;
  /**
   * What becomes of pages whose URL matches; the first route that fits decides.
   * @default []
   * @example [{"match":"/category/*","keep":false},{"match":"/product/*","follow":false,"options":{"extract":{"type":"product"}}}]
   */
  routes?: CrawlRoute[];
  /**
   * Bytes the job may download before it stops; null: no limit.
   * @default null
   */
  maxBytes?: number | null;
  /**
   * Time after which the job stops; null: no limit.
   * @default null
   */
  maxDurationMs?: number | null;
  /**
   * Time that browsers may work for the job, over all its pages, before it stops; null: no limit.
   * @default null
   */
  maxBrowserMs?: number | null;
  /**
   * Bytes the job may download through proxies before it stops; null: no limit.
   * @default null
   */
  maxProxyBytes?: number | null;
  /**
   * Credits the job may cost before it stops; pages under way then are finished. Null: no limit.
   * @default null
   */
  maxCredits?: number | null;
  /**
   * Most fetches of this job at once, over all hosts; null: no limit of its own.
   * @default null
   */
  concurrency?: number | null;
  /**
   * How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
   * @default null
   * @example {"bodies":"24h","jobs":"30d"}
   */
  retention?: JobRetention | null;
  /**
   * Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
   * @default false
   */
  snapshots?: boolean;
  /**
   * Make the pages of the job findable by `GET /v1/search`.
   * @default false
   */
  search?: boolean;
  /**
   * Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
   * @default false
   */
  lake?: boolean;
  /**
   * Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
   * @default []
   * @example [{"type":"full","format":"csv"}]
   */
  exports?: JobExport[];
  /**
   * Pages in a row, of one host, that ask to log in before the crawl stops with `login-walls`; 0: it never does. null: 5 with a session, 25 without.
   * @default null
   */
  maxLoginWalls?: number | null;
  /**
   * How each page is fetched.
   * @default {}
   */
  options?: CrawlPageOptions;
  /** Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks. */
  webhook?: JobWebhook;
}

export interface CrawlRoute {
  /** Patterns as in `include`. */
  match: string | string[];
  /**
   * `false`: the page is fetched for its links and not kept.
   * @default true
   */
  keep?: boolean;
  /**
   * `false`: the links of the page are not followed.
   * @default true
   */
  follow?: boolean;
  /**
   * In place of the options of the crawl.
   * @default {}
   */
  options?: CrawlRouteOptions;
}

/** In place of the options of the crawl. */
export interface CrawlRouteOptions {
  /** How these pages are fetched. */
  engine?: 'auto' | 'http' | 'browser';
  /** Formats that are kept. */
  formats?: PageFormat[];
  /** What to read out of these pages. */
  extract?: ExtractOptions | null;
  /** What to wait for before the page is read. */
  wait?: PageWait | null;
  /** Go down the page until it grows no more. */
  scroll?: boolean | PageScroll | null;
}

export interface CreateAccountRequest {
  /** Left out: one is made. */
  id?: string;
  name: string;
  plan?: string;
  limits?: AccountLimitsRequest;
}

export interface CreateKeyRequest {
  /** Another account, for the operator; left out: the account of the key. */
  account?: string;
  /** What the key is for. */
  name: string;
  /**
   * scrape: scrape, map and extract one page. jobs:read: read jobs and what they brought. jobs:write: create and change jobs and sessions. exports: export jobs, and read and delete exports. schedules: create, read and change schedules. webhooks: create, read and change webhooks. read: the same as jobs:read, and extract. write: all of the above. credentials: use sessions that log in with stored credentials. credentials:read: also see what pages show of them. admin: everything in the account but credentials:read; in the account "default" also what belongs to the whole installation.
   * @default ["read","write"]
   */
  scopes?: KeyScope[];
  /**
   * Requests per minute; null: as many as the server allows a key.
   * @default null
   */
  ratePerMinute?: number | null;
  /**
   * When it stops working.
   * @default null
   */
  expiresAt?: string | null;
}

export interface CreateOwnerRequestRequest {
  /** Host name of the site, with the port where it has its own. */
  host: string;
  /** stop: do not crawl it at all. slower: leave more time between requests. */
  want: 'stop' | 'slower';
  /**
   * With `slower`: the least time between two requests to the host.
   * @default 10
   */
  secondsBetweenRequests?: number;
  /**
   * How the operator can reach you.
   * @default null
   */
  contact?: string | null;
  /**
   * For the operator.
   * @default null
   */
  message?: string | null;
}

export interface Credential {
  name: string;
  kind: 'login' | 'basic' | 'bearer' | 'headers' | 'cookies';
  /** The only hosts it is sent to. */
  hosts: string[];
  createdAt: string;
  updatedAt: string;
  links: SelfLink;
}

export interface CreditEntry {
  id: string;
  /** `lapse`: what was left of an allowance when its month was over. */
  kind: 'grant' | 'allowance' | 'lapse';
  /** Credits; negative: taken away. */
  amount: number;
  reason: string;
  at: string;
}

export interface Credits {
  /** What new pages can be paid with: allowance and balance. */
  availableCredits: number;
  /** Left of this month’s allowance; it lapses with the month. */
  allowanceCredits: number;
  /** Granted credits; they do not expire. */
  balanceCredits: number;
  /** Held for the jobs that are going on. */
  heldCredits: number;
  /** The allowance of each calendar month, in UTC. */
  monthlyCredits: number;
  /** Below this, `account.low_credits` is sent. */
  lowCredits: number;
  /** When the next allowance comes. */
  renewsAt: string;
}

export interface Deleted {
  id: string;
  deleted: boolean;
}

export interface DeletedName {
  name: string;
  deleted: boolean;
}

export interface Delivery {
  id: string;
  webhookId: string;
  /** The header `webhook-id`: the same in every attempt and redelivery. */
  eventId: string;
  /** The type of the event. */
  event: string;
  jobId: string | null;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  /** Why it failed. */
  reason: string | null;
  redeliveryOf: string | null;
  createdAt: string;
  endedAt: string | null;
  links: SelfLink;
}

export interface DeliveryDetail extends Delivery {
  /** Not before this time; null when it has ended. */
  nextAttemptAt: string | null;
  /** What was sent last; null before the first attempt. */
  request: DeliveryDetailRequest | null;
  /** One entry per attempt. */
  log: DeliveryDetailLog[];
}

export interface DeliveryDetailRequest {
  url: string;
  /** Headers of the webhook are hidden. */
  headers: Record<string, string>;
  /** The first 16,000 characters. */
  body: string;
  bodyBytes: number;
}

export interface DeliveryDetailLog {
  at: string;
  ms: number;
  /** Of HTTP or SMTP; null when no answer came. */
  statusCode: number | null;
  error: string | null;
  /** The first 2,000 characters. */
  answer: string;
}

export interface DoctorFinding {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  /** What to do about it. */
  advice: string | null;
}

export interface Domain {
  /** Host name, with the port where it is not the default. */
  host: string;
  visited: boolean;
  /** URLs due now, over all jobs. */
  ready: number;
  nextAt: string | null;
  requests: number;
  failures: number;
  /** Below 1 after the host asked to slow down. */
  rateFactor: number;
  blockedUntil: string | null;
  lastRequestAt: string | null;
  breaker: 'closed' | 'open' | 'half-open';
  links: SelfLink;
}

export interface DomainDetail extends Domain {
  /** What the host has taught; null while that is nothing. */
  strategy: DomainStrategy | null;
  /** How the host is treated, and which entries of the policy file say so. */
  policy: unknown;
  /** The rule that denies the host; null when none does. */
  denied: string | null;
  robots: DomainDetailRobots[];
  optOut: DomainDetailOptOut | null;
}

export interface DomainDetailRobots {
  origin: string;
  status: string;
  fetchedAt: string;
  expiresAt: string;
  reason: string;
  /** The file as it is stored; empty where there is none. */
  body: string;
}

export interface DomainDetailOptOut {
  host: string;
  reason: string;
  contact: string | null;
  at: string;
  /** Least time between two requests; null: there are none at all. */
  minDelayMs: number | null;
}

export interface DomainRequests {
  host: string;
  /** When the first bucket of the hour begins. */
  from: string;
  /** When the last bucket ends, which is the present one. */
  until: string;
  /** The length of a bucket. */
  bucketMs: number;
  /** The buckets in which requests were sent, oldest first. */
  points: DomainRequestsPoints[];
  limit: DomainRequestsLimit;
}

export interface DomainRequestsPoints {
  /** When the bucket begins. */
  at: string;
  requests: number;
}

export interface DomainRequestsLimit {
  /** Requests per second by the policy in force now; null: unlimited. */
  perSecond: number | null;
  /** The most requests that the policy allows in a bucket, with its burst; null: unlimited. */
  perBucket: number | null;
}

export interface DomainStrategy {
  /** Ways to fetch that were tried, the one with most experience first. */
  ways: DomainStrategyWays[];
  pages: DomainStrategyPages;
  /** When a cheaper way was last tried again. */
  probedAt: string | null;
}

export interface DomainStrategyWays {
  engine: string;
  /** Null: without a proxy. */
  proxyTier: string | null;
  identity: 'bot' | 'browser';
  /** Share of attempts that the site admitted, from 0 to 1; older attempts count less. */
  successRate: number;
  /** How much experience that is, in attempts; half of it is gone after a day. */
  weight: number;
  lastAt: string;
}

export interface DomainStrategyPages {
  /** Kinds of pages, told apart by their URLs. */
  known: number;
  /** Those of them that are empty without scripts. */
  needScripts: number;
}

export interface Estimate {
  /** Pages that will be fetched. */
  pages: EstimatePages;
  /** Time at the pace of the hosts. */
  durationMs: EstimatePages;
  /** From one attempt by the cheapest engine to the dearest attempt that the policy allows. */
  credits: EstimatePages;
  /** The pace of the first 20 hosts. */
  hosts: EstimateHosts[];
  /** How the figures came about, as sentences. */
  reasons: string[];
}

/** Pages that will be fetched. */
export interface EstimatePages {
  low: number;
  /** Null: nothing bounds it. */
  high: number | null;
}

export interface EstimateHosts {
  host: string;
  /** Between two requests; 0: no pace is set. */
  pauseMs: number;
  concurrency: number;
  reason: string;
}

export interface EstimateJobRequest {
  job: ScheduledJob;
  /**
   * Pages of a crawl, where that is known.
   * @default null
   */
  pages?: number | null;
  /**
   * A map of the same site.
   * @default null
   */
  mapId?: string | null;
}

export interface Export {
  id: string;
  jobId: string;
  type: 'full' | 'seo' | 'diff' | 'raw' | 'links' | 'records' | 'results';
  format: 'csv' | 'xlsx' | 'json' | 'ndjson' | 'parquet' | 'warc' | 'wacz' | 'markdown' | 'chunks';
  /** `diff`: the job that it is compared with. */
  against: string | null;
  status: 'pending' | 'running' | 'ready' | 'failed';
  /** Rows, or pages, written so far. */
  rows: number;
  /** Bytes written so far. */
  sizeBytes: number;
  /** Of the file, in hex; null until it is ready. */
  sha256: string | null;
  /** The file, for an hour, without an API key: everyone with the link can read it. 409 until it is ready; null when it failed. */
  url: string | null;
  /** The place that gets a copy as well. */
  to: string | null;
  error: ExportError | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  links: ExportLinks;
}

export interface ExportError {
  code: string;
  message: string;
}

export interface ExportLinks {
  self: string;
  download: string;
  job: string;
}

export interface ExportRequest {
  /** `full`: a row per page with the columns of a catalogue. `seo`: a row per page with what search engines read. `diff`: a row per URL with what has changed since another job. `raw`: every stored page, body included. `links`: a row per link. `records`: a row per extracted record. `results`: pages as `/results` gives them. */
  type: 'full' | 'seo' | 'diff' | 'raw' | 'links' | 'records' | 'results';
  /** `csv` `xlsx` `json` `ndjson` `parquet`: tables. `warc` `wacz` `markdown` (a ZIP for language models) `chunks` (pieces of texts, one per line): of `raw` only. */
  format: 'csv' | 'xlsx' | 'json' | 'ndjson' | 'parquet' | 'warc' | 'wacz' | 'markdown' | 'chunks';
  /** `diff`: the earlier job to compare with. */
  against?: string;
  /** `diff`: what counts as a change. */
  rules?: ExportRequestRules;
  /** `csv`: begin with a byte order mark, so that Excel reads UTF-8. */
  excel?: boolean;
  /** `results` in a table: a column with the text of each page. */
  text?: boolean;
  /** A place of the operator that gets a copy as well: one that `SCRAPIFIE_EXPORT_PLACES` names, or a folder in it. */
  to?: ExportToFolder | ExportToS3;
}

/** `diff`: what counts as a change. */
export interface ExportRequestRules {
  /**
   * What of a page is compared. Unless given: the text, the title, and the price with its currency and availability.
   * @default {"text":true,"markdown":false,"selectors":[],"fields":["title","price","currency","availability"],"screenshot":false}
   * @example {"text":true,"fields":["title","price","availability"]}
   */
  watch?: WatchRules;
  /**
   * What never counts as a change.
   * @default {"patterns":[],"selectors":[],"fields":[]}
   * @example {"patterns":["\\d+ visitors"],"selectors":[".ad","footer"]}
   */
  ignore?: IgnoreRules;
  /**
   * Smaller changes do not count. Each thing that is watched is measured for itself and must reach both. A field that is no number counts however little of it changes.
   * @default {"share":0,"amount":0}
   * @example {"share":0.05}
   */
  threshold?: ChangeThreshold;
}

export interface ExportToFolder {
  folder: string;
}

export interface ExportToS3 {
  s3: string;
}

export interface ExtractOptions {
  /**
   * A type of thing to read the page as; `auto` decides by evidence. A type of a plug-in has its name in front: `wine:bottle`.
   * @default null
   */
  type?: 'auto' | 'product' | 'job_posting' | 'recipe' | 'event' | 'forum_thread' | 'linkedin_profile' | 'article' | 'company_website' | 'organization' | 'breadcrumbs' | string | null;
  /**
   * Fields by CSS, XPath, regular expression or JSONPath; see docs/rules.md.
   * @default null
   * @example {"title":"h1","price":{"css":".price","type":"price"}}
   */
  rules?: Record<string, unknown> | null;
  /**
   * JSON Schema that the result of the rules is checked against.
   * @default null
   */
  schema?: Record<string, unknown> | null;
  /**
   * Ask the language model of the settings for required fields that the rules left empty.
   * @default false
   */
  llm?: boolean | ExtractOptionsLlm;
}

export interface ExtractOptionsLlm {
  /** Fields that are judgements: their values need not stand on the page. */
  derived: 'all' | string[];
}

export interface ExtractRequest {
  /** The page, or any other text that `contentType` names. */
  html: string;
  /**
   * Where it is from: what its links are relative to. Nothing is fetched.
   * @example "https://example.com/"
   */
  url: string;
  /**
   * What `html` is, e.g. `application/json`.
   * @default "text/html"
   */
  contentType?: string;
  /**
   * Formats to extract; screenshots, PDFs and XHR require a fetch.
   * @default ["metadata","links","text"]
   */
  formats?: ('html' | 'rawHtml' | 'text' | 'links' | 'metadata' | 'markdown' | 'content' | 'structured')[];
  /**
   * What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
   * @default null
   */
  extract?: ExtractOptions | null;
  /**
   * `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
   * @default true
   */
  onlyMainContent?: boolean;
  /**
   * CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
   * @default []
   * @example ["main",".reviews"]
   */
  includeTags?: string[];
  /**
   * CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
   * @default []
   * @example [".advertisement","footer"]
   */
  excludeTags?: string[];
  /**
   * Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
   * @default 500
   */
  maxPdfPages?: number;
}

/** Every answer that is not a success. */
export interface Failure {
  success: boolean;
  error: FailureError;
}

export interface FailureError {
  /** Stable name of the error; see docs/errors.md. */
  code: string;
  /** What happened, for a person. */
  message: string;
  /** Whether the same request may work later. */
  retryable: boolean;
  /** For bad fields: one `{ field, message }` each. */
  details?: unknown;
}

export interface GrantCreditsRequest {
  /** Credits; negative: taken away. */
  amount: number;
  reason: string;
}

export interface IgnoreRules {
  /**
   * Regular expressions (RE2) whose matches are removed from each line and from each text of a field.
   * @default []
   */
  patterns?: string[];
  /**
   * Elements, by CSS or XPath, that are removed from the page.
   * @default []
   */
  selectors?: string[];
  /**
   * Fields that are not compared.
   * @default []
   */
  fields?: string[];
}

export interface Job {
  /** UUID; later jobs have greater ids. */
  id: string;
  kind: 'scrape' | 'batch' | 'crawl' | 'map';
  status: 'queued' | 'running' | 'completed' | 'partially_completed' | 'failed' | 'cancelled';
  /** Why it ended early, e.g. `budget.pages`, `wait:CIRCUIT_OPEN`; `login-walls`: its pages ask to log in, and `errors` has them as `LOGIN_REQUIRED`. */
  stopReason: string | null;
  /** The same as a sentence. */
  stopMessage: string | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  /** The API key that made it. */
  keyId: string | null;
  /** What it has cost so far, sitemaps included; robots.txt files are free. */
  credits: number;
  progress: JobProgress;
  /** What open URLs wait for, at most 20 entries: a host that asked to wait, an open circuit breaker, allowed hours, a proxy, a retry. Empty while they are under way or due. Only where one job is asked for. */
  waitingFor?: JobWaitingFor[];
  /** Kinds of its data of which some, or all, was deleted because its time was over. */
  expired?: ('bodies' | 'artifacts' | 'records' | 'ledger')[];
  /** The first of the URLs it started from. */
  seeds: string[];
  /** All options with their defaults; secrets are hidden. */
  options: unknown;
  /** The schedule that made it; missing when none did. */
  scheduleId?: string;
  links: JobLinks;
}

export interface JobProgress {
  /** Every URL seen so far, as `urls` lists them: `open`, `done`, `failed`, `skipped`, `denied` and `cancelled` together, and the robots.txt files and sitemaps that ended as skipped, which `skipped` does not count. */
  known: number;
  /** URLs still to be done; the job is finished at zero. */
  open: number;
  /** Pages fetched. */
  pages: number;
  done: number;
  failed: number;
  /** Pages left out by a rule of the job; robots.txt files and sitemaps do not count. */
  skipped: number;
  /** Left out by robots.txt, policy or opt-out. */
  denied: number;
  cancelled: number;
  /** Bytes of bodies, sitemaps included; robots.txt files do not count. */
  bytes: number;
  /** Time that browsers worked on its pages. */
  browserMs: number;
  /** Bytes that came through proxies. */
  proxyBytes: number;
}

export interface JobWaitingFor {
  host: string;
  code: 'VALIDATION_FAILED' | 'SECRETS_BOUND' | 'BAD_REQUEST' | 'MALFORMED_JSON' | 'INVALID_URL' | 'UNSUPPORTED_OPTION' | 'QUERY_TOO_LARGE' | 'QUERY_TIMEOUT' | 'QUERY_REFUSED' | 'QUERY_FAILED' | 'INVALID_USAGE' | 'UNAUTHENTICATED' | 'FORBIDDEN' | 'CROSS_SITE' | 'ACCOUNT_DISABLED' | 'STORAGE_LIMIT' | 'CONSENT_REQUIRED' | 'CREDITS_EXHAUSTED' | 'NOT_FOUND' | 'SESSION_EXPIRED' | 'EXPIRED' | 'METHOD_NOT_ALLOWED' | 'CONFLICT' | 'IDEMPOTENCY_MISMATCH' | 'RANGE_NOT_SATISFIABLE' | 'BAD_ARCHIVE' | 'BODY_TOO_LARGE' | 'BODY_TOO_SLOW' | 'UNSUPPORTED_MEDIA_TYPE' | 'RATE_LIMITED' | 'QUEUE_FULL' | 'TOO_MANY_STREAMS' | 'TOO_MANY_QUERIES' | 'TOO_MANY_EXPORTS' | 'OVERLOADED' | 'SHUTTING_DOWN' | 'REQUEST_TIMEOUT' | 'INTERNAL' | 'INVALID_SETTINGS' | 'INVALID_POLICY' | 'QUERY_UNAVAILABLE' | 'DATA_DIR_UNUSABLE' | 'DATA_DIR_LOCKED' | 'AUDIT_LOG_BROKEN' | 'DATABASE_CORRUPT' | 'BACKUP_DAMAGED' | 'PLACE_NOT_EMPTY' | 'STORE_IN_USE' | 'SCHEMA_TOO_NEW' | 'DISK_FULL' | 'OUT_OF_FILES' | 'STORE_UNAVAILABLE' | 'STORE_REFUSED' | 'QUEUE_UNAVAILABLE' | 'QUEUE_REFUSED' | 'QUEUE_UNSAFE' | 'BLOBS_UNAVAILABLE' | 'BLOBS_REFUSED' | 'INVALID_PROXY_FILE' | 'NO_BROWSER' | 'BROWSER_UNCONFINED' | 'SEARCH_UNAVAILABLE' | 'OIDC_UNAVAILABLE' | 'CREDENTIALS_UNAVAILABLE' | 'API_UNREACHABLE' | 'PORT_IN_USE' | 'LISTEN_FAILED' | 'ADDRESS_REFUSED' | 'ROBOTS_DISALLOWED' | 'ROBOTS_UNREACHABLE' | 'DOMAIN_DENIED' | 'NO_WORKER' | 'BROWSER_UNAVAILABLE' | 'BROWSERS_BUSY' | 'NO_HEALTHY_PROXY' | 'OUTSIDE_HOURS' | 'CIRCUIT_OPEN' | 'NOT_IN_ARCHIVE' | 'BUDGET_SPENT' | 'CANCELLED' | 'DNS_FAILED' | 'CONNECT_FAILED' | 'TLS_FAILED' | 'CONNECTION_RESET' | 'HEADERS_TIMEOUT' | 'BODY_TIMEOUT' | 'TASK_TIMEOUT' | 'BODY_LIMIT_EXCEEDED' | 'HEADERS_LIMIT_EXCEEDED' | 'RESPONSE_FLOOD' | 'BAD_ENCODING' | 'PROTOCOL_ERROR' | 'TOO_MANY_REDIRECTS' | 'REDIRECT_LOOP' | 'BAD_REDIRECT' | 'HTTP_ERROR' | 'HOST_RATE_LIMITED' | 'BLOCKED' | 'CAPTCHA' | 'LOGIN_FAILED' | 'LOGIN_REQUIRED' | 'PROXY_FAILED' | 'BROWSER_CRASHED' | 'BROWSER_LOST' | 'ACTION_FAILED' | 'CAPTCHA_UNSOLVED' | 'EXPORT_FAILED' | 'EXTRACTION_FAILED' | 'PLUGIN_FAILED' | 'WORKER_DIED' | 'UNSTORABLE';
  message: string;
  /** When these URLs may go on, by what is known now. */
  until: string;
  /** How many URLs wait for it; of a large job, among its first and last thousand. */
  tasks: number;
}

export interface JobError {
  url: string;
  /** Exactly as it was submitted; `url` where it was found on another page. */
  sourceUrl: string;
  state: 'failed' | 'denied';
  code: string | null;
  message: string;
  retryable: boolean;
  rule: string | null;
  attempts: Attempt[];
  finishedAt: string | null;
}

/** A file that is written when the job has ended. */
export interface JobExport {
  /** What the file has. */
  type: 'full' | 'seo' | 'raw' | 'links' | 'records' | 'results';
  /** How it is written. */
  format: 'csv' | 'xlsx' | 'json' | 'ndjson' | 'parquet' | 'warc' | 'wacz' | 'markdown' | 'chunks';
}

export interface JobLinks {
  self: string;
  results: string;
  errors: string;
  urls: string;
}

export interface JobPageLinks {
  /** As the job knows it. */
  url: string;
  /** Null when the job does not know the URL. */
  state: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled' | null;
  foundBy: string | null;
  /** The page on which the job first found it. */
  foundOn: string | null;
  /** Without a stored page there are no outgoing links. */
  hasPage: boolean;
  outgoing: JobPageLinksOutgoing[];
  outgoingCount: number;
  incoming: JobPageLinksIncoming[];
  /** Where the incoming links of more pages are looked for; null when all pages were. */
  nextCursor: string | null;
}

export interface JobPageLinksOutgoing {
  url: string;
  text: string;
  rel: string;
  /** The element it stood in. */
  from: string;
  isInternal: boolean;
  /** What became of its target in this job; null when the job does not know it. */
  state: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled' | null;
  statusCode: number | null;
  errorCode: string | null;
  rule: string | null;
}

export interface JobPageLinksIncoming {
  url: string;
  title: string | null;
  text: string;
  rel: string;
}

export interface JobPath {
  /** The next part of the address; ends with a slash where more follows. */
  name: string;
  /** The whole beginning; of a folder, a value for `under`. */
  url: string;
  isFolder: boolean;
  /** Pages below it, or with this address and any query. */
  urls: number;
  done: number;
  failed: number;
  skipped: number;
  denied: number;
}

export interface JobRetention {
  /**
   * How long bodies are kept as they were fetched; null: as the account and the installation say.
   * @default null
   */
  bodies?: number | string | null;
  /**
   * How long pictures, PDFs and recorded answers are kept; null: as the account and the installation say.
   * @default null
   */
  artifacts?: number | string | null;
  /**
   * How long is kept what was read out of pages; null: as the account and the installation say.
   * @default null
   */
  records?: number | string | null;
  /**
   * How long the URLs and pages of an ended job are kept, but for its summary; null: as the account and the installation say.
   * @default null
   */
  ledger?: number | string | null;
  /**
   * How long an ended job is kept at all; null: as the account and the installation say.
   * @default null
   */
  jobs?: number | string | null;
  /**
   * How long exports are kept after they were written; null: as the account and the installation say.
   * @default null
   */
  exports?: number | string | null;
}

export interface JobRow {
  /** Of the URL in this job; part of the addresses of its artifacts. */
  page: string;
  url: string;
  kind: 'page' | 'sitemap' | 'site';
  state: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled';
  statusCode: number | null;
  title: string | null;
  contentType: string | null;
  bytes: number | null;
  /** Of the last attempt. */
  engine: string | null;
  /** Of the last attempt. */
  durationMs: number | null;
  attempts: number;
  /** Of all attempts. */
  credits: number;
  depth: number;
  foundBy: string;
  foundOn: string | null;
  /** Where redirects led; null without a stored page. */
  finalUrl: string | null;
  duplicateOf: string | null;
  contentHash: string | null;
  errorCode: string | null;
  rule: string | null;
  /** The rule or the error as a sentence. */
  message: string | null;
  discoveredAt: string;
  fetchedAt: string | null;
  finishedAt: string | null;
}

export interface JobSummary {
  jobId: string;
  /** When it was counted. Of a job that goes on it may be some seconds old. */
  at: string;
  /** URLs that the filter leaves; without one, all of the job. */
  urls: number;
  /** Of the whole job, whatever the filter. */
  bytes: number;
  /** Of the whole job, whatever the filter. */
  credits: number;
  states: JobSummaryStates[];
  /** Why URLs failed, were skipped, denied or cancelled; the most frequent cause first. */
  causes: JobSummaryCauses[];
  statusCodes: JobSummaryStatusCodes[];
  /** By the engine of the last attempt, with the figures of these attempts. */
  engines: JobSummaryEngines[];
  depths: JobSummaryDepths[];
  /** The 200 hosts with the most URLs. */
  hosts: JobSummaryHosts[];
  /** Of the first 100,000 stored pages. */
  contentTypes: JobSummaryContentTypes[];
  /** URLs that ended, in at most 200 points; those without any are left out. */
  timeline: JobSummaryTimeline;
}

export interface JobSummaryStates {
  state: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled';
  urls: number;
}

export interface JobSummaryCauses {
  state: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled';
  /** The error code, or the rule up to its colon; a value for the filter `reason`. */
  cause: string;
  errorCode: string | null;
  urls: number;
  /** Why, as a sentence about the example. */
  message: string | null;
  /** What to do about it; null when there is nothing to do. */
  advice: string | null;
  /** Of errors: whether trying again can help. */
  retry: 'never' | 'later' | 'otherWay' | null;
  /** One of the URLs. */
  example: string;
}

export interface JobSummaryStatusCodes {
  statusCode: number | null;
  urls: number;
}

export interface JobSummaryEngines {
  engine: string;
  urls: number;
  bytes: number;
  meanMs: number;
  credits: number;
}

export interface JobSummaryDepths {
  depth: number;
  urls: number;
}

export interface JobSummaryHosts {
  host: string;
  urls: number;
  done: number;
  failed: number;
  skipped: number;
  denied: number;
}

export interface JobSummaryContentTypes {
  contentType: string | null;
  pages: number;
  bytes: number;
}

/** URLs that ended, in at most 200 points; those without any are left out. */
export interface JobSummaryTimeline {
  bucketMs: number;
  points: JobSummaryTimelinePoints[];
}

export interface JobSummaryTimelinePoints {
  at: string;
  done: number;
  failed: number;
  bytes: number;
}

export interface JobWebhook {
  /** Where the events of this job are sent: an http or https URL. */
  url: string;
  /**
   * Types of events, or patterns such as `page.*`; the ends of the job unless given.
   * @default ["job.completed","job.partially_completed","job.failed","job.cancelled"]
   */
  events?: string[];
  /** Signs what is sent. Without one, messages are not signed. */
  secret?: string;
  /** Sent along, such as `Authorization`. */
  headers?: Record<string, string>;
}

export interface Key {
  id: string;
  name: string;
  /** First characters of the secret, for recognising it. */
  prefix: string;
  scopes: KeyScope[];
  /** Requests per minute; null: as many as the server allows a key. */
  ratePerMinute: number | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  links: SelfLink;
}

export interface LedgerEntry {
  url: string;
  kind: 'page' | 'sitemap' | 'site';
  state: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled';
  decision: 'pending' | 'fetched' | 'skipped' | 'denied' | 'failed' | 'cancelled';
  /** The rule that decided, e.g. `scope.exclude:/admin/`. */
  rule: string | null;
  /** The rule as a sentence. */
  message?: string | null;
  errorCode: string | null;
  depth: number;
  foundBy: string;
  foundOn: string | null;
  attempts: Attempt[];
  discoveredAt: string;
  finishedAt: string | null;
}

export interface LimitCreditsRequest {
  /** Credited at the beginning of each calendar month, in UTC. */
  monthlyCredits: number;
  /**
   * Below this, `account.low_credits` is sent.
   * @default 0
   */
  lowCredits?: number;
}

export interface ListedOwnerRequest {
  host: string;
  want: 'stop' | 'slower';
  secondsBetweenRequests: number | null;
  state: 'unproved' | 'in-force';
  createdAt: string;
  /** A request that is not proved by then is forgotten. */
  expiresAt: string;
  provedAt: string | null;
  provedBy: 'file' | 'dns' | null;
  contact: string | null;
  message: string | null;
}

export interface LogLine {
  /** Grows with each line of the process. */
  number: number;
  at: string;
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  message: string;
  fields: Record<string, unknown>;
}

export interface Login {
  /** `form`: the form was sent by plain HTTP. `browser`: a browser filled it in. `actions`: the steps of the request. `none`: the site did not ask, because the session is logged in or its credentials go along as headers. */
  method: 'form' | 'browser' | 'actions' | 'none';
  /** The page that the log-in led to. */
  finalUrl: string;
  statusCode: number | null;
  /** The scrapes that it took, in their order. */
  jobIds: string[];
  session: SessionDetail;
}

export interface LoginRequest {
  /**
   * The page with the log-in form.
   * @example "https://shop.example/login"
   */
  url: string;
  /**
   * Steps that log in, for pages whose form is not found or is not enough. `{{username}}` and `{{password}}` in `type` actions stand for the credentials of the session. Left out: the form of the page is filled in and sent. Needs a browser.
   * @default []
   * @example [{"type":"click","selector":"#more"},{"type":"wait","selector":".item:nth-child(20)"}]
   */
  actions?: PageAction[];
  /**
   * How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
   * @default "auto"
   */
  engine?: PageEngine;
  /**
   * What to wait for before the page is read. Needs a browser.
   * @default null
   * @example {"selector":"#results"}
   */
  wait?: PageWait | null;
  /**
   * Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
   * @default {}
   */
  headers?: Record<string, string>;
  /**
   * Time for each of the pages that the log-in takes.
   * @default 30000
   */
  timeoutMs?: number;
  /**
   * `false` is refused unless the operator’s policy consents to that for the host.
   * @default true
   */
  obeyRobots?: boolean;
  /**
   * The way out. Without it, as policy and need say.
   * @default null
   * @example {"tier":"residential","country":"de"}
   */
  proxy?: PageProxy | null;
  /**
   * `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
   * @default null
   */
  identity?: 'bot' | 'browser' | null;
}

export interface Map {
  id: string;
  urls: string[];
  /** The same URLs with their titles. */
  pages: MapPages[];
  links: JobLinks;
  /** More were found; `/v1/jobs/:id/urls` has them all. */
  isTruncated: boolean;
}

export interface MapPages {
  url: string;
  /** What the start page calls it; null where only a sitemap has the URL. */
  title: string | null;
}

export interface MapRequest {
  /**
   * The site, or the part of it to start from.
   * @example "https://example.com/"
   */
  url: string;
  /**
   * Whether sitemaps (declared in robots.txt or at /sitemap.xml) are read: not at all, too, or nothing else.
   * @default "include"
   */
  sitemap?: 'skip' | 'include' | 'only';
  /**
   * Only URLs that match one are listed; empty: all. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
   * @default []
   */
  include?: string[];
  /**
   * URLs that match one are not listed. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
   * @default []
   */
  exclude?: string[];
  /**
   * List URLs on subdomains too.
   * @default false
   */
  allowSubdomains?: boolean;
  /**
   * Query parameters that do not make a URL another one; `*` at the end is a wildcard.
   * @default []
   */
  ignoreQueryParameters?: string[];
  /**
   * Words that the address or the title of a URL must have; those with them in the title come first.
   * @default null
   */
  search?: string | null;
  /**
   * URLs in the answer at most.
   * @default 5000
   */
  limit?: number;
  /**
   * Time to wait for the list; the job goes on afterwards.
   * @default 60000
   */
  timeoutMs?: number;
  /**
   * How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
   * @default null
   * @example {"bodies":"24h","jobs":"30d"}
   */
  retention?: JobRetention | null;
  /**
   * Answer 202 with the job at once instead of waiting for the result.
   * @default false
   */
  async?: boolean;
  /**
   * How the start page and the sitemaps are fetched.
   * @default {}
   */
  options?: PageOptions;
}

export interface Monitor {
  id: string;
  name: string;
  /** What is watched: `urls`, a `site` or a `sitemap`. */
  target: 'urls' | 'site' | 'sitemap';
  /** The pages, or the one address of the site or sitemap. */
  urls: string[];
  schedule: MonitorTiming;
  /** What of each page is compared. */
  watch: Record<string, unknown>;
  ignore: Record<string, unknown>;
  threshold: Record<string, unknown>;
  confirm: number;
  settleMs: number;
  failAfter: number;
  learnNoise: boolean;
  recheck: boolean;
  maxPages: number;
  /** How each page is fetched, with all defaults; secrets are hidden. */
  options: Record<string, unknown>;
  /** The webhooks of this monitor alone. */
  notify: string[];
  status: 'active' | 'paused';
  /** Checks so far; the first ones make the baseline. */
  checks: number;
  lastCheck: MonitorLastCheck | null;
  lastChangeAt: string | null;
  nextCheckAt: string | null;
  createdAt: string;
  updatedAt: string;
  links: MonitorLinks;
}

export interface MonitorLastCheck {
  at: string;
  jobId: string;
  pages: number;
  changes: number;
  failed: number;
  /** Of a site: the crawl is proven to have covered it, so that pages that are missing count as removed. */
  isCovered: boolean;
}

export interface MonitorLinks {
  self: string;
  changes: string;
  schedule: string;
  jobs: string;
}

export interface MonitorChange {
  id: string;
  monitorId: string;
  jobId: string;
  at: string;
  kind: 'ADDED' | 'REMOVED' | 'MODIFIED' | 'MOVED' | 'REVERTED';
  url: string;
  /** Of MOVED: where the page was before. */
  fromUrl: string | null;
  title: string | null;
  /** What changed, in a sentence. */
  text: string;
  /** Null for pages that are new, gone or elsewhere. */
  diff: MonitorChangeDiff | null;
  /** The stored page; it may be gone. */
  before: MonitorChangeBefore | null;
  /** The stored page; it may be gone. */
  after: MonitorChangeBefore | null;
  links: MonitorChangeLinks;
}

export interface MonitorChangeDiff {
  /** By name, with segments as in the diff of snapshots. */
  texts: MonitorChangeDiffTexts[];
  fields: MonitorChangeDiffFields[];
}

export interface MonitorChangeDiffTexts {
  name: string;
}

export interface MonitorChangeDiffFields {
  field: string;
}

export interface MonitorChangeBefore {
  jobId: string;
  taskId: number;
}

export interface MonitorChangeLinks {
  self: string;
  monitor: string;
  job: string;
}

export interface MonitorPreview {
  url: string;
  title: string | null;
  /** The texts that would be compared; long ones are cut, `chars` is their whole length. */
  texts: MonitorPreviewTexts[];
  /** The values that would be compared. */
  fields: Record<string, unknown>;
  /** Lines that would be compared, over all texts and fields. */
  lines: number;
  jobId: string;
  links: MonitorPreviewLinks;
}

export interface MonitorPreviewTexts {
  name: string;
  text: string;
  chars: number;
}

export interface MonitorPreviewLinks {
  job: string;
}

export interface MonitorPreviewRequest {
  /** The page to look at. */
  url: string;
  /**
   * What of a page is compared. Unless given: the text, the title, and the price with its currency and availability.
   * @default {"text":true,"markdown":false,"selectors":[],"fields":["title","price","currency","availability"],"screenshot":false}
   * @example {"text":true,"fields":["title","price","availability"]}
   */
  watch?: WatchRules;
  /**
   * What never counts as a change.
   * @default {"patterns":[],"selectors":[],"fields":[]}
   * @example {"patterns":["\\d+ visitors"],"selectors":[".ad","footer"]}
   */
  ignore?: IgnoreRules;
  /**
   * How the page is fetched.
   * @default {}
   */
  options?: CrawlPageOptions;
}

/** Who is told of this monitor, besides the webhooks of the account. */
export interface MonitorReceivers {
  /** Where the events are sent as JSON. */
  webhook?: MonitorWebhook;
  /** An address for e-mail; the server must have SCRAPIFIE_SMTP_URL. */
  email?: string;
  /** A short message for people goes here: an incoming webhook of Slack. */
  slack?: string;
  /** A short message for people goes here: a webhook of Discord. */
  discord?: string;
  /** A short message for people goes here: a webhook of Microsoft Teams. */
  teams?: string;
  /** A short message for people goes here: a topic of ntfy, such as https://ntfy.sh/topic. */
  ntfy?: string;
  /**
   * Types of events, or patterns; `page.changed` is one for each page.
   * @default ["monitor.*"]
   */
  events?: string[];
}

export interface MonitorRequest {
  /** For people. */
  name: string;
  /** The pages to watch. */
  urls?: string[];
  /** A site to watch: its pages are found by following links and reading its sitemaps. */
  site?: string;
  /** A sitemap whose pages are watched. */
  sitemap?: string;
  /**
   * When the pages are checked, as for /v1/schedules.
   * @example {"every":"1h"}
   */
  schedule: MonitorSchedule;
  /**
   * What of a page is compared. Unless given: the text, the title, and the price with its currency and availability.
   * @default {"text":true,"markdown":false,"selectors":[],"fields":["title","price","currency","availability"],"screenshot":false}
   * @example {"text":true,"fields":["title","price","availability"]}
   */
  watch?: WatchRules;
  /**
   * What never counts as a change.
   * @default {"patterns":[],"selectors":[],"fields":[]}
   * @example {"patterns":["\\d+ visitors"],"selectors":[".ad","footer"]}
   */
  ignore?: IgnoreRules;
  /**
   * Smaller changes do not count. Each thing that is watched is measured for itself and must reach both. A field that is no number counts however little of it changes.
   * @default {"share":0,"amount":0}
   * @example {"share":0.05}
   */
  threshold?: ChangeThreshold;
  /**
   * Checks in a row that must have seen a change before it is told.
   * @default 3
   */
  confirm?: number;
  /**
   * How long a page that is gone, empty or almost wholly another has to stay so before it is told.
   * @default "6h"
   */
  settle?: number | string;
  /**
   * Checks in a row that must have failed before `monitor.failed` is told.
   * @default 3
   */
  failAfter?: number;
  /**
   * Leave out what differs at almost every check (clocks, counters, advertisements) and variants of tests.
   * @default true
   */
  learnNoise?: boolean;
  /**
   * Look again after half a minute at pages that seem to have changed, and at new ones to learn their noise.
   * @default true
   */
  recheck?: boolean;
  /**
   * Pages of a site or sitemap to look at; one that has more is never covered, so none is told as removed.
   * @default 500
   */
  maxPages?: number;
  /**
   * Links to follow from a seed at most; null: no limit.
   * @default null
   */
  maxDepth?: number | null;
  /**
   * Only URLs that match one are fetched; empty: all. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
   * @default []
   */
  include?: string[];
  /**
   * URLs that match one are not fetched. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
   * @default []
   */
  exclude?: string[];
  /**
   * How each page is fetched.
   * @default {}
   */
  options?: CrawlPageOptions;
  notify?: MonitorReceivers;
}

export interface MonitorSchedule {
  /** Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron?: string;
  /** The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else. */
  every?: string | number;
  /**
   * IANA time zone of the cron line and of the active hours.
   * @default "UTC"
   */
  timeZone?: string;
  /**
   * Runs begin up to this much later, each tick always by the same part; never after the next tick.
   * @default 0
   */
  jitterMs?: number;
  /**
   * After a time without schedulers: one run for all that were missed, or none.
   * @default "one"
   */
  catchUp?: 'one' | 'none';
  /**
   * Times outside of these hours are left out; null: none are.
   * @default null
   */
  activeHours?: ActiveHours | null;
}

export interface MonitorScheduleUpdate {
  /** Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron?: string;
  /** The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else. */
  every?: string | number;
  /** IANA time zone of the cron line and of the active hours. */
  timeZone?: string;
  jitterMs?: number;
  catchUp?: 'one' | 'none';
  /** Times outside of these hours are left out; null: none are. */
  activeHours?: ActiveHours | null;
}

export interface MonitorTiming {
  id: string;
  cron: string | null;
  everyMs: number | null;
  timeZone: string;
  jitterMs: number;
  activeHours: MonitorTimingActiveHours | null;
}

export interface MonitorTimingActiveHours {
  from: string;
  to: string;
  days: number[];
}

export interface MonitorUpdate {
  /** For people. */
  name?: string;
  /** The pages to watch. */
  urls?: string[];
  /** A site to watch: its pages are found by following links and reading its sitemaps. */
  site?: string;
  /** A sitemap whose pages are watched. */
  sitemap?: string;
  schedule?: MonitorScheduleUpdate;
  watch?: WatchRules;
  ignore?: IgnoreRules;
  threshold?: ChangeThreshold;
  /** Checks in a row that must have seen a change before it is told. */
  confirm?: number;
  /** How long a page that is gone, empty or almost wholly another has to stay so before it is told. */
  settle?: number | string;
  /** Checks in a row that must have failed before `monitor.failed` is told. */
  failAfter?: number;
  /** Leave out what differs at almost every check (clocks, counters, advertisements) and variants of tests. */
  learnNoise?: boolean;
  /** Look again after half a minute at pages that seem to have changed, and at new ones to learn their noise. */
  recheck?: boolean;
  /** Pages of a site or sitemap to look at; one that has more is never covered, so none is told as removed. */
  maxPages?: number;
  maxDepth?: number | null;
  include?: string[];
  exclude?: string[];
  /** How each page is fetched, in place of all that was said before; needed where hidden values would go to a new origin. */
  options?: CrawlPageOptions;
  /** Replaces the receivers that the monitor had; null: it has none. */
  notify?: MonitorReceivers | null;
}

export interface MonitorWebhook {
  /** An http or https URL. */
  url: string;
  /** Signs what is sent. Without one, messages are not signed. */
  secret?: string;
  /** Sent along, such as `Authorization`. */
  headers?: Record<string, string>;
}

export interface NewKey extends Key {
  /** Shown this one time. */
  secret: string;
}

export interface NewWebhook extends Webhook {
  /** Signs what is sent. Shown this one time. */
  secret: string;
}

export interface Notification {
  id: string;
  /** As in docs/events.md. */
  type: string;
  level: 'good' | 'neutral' | 'warning' | 'bad';
  title: string;
  text: string;
  at: string;
  jobId: string | null;
  /** What the event says, as in docs/events.md. */
  data: Record<string, unknown>;
  /** The job; null for events of no job. */
  links: NotificationLinks | null;
}

export interface NotificationLinks {
  self: string;
}

export interface OwnAccount {
  id: string;
  name: string;
  plan: string;
  key: Key;
  limits: OwnAccountLimits;
  used: AccountUse;
  /** What is left to spend; null: it is not limited. */
  credits: Credits | null;
  version: string;
}

export interface OwnAccountLimits {
  /** Of the key, or of all keys of the account where that is less. */
  requestsPerMinute: number;
  /** Pages fetched at the same time, over all processes; null: no limit. */
  concurrentPages: number | null;
  /** URLs of its jobs that have not ended; null: no limit. */
  openUrls: number | null;
  /** Bytes of the bodies that its jobs have stored, before compression; null: no limit. */
  storedBytes: number | null;
  bodyBytes: number;
  /** URLs of all accounts that may wait together. */
  queuedUrls: number;
}

export interface OwnerProof {
  file: OwnerProofFile;
  dns: OwnerProofDns | null;
}

export interface OwnerProofFile {
  url: string;
  line: string;
}

export interface OwnerProofDns {
  name: string;
  type: 'TXT';
  text: string;
}

export interface OwnerRequest {
  /** Known to you only. */
  id: string;
  host: string;
  want: 'stop' | 'slower';
  secondsBetweenRequests: number | null;
  state: 'unproved' | 'in-force';
  createdAt: string;
  /** A request that is not proved by then is forgotten. */
  expiresAt: string;
  provedAt: string | null;
  provedBy: 'file' | 'dns' | null;
  /** Publish one of the two, then call `check`. */
  proof: OwnerProof;
  links: SelfLink;
}

export interface Page {
  url: string;
  /** Exactly as it was submitted; `url` where the page was found on another one. */
  sourceUrl?: string;
  /** What the response turned out to be. Null for pages that an earlier version stored. */
  outcome?: 'ok' | 'soft-404' | 'blocked' | 'captcha' | 'login-wall' | 'needs-javascript' | 'rate-limited' | 'empty' | 'error' | null;
  /** What decided the outcome; null for a page that is plainly ok. */
  evidence?: string | null;
  /** Of the response, names in lower case; cookies are in `cookies`. */
  headers?: Record<string, string | string[]>;
  /** Cookies that the response set. */
  cookies?: SetCookie[];
  /** URLs that answered with a redirect, in the order they were followed; `finalUrl` is where they led. */
  redirects?: Redirect[];
  /** Where redirects led. */
  finalUrl: string;
  statusCode: number | null;
  contentType: string | null;
  fetchedAt: string;
  depth: number;
  bytes: number;
  /** SHA-256 of the body. */
  contentHash: string | null;
  title: string | null;
  /** The URL whose page this one repeats: by rel=canonical, or because an earlier page of the job has the same body. */
  duplicateOf: string | null;
  /** With `maxAge`: whether a stored page answered, without a request. */
  cache?: PageCache;
  /** With `ifModified`: the host said that the page has not changed; the body is that of the crawl before. */
  notModified?: boolean;
  metadata?: PageMetadata | null;
  links?: PageLinks[];
  html?: string | null;
  /** The body as the server sent it, decoded; of a page that was rendered, before any script ran. */
  rawHtml?: string | null;
  /** Of the main content. */
  text?: string | null;
  /** The main content as Markdown (GFM). */
  markdown?: string | null;
  content?: PageContent | null;
  /** Structured data of every kind in one view that says where each value is from. */
  structured?: unknown;
  /** What `extract` found: fields of the type, and of the rules. Null when `auto` found no type. */
  extracted?: Record<string, unknown> | null;
  /** The type that was read. */
  extractedType?: string | null;
  /** How likely the page is of that type, from 0 to 1; `auto` chooses none below 0.3. */
  extractedProbability?: number;
  /** Where each field is from. */
  extractedBy?: Record<string, ValueOrigin>;
  /** Fields that are missing, not what they should be, or not what the schema allows; with a code, what a plug-in threw. */
  extractProblems?: PageExtractProblems[];
  /** The call of a language model for this page, and what it has cost. */
  llm?: PageLlm;
  /** Content that is not in the results, because it lies beyond a limit or could not be read. */
  warnings?: ExportError[];
  /** Of a PDF whose text was asked for: how many of its pages were read. */
  pdfPages?: PagePdfPages;
  screenshot?: Artifact | null;
  pdf?: Artifact | null;
  /** What the page’s scripts asked for; null when none ran. */
  xhr?: RecordedXhr[] | null;
  /** One entry per action that ran to its end. */
  actions?: ActionResult[];
  /** Only for pages rendered in a browser. */
  consoleErrors?: string[];
  /** Parts that were deleted because their time was over; formats made of them are null, and artifacts answer 410. */
  expired?: ('bodies' | 'artifacts' | 'records')[];
  /** Parts that were asked for and are gone although nothing has deleted them: a disk or an object store has lost them. Formats made of them are null. */
  lost?: ('bodies' | 'artifacts')[];
  /** Why the page is not usable although a response arrived. The other fields describe that response. */
  error?: PageError;
}

/** With `maxAge`: whether a stored page answered, without a request. */
export interface PageCache {
  hit: boolean;
  /** When the page was fetched that answered. */
  storedAt: string | null;
}

export interface PageLinks {
  url: string;
  text: string;
  rel: string;
  from: string;
}

export interface PageExtractProblems {
  path: string;
  message: string;
  code?: 'PLUGIN_FAILED';
}

/** The call of a language model for this page, and what it has cost. */
export interface PageLlm {
  model: string;
  promptTokens: number;
  completionTokens: number;
  /** The server did not count: the numbers are estimates. */
  isEstimated: boolean;
  /** The answer was known already, and cost nothing. */
  isCached: boolean;
}

/** Of a PDF whose text was asked for: how many of its pages were read. */
export interface PagePdfPages {
  read: number;
  total: number;
}

/** Why the page is not usable although a response arrived. The other fields describe that response. */
export interface PageError {
  code: string;
  message: string;
  details?: PageErrorDetails;
}

export interface PageErrorDetails {
  /** Where on the page, as in `actions.2 click #buy`. */
  step?: string;
  /** The page at the moment when the step failed. */
  screenshot?: Artifact;
  /** Its HTML at that moment. */
  html?: Artifact;
}

/** The main content of the page. */
export interface PageContent {
  /** Null for documents other than web pages. */
  html: string | null;
  text: string;
  title: string | null;
  author: string | null;
  publishedAt: string | null;
  modifiedAt: string | null;
  siteName: string | null;
  language: string | null;
  excerpt: string | null;
  wordCount: number;
  readingMinutes: number;
  /** What kind of page it looks like; of other bodies, what they are. */
  pageType: string | null;
}

export interface PageGeolocation {
  latitude: number;
  longitude: number;
  /** In metres; 10 unless given. */
  accuracy?: number;
}

export interface PageMetadata {
  title: string | null;
  description: string | null;
  language: string | null;
  canonical: string | null;
  robots: string | null;
  charset: string | null;
  headings: PageMetadataHeadings[];
  meta: Record<string, string>;
  openGraph: Record<string, string | string[]>;
  twitter: Record<string, string>;
  hreflang: PageMetadataHreflang[];
  jsonLd: unknown[];
  microdata: unknown[];
  rdfa: unknown[];
  feeds: PageMetadataFeeds[];
  pagination: PageMetadataPagination;
  images: PageMetadataImages[];
}

export interface PageMetadataHeadings {
  level: number;
  text: string;
}

export interface PageMetadataHreflang {
  lang: string;
  url: string;
}

export interface PageMetadataFeeds {
  url: string;
  type: string;
  title: string;
}

export interface PageMetadataPagination {
  next: string | null;
  prev: string | null;
}

export interface PageMetadataImages {
  url: string;
  alt: string;
}

export interface PageOptions {
  /**
   * How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
   * @default "auto"
   */
  engine?: PageEngine;
  /**
   * Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
   * @default {}
   */
  headers?: Record<string, string>;
  /**
   * Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret (`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.
   * @default []
   * @example ["X-Request-Id"]
   */
  crossOriginHeaders?: string[];
  /**
   * Cookies to send to the origin of the URL.
   * @default {}
   */
  cookies?: Record<string, string>;
  /**
   * What to wait for before the page is read. Needs a browser.
   * @default null
   * @example {"selector":"#results"}
   */
  wait?: PageWait | null;
  /**
   * Go down the page until it grows no more, for lists that load on the way. Needs a browser. Unless given, a page that is rendered for the types `job_posting` and `linkedin_profile` is scrolled a little.
   * @default null
   */
  scroll?: boolean | PageScroll | null;
  /**
   * What to do on the page, in this order, before it is read. The first step that fails ends them, is named by the error, and what there was by then is kept. Needs a browser.
   * @default []
   * @example [{"type":"click","selector":"#more"},{"type":"wait","selector":".item:nth-child(20)"}]
   */
  actions?: PageAction[];
  /**
   * What a browser need not load.
   * @default []
   */
  blockResources?: ('images' | 'fonts' | 'media' | 'trackers')[];
  /**
   * Size of the window in pixels; 1280 × 800 unless given, 412 × 915 with `mobile`. Needs a browser.
   * @default null
   * @example {"width":1920,"height":1080}
   */
  viewport?: PageViewport | null;
  /**
   * Show pages as on a phone: touch, a narrow window, `Mobile` in the user agent. Needs a browser.
   * @default false
   */
  mobile?: boolean;
  /**
   * Where pages that ask for the position find the browser. Needs a browser.
   * @default null
   * @example {"latitude":52.52,"longitude":13.405}
   */
  geolocation?: PageGeolocation | null;
  /**
   * Language of the browser, which sites also get as `Accept-Language`. Needs a browser.
   * @default null
   * @example "de-DE"
   */
  locale?: string | null;
  /**
   * Time zone of the browser. Needs a browser.
   * @default null
   * @example "Europe/Berlin"
   */
  timezone?: string | null;
  /**
   * Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.
   * @default null
   */
  session?: string | null;
  /**
   * The way out. Without it, as policy and need say.
   * @default null
   * @example {"tier":"residential","country":"de"}
   */
  proxy?: PageProxy | null;
  /**
   * `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
   * @default null
   */
  identity?: 'bot' | 'browser' | null;
  /**
   * The browser that plain HTTP looks like, in headers and handshake; Chrome unless given. Needs `identity: "browser"` and `engine: "http"`.
   * @default null
   */
  identityBrowser?: 'firefox' | 'safari' | null;
  /**
   * Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.
   * @default 30000
   */
  timeoutMs?: number;
  /** Time for all attempts at one URL and the pauses between them; a minute, or `timeoutMs` where that is longer, unless the operator has set another. Waits before the first attempt, for the turn of the host, and pauses that the host asks for by `Retry-After` are not counted. */
  taskTimeoutMs?: number;
  /**
   * Tries per URL, the first one included.
   * @default 3
   */
  maxAttempts?: number;
  /**
   * Largest body that is read, after decompression.
   * @default 10485760
   */
  maxBodyBytes?: number;
  /**
   * `false` is refused unless the operator’s policy consents to that for the host.
   * @default true
   */
  obeyRobots?: boolean;
}

export interface PageProxy {
  /** Kind of proxy, from cheap to trusted. */
  tier?: 'datacenter' | 'residential' | 'mobile';
  /** Where the proxy is to be, `de` for Germany. */
  country?: string;
  /** The dearest kind that may be used; `datacenter` keeps residential and mobile ones out. */
  maxTier?: 'datacenter' | 'residential' | 'mobile';
  /** A proxy of your own, `http://user:password@host:port`, https or socks5; never shown again. */
  url?: string;
  /** Several proxies of your own, which are used in turn. */
  urls?: string[];
}

export interface PageScreenshot {
  /** The whole page instead of what a window shows. */
  fullPage?: boolean;
  /** Only the first element that matches. */
  selector?: string;
  /** png unless given. */
  format?: 'png' | 'jpeg';
  /** Of a jpeg. */
  quality?: number;
}

export interface PageScroll {
  /** Screens to go at most; 20 unless given. */
  maxSteps?: number;
  /** Pause after each; 150 unless given. */
  pauseMs?: number;
}

export interface PageViewport {
  width: number;
  height: number;
}

export interface PageWait {
  /** Until an element matches. */
  selector?: string;
  /** So long, after everything else that is waited for. */
  ms?: number;
  /** How far the page must have loaded. */
  until?: 'load' | 'domcontentloaded' | 'networkidle';
}

export interface Proxies {
  /** Whether any process that was heard of uses proxies. */
  isSetUp: boolean;
  proxies: ProxiesProxies[];
  providers: ProxiesProviders[];
  tiers: ProxiesTiers[];
}

export interface ProxiesProxies extends ProxiesTiers {
  id: string;
  provider: string;
  country: string | null;
  isHealthy: boolean;
}

export interface ProxiesProviders extends ProxiesTiers {
  name: string;
  breaker: 'closed' | 'open' | 'half-open';
  proxies: number;
  healthy: number;
}

export interface ProxiesTiers {
  tier: 'datacenter' | 'residential' | 'mobile';
  /** The sum of the four that follow. */
  requests: number;
  successes: number;
  /** Not served, by the fault of the proxy or perhaps so. */
  failures: number;
  /** Refused by the target because of where the request came from. */
  bans: number;
  /** Not served by the fault of the target. */
  targetFailures: number;
  bytes: number;
  /** Median of the latest successes. */
  p50Ms: number | null;
}

export interface PutCredentialRequestLogin {
  /** For a form: `{{username}}` and `{{password}}` in `type` actions. */
  kind: 'login';
  /** The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it. */
  hosts: string[];
  /** Send it by unencrypted `http://` too, where everybody on the way can read it. */
  allowHttp?: boolean;
  username: string;
  password: string;
}

export interface PutCredentialRequestBasic {
  /** HTTP Basic authentication. */
  kind: 'basic';
  /** The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it. */
  hosts: string[];
  /** Send it by unencrypted `http://` too, where everybody on the way can read it. */
  allowHttp?: boolean;
  username: string;
  password: string;
}

export interface PutCredentialRequestBearer {
  /** `Authorization: Bearer …`. */
  kind: 'bearer';
  /** The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it. */
  hosts: string[];
  /** Send it by unencrypted `http://` too, where everybody on the way can read it. */
  allowHttp?: boolean;
  token: string;
}

export interface PutCredentialRequestHeaders {
  /** Any request headers. */
  kind: 'headers';
  /** The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it. */
  hosts: string[];
  /** Send it by unencrypted `http://` too, where everybody on the way can read it. */
  allowHttp?: boolean;
  headers: Record<string, string>;
}

export interface PutCredentialRequestCookies {
  /** Cookies by name. */
  kind: 'cookies';
  /** The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it. */
  hosts: string[];
  /** Send it by unencrypted `http://` too, where everybody on the way can read it. */
  allowHttp?: boolean;
  cookies: Record<string, string>;
}

export interface QueryRequest {
  /** What the rows are: pages, links, records, snapshots. */
  from?: string;
  /** Columns: names of fields, `{"field": "fetchedAt", "by": "day"}`, or `{"fn": "sum", "field": "bytes", "as": "total"}` with one of count, countDistinct, sum, avg, min, max. Left out: some fields of the source; of groups, how many rows each has. */
  select?: (string | Record<string, unknown>)[];
  /** `{"field", "op", "value"}` with one of eq, lt, lte, gt, gte, ne, in, notIn, contains, startsWith, endsWith, icontains, isNull, isNotNull, or `{"and": […]}`, `{"or": […]}`, `{"not": {…}}`; at most 100 comparisons, 8 levels deep. */
  where?: Record<string, unknown>;
  /** One row for each value: names of fields, or `{"field", "by"}` with hour, day, week, month, year in UTC. An empty list is one group of all rows. */
  group?: (string | Record<string, unknown>)[];
  /** Names of fields or columns; `-bytes` is from the largest down. Nulls come last. */
  order?: string[];
  /** Rows at most: 100 when left out, up to 1000, of groups 10000. Of SQL up to 100000. */
  limit?: number;
  /** `nextCursor` of the answer before, with the same query; not for groups. */
  cursor?: string;
  /**
   * One SELECT in the SQL of DuckDB over the views `pages`, `links` and `records` of the lake.
   * @example "SELECT host, count(*) AS pages FROM pages GROUP BY host ORDER BY pages DESC"
   */
  sql?: string;
  timeoutMs?: number;
  /** Only files of these hosts are read; with the port where it is not the default. */
  domains?: string[];
  /** Only files of this day (UTC) and later are read. */
  since?: string;
  /** Only files of this day (UTC) and earlier are read. */
  until?: string;
}

export interface QueryResult {
  columns: QueryResultColumns[];
  /** One object per row, with the names of `columns`. */
  items: Record<string, unknown>[];
  /** Where the next rows begin; null at the end, and of groups. */
  nextCursor: string | null;
  /** There are more groups than `limit`. */
  isTruncated: boolean;
}

export interface QueryResultColumns {
  name: string;
  /** text, number, time, boolean or json; of SQL, the type in DuckDB. */
  type: string;
}

export interface RecordedXhr {
  url: string;
  method: string;
  statusCode: number;
  contentType: string | null;
  /** The answer was too large to be kept. */
  isTooLarge: boolean;
  /** The answer, when it is short and text. */
  text?: string;
  /** Any other answer. */
  body?: Artifact;
}

export interface Redirect {
  url: string;
  statusCode: number;
}

export interface ReextractRequest {
  /**
   * Formats to extract; screenshots, PDFs and XHR require a fetch.
   * @default []
   */
  formats?: ('html' | 'rawHtml' | 'text' | 'links' | 'metadata' | 'markdown' | 'content' | 'structured')[];
  /**
   * What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
   * @default null
   */
  extract?: ExtractOptions | null;
  /**
   * `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
   * @default true
   */
  onlyMainContent?: boolean;
  /**
   * CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
   * @default []
   * @example ["main",".reviews"]
   */
  includeTags?: string[];
  /**
   * CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
   * @default []
   * @example [".advertisement","footer"]
   */
  excludeTags?: string[];
  /**
   * Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
   * @default 500
   */
  maxPdfPages?: number;
}

export interface ResumeJobRequest {
  /** New page budget of the whole job. */
  maxPages?: number | null;
  /** New byte budget of the whole job. */
  maxBytes?: number | null;
  /** Time the job gets from now on. */
  maxDurationMs?: number | null;
  /** New budget of browser time of the whole job. */
  maxBrowserMs?: number | null;
  /** New budget of bytes through proxies of the whole job. */
  maxProxyBytes?: number | null;
  /** New budget of credits of the whole job. */
  maxCredits?: number | null;
}

export interface Retention {
  /** What the account asked for; null: nothing. */
  own: RetentionLimits | null;
  /** What the operator set for the account; null: nothing. */
  operator: RetentionLimits | null;
  /** What holds: the shortest time of account, operator and installation; null: without limit. */
  effective: RetentionLimits;
}

/** How long each kind of data is kept; null: without limit. */
export interface RetentionLimits {
  bodiesMs: number | null;
  artifactsMs: number | null;
  recordsMs: number | null;
  ledgerMs: number | null;
  jobsMs: number | null;
  exportsMs: number | null;
  snapshotsMs: number | null;
  /** Ended jobs that are kept, the newest; null: all. */
  maxJobs: number | null;
  /** Bytes of fetched pages that are kept; null: all. */
  maxBytes: number | null;
}

export interface RetentionRequest extends JobRetention {
  /**
   * How long snapshots are kept after their content was last seen; null: as the account and the installation say.
   * @default null
   */
  snapshots?: number | string | null;
  /**
   * Ended jobs that are kept, the newest; null: all.
   * @default null
   */
  maxJobs?: number | null;
  /**
   * Bytes of fetched pages that are kept; beyond that the oldest bodies go. null: all.
   * @default null
   */
  maxBytes?: number | null;
}

export interface RobotsTest {
  url: string;
  userAgent: string;
  /** Null when the robots.txt of the host was never fetched. */
  isAllowed: boolean | null;
  /** The line that decided; null when none matched. */
  rule: string | null;
  /** Its number, from 1. */
  line: number | null;
  message: string;
  /** The pause that the file asks for between requests. */
  crawlDelayMs: number | null;
  sitemaps: string[];
  /** Which file was asked: the stored one, the one of the request, or none. */
  source: 'stored' | 'given' | 'none';
  /** Of the stored file. */
  status: 'ok' | 'absent' | 'unreachable' | null;
  fetchedAt: string | null;
  /** Whether the policy of the host obeys robots.txt. */
  policy: 'obey' | 'ignore';
}

export interface RotateKeyRequest {
  /** Another account, for the operator; left out: the account of the key. */
  account?: string;
  /**
   * How long the secret of now goes on.
   * @default 3600
   */
  overlapSeconds?: number;
}

export interface RotateWebhookSecretRequest {
  /** The new secret; made unless given. */
  secret?: string;
  /**
   * Hours for which messages are signed with the former secret as well.
   * @default 24
   */
  overlapHours?: number;
}

export interface Schedule extends MonitorTiming {
  name: string;
  overlap: 'skip' | 'queue' | 'cancelPrevious';
  catchUp: 'one' | 'none';
  /** What each run starts, with all defaults; secrets are hidden. */
  job: ScheduleJob;
  status: 'active' | 'paused';
  /** The next tick with its jitter; null while it is paused. */
  nextRunAt: string | null;
  createdAt: string;
  updatedAt: string;
  links: ScheduleLinks;
}

/** What each run starts, with all defaults; secrets are hidden. */
export interface ScheduleJob {
  kind: 'scrape' | 'batch' | 'crawl';
}

export interface ScheduleLinks {
  self: string;
  runs: string;
  next: string;
  jobs: string;
}

export interface SchedulePreviewRequest {
  /** Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron?: string;
  /** The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else. */
  every?: string | number;
  /**
   * IANA time zone of the cron line and of the active hours.
   * @default "UTC"
   */
  timeZone?: string;
  /**
   * Times outside of these hours are left out; null: none are.
   * @default null
   */
  activeHours?: ActiveHours | null;
}

export interface ScheduleRequest extends MonitorSchedule {
  /** For people. */
  name: string;
  /** What each run starts: `kind`, and what `/v1/scrape`, `/v1/batch` or `/v1/crawl` takes. */
  job: ScheduledJob;
  /**
   * What becomes of a run that is due while the job before goes on: it is left out, waits (one at most), or the job before is cancelled.
   * @default "skip"
   */
  overlap?: 'skip' | 'queue' | 'cancelPrevious';
}

export interface ScheduleRun {
  id: string;
  scheduleId: string;
  trigger: 'tick' | 'manual';
  /** The tick; of a run that was asked for, when; of missed ticks, the first. */
  at: string;
  /** It ran later than it should have, after a time without schedulers. */
  isLate: boolean;
  /** pending: decided within a second. waiting: begins when the job before has ended. started: has a job. skipped, refused, missed: got none, for `reason`. */
  status: 'pending' | 'waiting' | 'started' | 'skipped' | 'refused' | 'missed';
  reason: string | null;
  /** Only of a run that has started. */
  jobId: string | null;
  /** How its job stands or has ended; null when there is none, or none any more. */
  jobStatus: 'queued' | 'running' | 'completed' | 'partially_completed' | 'failed' | 'cancelled' | null;
  /** Of missed ticks: the last, and how many. */
  missed: ScheduleRunMissed | null;
  createdAt: string;
  /** When it was decided. */
  settledAt: string | null;
  links: ScheduleRunLinks;
}

export interface ScheduleRunMissed {
  lastAt: string;
  /** 1000 stands for that many or more. */
  count: number;
}

export interface ScheduleRunLinks {
  self: string;
  job: string | null;
}

export interface ScheduleUpdate extends MonitorScheduleUpdate {
  /** For people. */
  name?: string;
  /** What each run starts: `kind`, and what `/v1/scrape`, `/v1/batch` or `/v1/crawl` takes. */
  job?: ScheduledJob;
  overlap?: 'skip' | 'queue' | 'cancelPrevious';
}

export interface ScheduledBatch extends BatchRequest {
  kind: 'batch';
}

export interface ScheduledCrawl extends CrawlRequest {
  kind: 'crawl';
}

export interface ScheduledScrape extends ScrapeRequest {
  kind: 'scrape';
}

export interface Scrape extends Page {
  /** The job that fetched it. */
  id: string;
  trace: ScrapeTrace;
}

export interface ScrapeTrace {
  decision: string;
  rule: string | null;
  attempts: Attempt[];
  /** What the attempts cost together. */
  credits: number;
  timings: ScrapeTraceTimings;
}

export interface ScrapeTraceTimings {
  totalMs: number;
  fetchMs: number;
}

export interface ScrapeRequest extends PageOptions {
  /**
   * The page to fetch.
   * @example "https://example.com/"
   */
  url: string;
  /**
   * Formats that are kept of each page and returned.
   * @default ["metadata","links","text"]
   * @example ["metadata","links","text"]
   */
  formats?: PageFormat[];
  /**
   * Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.
   * @default false
   */
  inline?: boolean;
  /**
   * What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
   * @default null
   */
  extract?: ExtractOptions | null;
  /**
   * `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
   * @default true
   */
  onlyMainContent?: boolean;
  /**
   * CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
   * @default []
   * @example ["main",".reviews"]
   */
  includeTags?: string[];
  /**
   * CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
   * @default []
   * @example [".advertisement","footer"]
   */
  excludeTags?: string[];
  /**
   * Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
   * @default 500
   */
  maxPdfPages?: number;
  /**
   * How the picture is taken; asks for the format `screenshot` as well. Needs a browser.
   * @default null
   * @example {"fullPage":true}
   */
  screenshot?: PageScreenshot | null;
  /**
   * HTTP method.
   * @default "GET"
   */
  method?: 'GET' | 'POST';
  /**
   * Request body; needs `method: "POST"`.
   * @default null
   */
  body?: string | null;
  /**
   * A page that this account has stored within this time (milliseconds, or `2h`) answers without a request; 0: none does. Never for requests with headers, cookies, a session, a proxy, actions or a body.
   * @default 0
   */
  maxAge?: number | string;
  /**
   * Whether the page that is fetched may answer later requests with `maxAge`.
   * @default true
   */
  reuse?: boolean;
  /**
   * Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
   * @default false
   */
  snapshots?: boolean;
  /**
   * Make the pages of the job findable by `GET /v1/search`.
   * @default false
   */
  search?: boolean;
  /**
   * Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
   * @default false
   */
  lake?: boolean;
  /**
   * Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
   * @default []
   * @example [{"type":"full","format":"csv"}]
   */
  exports?: JobExport[];
  /**
   * How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
   * @default null
   * @example {"bodies":"24h","jobs":"30d"}
   */
  retention?: JobRetention | null;
  /**
   * Answer 202 with the job at once instead of waiting for the result.
   * @default false
   */
  async?: boolean;
  /** Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks. */
  webhook?: JobWebhook;
}

export interface SearchHit {
  url: string;
  /** The job that has the newest content of the URL. */
  jobId: string;
  statusCode: number | null;
  fetchedAt: string;
  /** Larger is better; only for comparing hits of one search. */
  score: number;
  title: SearchHitTitle | null;
  snippet: SearchHitTitle;
}

export interface SearchHitTitle {
  /** Plain text of the page. Never HTML: escape it where you show it. */
  text: string;
  /** What was found in it: start and end, counted in UTF-16 units as JavaScript does. */
  marks: number[][];
}

export interface SelfLink {
  self: string;
}

export interface Session {
  name: string;
  /** It has ended and is of no more use; its name is free once it is deleted. */
  isExpired: boolean;
  /** The name of what it logs in with. */
  credentials: string | null;
  /** Which way out was asked for. */
  proxy: SessionProxy | null;
  identity: 'bot' | 'browser' | null;
  requestCount: number;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string;
  links: SelfLink;
}

export interface SessionDetail extends Session {
  /** The proxy that it keeps; null before it had one. */
  usedProxy: SessionDetailUsedProxy | null;
  /** Whose browser it says it is; null before it had to be one. */
  userAgent: string | null;
  /** Without their values. */
  cookies: SessionDetailCookies[];
  storage: SessionDetailStorage[];
  /** What did not fit in and was left out, the longest unchanged first. */
  dropped: SessionDetailDropped;
}

export interface SessionDetailUsedProxy {
  id: string;
  tier: 'datacenter' | 'residential' | 'mobile';
  country: string | null;
}

export interface SessionDetailCookies {
  name: string;
  domain: string;
}

export interface SessionDetailStorage {
  origin: string;
  items: number;
}

/** What did not fit in and was left out, the longest unchanged first. */
export interface SessionDetailDropped {
  cookies: number;
  origins: number;
}

export interface SessionProxy {
  tier: 'datacenter' | 'residential' | 'mobile' | null;
  country: string | null;
}

export interface SessionRequest {
  /** Left out: a name is made up. */
  name?: string;
  /**
   * The name of what to log in with.
   * @default null
   */
  credentials?: string | null;
  /** Which way out its requests take; it keeps one proxy for as long as that works. */
  proxy?: SessionRequestProxy | null;
  /**
   * `browser` carries the identity of a regular browser, the same one throughout; a host’s policy must consent.
   * @default null
   */
  identity?: 'bot' | 'browser' | null;
  /**
   * When it ends; null: as the settings say, a day unless told.
   * @default null
   */
  expiresInHours?: number | null;
}

export interface SessionRequestProxy {
  /** @default null */
  tier?: 'datacenter' | 'residential' | 'mobile' | null;
  /** @default null */
  country?: string | null;
}

/** A cookie that the response set, with its attributes as the site stated them. */
export interface SetCookie {
  name: string;
  /** `[hidden]` where the page may have been fetched with stored credentials. */
  value: string;
  domain: string | null;
  path: string | null;
  /** Null: until the browser is closed. */
  expiresAt: string | null;
  isSecure: boolean;
  isHttpOnly: boolean;
  sameSite: 'strict' | 'lax' | 'none' | null;
}

export interface Setting {
  name: string;
  variable: string;
  /** Secrets are hidden, and of URLs all but scheme and host. Null: not set. */
  value: unknown;
  default: unknown;
  source: 'default' | 'command line' | 'code' | 'environment' | '.env';
  description: string;
}

export interface Sighting {
  snapshotId: string;
  url: string;
  hash: string;
  jobId: string;
  /** ISO 8601. */
  seenAt: string;
  links: SightingLinks;
}

export interface SightingLinks {
  snapshot: string;
}

export interface SiteChange {
  type: 'ADDED' | 'REMOVED' | 'MODIFIED' | 'UNCHANGED' | 'MOVED' | 'REVERTED' | 'NOT_COVERED';
  url: string;
  /** Of a page that has moved: where it was. */
  previousUrl: string | null;
  previousAt: string | null;
  currentAt: string;
  /** Names of what changed: fields, `text`, `markdown`, selectors, `screenshot`. */
  changed: string[];
  /** What proves that a page came or went, or why nothing is known about it. */
  reason: SiteChangeReason | null;
  previous: SiteChangePage | null;
  current: SiteChangePage | null;
  comparison: SiteChangeComparison | null;
}

export interface SiteChangeReason {
  crawl: 'previous' | 'current';
  code: string;
  message: string;
}

export interface SiteChangeComparison {
  isChanged: boolean;
  texts: SiteChangeComparisonTexts[];
  fields: SiteChangeComparisonFields[];
  /** How the screenshots differ; null where they do not, or are not watched. */
  picture: unknown;
}

export interface SiteChangeComparisonTexts {
  name: string;
  diff: SiteChangeComparisonTextsDiff;
}

export interface SiteChangeComparisonTextsDiff {
  segments: SiteChangeComparisonTextsDiffSegments[];
  addedChars: number;
  removedChars: number;
  /** Changed characters of all, 0 to 1. */
  share: number;
  /** The texts differ in too many places to tell them apart. */
  isCoarse: boolean;
  /** Segments were cut, because together they are too long. */
  isTruncated: boolean;
}

export interface SiteChangeComparisonTextsDiffSegments {
  kind: 'same' | 'removed' | 'added' | 'skipped';
  text: string;
  /** Characters of the segment, also where its text is cut. */
  chars: number;
}

export interface SiteChangeComparisonFields {
  field: string;
  kind: 'added' | 'removed' | 'changed';
  type: string;
  before: unknown;
  after: unknown;
  difference?: number;
  share?: number;
  /** JSON Patch (RFC 6902), between lists and objects. */
  patch?: unknown[];
}

export interface SiteChangePage {
  /** The number of the page in its job. */
  page: string;
  finalUrl: string;
  statusCode: number | null;
  fetchedAt: string;
  title: string | null;
  price: number | null;
  currency: string | null;
  availability: string | null;
}

export interface Snapshot {
  id: string;
  /** Canonical. */
  url: string;
  /** Of the normalized content: the same for the same content, also at another URL. */
  hash: string;
  /** ISO 8601. */
  firstSeenAt: string;
  /** ISO 8601. */
  lastSeenAt: string;
  /** Pages of jobs that had this content. */
  timesSeen: number;
  finalUrl: string;
  statusCode: number | null;
  contentType: string | null;
  /** SHA-256 of the body as it was the first time. */
  contentHash: string;
  bytes: number;
  /** As the server said the last time. */
  etag: string | null;
  lastModified: string | null;
  title: string | null;
  /** As the page states it, or as `extract` found it. */
  price: number | null;
  currency: string | null;
  availability: string | null;
  /** What `extract` of the job found that saw it first. */
  record: Record<string, unknown> | null;
  /** The picture that was taken the first time. */
  screenshot: SnapshotScreenshot | null;
  /** The job that saw it first; it may be deleted. */
  jobId: string;
  links: SelfLink;
}

export interface SnapshotScreenshot {
  url: string;
  contentType: string;
  bytes: number;
}

export interface SnapshotContent extends Snapshot {
  text?: string | null;
  markdown?: string | null;
  html?: string | null;
  rawHtml?: string | null;
}

export interface SnapshotDiff {
  mode: 'rules' | 'text' | 'word' | 'line' | 'html' | 'json' | 'fields' | 'visual';
  /** False exactly when the diff is empty. */
  isChanged: boolean;
  /** By `mode`; see docs/diff.md. */
  diff: unknown;
  before: SnapshotDiffBefore;
  after: SnapshotDiffBefore;
  links: SelfLink;
}

export interface SnapshotDiffBefore {
  id: string;
  url: string;
  firstSeenAt: string;
  title: string | null;
}

export interface System {
  version: string;
  node: string;
  role: string;
  /** Name of this machine. */
  host: string;
  pid: number;
  startedAt: string;
  uptimeMs: number;
  /** Whether other processes use the same database. */
  isShared: boolean;
  drivers: SystemDrivers;
  /** This process first, then those that were heard of in the last 35 seconds. */
  processes: SystemProcesses[];
  readiness: Record<string, SystemReadiness>;
  queues: SystemQueues;
  machine: SystemMachine;
  memory: SystemMemory;
  storage: SystemStorage;
}

export interface SystemDrivers {
  store: string;
  queue: string;
  blobs: string;
}

export interface SystemProcesses {
  process: string;
  role: string;
  version: string;
  startedAt: string;
  heardAt: string;
}

export interface SystemReadiness {
  status: 'ok' | 'degraded' | 'failing';
  ms: number;
  message: string | null;
}

export interface SystemQueues {
  /** URLs of all jobs that are still to be done. */
  openUrls: number;
  /** Hosts with work that wait for a worker. */
  waitingHosts: number | null;
  activeHosts: number | null;
  /** Work that waits for a worker, in the whole installation. */
  waiting: SystemQueuesWaiting[];
  /** Hosts that this process works on. */
  activeSlices: number;
  /** Requests of this process that are under way. */
  inFlightFetches: number;
  /** Webhooks to be sent. */
  deliveries: SystemQueuesDeliveries;
}

export interface SystemQueuesWaiting {
  /** http: hosts with URLs that are due. browser, stealth: renders. */
  queue: 'http' | 'browser' | 'stealth';
  waiting: number;
  /** How long the oldest of it has waited. */
  oldestMs: number;
}

/** Webhooks to be sent. */
export interface SystemQueuesDeliveries {
  pending: number;
  oldestMs: number;
}

export interface SystemMachine {
  processors: number;
  loadAverage: number[];
  totalMemory: number;
  freeMemory: number;
}

export interface SystemMemory {
  rss: number;
  heapUsed: number;
  heapTotal: number;
  external: number;
}

export interface SystemStorage {
  folder: string;
  bytes: number;
  /** The 20 largest of the data folder. */
  entries: SystemStorageEntries[];
}

export interface SystemStorageEntries {
  name: string;
  bytes: number;
}

export interface TestRobotsRequest {
  /** A URL of the host, or a path on it over https. */
  url: string;
  /**
   * The product token that the groups of the file are searched for.
   * @default "ScrapifieBot"
   */
  userAgent?: string;
  /**
   * A robots.txt to try in place of the stored one.
   * @default null
   */
  robotsTxt?: string | null;
}

export interface Usage {
  /** The day, the id of the key or the job, the engine or the host. Empty: no key made the job. */
  value: string;
  pages: number;
  attempts: number;
  bytes: number;
  browserMs: number;
  proxyBytes: number;
  /** Of language models. */
  tokens: number;
  credits: number;
}

export interface ValueOrigin {
  source: string;
  confidence: number;
}

export interface WatchRules {
  /**
   * The visible text of the page.
   * @default false
   */
  text?: boolean;
  /**
   * The main content as Markdown, which has the addresses of links as well.
   * @default false
   */
  markdown?: boolean;
  /**
   * The text of the elements that a CSS selector or an XPath expression (one that begins with `/`, `(` or `./`) finds, each for itself.
   * @default []
   */
  selectors?: string[];
  /**
   * Values by name: `title`, `price`, `currency`, `availability`, and extracted fields; or `all`.
   * @default []
   */
  fields?: 'all' | string[];
  /**
   * The pixels of the screenshot.
   * @default false
   */
  screenshot?: boolean;
}

export interface Webhook {
  id: string;
  /** Where events are sent; the addresses of chats are hidden behind their host. */
  url: string;
  events: string[];
  format: 'json' | 'slack' | 'discord' | 'teams' | 'ntfy' | 'email' | string;
  enabled: boolean;
  /** `gone`: the receiver answered 410. `failing`: nothing could be delivered for three days. `unconfirmed`: the owner of the e-mail address has not opened the link that was sent there; `test` sends it again. */
  disabledReason: 'user' | 'gone' | 'failing' | 'unconfirmed' | null;
  disabledAt: string | null;
  /** When the attempts began to fail that have failed in a row. */
  failingSince: string | null;
  createdAt: string;
  updatedAt: string;
  links: ChangedWebhookLinks;
}

export interface WebhookRequest {
  /** Where events are sent: an http or https URL, or `mailto:address`. */
  url: string;
  /** Types of events, or patterns such as `job.*`, `monitor.*` and `*`. */
  events: string[];
  /** What is sent: `json`, or a short message for people by an incoming webhook of Slack, Discord or Teams, by ntfy, or by e-mail. `email` for `mailto:` and `json` for the rest unless given. The channel of a plug-in has the name of the plug-in in front, such as `pager:sms`, and takes the addresses that the plug-in knows. */
  format?: 'json' | 'slack' | 'discord' | 'teams' | 'ntfy' | 'email' | string;
  /** Sent along, such as `Authorization`. Never shown again. */
  headers?: Record<string, string>;
  /** Signs what is sent: 16 characters or more, or `whsec_` and a key in base64. Made unless given. */
  secret?: string;
}

export interface WebhookUpdate {
  /** Where events are sent. With another origin the webhook gets a new secret, and headers that it has must be given anew. */
  url?: string;
  /** Types of events, or patterns such as `job.*`, `monitor.*` and `*`. */
  events?: string[];
  /** What is sent. With another format the webhook gets a new secret, and headers that it has must be given anew; from a chat to `json`, `url` must be given as well. */
  format?: 'json' | 'slack' | 'discord' | 'teams' | 'ntfy' | 'email' | string;
  /** In place of all that it has; `{}`: none. Left out, they stay; `SECRETS_BOUND` when the origin of `url` or the format changes and it has any. */
  headers?: Record<string, string>;
  /** Only with another origin or format: the new secret, in place of one that is made. Otherwise use `rotate`. */
  secret?: string;
  /** False: nothing is sent, and open deliveries end as failed. */
  enabled?: boolean;
}

export interface Why {
  jobId: string;
  /** As the job knows it. */
  url: string;
  /** `unseen` when the job has never met the URL. */
  state: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled' | 'unseen';
  code: string | null;
  /** The rule that decided; of an unseen URL, the one that would have. */
  rule: string | null;
  /** What happened, in the order of events. */
  sentences: string[];
  entry: LedgerEntry | null;
  links: JobLinks;
}

export interface ListJobsQuery {
  status?: 'queued' | 'running' | 'completed' | 'partially_completed' | 'failed' | 'cancelled';
  kind?: 'scrape' | 'batch' | 'crawl' | 'map';
  /** Only jobs that start on this domain or a subdomain of it (of a batch, the first 100 URLs count). A page of the list may then be shorter than `limit`, and empty, although `nextCursor` leads on. */
  domain?: string;
  /** Only jobs with this text in their id or a start URL; pages of the list as with `domain`. */
  text?: string;
  /** Only jobs that were made at this time or later. */
  since?: string;
  /** Only jobs that were made before. */
  until?: string;
  /** Only jobs of this schedule. */
  schedule?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListJobsData {
  items: Job[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListJobResultsQuery {
  /** done: fetched well. failed: with an error. */
  state?: 'done' | 'failed';
  /** Only the page of this URL; the list has one item or none. */
  url?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListJobResultsData {
  items: Page[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListJobErrorsQuery {
  state?: 'failed' | 'denied';
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListJobErrorsData {
  items: JobError[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListJobUrlsQuery {
  state?: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled';
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListJobUrlsData {
  items: LedgerEntry[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ExplainJobUrlQuery {
  /** The URL asked about. */
  url: string;
}

export interface ExplainUrlQuery {
  /** The URL asked about. */
  url: string;
}

export interface ListJobRowsQuery {
  /**
   * `site` is the search for a site’s sitemaps in its robots.txt.
   * @default "page"
   */
  kind?: 'page' | 'sitemap' | 'site' | 'any';
  state?: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled';
  /** In the URL or the title, whichever case its ASCII letters have. */
  text?: string;
  /** A rule such as `scope.exclude:/admin/`, its part before the colon, or an error code. */
  reason?: string;
  /** Of the last attempt. */
  engine?: string;
  /** How it begins, such as `text/html` or `image/`. */
  contentType?: string;
  /** `none`: no response came. */
  statusClass?: '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'none';
  statusCode?: number;
  /** With its port, where that is not the default. */
  host?: string;
  depth?: number;
  /**
   * Rows without a value for it come last. The cursor is for one order only.
   * @default "discoveredAt"
   */
  sort?: 'discoveredAt' | 'url' | 'title' | 'statusCode' | 'finishedAt' | 'bytes' | 'durationMs' | 'depth';
  /** @default "asc" */
  order?: 'asc' | 'desc';
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListJobRowsData {
  items: JobRow[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface SummarizeJobQuery {
  /**
   * `site` is the search for a site’s sitemaps in its robots.txt.
   * @default "page"
   */
  kind?: 'page' | 'sitemap' | 'site' | 'any';
  state?: 'ready' | 'waiting' | 'claimed' | 'done' | 'failed' | 'skipped' | 'denied' | 'cancelled';
  /** In the URL or the title, whichever case its ASCII letters have. */
  text?: string;
  /** A rule such as `scope.exclude:/admin/`, its part before the colon, or an error code. */
  reason?: string;
  /** Of the last attempt. */
  engine?: string;
  /** How it begins, such as `text/html` or `image/`. */
  contentType?: string;
  /** `none`: no response came. */
  statusClass?: '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'none';
  statusCode?: number;
  /** With its port, where that is not the default. */
  host?: string;
  depth?: number;
}

export interface ListJobPathsQuery {
  /**
   * `url` of the entry to open; left out: the origins of the job.
   * @default ""
   */
  under?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListJobPathsData {
  items: JobPath[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface GetJobPageLinksQuery {
  /** The page asked about. */
  url: string;
  /**
   * Incoming links at most.
   * @default 100
   */
  limit?: number;
  /** `nextCursor` of the answer before. */
  cursor?: string;
}

export interface DiffJobsQuery {
  /** The earlier job. */
  against: string;
  /** Only these, with commas between them: ADDED, REMOVED, MODIFIED, UNCHANGED, MOVED, REVERTED, NOT_COVERED. Unless given: all but UNCHANGED. */
  type?: string;
  /** What counts as a change, as JSON: `{"watch": …, "ignore": …, "threshold": …}`; see docs/diff.md. */
  rules?: string;
  /**
   * `true`: count the URLs of each type as well, which looks at all of them (10,000 at most).
   * @default "false"
   */
  summary?: 'true' | 'false';
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface DiffJobsData {
  items: SiteChange[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
  /** Only where it was asked for. */
  summary?: DiffJobsDataSummary;
  links: SelfLink;
}

/** Only where it was asked for. */
export interface DiffJobsDataSummary {
  /** URLs of each type. */
  counts: DiffJobsDataSummaryCounts;
  isWhole: boolean;
}

/** URLs of each type. */
export interface DiffJobsDataSummaryCounts {
  ADDED: number;
  REMOVED: number;
  MODIFIED: number;
  UNCHANGED: number;
  MOVED: number;
  REVERTED: number;
  NOT_COVERED: number;
}

export interface SearchQuery {
  /** Words to search for. */
  q: string;
  /** Only pages of this host. */
  host?: string;
  /** Only pages whose newest content is of this job. */
  job?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Hits per answer at most.
   * @default 20
   */
  limit?: number;
}

export interface SearchData {
  items: SearchHit[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface StreamJobEventsQuery {
  /** `id` of the last event you have; the header `Last-Event-ID` says the same and goes first. */
  after?: string;
  /** Comma-separated types; left out: all. `progress`, `log`, `job.created`, `job.started`, `job.stopping`, `job.resumed`, `job.completed`, `job.partially_completed`, `job.failed`, `job.cancelled`, `page.done`, `page.failed`, `page.changed`, `monitor.changed`, `monitor.failed`, `monitor.recovered`, `schedule.missed`, `export.ready`, `export.failed`, `account.low_credits`, `webhook.disabled`, `job.*`, `page.*`, `monitor.*`, `schedule.*`, `export.*`, `account.*`, `webhook.*`. */
  types?: string;
}

export interface StreamEventsQuery {
  /** `id` of the last event you have; the header `Last-Event-ID` says the same and goes first. */
  after?: string;
  /** Comma-separated types; left out: all. `progress`, `log`, `job.created`, `job.started`, `job.stopping`, `job.resumed`, `job.completed`, `job.partially_completed`, `job.failed`, `job.cancelled`, `page.done`, `page.failed`, `page.changed`, `monitor.changed`, `monitor.failed`, `monitor.recovered`, `schedule.missed`, `export.ready`, `export.failed`, `account.low_credits`, `webhook.disabled`, `job.*`, `page.*`, `monitor.*`, `schedule.*`, `export.*`, `account.*`, `webhook.*`. */
  types?: string;
}

export interface ListNotificationsQuery {
  /** Only events of this type; `monitor.*` stands for all that begin so. */
  type?: string;
  /** Only this level. */
  level?: 'good' | 'neutral' | 'warning' | 'bad';
  /** `id` of the newest one you have: the list ends before it. */
  after?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 50
   */
  limit?: number;
}

export interface ListNotificationsData {
  items: Notification[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListJobExportsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListJobExportsData {
  items: Export[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListExportsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface DownloadExportQuery {
  /** Of a signed link. */
  expires?: number;
  /** Of a signed link, in place of an API key. */
  signature?: string;
}

export interface ListPageHistoryQuery {
  /** The page. */
  url: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListPageHistoryData {
  items: Snapshot[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListSightingsQuery {
  /** The page. */
  url?: string;
  /** The job. */
  job?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListSightingsData {
  items: Sighting[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface GetSnapshotQuery {
  /** Contents in the answer, separated by commas: text, markdown, html, rawHtml. */
  formats: ('text' | 'markdown' | 'html' | 'rawHtml')[];
  /**
   * `false`: text and Markdown of the whole page, navigation included.
   * @default "true"
   */
  onlyMainContent?: 'true' | 'false';
}

export interface DiffSnapshotsQuery {
  /**
   * `rules`: all that the rules watch. `text`, `word`: the visible text by words. `line`: by lines. `html`: elements and text, also as HTML with `ins` and `del`. `json`: a JSON Patch (RFC 6902) of JSON bodies, else of fields. `fields`: title, price, availability and extracted fields. `visual`: the pixels of the screenshots.
   * @default "rules"
   */
  mode?: 'rules' | 'text' | 'word' | 'line' | 'html' | 'json' | 'fields' | 'visual';
  /** What counts as a change, as JSON: `{"watch": …, "ignore": …, "threshold": …}`; see docs/diff.md. */
  rules?: string;
}

export interface ListSchedulesQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListSchedulesData {
  items: Schedule[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface PreviewScheduleData {
  timeZone: string;
  items: PreviewScheduleDataItems[];
}

export interface PreviewScheduleDataItems {
  /** The tick. */
  at: string;
  /** The same by the clock of the time zone. */
  local: string;
  /** The tick with its jitter. */
  runsAt: string;
}

export interface ListScheduleRunsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListScheduleRunsData {
  items: ScheduleRun[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListMonitorsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListMonitorsData {
  items: Monitor[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListMonitorChangesQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
  /** Only changes of this kind. */
  kind?: 'ADDED' | 'REMOVED' | 'MODIFIED' | 'MOVED' | 'REVERTED';
  /** Only changes of this page. */
  url?: string;
  /** Only the change with this id. */
  change?: string;
  /** Only changes from this time on. */
  since?: string;
}

export interface ListMonitorChangesData {
  items: MonitorChange[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListSessionsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListSessionsData {
  items: Session[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListCredentialsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListCredentialsData {
  items: Credential[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListWebhooksQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListWebhooksData {
  items: Webhook[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListDeliveriesQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
  /** Only those in this state. */
  state?: 'pending' | 'delivered' | 'failed';
  /** Only those of this type of event. */
  event?: string;
}

export interface ListDeliveriesData {
  items: Delivery[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListDomainsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListDomainsData {
  items: Domain[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface RemoveOptOutData {
  host: string;
  removed: boolean;
}

export interface ListOwnerRequestsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListOwnerRequestsData {
  items: ListedOwnerRequest[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListKeysQuery {
  /** Another account, for the operator; left out: the account of the key. */
  account?: string;
}

export interface ListKeysData {
  items: Key[];
  nextCursor: unknown;
}

export interface GetKeyQuery {
  /** Another account, for the operator; left out: the account of the key. */
  account?: string;
}

export interface RevokeKeyQuery {
  /** Another account, for the operator; left out: the account of the key. */
  account?: string;
}

export interface RevokeKeyData {
  id: string;
  revoked: boolean;
}

export interface ListAccountsQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListAccountsData {
  items: Account[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface CreateAccountData {
  account: Account;
  key: NewKey;
}

export interface DeleteAccountQuery {
  /** The name of the account. */
  confirm: string;
}

export interface DeleteAccountData {
  id: string;
  deletingSince: string;
  /** Jobs that are still to be deleted. */
  jobs: number;
}

export interface ListCreditEntriesQuery {
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListCreditEntriesData {
  items: CreditEntry[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListUsageQuery {
  /** @default "day" */
  by?: 'day' | 'key' | 'job' | 'engine' | 'host';
  /** A date; left out: 29 days before `to`. */
  from?: string;
  /** A date; left out: today. */
  to?: string;
  /** Another account, for the operator; left out: the account of the key. */
  account?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListUsageData {
  items: Usage[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListAuditQuery {
  /** Entries with exactly this action. */
  action?: string;
  actor?: string;
  target?: string;
  /** Entries of this time or later. */
  since?: string;
  /** Entries before this time. */
  until?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListAuditData {
  items: AuditEntry[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface ListSettingsData {
  items: Setting[];
}

export interface RunDoctorData {
  isHealthy: boolean;
  items: DoctorFinding[];
}

export interface ListLogLinesQuery {
  /** Lines of this level and above. */
  level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  /** In the line, whichever case its letters have. */
  text?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /**
   * Items per page at most.
   * @default 100
   */
  limit?: number;
}

export interface ListLogLinesData {
  items: LogLine[];
  /** Where the next page begins; null at the end. */
  nextCursor: string | null;
}

export interface GetHealthData {
  status: 'ok';
  version: string;
}

export interface GetReadinessData {
  status: 'ready' | 'degraded';
  parts: Record<string, GetReadinessDataParts>;
}

export interface GetReadinessDataParts {
  /** degraded: this process goes on without it, or with less of it. */
  status: 'ok' | 'degraded' | 'failing';
  /** How long the try took. */
  ms: number;
  code?: string;
  message?: string;
}

export type KeyScope = 'scrape' | 'jobs:read' | 'jobs:write' | 'exports' | 'schedules' | 'webhooks' | 'read' | 'write' | 'credentials' | 'credentials:read' | 'admin';

export type PageAction = PageActionClick | PageActionHover | PageActionBack | PageActionUpload | PageActionType | PageActionPress | PageActionSelect | PageActionWait | PageActionScroll | PageActionEvaluate | PageActionScreenshot;

/** An engine, or one of a plug-in, such as `lab:fetcher`. */
export type PageEngine = 'auto' | 'http' | 'browser' | 'flaresolverr' | 'stealth' | 'firecrawl' | 'replay' | string;

export type PageFormat = 'html' | 'rawHtml' | 'text' | 'links' | 'metadata' | 'markdown' | 'content' | 'structured' | 'screenshot' | 'pdf' | 'xhr';

export type PutCredentialRequest = PutCredentialRequestLogin | PutCredentialRequestBasic | PutCredentialRequestBearer | PutCredentialRequestHeaders | PutCredentialRequestCookies;

export type ScheduledJob = ScheduledScrape | ScheduledBatch | ScheduledCrawl;

/** What each operation takes and gives, by its id. */
export interface Operations {
  /** Waits for the page and answers 200 with what `formats` asks for, or 202 with a job when `async` is true. A page that arrived but is an error, a block or a challenge, or on which a step failed, is answered 200 too, with what there is and `error` beside it. `X-Scrapifie-Credits-Cost` says what it has cost, and `X-Scrapifie-Credits-Remaining` what the account has left, where it is limited. Needs a key with the scope `scrape`. */
  scrape: {
    body: ScrapeRequest;
    data: Scrape | AcceptedJob;
  };
  /** All URLs are stored before the answer. One invalid URL refuses the request and is named, unless `ignoreInvalidUrls` is true. Needs a key with the scope `jobs:write`. */
  startBatch: {
    body: BatchRequest;
    data: AcceptedBatch;
  };
  /** Crawl sites from seed URLs or sitemaps. Needs a key with the scope `jobs:write`. */
  startCrawl: {
    body: CrawlRequest;
    data: AcceptedJob;
  };
  /** Reads the sitemaps and the links of the start page; nothing else is fetched. Needs a key with the scope `scrape`. */
  mapSite: {
    body: MapRequest;
    data: Map | AcceptedJob;
  };
  /** Answers with the same fields as a scrape, without fetching or keeping anything. `statusCode` is null. Rules with a mistake are answered 422 with the place of each. Needs a key with the scope `scrape` or `read`. */
  extract: {
    body: ExtractRequest;
    data: Page;
  };
  /** Nothing is fetched. A request that would be refused for what it says is refused here as well. Needs a key with the scope `jobs:read`. */
  estimateJob: {
    body: EstimateJobRequest;
    data: Estimate;
  };
  /** List jobs, newest first. Needs a key with the scope `jobs:read`. */
  listJobs: {
    query: ListJobsQuery;
    data: ListJobsData;
  };
  /** One job, and what it waits for. Needs a key with the scope `jobs:read`. */
  getJob: {
    path: { id: string };
    data: Job;
  };
  /** Delete a job that has ended, with its pages and ledger. Needs a key with the scope `jobs:write`. */
  deleteJob: {
    path: { id: string };
    data: Deleted;
  };
  /** URLs not yet begun are dropped; what runs is finished and kept. `resume` brings them back. 409 for a job that has ended. Needs a key with the scope `jobs:write`. */
  cancelJob: {
    path: { id: string };
    data: Job;
  };
  /** Go on with a cancelled job, or one whose budget was spent. Needs a key with the scope `jobs:write`. */
  resumeJob: {
    path: { id: string };
    body: ResumeJobRequest;
    data: Job;
  };
  /** Try the failed URLs of a job again. Needs a key with the scope `jobs:write`. */
  retryJob: {
    path: { id: string };
    data: Job;
  };
  /** In the order they were stored. A page of the list may be shorter than `limit`. With `Accept: application/x-ndjson` everything is streamed, one object per line. Needs a key with the scope `jobs:read`. */
  listJobResults: {
    path: { id: string };
    query: ListJobResultsQuery;
    data: ListJobResultsData;
  };
  /** Without `state`: first those that failed, then those that were denied. Needs a key with the scope `jobs:read`. */
  listJobErrors: {
    path: { id: string };
    query: ListJobErrorsQuery;
    data: ListJobErrorsData;
  };
  /** With `Accept: application/x-ndjson` everything is streamed, one object per line. Needs a key with the scope `jobs:read`. */
  listJobUrls: {
    path: { id: string };
    query: ListJobUrlsQuery;
    data: ListJobUrlsData;
  };
  /** Why a URL was fetched, skipped, denied, given up, or never seen, as sentences. Needs a key with the scope `jobs:read`. */
  explainJobUrl: {
    path: { id: string };
    query: ExplainJobUrlQuery;
    data: Why;
  };
  /** Where no job knows it, the newest job says what it would have decided. Jobs that the key may not read are passed over. Needs a key with the scope `jobs:read`. */
  explainUrl: {
    query: ExplainUrlQuery;
    data: Why;
  };
  /** Without contents and without attempts: `results` and `why` have these. With a filter, a page of the list may be shorter than `limit`, and empty, although `nextCursor` leads on. Jobs of more than 2,000,000 URLs can be sorted by `discoveredAt` only (QUERY_TOO_LARGE). Needs a key with the scope `jobs:read`. */
  listJobRows: {
    path: { id: string };
    query: ListJobRowsQuery;
    data: ListJobRowsData;
  };
  /** With the filters of `rows`, only of the URLs that they leave. Needs a key with the scope `jobs:read`. */
  summarizeJob: {
    path: { id: string };
    query: SummarizeJobQuery;
    data: JobSummary;
  };
  /** The addresses of a job as a tree: what is below a beginning, with counts. Needs a key with the scope `jobs:read`. */
  listJobPaths: {
    path: { id: string };
    query: ListJobPathsQuery;
    data: ListJobPathsData;
  };
  /** Of the outgoing links the first 1000 are shown. Incoming links are looked for in the stored pages of the job, 20,000 at a time: an answer may have none although `nextCursor` leads on. Answers with a cursor have no outgoing links. Needs a key with the scope `jobs:read`. */
  getJobPageLinks: {
    path: { id: string };
    query: GetJobPageLinksQuery;
    data: JobPageLinks;
  };
  /** One entry per URL, in an order that is always the same. A page of the list may be shorter than `limit`, and empty, although `nextCursor` leads on. With `Accept: application/x-ndjson` everything is streamed, one object per line. Needs a key with the scope `jobs:read`. */
  diffJobs: {
    path: { id: string };
    query: DiffJobsQuery;
    data: DiffJobsData;
  };
  /** Runs other rules, types or formats over the pages as they were stored, without a single request. Streams one page per line in the order they were stored; a page that cannot be read has an `error`. Nothing stored changes. Needs a key with the scope `jobs:read`. */
  reextractJob: {
    path: { id: string };
    body: ReextractRequest;
  };
  /** Filters, groups and counts what the account has stored. Times are ISO 8601, in UTC where they name no zone. With `sql` in place of `from` it is SQL over the lake, which may also be streamed, one object per line, with `Accept: application/x-ndjson`; see docs/query.md. A query may take ten seconds. Fields by source: **pages**: `jobId` text, `jobKind` text, `url` text, `host` text, `finalUrl` text, `statusCode` number, `contentType` text, `charset` text, `fetchedAt` time, `depth` number, `contentHash` text, `textHash` text, `bytes` number, `title` text, `etag` text, `lastModified` text, `duplicateOf` text, `errorCode` text, `errorMessage` text, `description` text, `language` text, `canonical` text, `robots` text, `h1` text, `outcome` text, `linkCount` number, `imageCount` number, `extractedType` text. **links**: `url` text, `host` text, `text` text, `rel` text, `from` text, `isInternal` boolean, `position` number, `jobId` text, `pageUrl` text, `pageHost` text, `pageTitle` text, `fetchedAt` time, `depth` number, `statusCode` number. **records**: `type` text, `probability` number, `data` json, `jobId` text, `url` text, `host` text, `title` text, `fetchedAt` time, `depth` number, `statusCode` number, `contentHash` text. **snapshots**: `id` text, `url` text, `host` text, `hash` text, `firstSeenAt` time, `lastSeenAt` time, `timesSeen` number, `finalUrl` text, `statusCode` number, `contentType` text, `contentHash` text, `bytes` number, `title` text, `price` number, `currency` text, `availability` text, `jobId` text. Needs a key with the scope `jobs:read`. */
  query: {
    body: QueryRequest;
    data: QueryResult;
  };
  /** Finds pages of jobs with `search: true`: the newest content of each URL, best first. All words must be on the page. `"a b"` is a phrase, `wor*` the beginning of a word, `-word` must not be on the page, `a OR b` is either, `title:word` must be in the title. Case and accents do not matter. See docs/search.md. Needs a key with the scope `jobs:read`. */
  search: {
    query: SearchQuery;
    data: SearchData;
  };
  /** Server-sent events. `Last-Event-ID` (or `after`) goes on after an event, with nothing missed and nothing repeated. The stream of a job that has ended ends after its last event, with `end`. Needs a key with the scope `jobs:read`. */
  streamJobEvents: {
    path: { id: string };
    query: StreamJobEventsQuery;
  };
  /** Server-sent events. `Last-Event-ID` (or `after`) goes on after an event, with nothing missed and nothing repeated. Without either it begins with what happens from now on; `after=0-0-0` begins with the oldest event that is kept. Needs a key with the scope `jobs:read`. */
  streamEvents: {
    query: StreamEventsQuery;
  };
  /** Events of the account as short messages, without those of single pages and of beginnings. They are kept as long as events are. A page of the list may be shorter than `limit`, and empty, although `nextCursor` leads on. Needs a key with the scope `jobs:read`. */
  listNotifications: {
    query: ListNotificationsQuery;
    data: ListNotificationsData;
  };
  /** The bytes themselves, with their type. `ETag` is their hash: with `If-None-Match` the answer is 304 while they are the same. Needs a key with the scope `jobs:read`. */
  getArtifact: {
    path: { id: string; page: string; name: string };
  };
  /** The stored HTML, as the browser had it where the page was rendered, written anew without scripts, forms, frames and addresses that a browser would ask for, and under a policy that refuses all of them: safe to be shown in a frame. Pages of more than a million characters are cut. Needs a key with the scope `jobs:read`. */
  previewPage: {
    path: { id: string; page: string };
  };
  /** The stored HTML, as the browser had it where the page was rendered, written anew without scripts, forms, frames and addresses that a browser would ask for, and under a policy that refuses all of them: safe to be shown in a frame. Pages of more than a million characters are cut. Needs a key with the scope `jobs:read`. */
  previewSnapshot: {
    path: { id: string };
  };
  /** The file is written in the background, of what is stored of the job by then, in the order of the URLs. Ask for the export until its `status` is `ready`, or wait for the event `export.ready`. Needs a key with the scope `exports`. */
  createExport: {
    path: { id: string };
    body: ExportRequest;
    data: Export;
  };
  /** List the exports of a job, newest first. Needs a key with the scope `exports`. */
  listJobExports: {
    path: { id: string };
    query: ListJobExportsQuery;
    data: ListJobExportsData;
  };
  /** List exports, newest first. Needs a key with the scope `exports`. */
  listExports: {
    query: ListExportsQuery;
    data: ListJobExportsData;
  };
  /** One export. Needs a key with the scope `exports`. */
  getExport: {
    path: { id: string };
    data: Export;
  };
  /** One that is being written is stopped. Links to it stop working. Needs a key with the scope `exports`. */
  deleteExport: {
    path: { id: string };
    data: Deleted;
  };
  /** With an API key, or by the signed link that an export has as `url`. `Range` gives a part of it, `ETag` is its SHA-256. Needs a key with the scope `exports`. */
  downloadExport: {
    path: { id: string };
    query: DownloadExportQuery;
  };
  /** Each distinct content that jobs with `snapshots` have seen at the URL, the one that was seen last first. Errors, block pages, CAPTCHAs, log-in walls, missing and empty pages are not in it. See docs/snapshots.md. Needs a key with the scope `jobs:read`. */
  listPageHistory: {
    query: ListPageHistoryQuery;
    data: ListPageHistoryData;
  };
  /** Of one page, the newest first; or of one job, in the order in which its pages were stored. Give `url` or `job`. Needs a key with the scope `jobs:read`. */
  listSightings: {
    query: ListSightingsQuery;
    data: ListSightingsData;
  };
  /** With `formats`, what it said, read from the stored body. Null for a body that has no such format. Needs a key with the scope `jobs:read`. */
  getSnapshot: {
    path: { id: string };
    query: GetSnapshotQuery;
    data: SnapshotContent;
  };
  /** The picture of a snapshot. Needs a key with the scope `jobs:read`. */
  getSnapshotPicture: {
    path: { id: string };
  };
  /** The first snapshot is the earlier one. With `mode=visual` and `Accept: image/png` the answer is the later picture in grey with what changed in red. See docs/diff.md. Needs a key with the scope `jobs:read`. */
  diffSnapshots: {
    path: { id: string; other: string };
    query: DiffSnapshotsQuery;
    data: SnapshotDiff;
  };
  /** By a cron line in a time zone, or at an interval. The job is checked now as it will be with every run. A local time that does not exist runs once when the clock has jumped over it; one that occurs twice runs once. Needs a key with the scope `schedules`. */
  createSchedule: {
    body: ScheduleRequest;
    data: Schedule;
  };
  /** List schedules, newest first. Needs a key with the scope `schedules`. */
  listSchedules: {
    query: ListSchedulesQuery;
    data: ListSchedulesData;
  };
  /** The next ten times of a schedule that is not stored. Needs a key with the scope `schedules`. */
  previewSchedule: {
    body: SchedulePreviewRequest;
    data: PreviewScheduleData;
  };
  /** One schedule. Needs a key with the scope `schedules`. */
  getSchedule: {
    path: { id: string };
    data: Schedule;
  };
  /** Fields that are left out stay. With other times it goes on at the first of them from now; an interval that is changed is counted from now. Needs a key with the scope `schedules`. */
  updateSchedule: {
    path: { id: string };
    body: ScheduleUpdate;
    data: Schedule;
  };
  /** Delete a schedule with its history; its jobs stay. Needs a key with the scope `schedules`. */
  deleteSchedule: {
    path: { id: string };
    data: Deleted;
  };
  /** It does not run until `resume`. Runs that wait are skipped; jobs go on. Needs a key with the scope `schedules`. */
  pauseSchedule: {
    path: { id: string };
    data: Schedule;
  };
  /** It goes on with its next time from now; what was passed over meanwhile is not made up for. Needs a key with the scope `schedules`. */
  resumeSchedule: {
    path: { id: string };
    data: Schedule;
  };
  /** By its rule for overlaps: 409 when it is skipped because the job before goes on; `waiting` when it waits for that job. A paused schedule runs, too. Its times stay as they are. Needs a key with the scope `schedules`. */
  runSchedule: {
    path: { id: string };
    data: ScheduleRun;
  };
  /** The last 1,000 entries at least: runs with their jobs, and those that were skipped, refused or missed with the reason. Needs a key with the scope `schedules`. */
  listScheduleRuns: {
    path: { id: string };
    query: ListScheduleRunsQuery;
    data: ListScheduleRunsData;
  };
  /** One run of a schedule. Needs a key with the scope `schedules`. */
  getScheduleRun: {
    path: { id: string; run: string };
    data: ScheduleRun;
  };
  /** Of a paused schedule those that it would have. Needs a key with the scope `schedules`. */
  listScheduleTimes: {
    path: { id: string };
    data: PreviewScheduleData;
  };
  /** The first check begins at once and makes the baseline. Changes are told by the events `page.changed` and `monitor.changed`; clocks, counters, advertisements, outages and block pages are none. See docs/monitors.md. Needs a key with the scope `schedules`. */
  createMonitor: {
    body: MonitorRequest;
    data: Monitor;
  };
  /** List monitors, newest first. Needs a key with the scope `schedules`. */
  listMonitors: {
    query: ListMonitorsQuery;
    data: ListMonitorsData;
  };
  /** Fetches the page and answers with the texts and fields that a monitor would compare. Needs a key with the scope `schedules`. */
  previewMonitor: {
    body: MonitorPreviewRequest;
    data: MonitorPreview;
  };
  /** One monitor. Needs a key with the scope `schedules`. */
  getMonitor: {
    path: { id: string };
    data: Monitor;
  };
  /** Fields that are left out stay. With another `watch`, `ignore`, `site` or `sitemap` the next check makes a new baseline. `SECRETS_BOUND` when a URL has an origin that was not watched before, and `options` that stay hold headers, cookies or typed text. Needs a key with the scope `schedules`. */
  updateMonitor: {
    path: { id: string };
    body: MonitorUpdate;
    data: Monitor;
  };
  /** Delete a monitor with its schedule and changes; its jobs stay. Needs a key with the scope `schedules`. */
  deleteMonitor: {
    path: { id: string };
    data: Deleted;
  };
  /** Pause a monitor. Needs a key with the scope `schedules`. */
  pauseMonitor: {
    path: { id: string };
    data: Monitor;
  };
  /** Go on with a paused monitor. Needs a key with the scope `schedules`. */
  resumeMonitor: {
    path: { id: string };
    data: Monitor;
  };
  /** 409 while a check is under way. A paused monitor checks, too. Its times stay as they are. Needs a key with the scope `schedules`. */
  runMonitor: {
    path: { id: string };
    data: ScheduleRun;
  };
  /** The last 10,000 at least, each with its structured diff. Needs a key with the scope `schedules`. */
  listMonitorChanges: {
    path: { id: string };
    query: ListMonitorChangesQuery;
    data: ListMonitorChangesData;
  };
  /** Keeps cookies, storage, proxy and identity from page to page. A request that names a session which is not there creates it, too. Needs a key with the scope `jobs:write`. */
  createSession: {
    body: SessionRequest;
    data: SessionDetail;
  };
  /** List sessions, newest first. Needs a key with the scope `jobs:read`. */
  listSessions: {
    query: ListSessionsQuery;
    data: ListSessionsData;
  };
  /** One session, without what its cookies and storage hold. Needs a key with the scope `jobs:read`. */
  getSession: {
    path: { name: string };
    data: SessionDetail;
  };
  /** Delete a session with all that it keeps. Needs a key with the scope `jobs:write`. */
  deleteSession: {
    path: { name: string };
    data: DeletedName;
  };
  /** Fetches the page, fills in its log-in form with the credentials of the session and sends it, or does what `actions` say. The session keeps what the site sets. `LOGIN_FAILED` when the site still asks to log in. Needs a key with the scope `jobs:write`. */
  logInSession: {
    path: { name: string };
    body: LoginRequest;
    data: Login;
  };
  /** In place of one of the same name. It is never shown again, and sent to the hosts it names only. Needs `SCRAPIFIE_VAULT_KEY`. Needs a key with the scope `admin`. */
  putCredential: {
    path: { name: string };
    body: PutCredentialRequest;
    data: Credential;
  };
  /** Sessions that name them fail with `NOT_FOUND` from then on. Needs a key with the scope `admin`. */
  deleteCredential: {
    path: { name: string };
    data: DeletedName;
  };
  /** List stored credentials, without their secrets. Needs a key with the scope `jobs:read`. */
  listCredentials: {
    query: ListCredentialsQuery;
    data: ListCredentialsData;
  };
  /** Events of the account are sent to its URL, signed as Standard Webhooks say. The secret is in this answer and nowhere else. Needs a key with the scope `webhooks`. */
  createWebhook: {
    body: WebhookRequest;
    data: NewWebhook;
  };
  /** List webhooks, newest first. Needs a key with the scope `webhooks`. */
  listWebhooks: {
    query: ListWebhooksQuery;
    data: ListWebhooksData;
  };
  /** One webhook, without its secret. Needs a key with the scope `webhooks`. */
  getWebhook: {
    path: { id: string };
    data: Webhook;
  };
  /** Fields that are left out stay as they are. With another origin of the URL or another format, the webhook gets a new secret, which is in the answer; `SECRETS_BOUND` when it has headers and the request does not give them anew. Needs a key with the scope `webhooks`. */
  changeWebhook: {
    path: { id: string };
    body: WebhookUpdate;
    data: ChangedWebhook;
  };
  /** Delete a webhook with its deliveries. Needs a key with the scope `webhooks`. */
  deleteWebhook: {
    path: { id: string };
    data: Deleted;
  };
  /** Messages are signed with both secrets until the overlap is over. Needs a key with the scope `webhooks`. */
  rotateWebhookSecret: {
    path: { id: string };
    body: RotateWebhookSecretRequest;
    data: NewWebhook;
  };
  /** Send a test event to a webhook. Needs a key with the scope `webhooks`. */
  testWebhook: {
    path: { id: string };
    data: DeliveryDetail;
  };
  /** List the deliveries of a webhook, newest first. Needs a key with the scope `webhooks`. */
  listDeliveries: {
    path: { id: string };
    query: ListDeliveriesQuery;
    data: ListDeliveriesData;
  };
  /** One delivery with what was sent and answered. Needs a key with the scope `webhooks`. */
  getDelivery: {
    path: { id: string };
    data: DeliveryDetail;
  };
  /** As a delivery of its own, with the same `webhook-id`, apart from the order of its job. Needs a key with the scope `webhooks`. */
  redeliver: {
    path: { id: string };
    data: DeliveryDetail;
  };
  /** Since the start of each process; those of other processes are some seconds old. Hosts and logins of proxies are not shown. Needs a key with the scope `jobs:read` of the account "default". */
  getProxies: {
    data: Proxies;
  };
  /** Hosts this installation has dealt with. Needs a key with the scope `jobs:read` of the account "default". */
  listDomains: {
    query: ListDomainsQuery;
    data: ListDomainsData;
  };
  /** One host: policy, learned strategy, breaker, robots.txt, opt-out, statistics. Needs a key with the scope `jobs:read` of the account "default". */
  getDomain: {
    path: { host: string };
    data: DomainDetail;
  };
  /** Takes effect at once: open URLs of the host and its subdomains are denied in every job. For the operator: a key with the scope `admin` of the account "default". */
  addOptOut: {
    path: { host: string };
    body: AddOptOutRequest;
    data: DomainDetailOptOut;
  };
  /** Take an opt-out back. For the operator: a key with the scope `admin` of the account "default". */
  removeOptOut: {
    path: { host: string };
    data: RemoveOptOutData;
  };
  /** By the stored robots.txt, or by one that the request brings. Nothing is fetched. Needs a key with the scope `jobs:read` of the account "default". */
  testRobots: {
    path: { host: string };
    body: TestRobotsRequest;
    data: RobotsTest;
  };
  /** Counted by the owner of the host and stored every ten seconds while it works. What a browser loads besides the document of a page is not counted. Needs a key with the scope `jobs:read` of the account "default". */
  listDomainRequests: {
    path: { host: string };
    data: DomainRequests;
  };
  /** Needs no key. The answer says what to publish on the site to show that it is yours; call `check` then. */
  createOwnerRequest: {
    body: CreateOwnerRequestRequest;
    data: OwnerRequest;
  };
  /** Requests of site owners, newest first. For the operator: a key with the scope `admin` of the account "default". */
  listOwnerRequests: {
    query: ListOwnerRequestsQuery;
    data: ListOwnerRequestsData;
  };
  /** A site owner’s request, by the id that its creation answered with. */
  getOwnerRequest: {
    path: { id: string };
    data: OwnerRequest;
  };
  /** Look for the proof; with it, the request takes effect at once for every account. */
  checkOwnerRequest: {
    path: { id: string };
    data: CheckedOwnerRequest;
  };
  /** List API keys. Needs a key with the scope `admin`. */
  listKeys: {
    query: ListKeysQuery;
    data: ListKeysData;
  };
  /** The secret is in this answer and nowhere else: only its hash is kept. A key gives others only scopes that it has itself. Needs a key with the scope `admin`. */
  createKey: {
    body: CreateKeyRequest;
    data: NewKey;
  };
  /** One API key. Needs a key with the scope `admin`. */
  getKey: {
    path: { id: string };
    query: GetKeyQuery;
    data: Key;
  };
  /** Revoke an API key. Needs a key with the scope `admin`. */
  revokeKey: {
    path: { id: string };
    query: RevokeKeyQuery;
    data: RevokeKeyData;
  };
  /** The secret that the key has now goes on for `overlapSeconds`, and so do earlier ones for as long as they were promised to: a rotation whose answer was lost can be repeated. 0 ends all of them at once. A key rotates only keys whose scopes it has itself. Needs a key with the scope `admin`. */
  rotateKey: {
    path: { id: string };
    body: RotateKeyRequest;
    data: NewKey;
  };
  /** The account of the API key, its limits and what it uses of them. */
  getAccount: {
    data: OwnAccount;
  };
  /** List accounts, by id. For the operator: a key with the scope `admin` of the account "default". */
  listAccounts: {
    query: ListAccountsQuery;
    data: ListAccountsData;
  };
  /** The first key has the scope `admin`. Its secret is in this answer and nowhere else: only its hash is kept. For the operator: a key with the scope `admin` of the account "default". */
  createAccount: {
    body: CreateAccountRequest;
    data: CreateAccountData;
  };
  /** One account, and what it uses of its limits. For the operator: a key with the scope `admin` of the account "default". */
  getAccountById: {
    path: { id: string };
    data: AccountWithUse;
  };
  /** Fields that are left out stay. Limits given make the plan `custom`; null lifts a limit. For the operator: a key with the scope `admin` of the account "default". */
  changeAccount: {
    path: { id: string };
    body: ChangeAccountRequest;
    data: Account;
  };
  /** Its keys are refused at once, its jobs are cancelled, and everything of it is deleted in the background; repeat the request to see how far that is, until it answers 404. The audit log keeps its entries. For the operator: a key with the scope `admin` of the account "default". */
  deleteAccount: {
    path: { id: string };
    query: DeleteAccountQuery;
    data: DeleteAccountData;
  };
  /** Its keys are refused within seconds, and its jobs start no further page until it is enabled. For the operator: a key with the scope `admin` of the account "default". */
  disableAccount: {
    path: { id: string };
    data: Account;
  };
  /** Its jobs go on where they were. For the operator: a key with the scope `admin` of the account "default". */
  enableAccount: {
    path: { id: string };
    data: Account;
  };
  /** What an account may spend. For the operator: a key with the scope `admin` of the account "default". */
  getCredits: {
    path: { id: string };
    data: AccountCredits;
  };
  /** From now on pages of its jobs are paid for with its credits. A changed allowance counts for this month. For the operator: a key with the scope `admin` of the account "default". */
  limitCredits: {
    path: { id: string };
    body: LimitCreditsRequest;
    data: AccountCredits;
  };
  /** Granted credits are kept for the next time it is limited. For the operator: a key with the scope `admin` of the account "default". */
  unlimitCredits: {
    path: { id: string };
    data: AccountCredits;
  };
  /** They do not expire. No more can be taken away than the balance has: 409. With an `Idempotency-Key` the same grant is made once, and the same entry is answered. For the operator: a key with the scope `admin` of the account "default". */
  grantCredits: {
    path: { id: string };
    body: GrantCreditsRequest;
    data: CreditEntry;
  };
  /** Grants and allowances of an account, newest first. For the operator: a key with the scope `admin` of the account "default". */
  listCreditEntries: {
    path: { id: string };
    query: ListCreditEntriesQuery;
    data: ListCreditEntriesData;
  };
  /** Sums over the days from `from` to `to` in UTC, both included, at most 366 of them, in the order of their values. What is committed is in it at once, and stays when jobs are deleted. Needs a key with the scope `jobs:read`. */
  listUsage: {
    query: ListUsageQuery;
    data: ListUsageData;
  };
  /** How long the data of the account is kept. Needs a key with the scope `jobs:read`. */
  getRetention: {
    data: Retention;
  };
  /** Fields left out are without limit. The operator and the installation may keep data for a shorter time. Needs a key with the scope `admin`. */
  setRetention: {
    body: RetentionRequest;
    data: Retention;
  };
  /** How long the data of an account is kept. For the operator: a key with the scope `admin` of the account "default". */
  getRetentionOfAccount: {
    path: { id: string };
    data: Retention;
  };
  /** As `PUT /v1/account/retention`, for another account. It is kept apart from what the account says, and the shortest time counts: the account cannot keep data for longer. Fields left out are without limit. For the operator: a key with the scope `admin` of the account "default". */
  setRetentionOfAccount: {
    path: { id: string };
    body: RetentionRequest;
    data: Retention;
  };
  /** Newest entries first. With `Accept: application/x-ndjson` every entry that the conditions select is streamed, oldest first, one object per line: `scrapifie audit verify` checks such a file when no condition was given. Entries are never changed or deleted. For the operator: a key with the scope `admin` of the account "default". */
  listAudit: {
    query: ListAuditQuery;
    data: ListAuditData;
  };
  /** This process and its installation: processes, queues, readiness, memory, storage. For the operator: a key with the scope `admin` of the account "default". */
  getSystem: {
    data: System;
  };
  /** Every setting of this process with its value and where it was given. For the operator: a key with the scope `admin` of the account "default". */
  listSettings: {
    data: ListSettingsData;
  };
  /** Nothing is changed. What the server uses itself, such as the database, is tried by its readiness. For the operator: a key with the scope `admin` of the account "default". */
  runDoctor: {
    data: RunDoctorData;
  };
  /** At most 2,000 lines are kept, in memory, of this process only: in a fleet each API has its own. Secrets are hidden as in the log itself. For the operator: a key with the scope `admin` of the account "default". */
  listLogLines: {
    query: ListLogLinesQuery;
    data: ListLogLinesData;
  };
  /** Whether the process is alive. */
  getHealth: {
    data: GetHealthData;
  };
  /** 503 when it cannot do its work; then `details.parts` has what `data.parts` has otherwise. 503 `SHUTTING_DOWN` when it was told to stop: it still answers for a moment, and balancers send requests elsewhere. */
  getReadiness: {
    data: GetReadinessData;
  };
  /** Needs no key from the addresses in `SCRAPIFIE_METRICS_FROM`. In the format OpenMetrics, with exemplars, where the header Accept asks for `application/openmetrics-text`. Needs a key with the scope `jobs:read` of the account "default". */
  getMetrics: {
  };
}

/** The operations by path and method. */
export interface Paths {
  '/v1/scrape': { post: Operations['scrape'] };
  '/v1/batch': { post: Operations['startBatch'] };
  '/v1/crawl': { post: Operations['startCrawl'] };
  '/v1/map': { post: Operations['mapSite'] };
  '/v1/extract': { post: Operations['extract'] };
  '/v1/estimate': { post: Operations['estimateJob'] };
  '/v1/jobs': { get: Operations['listJobs'] };
  '/v1/jobs/{id}': { get: Operations['getJob']; delete: Operations['deleteJob'] };
  '/v1/jobs/{id}/cancel': { post: Operations['cancelJob'] };
  '/v1/jobs/{id}/resume': { post: Operations['resumeJob'] };
  '/v1/jobs/{id}/retry': { post: Operations['retryJob'] };
  '/v1/jobs/{id}/results': { get: Operations['listJobResults'] };
  '/v1/jobs/{id}/errors': { get: Operations['listJobErrors'] };
  '/v1/jobs/{id}/urls': { get: Operations['listJobUrls'] };
  '/v1/jobs/{id}/why': { get: Operations['explainJobUrl'] };
  '/v1/why': { get: Operations['explainUrl'] };
  '/v1/jobs/{id}/rows': { get: Operations['listJobRows'] };
  '/v1/jobs/{id}/summary': { get: Operations['summarizeJob'] };
  '/v1/jobs/{id}/tree': { get: Operations['listJobPaths'] };
  '/v1/jobs/{id}/links': { get: Operations['getJobPageLinks'] };
  '/v1/jobs/{id}/diff': { get: Operations['diffJobs'] };
  '/v1/jobs/{id}/reextract': { post: Operations['reextractJob'] };
  '/v1/query': { post: Operations['query'] };
  '/v1/search': { get: Operations['search'] };
  '/v1/jobs/{id}/events': { get: Operations['streamJobEvents'] };
  '/v1/events': { get: Operations['streamEvents'] };
  '/v1/notifications': { get: Operations['listNotifications'] };
  '/v1/jobs/{id}/pages/{page}/artifacts/{name}': { get: Operations['getArtifact'] };
  '/v1/jobs/{id}/pages/{page}/preview': { get: Operations['previewPage'] };
  '/v1/snapshots/{id}/preview': { get: Operations['previewSnapshot'] };
  '/v1/jobs/{id}/exports': { post: Operations['createExport']; get: Operations['listJobExports'] };
  '/v1/exports': { get: Operations['listExports'] };
  '/v1/exports/{id}': { get: Operations['getExport']; delete: Operations['deleteExport'] };
  '/v1/exports/{id}/download': { get: Operations['downloadExport'] };
  '/v1/pages': { get: Operations['listPageHistory'] };
  '/v1/sightings': { get: Operations['listSightings'] };
  '/v1/snapshots/{id}': { get: Operations['getSnapshot'] };
  '/v1/snapshots/{id}/screenshot': { get: Operations['getSnapshotPicture'] };
  '/v1/snapshots/{id}/diff/{other}': { get: Operations['diffSnapshots'] };
  '/v1/schedules': { post: Operations['createSchedule']; get: Operations['listSchedules'] };
  '/v1/schedules/preview': { post: Operations['previewSchedule'] };
  '/v1/schedules/{id}': { get: Operations['getSchedule']; patch: Operations['updateSchedule']; delete: Operations['deleteSchedule'] };
  '/v1/schedules/{id}/pause': { post: Operations['pauseSchedule'] };
  '/v1/schedules/{id}/resume': { post: Operations['resumeSchedule'] };
  '/v1/schedules/{id}/run': { post: Operations['runSchedule'] };
  '/v1/schedules/{id}/runs': { get: Operations['listScheduleRuns'] };
  '/v1/schedules/{id}/runs/{run}': { get: Operations['getScheduleRun'] };
  '/v1/schedules/{id}/next': { get: Operations['listScheduleTimes'] };
  '/v1/monitors': { post: Operations['createMonitor']; get: Operations['listMonitors'] };
  '/v1/monitors/preview': { post: Operations['previewMonitor'] };
  '/v1/monitors/{id}': { get: Operations['getMonitor']; patch: Operations['updateMonitor']; delete: Operations['deleteMonitor'] };
  '/v1/monitors/{id}/pause': { post: Operations['pauseMonitor'] };
  '/v1/monitors/{id}/resume': { post: Operations['resumeMonitor'] };
  '/v1/monitors/{id}/run': { post: Operations['runMonitor'] };
  '/v1/monitors/{id}/changes': { get: Operations['listMonitorChanges'] };
  '/v1/sessions': { post: Operations['createSession']; get: Operations['listSessions'] };
  '/v1/sessions/{name}': { get: Operations['getSession']; delete: Operations['deleteSession'] };
  '/v1/sessions/{name}/login': { post: Operations['logInSession'] };
  '/v1/credentials/{name}': { put: Operations['putCredential']; delete: Operations['deleteCredential'] };
  '/v1/credentials': { get: Operations['listCredentials'] };
  '/v1/webhooks': { post: Operations['createWebhook']; get: Operations['listWebhooks'] };
  '/v1/webhooks/{id}': { get: Operations['getWebhook']; patch: Operations['changeWebhook']; delete: Operations['deleteWebhook'] };
  '/v1/webhooks/{id}/rotate': { post: Operations['rotateWebhookSecret'] };
  '/v1/webhooks/{id}/test': { post: Operations['testWebhook'] };
  '/v1/webhooks/{id}/deliveries': { get: Operations['listDeliveries'] };
  '/v1/deliveries/{id}': { get: Operations['getDelivery'] };
  '/v1/deliveries/{id}/redeliver': { post: Operations['redeliver'] };
  '/v1/proxies': { get: Operations['getProxies'] };
  '/v1/domains': { get: Operations['listDomains'] };
  '/v1/domains/{host}': { get: Operations['getDomain'] };
  '/v1/domains/{host}/opt-out': { post: Operations['addOptOut']; delete: Operations['removeOptOut'] };
  '/v1/domains/{host}/robots-test': { post: Operations['testRobots'] };
  '/v1/domains/{host}/requests': { get: Operations['listDomainRequests'] };
  '/v1/owner-requests': { post: Operations['createOwnerRequest']; get: Operations['listOwnerRequests'] };
  '/v1/owner-requests/{id}': { get: Operations['getOwnerRequest'] };
  '/v1/owner-requests/{id}/check': { post: Operations['checkOwnerRequest'] };
  '/v1/keys': { get: Operations['listKeys']; post: Operations['createKey'] };
  '/v1/keys/{id}': { get: Operations['getKey']; delete: Operations['revokeKey'] };
  '/v1/keys/{id}/rotate': { post: Operations['rotateKey'] };
  '/v1/account': { get: Operations['getAccount'] };
  '/v1/accounts': { get: Operations['listAccounts']; post: Operations['createAccount'] };
  '/v1/accounts/{id}': { get: Operations['getAccountById']; patch: Operations['changeAccount']; delete: Operations['deleteAccount'] };
  '/v1/accounts/{id}/disable': { post: Operations['disableAccount'] };
  '/v1/accounts/{id}/enable': { post: Operations['enableAccount'] };
  '/v1/accounts/{id}/credits': { get: Operations['getCredits']; put: Operations['limitCredits']; delete: Operations['unlimitCredits']; post: Operations['grantCredits'] };
  '/v1/accounts/{id}/credits/entries': { get: Operations['listCreditEntries'] };
  '/v1/usage': { get: Operations['listUsage'] };
  '/v1/account/retention': { get: Operations['getRetention']; put: Operations['setRetention'] };
  '/v1/accounts/{id}/retention': { get: Operations['getRetentionOfAccount']; put: Operations['setRetentionOfAccount'] };
  '/v1/audit': { get: Operations['listAudit'] };
  '/v1/system': { get: Operations['getSystem'] };
  '/v1/system/settings': { get: Operations['listSettings'] };
  '/v1/system/doctor': { post: Operations['runDoctor'] };
  '/v1/system/log': { get: Operations['listLogLines'] };
  '/healthz': { get: Operations['getHealth'] };
  '/readyz': { get: Operations['getReadiness'] };
  '/metrics': { get: Operations['getMetrics'] };
}
