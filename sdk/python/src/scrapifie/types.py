"""Types of requests and answers, made from the OpenAPI document by scripts/write-client-types.ts."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union


class _AcceptedBatch(TypedDict, total=False):
    #: The page asked for, for a single scrape or a map.
    url: str
    #: With `ignoreInvalidUrls`: what was submitted and is no URL, each with the reason.
    invalidUrls: list[AcceptedBatchInvalidUrls]


class AcceptedBatch(_AcceptedBatch):
    id: str
    kind: str
    status: str
    #: URLs the job starts with, duplicates left out.
    urls: int
    statusUrl: str
    resultsUrl: str
    links: JobLinks


class AcceptedBatchInvalidUrls(TypedDict):
    url: str
    message: str


class _AcceptedJob(TypedDict, total=False):
    #: The page asked for, for a single scrape or a map.
    url: str


class AcceptedJob(_AcceptedJob):
    id: str
    kind: str
    status: str
    #: URLs the job starts with, duplicates left out.
    urls: int
    statusUrl: str
    resultsUrl: str
    links: JobLinks


class Account(TypedDict):
    id: str
    name: str
    #: A plan of the settings, or `custom`.
    plan: str
    limits: AccountLimits
    #: Since when its keys are refused; null: it is in use.
    disabledAt: str | None
    #: Since when it is being deleted, which cannot be undone; null: it is not.
    deletingSince: str | None
    createdAt: str
    updatedAt: str
    links: SelfLink


class AccountCredits(TypedDict):
    #: What is left to spend; null: it is not limited.
    credits: Credits | None


class AccountLimits(TypedDict):
    #: Requests to the API per minute, over all keys; null: no limit of its own.
    requestsPerMinute: int | None
    #: Pages fetched at the same time, over all processes; null: no limit.
    concurrentPages: int | None
    #: URLs of its jobs that have not ended; null: no limit.
    openUrls: int | None
    #: Bytes of the bodies that its jobs have stored, before compression; null: no limit.
    storedBytes: int | None


class AccountLimitsRequest(TypedDict, total=False):
    #: Requests to the API per minute, over all keys; null: no limit of its own.
    requestsPerMinute: int | None
    #: Pages fetched at the same time, over all processes; null: no limit.
    concurrentPages: int | None
    #: URLs of its jobs that have not ended; null: no limit.
    openUrls: int | None
    #: Bytes of the bodies that its jobs have stored, before compression; null: no limit.
    storedBytes: int | None


class AccountUse(TypedDict):
    openUrls: int
    #: Pages that are claimed by a worker.
    concurrentPages: int
    storedBytes: int


class AccountWithUse(TypedDict):
    id: str
    name: str
    #: A plan of the settings, or `custom`.
    plan: str
    limits: AccountLimits
    #: Since when its keys are refused; null: it is in use.
    disabledAt: str | None
    #: Since when it is being deleted, which cannot be undone; null: it is not.
    deletingSince: str | None
    createdAt: str
    updatedAt: str
    links: SelfLink
    used: AccountUse


class _ActionResult(TypedDict, total=False):
    #: Of `evaluate`: what the script returned.
    value: Any
    #: Of `screenshot`.
    screenshot: Artifact


class ActionResult(_ActionResult):
    type: str
    ms: int


_ActiveHoursReserved = TypedDict("_ActiveHoursReserved", {"from": "str"}, total=False)


class _ActiveHours(_ActiveHoursReserved, total=False):
    #: Days on which they begin, 0 is Sunday; empty: every day.
    days: list[int]


class ActiveHours(_ActiveHours):
    #: The local time at which they end, at most `24:00`; before `from`: the next day.
    to: str


class AddOptOutRequest(TypedDict, total=False):
    reason: str
    #: Contact of the person who asked for the opt-out.
    contact: str | None


class _Artifact(TypedDict, total=False):
    #: With `inline: true`; null when the bytes are gone.
    base64: str | None


class Artifact(_Artifact):
    #: Where it can be fetched, with the API key.
    url: str
    contentType: str
    bytes: int


_AttemptReserved = TypedDict("_AttemptReserved", {"yield": "AttemptYield"}, total=False)


class _Attempt(_AttemptReserved, total=False):
    #: The proxy by its id, as in `GET /v1/proxies`; `own/…` for one of the caller’s.
    proxyId: str
    #: `browser` when the request carried the identity of a regular browser.
    identity: str
    #: A solver service was allowed to help.
    hasSolver: bool
    #: What decided the outcome.
    evidence: str
    #: Of an attempt that led on: the redirects it followed.
    redirects: list[Redirect]
    #: The page led on to another host, where the next attempt was made.
    ledOn: bool
    #: Whose block or challenge it is, where that is known.
    vendor: str
    errorCode: str
    #: Between the claim of the URL by a worker and the request: for robots.txt, the host’s gate and a free place.
    waitedMs: float
    #: What was used beside the request, as far as it has a price.
    extras: AttemptExtras
    #: What it costs in millionths of a credit; left out: nothing.
    microcredits: int


class Attempt(_Attempt):
    engine: str
    proxyTier: str | None
    #: Why this attempt was made this way.
    reason: str
    outcome: str
    statusCode: int | None
    ms: float
    bytes: int
    at: str


class AttemptYield(TypedDict):
    textLength: int
    linkCount: int


class AttemptExtras(TypedDict, total=False):
    tokens: int
    solverCalls: int
    screenshots: int
    pdfs: int


class AuditEntry(TypedDict):
    #: 1 for the first entry; no number is left out.
    seq: int
    at: str
    #: The id of an API key, an address, an account, or `command line`.
    actor: str
    #: What was done, such as `key.create`.
    action: str
    target: str
    details: dict[str, Any]
    #: `hash` of the entry before; zeros for the first.
    previousHash: str
    #: SHA-256 over this entry and `previousHash`; docs/security.md says how.
    hash: str


class BatchPageOptions(TypedDict, total=False):
    #: How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
    engine: Union[Literal["auto", "http", "browser", "flaresolverr", "stealth", "firecrawl", "replay"], str]
    #: Formats that are kept of each page and returned.
    formats: list[Literal["html", "rawHtml", "text", "links", "metadata", "markdown", "content", "structured", "screenshot", "pdf", "xhr"]]
    #: Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.
    inline: bool
    #: Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
    headers: dict[str, str]
    #: Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret (`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.
    crossOriginHeaders: list[str]
    #: Cookies to send to the origin of the URL.
    cookies: dict[str, str]
    #: What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
    extract: ExtractOptions | None
    #: `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
    onlyMainContent: bool
    #: CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
    includeTags: list[str]
    #: CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
    excludeTags: list[str]
    #: Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
    maxPdfPages: int
    #: What to wait for before the page is read. Needs a browser.
    wait: PageWait | None
    #: Go down the page until it grows no more, for lists that load on the way. Needs a browser. Unless given, a page that is rendered for the types `job_posting` and `linkedin_profile` is scrolled a little.
    scroll: Union[bool, PageScroll] | None
    #: What to do on the page, in this order, before it is read. The first step that fails ends them, is named by the error, and what there was by then is kept. Needs a browser.
    actions: list[Union[PageActionClick, PageActionHover, PageActionBack, PageActionUpload, PageActionType, PageActionPress, PageActionSelect, PageActionWait, PageActionScroll, PageActionEvaluate, PageActionScreenshot]]
    #: How the picture is taken; asks for the format `screenshot` as well. Needs a browser.
    screenshot: PageScreenshot | None
    #: What a browser need not load.
    blockResources: list[Literal["images", "fonts", "media", "trackers"]]
    #: Size of the window in pixels; 1280 × 800 unless given, 412 × 915 with `mobile`. Needs a browser.
    viewport: PageViewport | None
    #: Show pages as on a phone: touch, a narrow window, `Mobile` in the user agent. Needs a browser.
    mobile: bool
    #: Where pages that ask for the position find the browser. Needs a browser.
    geolocation: PageGeolocation | None
    #: Language of the browser, which sites also get as `Accept-Language`. Needs a browser.
    locale: str | None
    #: Time zone of the browser. Needs a browser.
    timezone: str | None
    #: Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.
    session: str | None
    #: The way out. Without it, as policy and need say.
    proxy: PageProxy | None
    #: `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
    identity: Literal["bot", "browser"] | None
    #: The browser that plain HTTP looks like, in headers and handshake; Chrome unless given. Needs `identity: "browser"` and `engine: "http"`.
    identityBrowser: Literal["firefox", "safari"] | None
    #: Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.
    timeoutMs: int
    #: Time for all attempts at one URL and the pauses between them; a minute, or `timeoutMs` where that is longer, unless the operator has set another. Waits before the first attempt, for the turn of the host, and pauses that the host asks for by `Retry-After` are not counted.
    taskTimeoutMs: int
    #: Tries per URL, the first one included.
    maxAttempts: int
    #: Largest body that is read, after decompression.
    maxBodyBytes: int
    #: `false` is refused unless the operator’s policy consents to that for the host.
    obeyRobots: bool
    #: HTTP method.
    method: Literal["GET", "POST"]
    #: Request body; needs `method: "POST"`.
    body: str | None
    #: A page that this account has stored within this time (milliseconds, or `2h`) answers without a request; 0: none does. Never for requests with headers, cookies, a session, a proxy, actions or a body.
    maxAge: Union[int, str]
    #: Whether the page that is fetched may answer later requests with `maxAge`.
    reuse: bool


class _PageActionClick(TypedDict, total=False):
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionClick(_PageActionClick):
    type: Literal["click"]
    #: A CSS selector, or one of Playwright’s.
    selector: str


class _PageActionHover(TypedDict, total=False):
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionHover(_PageActionHover):
    type: Literal["hover"]
    #: A CSS selector, or one of Playwright’s.
    selector: str


class _PageActionBack(TypedDict, total=False):
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionBack(_PageActionBack):
    type: Literal["back"]


class _PageActionUpload(TypedDict, total=False):
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionUpload(_PageActionUpload):
    type: Literal["upload"]
    #: An `<input type="file">`.
    selector: str
    files: list[PageActionUploadFiles]


class _PageActionUploadFiles(TypedDict, total=False):
    #: `application/octet-stream` unless given.
    contentType: str


class PageActionUploadFiles(_PageActionUploadFiles):
    name: str
    #: The bytes of the file.
    base64: str


class _PageActionType(TypedDict, total=False):
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionType(_PageActionType):
    type: Literal["type"]
    #: A CSS selector, or one of Playwright’s.
    selector: str
    text: str


class _PageActionPress(TypedDict, total=False):
    #: Where; else wherever the focus is.
    selector: str
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionPress(_PageActionPress):
    type: Literal["press"]
    #: `Enter`, `a`, `Control+A` …
    key: str


class _PageActionSelect(TypedDict, total=False):
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionSelect(_PageActionSelect):
    type: Literal["select"]
    #: A CSS selector, or one of Playwright’s.
    selector: str
    #: Value or label of the option.
    value: str


class _PageActionWait(TypedDict, total=False):
    #: A CSS selector, or one of Playwright’s.
    selector: str
    ms: int
    #: How far the page must have loaded.
    until: Literal["load", "domcontentloaded", "networkidle"]
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionWait(_PageActionWait):
    type: Literal["wait"]


class _PageActionScroll(TypedDict, total=False):
    #: Until this element is in sight.
    selector: str
    #: Else one screen down.
    pixels: int
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionScroll(_PageActionScroll):
    type: Literal["scroll"]


class _PageActionEvaluate(TypedDict, total=False):
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionEvaluate(_PageActionEvaluate):
    type: Literal["evaluate"]
    #: JavaScript: an expression, or the body of a function with `return` and `await`. Its value is in the answer.
    script: str


class _PageActionScreenshot(TypedDict, total=False):
    #: The whole page instead of what a window shows.
    fullPage: bool
    #: Only the first element that matches.
    selector: str
    #: png unless given.
    format: Literal["png", "jpeg"]
    #: Of a jpeg.
    quality: int
    #: Time for this step; 10 s unless given.
    timeoutMs: int


class PageActionScreenshot(_PageActionScreenshot):
    type: Literal["screenshot"]


class BatchOptions(TypedDict, total=False):
    #: Fetch the valid URLs when others are none; these are listed as `invalidUrls` in the answer. Otherwise one invalid URL refuses the request.
    ignoreInvalidUrls: bool
    #: How each page is fetched.
    options: BatchPageOptions
    #: Query parameters that do not make a URL another one; `*` at the end is a wildcard.
    ignoreQueryParameters: list[str]
    #: Bytes the job may download before it stops; null: no limit.
    maxBytes: int | None
    #: Time after which the job stops; null: no limit.
    maxDurationMs: int | None
    #: Time that browsers may work for the job, over all its pages, before it stops; null: no limit.
    maxBrowserMs: int | None
    #: Bytes the job may download through proxies before it stops; null: no limit.
    maxProxyBytes: int | None
    #: Credits the job may cost before it stops; pages under way then are finished. Null: no limit.
    maxCredits: float | None
    #: Most fetches of this job at once, over all hosts; null: no limit of its own.
    concurrency: int | None
    #: How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
    retention: JobRetention | None
    #: Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
    snapshots: bool
    #: Make the pages of the job findable by `GET /v1/search`.
    search: bool
    #: Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
    lake: bool
    #: Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
    exports: list[JobExport]
    #: Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks.
    webhook: JobWebhook


class BatchRequest(BatchOptions):
    #: The pages to fetch; a URL given twice is fetched once.
    urls: list[str]


class ChangeAccountRequest(TypedDict, total=False):
    name: str
    plan: str
    limits: AccountLimitsRequest


class ChangeThreshold(TypedDict, total=False):
    #: Least share that changes: of the characters, of the larger number, of the pixels.
    share: float
    #: Least amount that changes: characters, the difference of two numbers, pixels.
    amount: float


class _ChangedWebhook(TypedDict, total=False):
    #: Only when it has changed, with another origin or format. Shown this one time.
    secret: str


class ChangedWebhook(_ChangedWebhook):
    id: str
    #: Where events are sent; the addresses of chats are hidden behind their host.
    url: str
    events: list[str]
    format: Union[Literal["json", "slack", "discord", "teams", "ntfy", "email"], str]
    enabled: bool
    #: `gone`: the receiver answered 410. `failing`: nothing could be delivered for three days. `unconfirmed`: the owner of the e-mail address has not opened the link that was sent there; `test` sends it again.
    disabledReason: Literal["user", "gone", "failing", "unconfirmed"] | None
    disabledAt: str | None
    #: When the attempts began to fail that have failed in a row.
    failingSince: str | None
    createdAt: str
    updatedAt: str
    links: ChangedWebhookLinks


class ChangedWebhookLinks(TypedDict):
    self: str
    deliveries: str


class CheckedOwnerRequest(TypedDict):
    #: Known to you only.
    id: str
    host: str
    want: Literal["stop", "slower"]
    secondsBetweenRequests: int | None
    state: Literal["unproved", "in-force"]
    createdAt: str
    #: A request that is not proved by then is forgotten.
    expiresAt: str
    provedAt: str | None
    provedBy: Literal["file", "dns"] | None
    #: Publish one of the two, then call `check`.
    proof: OwnerProof
    links: SelfLink
    #: What was found in place of the proof.
    seen: list[str]


class CrawlPageOptions(TypedDict, total=False):
    #: How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
    engine: Union[Literal["auto", "http", "browser", "flaresolverr", "stealth", "firecrawl", "replay"], str]
    #: Formats that are kept of each page and returned.
    formats: list[Literal["html", "rawHtml", "text", "links", "metadata", "markdown", "content", "structured", "screenshot", "pdf", "xhr"]]
    #: Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.
    inline: bool
    #: Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
    headers: dict[str, str]
    #: Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret (`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.
    crossOriginHeaders: list[str]
    #: Cookies to send to the origin of the URL.
    cookies: dict[str, str]
    #: What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
    extract: ExtractOptions | None
    #: `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
    onlyMainContent: bool
    #: CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
    includeTags: list[str]
    #: CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
    excludeTags: list[str]
    #: Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
    maxPdfPages: int
    #: What to wait for before the page is read. Needs a browser.
    wait: PageWait | None
    #: Go down the page until it grows no more, for lists that load on the way. Needs a browser. Unless given, a page that is rendered for the types `job_posting` and `linkedin_profile` is scrolled a little.
    scroll: Union[bool, PageScroll] | None
    #: What to do on the page, in this order, before it is read. The first step that fails ends them, is named by the error, and what there was by then is kept. Needs a browser.
    actions: list[Union[PageActionClick, PageActionHover, PageActionBack, PageActionUpload, PageActionType, PageActionPress, PageActionSelect, PageActionWait, PageActionScroll, PageActionEvaluate, PageActionScreenshot]]
    #: How the picture is taken; asks for the format `screenshot` as well. Needs a browser.
    screenshot: PageScreenshot | None
    #: What a browser need not load.
    blockResources: list[Literal["images", "fonts", "media", "trackers"]]
    #: Size of the window in pixels; 1280 × 800 unless given, 412 × 915 with `mobile`. Needs a browser.
    viewport: PageViewport | None
    #: Show pages as on a phone: touch, a narrow window, `Mobile` in the user agent. Needs a browser.
    mobile: bool
    #: Where pages that ask for the position find the browser. Needs a browser.
    geolocation: PageGeolocation | None
    #: Language of the browser, which sites also get as `Accept-Language`. Needs a browser.
    locale: str | None
    #: Time zone of the browser. Needs a browser.
    timezone: str | None
    #: Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.
    session: str | None
    #: The way out. Without it, as policy and need say.
    proxy: PageProxy | None
    #: `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
    identity: Literal["bot", "browser"] | None
    #: The browser that plain HTTP looks like, in headers and handshake; Chrome unless given. Needs `identity: "browser"` and `engine: "http"`.
    identityBrowser: Literal["firefox", "safari"] | None
    #: Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.
    timeoutMs: int
    #: Time for all attempts at one URL and the pauses between them; a minute, or `timeoutMs` where that is longer, unless the operator has set another. Waits before the first attempt, for the turn of the host, and pauses that the host asks for by `Retry-After` are not counted.
    taskTimeoutMs: int
    #: Tries per URL, the first one included.
    maxAttempts: int
    #: Largest body that is read, after decompression.
    maxBodyBytes: int
    #: `false` is refused unless the operator’s policy consents to that for the host.
    obeyRobots: bool


class CrawlRequest(TypedDict, total=False):
    #: Where the crawl starts.
    urls: list[str]
    #: Sitemaps to start from.
    sitemapUrls: list[str]
    #: Pages to fetch at most; null: no limit.
    maxPages: int | None
    #: Links to follow from a seed at most; null: no limit.
    maxDepth: int | None
    #: Domains or hosts that belong to the crawl, `*.` for subdomains only. Empty: the seeds’ hosts.
    allowedDomains: list[str]
    #: Follow links to subdomains of the allowed hosts.
    allowSubdomains: bool
    #: Follow links to any host.
    allowExternal: bool
    #: Only URLs that match one are fetched; empty: all. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    include: list[str]
    #: URLs that match one are not fetched. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    exclude: list[str]
    #: Query parameters that do not make a URL another one; `*` at the end is a wildcard.
    ignoreQueryParameters: list[str]
    #: Treat URLs that differ after `#` as different pages.
    keepFragment: bool
    #: Whether sitemaps (declared in robots.txt or at /sitemap.xml) are read: not at all, too, or nothing else.
    sitemap: Literal["skip", "include", "only"]
    #: Do not follow links marked nofollow.
    obeyNofollow: bool
    #: Do not keep pages marked noindex.
    obeyNoindex: bool
    #: Treat rel=canonical as the same page.
    followCanonical: bool
    #: Leave out links whose queries lead to pages without end: calendars, combinations of filters, ids of sessions.
    avoidQueryTraps: bool
    #: Ask for pages that the last finished crawl of the same start URLs has stored only if they changed; unchanged ones keep the stored body and are marked `notModified`.
    ifModified: bool
    #: What becomes of pages whose URL matches; the first route that fits decides.
    routes: list[CrawlRoute]
    #: Bytes the job may download before it stops; null: no limit.
    maxBytes: int | None
    #: Time after which the job stops; null: no limit.
    maxDurationMs: int | None
    #: Time that browsers may work for the job, over all its pages, before it stops; null: no limit.
    maxBrowserMs: int | None
    #: Bytes the job may download through proxies before it stops; null: no limit.
    maxProxyBytes: int | None
    #: Credits the job may cost before it stops; pages under way then are finished. Null: no limit.
    maxCredits: float | None
    #: Most fetches of this job at once, over all hosts; null: no limit of its own.
    concurrency: int | None
    #: How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
    retention: JobRetention | None
    #: Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
    snapshots: bool
    #: Make the pages of the job findable by `GET /v1/search`.
    search: bool
    #: Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
    lake: bool
    #: Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
    exports: list[JobExport]
    #: Pages in a row, of one host, that ask to log in before the crawl stops with `login-walls`; 0: it never does. null: 5 with a session, 25 without.
    maxLoginWalls: int | None
    #: How each page is fetched.
    options: CrawlPageOptions
    #: Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks.
    webhook: JobWebhook


class _CrawlRoute(TypedDict, total=False):
    #: `false`: the page is fetched for its links and not kept.
    keep: bool
    #: `false`: the links of the page are not followed.
    follow: bool
    #: In place of the options of the crawl.
    options: CrawlRouteOptions


class CrawlRoute(_CrawlRoute):
    #: Patterns as in `include`.
    match: Union[str, list[str]]


class CrawlRouteOptions(TypedDict, total=False):
    #: How these pages are fetched.
    engine: Literal["auto", "http", "browser"]
    #: Formats that are kept.
    formats: list[Literal["html", "rawHtml", "text", "links", "metadata", "markdown", "content", "structured", "screenshot", "pdf", "xhr"]]
    #: What to read out of these pages.
    extract: ExtractOptions | None
    #: What to wait for before the page is read.
    wait: PageWait | None
    #: Go down the page until it grows no more.
    scroll: Union[bool, PageScroll] | None


class CreateAccountOptions(TypedDict, total=False):
    #: Left out: one is made.
    id: str
    plan: str
    limits: AccountLimitsRequest


class CreateAccountRequest(CreateAccountOptions):
    name: str


class CreateKeyOptions(TypedDict, total=False):
    #: Another account, for the operator; left out: the account of the key.
    account: str
    #: scrape: scrape, map and extract one page. jobs:read: read jobs and what they brought. jobs:write: create and change jobs and sessions. exports: export jobs, and read and delete exports. schedules: create, read and change schedules. webhooks: create, read and change webhooks. read: the same as jobs:read, and extract. write: all of the above. credentials: use sessions that log in with stored credentials. credentials:read: also see what pages show of them. admin: everything in the account but credentials:read; in the account "default" also what belongs to the whole installation.
    scopes: list[Literal["scrape", "jobs:read", "jobs:write", "exports", "schedules", "webhooks", "read", "write", "credentials", "credentials:read", "admin"]]
    #: Requests per minute; null: as many as the server allows a key.
    ratePerMinute: int | None
    #: When it stops working.
    expiresAt: str | None


class CreateKeyRequest(CreateKeyOptions):
    #: What the key is for.
    name: str


class CreateOwnerRequestOptions(TypedDict, total=False):
    #: With `slower`: the least time between two requests to the host.
    secondsBetweenRequests: int
    #: How the operator can reach you.
    contact: str | None
    #: For the operator.
    message: str | None


class CreateOwnerRequestRequest(CreateOwnerRequestOptions):
    #: Host name of the site, with the port where it has its own.
    host: str
    #: stop: do not crawl it at all. slower: leave more time between requests.
    want: Literal["stop", "slower"]


class Credential(TypedDict):
    name: str
    kind: Literal["login", "basic", "bearer", "headers", "cookies"]
    #: The only hosts it is sent to.
    hosts: list[str]
    createdAt: str
    updatedAt: str
    links: SelfLink


class CreditEntry(TypedDict):
    id: str
    #: `lapse`: what was left of an allowance when its month was over.
    kind: Literal["grant", "allowance", "lapse"]
    #: Credits; negative: taken away.
    amount: float
    reason: str
    at: str


class Credits(TypedDict):
    #: What new pages can be paid with: allowance and balance.
    availableCredits: float
    #: Left of this month’s allowance; it lapses with the month.
    allowanceCredits: float
    #: Granted credits; they do not expire.
    balanceCredits: float
    #: Held for the jobs that are going on.
    heldCredits: float
    #: The allowance of each calendar month, in UTC.
    monthlyCredits: float
    #: Below this, `account.low_credits` is sent.
    lowCredits: float
    #: When the next allowance comes.
    renewsAt: str


class Deleted(TypedDict):
    id: str
    deleted: bool


class DeletedName(TypedDict):
    name: str
    deleted: bool


class Delivery(TypedDict):
    id: str
    webhookId: str
    #: The header `webhook-id`: the same in every attempt and redelivery.
    eventId: str
    #: The type of the event.
    event: str
    jobId: str | None
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    #: Why it failed.
    reason: str | None
    redeliveryOf: str | None
    createdAt: str
    endedAt: str | None
    links: SelfLink


class DeliveryDetail(TypedDict):
    id: str
    webhookId: str
    #: The header `webhook-id`: the same in every attempt and redelivery.
    eventId: str
    #: The type of the event.
    event: str
    jobId: str | None
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    #: Why it failed.
    reason: str | None
    redeliveryOf: str | None
    createdAt: str
    endedAt: str | None
    links: SelfLink
    #: Not before this time; null when it has ended.
    nextAttemptAt: str | None
    #: What was sent last; null before the first attempt.
    request: DeliveryDetailRequest | None
    #: One entry per attempt.
    log: list[DeliveryDetailLog]


class DeliveryDetailRequest(TypedDict):
    url: str
    #: Headers of the webhook are hidden.
    headers: dict[str, str]
    #: The first 16,000 characters.
    body: str
    bodyBytes: int


class DeliveryDetailLog(TypedDict):
    at: str
    ms: int
    #: Of HTTP or SMTP; null when no answer came.
    statusCode: int | None
    error: str | None
    #: The first 2,000 characters.
    answer: str


class DoctorFinding(TypedDict):
    check: str
    state: Literal["ok", "warn", "fail"]
    found: str
    #: What to do about it.
    advice: str | None


class Domain(TypedDict):
    #: Host name, with the port where it is not the default.
    host: str
    visited: bool
    #: URLs due now, over all jobs.
    ready: int
    nextAt: str | None
    requests: int
    failures: int
    #: Below 1 after the host asked to slow down.
    rateFactor: float
    blockedUntil: str | None
    lastRequestAt: str | None
    breaker: Literal["closed", "open", "half-open"]
    links: SelfLink


class DomainDetail(TypedDict):
    #: Host name, with the port where it is not the default.
    host: str
    visited: bool
    #: URLs due now, over all jobs.
    ready: int
    nextAt: str | None
    requests: int
    failures: int
    #: Below 1 after the host asked to slow down.
    rateFactor: float
    blockedUntil: str | None
    lastRequestAt: str | None
    breaker: Literal["closed", "open", "half-open"]
    links: SelfLink
    #: What the host has taught; null while that is nothing.
    strategy: DomainStrategy | None
    #: How the host is treated, and which entries of the policy file say so.
    policy: Any
    #: The rule that denies the host; null when none does.
    denied: str | None
    robots: list[DomainDetailRobots]
    optOut: DomainDetailOptOut | None


class DomainDetailRobots(TypedDict):
    origin: str
    status: str
    fetchedAt: str
    expiresAt: str
    reason: str
    #: The file as it is stored; empty where there is none.
    body: str


class DomainDetailOptOut(TypedDict):
    host: str
    reason: str
    contact: str | None
    at: str
    #: Least time between two requests; null: there are none at all.
    minDelayMs: int | None


_DomainRequestsReserved = TypedDict("_DomainRequestsReserved", {"from": "str"}, total=False)


class DomainRequests(_DomainRequestsReserved):
    host: str
    #: When the last bucket ends, which is the present one.
    until: str
    #: The length of a bucket.
    bucketMs: int
    #: The buckets in which requests were sent, oldest first.
    points: list[DomainRequestsPoints]
    limit: DomainRequestsLimit


class DomainRequestsPoints(TypedDict):
    #: When the bucket begins.
    at: str
    requests: int


class DomainRequestsLimit(TypedDict):
    #: Requests per second by the policy in force now; null: unlimited.
    perSecond: float | None
    #: The most requests that the policy allows in a bucket, with its burst; null: unlimited.
    perBucket: int | None


class DomainStrategy(TypedDict):
    #: Ways to fetch that were tried, the one with most experience first.
    ways: list[DomainStrategyWays]
    pages: DomainStrategyPages
    #: When a cheaper way was last tried again.
    probedAt: str | None


class DomainStrategyWays(TypedDict):
    engine: str
    #: Null: without a proxy.
    proxyTier: str | None
    identity: Literal["bot", "browser"]
    #: Share of attempts that the site admitted, from 0 to 1; older attempts count less.
    successRate: float
    #: How much experience that is, in attempts; half of it is gone after a day.
    weight: float
    lastAt: str


class DomainStrategyPages(TypedDict):
    #: Kinds of pages, told apart by their URLs.
    known: int
    #: Those of them that are empty without scripts.
    needScripts: int


class Estimate(TypedDict):
    #: Pages that will be fetched.
    pages: EstimatePages
    #: Time at the pace of the hosts.
    durationMs: EstimatePages
    #: From one attempt by the cheapest engine to the dearest attempt that the policy allows.
    credits: EstimatePages
    #: The pace of the first 20 hosts.
    hosts: list[EstimateHosts]
    #: How the figures came about, as sentences.
    reasons: list[str]


class EstimatePages(TypedDict):
    low: float
    #: Null: nothing bounds it.
    high: float | None


class EstimateHosts(TypedDict):
    host: str
    #: Between two requests; 0: no pace is set.
    pauseMs: float
    concurrency: int
    reason: str


class EstimateJobOptions(TypedDict, total=False):
    #: Pages of a crawl, where that is known.
    pages: int | None
    #: A map of the same site.
    mapId: str | None


class EstimateJobRequest(EstimateJobOptions):
    job: Union[ScheduledScrape, ScheduledBatch, ScheduledCrawl]


class Export(TypedDict):
    id: str
    jobId: str
    type: Literal["full", "seo", "diff", "raw", "links", "records", "results"]
    format: Literal["csv", "xlsx", "json", "ndjson", "parquet", "warc", "wacz", "markdown", "chunks"]
    #: `diff`: the job that it is compared with.
    against: str | None
    status: Literal["pending", "running", "ready", "failed"]
    #: Rows, or pages, written so far.
    rows: int
    #: Bytes written so far.
    sizeBytes: int
    #: Of the file, in hex; null until it is ready.
    sha256: str | None
    #: The file, for an hour, without an API key: everyone with the link can read it. 409 until it is ready; null when it failed.
    url: str | None
    #: The place that gets a copy as well.
    to: str | None
    error: ExportError | None
    createdAt: str
    startedAt: str | None
    finishedAt: str | None
    links: ExportLinks


class ExportError(TypedDict):
    code: str
    message: str


class ExportLinks(TypedDict):
    self: str
    download: str
    job: str


class ExportOptions(TypedDict, total=False):
    #: `diff`: the earlier job to compare with.
    against: str
    #: `diff`: what counts as a change.
    rules: ExportRequestRules
    #: `csv`: begin with a byte order mark, so that Excel reads UTF-8.
    excel: bool
    #: `results` in a table: a column with the text of each page.
    text: bool
    #: A place of the operator that gets a copy as well: one that `SCRAPIFIE_EXPORT_PLACES` names, or a folder in it.
    to: Union[ExportToFolder, ExportToS3]


class ExportRequest(ExportOptions):
    #: `full`: a row per page with the columns of a catalogue. `seo`: a row per page with what search engines read. `diff`: a row per URL with what has changed since another job. `raw`: every stored page, body included. `links`: a row per link. `records`: a row per extracted record. `results`: pages as `/results` gives them.
    type: Literal["full", "seo", "diff", "raw", "links", "records", "results"]
    #: `csv` `xlsx` `json` `ndjson` `parquet`: tables. `warc` `wacz` `markdown` (a ZIP for language models) `chunks` (pieces of texts, one per line): of `raw` only.
    format: Literal["csv", "xlsx", "json", "ndjson", "parquet", "warc", "wacz", "markdown", "chunks"]


class ExportRequestRules(TypedDict, total=False):
    #: What of a page is compared. Unless given: the text, the title, and the price with its currency and availability.
    watch: WatchRules
    #: What never counts as a change.
    ignore: IgnoreRules
    #: Smaller changes do not count. Each thing that is watched is measured for itself and must reach both. A field that is no number counts however little of it changes.
    threshold: ChangeThreshold


class ExportToFolder(TypedDict):
    folder: str


class ExportToS3(TypedDict):
    s3: str


class ExtractOptions(TypedDict, total=False):
    #: A type of thing to read the page as; `auto` decides by evidence. A type of a plug-in has its name in front: `wine:bottle`.
    type: Union[Literal["auto", "product", "job_posting", "recipe", "event", "forum_thread", "linkedin_profile", "article", "company_website", "organization", "breadcrumbs"], str] | None
    #: Fields by CSS, XPath, regular expression or JSONPath; see docs/rules.md.
    rules: dict[str, Any] | None
    #: JSON Schema that the result of the rules is checked against.
    schema: dict[str, Any] | None
    #: Ask the language model of the settings for required fields that the rules left empty.
    llm: Union[bool, ExtractOptionsLlm]


class ExtractOptionsLlm(TypedDict):
    #: Fields that are judgements: their values need not stand on the page.
    derived: Union[Literal["all"], list[str]]


class ExtractOptions(TypedDict, total=False):
    #: What `html` is, e.g. `application/json`.
    contentType: str
    #: Formats to extract; screenshots, PDFs and XHR require a fetch.
    formats: list[Literal["html", "rawHtml", "text", "links", "metadata", "markdown", "content", "structured"]]
    #: What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
    extract: ExtractOptions | None
    #: `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
    onlyMainContent: bool
    #: CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
    includeTags: list[str]
    #: CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
    excludeTags: list[str]
    #: Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
    maxPdfPages: int


class ExtractRequest(ExtractOptions):
    #: The page, or any other text that `contentType` names.
    html: str
    #: Where it is from: what its links are relative to. Nothing is fetched.
    url: str


class Failure(TypedDict):
    success: bool
    error: FailureError


class _FailureError(TypedDict, total=False):
    #: For bad fields: one `{ field, message }` each.
    details: Any


class FailureError(_FailureError):
    #: Stable name of the error; see docs/errors.md.
    code: str
    #: What happened, for a person.
    message: str
    #: Whether the same request may work later.
    retryable: bool


class GrantCreditsRequest(TypedDict):
    #: Credits; negative: taken away.
    amount: float
    reason: str


class IgnoreRules(TypedDict, total=False):
    #: Regular expressions (RE2) whose matches are removed from each line and from each text of a field.
    patterns: list[str]
    #: Elements, by CSS or XPath, that are removed from the page.
    selectors: list[str]
    #: Fields that are not compared.
    fields: list[str]


class _Job(TypedDict, total=False):
    #: What open URLs wait for, at most 20 entries: a host that asked to wait, an open circuit breaker, allowed hours, a proxy, a retry. Empty while they are under way or due. Only where one job is asked for.
    waitingFor: list[JobWaitingFor]
    #: Kinds of its data of which some, or all, was deleted because its time was over.
    expired: list[Literal["bodies", "artifacts", "records", "ledger"]]
    #: The schedule that made it; missing when none did.
    scheduleId: str


class Job(_Job):
    #: UUID; later jobs have greater ids.
    id: str
    kind: Literal["scrape", "batch", "crawl", "map"]
    status: Literal["queued", "running", "completed", "partially_completed", "failed", "cancelled"]
    #: Why it ended early, e.g. `budget.pages`, `wait:CIRCUIT_OPEN`; `login-walls`: its pages ask to log in, and `errors` has them as `LOGIN_REQUIRED`.
    stopReason: str | None
    #: The same as a sentence.
    stopMessage: str | None
    createdAt: str
    startedAt: str | None
    finishedAt: str | None
    #: The API key that made it.
    keyId: str | None
    #: What it has cost so far, sitemaps included; robots.txt files are free.
    credits: float
    progress: JobProgress
    #: The first of the URLs it started from.
    seeds: list[str]
    #: All options with their defaults; secrets are hidden.
    options: Any
    links: JobLinks


class JobProgress(TypedDict):
    #: Every URL seen so far, as `urls` lists them: `open`, `done`, `failed`, `skipped`, `denied` and `cancelled` together, and the robots.txt files and sitemaps that ended as skipped, which `skipped` does not count.
    known: int
    #: URLs still to be done; the job is finished at zero.
    open: int
    #: Pages fetched.
    pages: int
    done: int
    failed: int
    #: Pages left out by a rule of the job; robots.txt files and sitemaps do not count.
    skipped: int
    #: Left out by robots.txt, policy or opt-out.
    denied: int
    cancelled: int
    #: Bytes of bodies, sitemaps included; robots.txt files do not count.
    bytes: int
    #: Time that browsers worked on its pages.
    browserMs: int
    #: Bytes that came through proxies.
    proxyBytes: int


class JobWaitingFor(TypedDict):
    host: str
    code: Literal["VALIDATION_FAILED", "SECRETS_BOUND", "BAD_REQUEST", "MALFORMED_JSON", "INVALID_URL", "UNSUPPORTED_OPTION", "QUERY_TOO_LARGE", "QUERY_TIMEOUT", "QUERY_REFUSED", "QUERY_FAILED", "INVALID_USAGE", "UNAUTHENTICATED", "FORBIDDEN", "CROSS_SITE", "ACCOUNT_DISABLED", "STORAGE_LIMIT", "CONSENT_REQUIRED", "CREDITS_EXHAUSTED", "NOT_FOUND", "SESSION_EXPIRED", "EXPIRED", "METHOD_NOT_ALLOWED", "CONFLICT", "IDEMPOTENCY_MISMATCH", "RANGE_NOT_SATISFIABLE", "BAD_ARCHIVE", "BODY_TOO_LARGE", "BODY_TOO_SLOW", "UNSUPPORTED_MEDIA_TYPE", "RATE_LIMITED", "QUEUE_FULL", "TOO_MANY_STREAMS", "TOO_MANY_QUERIES", "TOO_MANY_EXPORTS", "OVERLOADED", "SHUTTING_DOWN", "REQUEST_TIMEOUT", "INTERNAL", "INVALID_SETTINGS", "INVALID_POLICY", "QUERY_UNAVAILABLE", "DATA_DIR_UNUSABLE", "DATA_DIR_LOCKED", "AUDIT_LOG_BROKEN", "DATABASE_CORRUPT", "BACKUP_DAMAGED", "PLACE_NOT_EMPTY", "STORE_IN_USE", "SCHEMA_TOO_NEW", "DISK_FULL", "OUT_OF_FILES", "STORE_UNAVAILABLE", "STORE_REFUSED", "QUEUE_UNAVAILABLE", "QUEUE_REFUSED", "QUEUE_UNSAFE", "BLOBS_UNAVAILABLE", "BLOBS_REFUSED", "INVALID_PROXY_FILE", "NO_BROWSER", "BROWSER_UNCONFINED", "SEARCH_UNAVAILABLE", "OIDC_UNAVAILABLE", "CREDENTIALS_UNAVAILABLE", "API_UNREACHABLE", "PORT_IN_USE", "LISTEN_FAILED", "ADDRESS_REFUSED", "ROBOTS_DISALLOWED", "ROBOTS_UNREACHABLE", "DOMAIN_DENIED", "NO_WORKER", "BROWSER_UNAVAILABLE", "BROWSERS_BUSY", "NO_HEALTHY_PROXY", "OUTSIDE_HOURS", "CIRCUIT_OPEN", "NOT_IN_ARCHIVE", "BUDGET_SPENT", "CANCELLED", "DNS_FAILED", "CONNECT_FAILED", "TLS_FAILED", "CONNECTION_RESET", "HEADERS_TIMEOUT", "BODY_TIMEOUT", "TASK_TIMEOUT", "BODY_LIMIT_EXCEEDED", "HEADERS_LIMIT_EXCEEDED", "RESPONSE_FLOOD", "BAD_ENCODING", "PROTOCOL_ERROR", "TOO_MANY_REDIRECTS", "REDIRECT_LOOP", "BAD_REDIRECT", "HTTP_ERROR", "HOST_RATE_LIMITED", "BLOCKED", "CAPTCHA", "LOGIN_FAILED", "LOGIN_REQUIRED", "PROXY_FAILED", "BROWSER_CRASHED", "BROWSER_LOST", "ACTION_FAILED", "CAPTCHA_UNSOLVED", "EXPORT_FAILED", "EXTRACTION_FAILED", "PLUGIN_FAILED", "WORKER_DIED", "UNSTORABLE"]
    message: str
    #: When these URLs may go on, by what is known now.
    until: str
    #: How many URLs wait for it; of a large job, among its first and last thousand.
    tasks: int


class JobError(TypedDict):
    url: str
    #: Exactly as it was submitted; `url` where it was found on another page.
    sourceUrl: str
    state: Literal["failed", "denied"]
    code: str | None
    message: str
    retryable: bool
    rule: str | None
    attempts: list[Attempt]
    finishedAt: str | None


class JobExport(TypedDict):
    #: What the file has.
    type: Literal["full", "seo", "raw", "links", "records", "results"]
    #: How it is written.
    format: Literal["csv", "xlsx", "json", "ndjson", "parquet", "warc", "wacz", "markdown", "chunks"]


class JobLinks(TypedDict):
    self: str
    results: str
    errors: str
    urls: str


class JobPageLinks(TypedDict):
    #: As the job knows it.
    url: str
    #: Null when the job does not know the URL.
    state: Literal["ready", "waiting", "claimed", "done", "failed", "skipped", "denied", "cancelled"] | None
    foundBy: str | None
    #: The page on which the job first found it.
    foundOn: str | None
    #: Without a stored page there are no outgoing links.
    hasPage: bool
    outgoing: list[JobPageLinksOutgoing]
    outgoingCount: int
    incoming: list[JobPageLinksIncoming]
    #: Where the incoming links of more pages are looked for; null when all pages were.
    nextCursor: str | None


_JobPageLinksOutgoingReserved = TypedDict("_JobPageLinksOutgoingReserved", {"from": "str"}, total=False)


class JobPageLinksOutgoing(_JobPageLinksOutgoingReserved):
    url: str
    text: str
    rel: str
    isInternal: bool
    #: What became of its target in this job; null when the job does not know it.
    state: Literal["ready", "waiting", "claimed", "done", "failed", "skipped", "denied", "cancelled"] | None
    statusCode: int | None
    errorCode: str | None
    rule: str | None


class JobPageLinksIncoming(TypedDict):
    url: str
    title: str | None
    text: str
    rel: str


class JobPath(TypedDict):
    #: The next part of the address; ends with a slash where more follows.
    name: str
    #: The whole beginning; of a folder, a value for `under`.
    url: str
    isFolder: bool
    #: Pages below it, or with this address and any query.
    urls: int
    done: int
    failed: int
    skipped: int
    denied: int


class JobRetention(TypedDict, total=False):
    #: How long bodies are kept as they were fetched; null: as the account and the installation say.
    bodies: Union[int, str] | None
    #: How long pictures, PDFs and recorded answers are kept; null: as the account and the installation say.
    artifacts: Union[int, str] | None
    #: How long is kept what was read out of pages; null: as the account and the installation say.
    records: Union[int, str] | None
    #: How long the URLs and pages of an ended job are kept, but for its summary; null: as the account and the installation say.
    ledger: Union[int, str] | None
    #: How long an ended job is kept at all; null: as the account and the installation say.
    jobs: Union[int, str] | None
    #: How long exports are kept after they were written; null: as the account and the installation say.
    exports: Union[int, str] | None


class JobRow(TypedDict):
    #: Of the URL in this job; part of the addresses of its artifacts.
    page: str
    url: str
    kind: Literal["page", "sitemap", "site"]
    state: Literal["ready", "waiting", "claimed", "done", "failed", "skipped", "denied", "cancelled"]
    statusCode: int | None
    title: str | None
    contentType: str | None
    bytes: int | None
    #: Of the last attempt.
    engine: str | None
    #: Of the last attempt.
    durationMs: float | None
    attempts: int
    #: Of all attempts.
    credits: float
    depth: int
    foundBy: str
    foundOn: str | None
    #: Where redirects led; null without a stored page.
    finalUrl: str | None
    duplicateOf: str | None
    contentHash: str | None
    errorCode: str | None
    rule: str | None
    #: The rule or the error as a sentence.
    message: str | None
    discoveredAt: str
    fetchedAt: str | None
    finishedAt: str | None


class JobSummary(TypedDict):
    jobId: str
    #: When it was counted. Of a job that goes on it may be some seconds old.
    at: str
    #: URLs that the filter leaves; without one, all of the job.
    urls: int
    #: Of the whole job, whatever the filter.
    bytes: int
    #: Of the whole job, whatever the filter.
    credits: float
    states: list[JobSummaryStates]
    #: Why URLs failed, were skipped, denied or cancelled; the most frequent cause first.
    causes: list[JobSummaryCauses]
    statusCodes: list[JobSummaryStatusCodes]
    #: By the engine of the last attempt, with the figures of these attempts.
    engines: list[JobSummaryEngines]
    depths: list[JobSummaryDepths]
    #: The 200 hosts with the most URLs.
    hosts: list[JobSummaryHosts]
    #: Of the first 100,000 stored pages.
    contentTypes: list[JobSummaryContentTypes]
    #: URLs that ended, in at most 200 points; those without any are left out.
    timeline: JobSummaryTimeline


class JobSummaryStates(TypedDict):
    state: Literal["ready", "waiting", "claimed", "done", "failed", "skipped", "denied", "cancelled"]
    urls: int


class JobSummaryCauses(TypedDict):
    state: Literal["ready", "waiting", "claimed", "done", "failed", "skipped", "denied", "cancelled"]
    #: The error code, or the rule up to its colon; a value for the filter `reason`.
    cause: str
    errorCode: str | None
    urls: int
    #: Why, as a sentence about the example.
    message: str | None
    #: What to do about it; null when there is nothing to do.
    advice: str | None
    #: Of errors: whether trying again can help.
    retry: Literal["never", "later", "otherWay"] | None
    #: One of the URLs.
    example: str


class JobSummaryStatusCodes(TypedDict):
    statusCode: int | None
    urls: int


class JobSummaryEngines(TypedDict):
    engine: str
    urls: int
    bytes: int
    meanMs: float
    credits: float


class JobSummaryDepths(TypedDict):
    depth: int
    urls: int


class JobSummaryHosts(TypedDict):
    host: str
    urls: int
    done: int
    failed: int
    skipped: int
    denied: int


class JobSummaryContentTypes(TypedDict):
    contentType: str | None
    pages: int
    bytes: int


class JobSummaryTimeline(TypedDict):
    bucketMs: int
    points: list[JobSummaryTimelinePoints]


class JobSummaryTimelinePoints(TypedDict):
    at: str
    done: int
    failed: int
    bytes: int


class _JobWebhook(TypedDict, total=False):
    #: Types of events, or patterns such as `page.*`; the ends of the job unless given.
    events: list[str]
    #: Signs what is sent. Without one, messages are not signed.
    secret: str
    #: Sent along, such as `Authorization`.
    headers: dict[str, str]


class JobWebhook(_JobWebhook):
    #: Where the events of this job are sent: an http or https URL.
    url: str


class Key(TypedDict):
    id: str
    name: str
    #: First characters of the secret, for recognising it.
    prefix: str
    scopes: list[Literal["scrape", "jobs:read", "jobs:write", "exports", "schedules", "webhooks", "read", "write", "credentials", "credentials:read", "admin"]]
    #: Requests per minute; null: as many as the server allows a key.
    ratePerMinute: int | None
    createdAt: str
    expiresAt: str | None
    revokedAt: str | None
    lastUsedAt: str | None
    links: SelfLink


class _LedgerEntry(TypedDict, total=False):
    #: The rule as a sentence.
    message: str | None


class LedgerEntry(_LedgerEntry):
    url: str
    kind: Literal["page", "sitemap", "site"]
    state: Literal["ready", "waiting", "claimed", "done", "failed", "skipped", "denied", "cancelled"]
    decision: Literal["pending", "fetched", "skipped", "denied", "failed", "cancelled"]
    #: The rule that decided, e.g. `scope.exclude:/admin/`.
    rule: str | None
    errorCode: str | None
    depth: int
    foundBy: str
    foundOn: str | None
    attempts: list[Attempt]
    discoveredAt: str
    finishedAt: str | None


class LimitCreditsOptions(TypedDict, total=False):
    #: Below this, `account.low_credits` is sent.
    lowCredits: float


class LimitCreditsRequest(LimitCreditsOptions):
    #: Credited at the beginning of each calendar month, in UTC.
    monthlyCredits: float


class ListedOwnerRequest(TypedDict):
    host: str
    want: Literal["stop", "slower"]
    secondsBetweenRequests: int | None
    state: Literal["unproved", "in-force"]
    createdAt: str
    #: A request that is not proved by then is forgotten.
    expiresAt: str
    provedAt: str | None
    provedBy: Literal["file", "dns"] | None
    contact: str | None
    message: str | None


class LogLine(TypedDict):
    #: Grows with each line of the process.
    number: int
    at: str
    level: Literal["trace", "debug", "info", "warn", "error", "fatal"]
    message: str
    fields: dict[str, Any]


class Login(TypedDict):
    #: `form`: the form was sent by plain HTTP. `browser`: a browser filled it in. `actions`: the steps of the request. `none`: the site did not ask, because the session is logged in or its credentials go along as headers.
    method: Literal["form", "browser", "actions", "none"]
    #: The page that the log-in led to.
    finalUrl: str
    statusCode: int | None
    #: The scrapes that it took, in their order.
    jobIds: list[str]
    session: SessionDetail


class LoginOptions(TypedDict, total=False):
    #: Steps that log in, for pages whose form is not found or is not enough. `{{username}}` and `{{password}}` in `type` actions stand for the credentials of the session. Left out: the form of the page is filled in and sent. Needs a browser.
    actions: list[Union[PageActionClick, PageActionHover, PageActionBack, PageActionUpload, PageActionType, PageActionPress, PageActionSelect, PageActionWait, PageActionScroll, PageActionEvaluate, PageActionScreenshot]]
    #: How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
    engine: Union[Literal["auto", "http", "browser", "flaresolverr", "stealth", "firecrawl", "replay"], str]
    #: What to wait for before the page is read. Needs a browser.
    wait: PageWait | None
    #: Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
    headers: dict[str, str]
    #: Time for each of the pages that the log-in takes.
    timeoutMs: int
    #: `false` is refused unless the operator’s policy consents to that for the host.
    obeyRobots: bool
    #: The way out. Without it, as policy and need say.
    proxy: PageProxy | None
    #: `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
    identity: Literal["bot", "browser"] | None


class LoginRequest(LoginOptions):
    #: The page with the log-in form.
    url: str


class Map(TypedDict):
    id: str
    urls: list[str]
    #: The same URLs with their titles.
    pages: list[MapPages]
    links: JobLinks
    #: More were found; `/v1/jobs/:id/urls` has them all.
    isTruncated: bool


class MapPages(TypedDict):
    url: str
    #: What the start page calls it; null where only a sitemap has the URL.
    title: str | None


_MapRequestReserved = TypedDict("_MapRequestReserved", {"async": "bool"}, total=False)


class MapOptions(_MapRequestReserved, total=False):
    #: Whether sitemaps (declared in robots.txt or at /sitemap.xml) are read: not at all, too, or nothing else.
    sitemap: Literal["skip", "include", "only"]
    #: Only URLs that match one are listed; empty: all. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    include: list[str]
    #: URLs that match one are not listed. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    exclude: list[str]
    #: List URLs on subdomains too.
    allowSubdomains: bool
    #: Query parameters that do not make a URL another one; `*` at the end is a wildcard.
    ignoreQueryParameters: list[str]
    #: Words that the address or the title of a URL must have; those with them in the title come first.
    search: str | None
    #: URLs in the answer at most.
    limit: int
    #: Time to wait for the list; the job goes on afterwards.
    timeoutMs: int
    #: How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
    retention: JobRetention | None
    #: How the start page and the sitemaps are fetched.
    options: PageOptions


class MapRequest(MapOptions):
    #: The site, or the part of it to start from.
    url: str


class Monitor(TypedDict):
    id: str
    name: str
    #: What is watched: `urls`, a `site` or a `sitemap`.
    target: Literal["urls", "site", "sitemap"]
    #: The pages, or the one address of the site or sitemap.
    urls: list[str]
    schedule: MonitorTiming
    #: What of each page is compared.
    watch: dict[str, Any]
    ignore: dict[str, Any]
    threshold: dict[str, Any]
    confirm: int
    settleMs: int
    failAfter: int
    learnNoise: bool
    recheck: bool
    maxPages: int
    #: How each page is fetched, with all defaults; secrets are hidden.
    options: dict[str, Any]
    #: The webhooks of this monitor alone.
    notify: list[str]
    status: Literal["active", "paused"]
    #: Checks so far; the first ones make the baseline.
    checks: int
    lastCheck: MonitorLastCheck | None
    lastChangeAt: str | None
    nextCheckAt: str | None
    createdAt: str
    updatedAt: str
    links: MonitorLinks


class MonitorLastCheck(TypedDict):
    at: str
    jobId: str
    pages: int
    changes: int
    failed: int
    #: Of a site: the crawl is proven to have covered it, so that pages that are missing count as removed.
    isCovered: bool


class MonitorLinks(TypedDict):
    self: str
    changes: str
    schedule: str
    jobs: str


class MonitorChange(TypedDict):
    id: str
    monitorId: str
    jobId: str
    at: str
    kind: Literal["ADDED", "REMOVED", "MODIFIED", "MOVED", "REVERTED"]
    url: str
    #: Of MOVED: where the page was before.
    fromUrl: str | None
    title: str | None
    #: What changed, in a sentence.
    text: str
    #: Null for pages that are new, gone or elsewhere.
    diff: MonitorChangeDiff | None
    #: The stored page; it may be gone.
    before: MonitorChangeBefore | None
    #: The stored page; it may be gone.
    after: MonitorChangeBefore | None
    links: MonitorChangeLinks


class MonitorChangeDiff(TypedDict):
    #: By name, with segments as in the diff of snapshots.
    texts: list[MonitorChangeDiffTexts]
    fields: list[MonitorChangeDiffFields]


class MonitorChangeDiffTexts(TypedDict):
    name: str


class MonitorChangeDiffFields(TypedDict):
    field: str


class MonitorChangeBefore(TypedDict):
    jobId: str
    taskId: int


class MonitorChangeLinks(TypedDict):
    self: str
    monitor: str
    job: str


class MonitorPreview(TypedDict):
    url: str
    title: str | None
    #: The texts that would be compared; long ones are cut, `chars` is their whole length.
    texts: list[MonitorPreviewTexts]
    #: The values that would be compared.
    fields: dict[str, Any]
    #: Lines that would be compared, over all texts and fields.
    lines: int
    jobId: str
    links: MonitorPreviewLinks


class MonitorPreviewTexts(TypedDict):
    name: str
    text: str
    chars: int


class MonitorPreviewLinks(TypedDict):
    job: str


class MonitorPreviewOptions(TypedDict, total=False):
    #: What of a page is compared. Unless given: the text, the title, and the price with its currency and availability.
    watch: WatchRules
    #: What never counts as a change.
    ignore: IgnoreRules
    #: How the page is fetched.
    options: CrawlPageOptions


class MonitorPreviewRequest(MonitorPreviewOptions):
    #: The page to look at.
    url: str


class MonitorReceivers(TypedDict, total=False):
    #: Where the events are sent as JSON.
    webhook: MonitorWebhook
    #: An address for e-mail; the server must have SCRAPIFIE_SMTP_URL.
    email: str
    #: A short message for people goes here: an incoming webhook of Slack.
    slack: str
    #: A short message for people goes here: a webhook of Discord.
    discord: str
    #: A short message for people goes here: a webhook of Microsoft Teams.
    teams: str
    #: A short message for people goes here: a topic of ntfy, such as https://ntfy.sh/topic.
    ntfy: str
    #: Types of events, or patterns; `page.changed` is one for each page.
    events: list[str]


class MonitorOptions(TypedDict, total=False):
    #: The pages to watch.
    urls: list[str]
    #: A site to watch: its pages are found by following links and reading its sitemaps.
    site: str
    #: A sitemap whose pages are watched.
    sitemap: str
    #: What of a page is compared. Unless given: the text, the title, and the price with its currency and availability.
    watch: WatchRules
    #: What never counts as a change.
    ignore: IgnoreRules
    #: Smaller changes do not count. Each thing that is watched is measured for itself and must reach both. A field that is no number counts however little of it changes.
    threshold: ChangeThreshold
    #: Checks in a row that must have seen a change before it is told.
    confirm: int
    #: How long a page that is gone, empty or almost wholly another has to stay so before it is told.
    settle: Union[int, str]
    #: Checks in a row that must have failed before `monitor.failed` is told.
    failAfter: int
    #: Leave out what differs at almost every check (clocks, counters, advertisements) and variants of tests.
    learnNoise: bool
    #: Look again after half a minute at pages that seem to have changed, and at new ones to learn their noise.
    recheck: bool
    #: Pages of a site or sitemap to look at; one that has more is never covered, so none is told as removed.
    maxPages: int
    #: Links to follow from a seed at most; null: no limit.
    maxDepth: int | None
    #: Only URLs that match one are fetched; empty: all. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    include: list[str]
    #: URLs that match one are not fetched. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    exclude: list[str]
    #: How each page is fetched.
    options: CrawlPageOptions
    notify: MonitorReceivers


class MonitorRequest(MonitorOptions):
    #: For people.
    name: str
    #: When the pages are checked, as for /v1/schedules.
    schedule: MonitorSchedule


class MonitorSchedule(TypedDict, total=False):
    #: Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
    cron: str
    #: The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else.
    every: Union[str, float]
    #: IANA time zone of the cron line and of the active hours.
    timeZone: str
    #: Runs begin up to this much later, each tick always by the same part; never after the next tick.
    jitterMs: int
    #: After a time without schedulers: one run for all that were missed, or none.
    catchUp: Literal["one", "none"]
    #: Times outside of these hours are left out; null: none are.
    activeHours: ActiveHours | None


class MonitorScheduleUpdate(TypedDict, total=False):
    #: Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
    cron: str
    #: The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else.
    every: Union[str, float]
    #: IANA time zone of the cron line and of the active hours.
    timeZone: str
    jitterMs: int
    catchUp: Literal["one", "none"]
    #: Times outside of these hours are left out; null: none are.
    activeHours: ActiveHours | None


class MonitorTiming(TypedDict):
    id: str
    cron: str | None
    everyMs: int | None
    timeZone: str
    jitterMs: int
    activeHours: MonitorTimingActiveHours | None


_MonitorTimingActiveHoursReserved = TypedDict("_MonitorTimingActiveHoursReserved", {"from": "str"}, total=False)


class MonitorTimingActiveHours(_MonitorTimingActiveHoursReserved):
    to: str
    days: list[int]


class MonitorUpdate(TypedDict, total=False):
    #: For people.
    name: str
    #: The pages to watch.
    urls: list[str]
    #: A site to watch: its pages are found by following links and reading its sitemaps.
    site: str
    #: A sitemap whose pages are watched.
    sitemap: str
    schedule: MonitorScheduleUpdate
    watch: WatchRules
    ignore: IgnoreRules
    threshold: ChangeThreshold
    #: Checks in a row that must have seen a change before it is told.
    confirm: int
    #: How long a page that is gone, empty or almost wholly another has to stay so before it is told.
    settle: Union[int, str]
    #: Checks in a row that must have failed before `monitor.failed` is told.
    failAfter: int
    #: Leave out what differs at almost every check (clocks, counters, advertisements) and variants of tests.
    learnNoise: bool
    #: Look again after half a minute at pages that seem to have changed, and at new ones to learn their noise.
    recheck: bool
    #: Pages of a site or sitemap to look at; one that has more is never covered, so none is told as removed.
    maxPages: int
    maxDepth: int | None
    include: list[str]
    exclude: list[str]
    #: How each page is fetched, in place of all that was said before; needed where hidden values would go to a new origin.
    options: CrawlPageOptions
    #: Replaces the receivers that the monitor had; null: it has none.
    notify: MonitorReceivers | None


class _MonitorWebhook(TypedDict, total=False):
    #: Signs what is sent. Without one, messages are not signed.
    secret: str
    #: Sent along, such as `Authorization`.
    headers: dict[str, str]


class MonitorWebhook(_MonitorWebhook):
    #: An http or https URL.
    url: str


class NewKey(TypedDict):
    id: str
    name: str
    #: First characters of the secret, for recognising it.
    prefix: str
    scopes: list[Literal["scrape", "jobs:read", "jobs:write", "exports", "schedules", "webhooks", "read", "write", "credentials", "credentials:read", "admin"]]
    #: Requests per minute; null: as many as the server allows a key.
    ratePerMinute: int | None
    createdAt: str
    expiresAt: str | None
    revokedAt: str | None
    lastUsedAt: str | None
    links: SelfLink
    #: Shown this one time.
    secret: str


class NewWebhook(TypedDict):
    id: str
    #: Where events are sent; the addresses of chats are hidden behind their host.
    url: str
    events: list[str]
    format: Union[Literal["json", "slack", "discord", "teams", "ntfy", "email"], str]
    enabled: bool
    #: `gone`: the receiver answered 410. `failing`: nothing could be delivered for three days. `unconfirmed`: the owner of the e-mail address has not opened the link that was sent there; `test` sends it again.
    disabledReason: Literal["user", "gone", "failing", "unconfirmed"] | None
    disabledAt: str | None
    #: When the attempts began to fail that have failed in a row.
    failingSince: str | None
    createdAt: str
    updatedAt: str
    links: ChangedWebhookLinks
    #: Signs what is sent. Shown this one time.
    secret: str


class Notification(TypedDict):
    id: str
    #: As in docs/events.md.
    type: str
    level: Literal["good", "neutral", "warning", "bad"]
    title: str
    text: str
    at: str
    jobId: str | None
    #: What the event says, as in docs/events.md.
    data: dict[str, Any]
    #: The job; null for events of no job.
    links: NotificationLinks | None


class NotificationLinks(TypedDict):
    self: str


class OwnAccount(TypedDict):
    id: str
    name: str
    plan: str
    key: Key
    limits: OwnAccountLimits
    used: AccountUse
    #: What is left to spend; null: it is not limited.
    credits: Credits | None
    version: str


class OwnAccountLimits(TypedDict):
    #: Of the key, or of all keys of the account where that is less.
    requestsPerMinute: int
    #: Pages fetched at the same time, over all processes; null: no limit.
    concurrentPages: int | None
    #: URLs of its jobs that have not ended; null: no limit.
    openUrls: int | None
    #: Bytes of the bodies that its jobs have stored, before compression; null: no limit.
    storedBytes: int | None
    bodyBytes: int
    #: URLs of all accounts that may wait together.
    queuedUrls: int


class OwnerProof(TypedDict):
    file: OwnerProofFile
    dns: OwnerProofDns | None


class OwnerProofFile(TypedDict):
    url: str
    line: str


class OwnerProofDns(TypedDict):
    name: str
    type: Literal["TXT"]
    text: str


class OwnerRequest(TypedDict):
    #: Known to you only.
    id: str
    host: str
    want: Literal["stop", "slower"]
    secondsBetweenRequests: int | None
    state: Literal["unproved", "in-force"]
    createdAt: str
    #: A request that is not proved by then is forgotten.
    expiresAt: str
    provedAt: str | None
    provedBy: Literal["file", "dns"] | None
    #: Publish one of the two, then call `check`.
    proof: OwnerProof
    links: SelfLink


class _Page(TypedDict, total=False):
    #: Exactly as it was submitted; `url` where the page was found on another one.
    sourceUrl: str
    #: What the response turned out to be. Null for pages that an earlier version stored.
    outcome: Literal["ok", "soft-404", "blocked", "captcha", "login-wall", "needs-javascript", "rate-limited", "empty", "error"] | None
    #: What decided the outcome; null for a page that is plainly ok.
    evidence: str | None
    #: Of the response, names in lower case; cookies are in `cookies`.
    headers: dict[str, Union[str, list[str]]]
    #: Cookies that the response set.
    cookies: list[SetCookie]
    #: URLs that answered with a redirect, in the order they were followed; `finalUrl` is where they led.
    redirects: list[Redirect]
    #: With `maxAge`: whether a stored page answered, without a request.
    cache: PageCache
    #: With `ifModified`: the host said that the page has not changed; the body is that of the crawl before.
    notModified: bool
    metadata: PageMetadata | None
    links: list[PageLinks]
    html: str | None
    #: The body as the server sent it, decoded; of a page that was rendered, before any script ran.
    rawHtml: str | None
    #: Of the main content.
    text: str | None
    #: The main content as Markdown (GFM).
    markdown: str | None
    content: PageContent | None
    #: Structured data of every kind in one view that says where each value is from.
    structured: Any
    #: What `extract` found: fields of the type, and of the rules. Null when `auto` found no type.
    extracted: dict[str, Any] | None
    #: The type that was read.
    extractedType: str | None
    #: How likely the page is of that type, from 0 to 1; `auto` chooses none below 0.3.
    extractedProbability: float
    #: Where each field is from.
    extractedBy: dict[str, ValueOrigin]
    #: Fields that are missing, not what they should be, or not what the schema allows; with a code, what a plug-in threw.
    extractProblems: list[PageExtractProblems]
    #: The call of a language model for this page, and what it has cost.
    llm: PageLlm
    #: Content that is not in the results, because it lies beyond a limit or could not be read.
    warnings: list[ExportError]
    #: Of a PDF whose text was asked for: how many of its pages were read.
    pdfPages: PagePdfPages
    screenshot: Artifact | None
    pdf: Artifact | None
    #: What the page’s scripts asked for; null when none ran.
    xhr: list[RecordedXhr] | None
    #: One entry per action that ran to its end.
    actions: list[ActionResult]
    #: Only for pages rendered in a browser.
    consoleErrors: list[str]
    #: Parts that were deleted because their time was over; formats made of them are null, and artifacts answer 410.
    expired: list[Literal["bodies", "artifacts", "records"]]
    #: Parts that were asked for and are gone although nothing has deleted them: a disk or an object store has lost them. Formats made of them are null.
    lost: list[Literal["bodies", "artifacts"]]
    #: Why the page is not usable although a response arrived. The other fields describe that response.
    error: PageError


class Page(_Page):
    url: str
    #: Where redirects led.
    finalUrl: str
    statusCode: int | None
    contentType: str | None
    fetchedAt: str
    depth: int
    bytes: int
    #: SHA-256 of the body.
    contentHash: str | None
    title: str | None
    #: The URL whose page this one repeats: by rel=canonical, or because an earlier page of the job has the same body.
    duplicateOf: str | None


class PageCache(TypedDict):
    hit: bool
    #: When the page was fetched that answered.
    storedAt: str | None


_PageLinksReserved = TypedDict("_PageLinksReserved", {"from": "str"}, total=False)


class PageLinks(_PageLinksReserved):
    url: str
    text: str
    rel: str


class _PageExtractProblems(TypedDict, total=False):
    code: Literal["PLUGIN_FAILED"]


class PageExtractProblems(_PageExtractProblems):
    path: str
    message: str


class PageLlm(TypedDict):
    model: str
    promptTokens: int
    completionTokens: int
    #: The server did not count: the numbers are estimates.
    isEstimated: bool
    #: The answer was known already, and cost nothing.
    isCached: bool


class PagePdfPages(TypedDict):
    read: int
    total: int


class _PageError(TypedDict, total=False):
    details: PageErrorDetails


class PageError(_PageError):
    code: str
    message: str


class PageErrorDetails(TypedDict, total=False):
    #: Where on the page, as in `actions.2 click #buy`.
    step: str
    #: The page at the moment when the step failed.
    screenshot: Artifact
    #: Its HTML at that moment.
    html: Artifact


class PageContent(TypedDict):
    #: Null for documents other than web pages.
    html: str | None
    text: str
    title: str | None
    author: str | None
    publishedAt: str | None
    modifiedAt: str | None
    siteName: str | None
    language: str | None
    excerpt: str | None
    wordCount: int
    readingMinutes: int
    #: What kind of page it looks like; of other bodies, what they are.
    pageType: str | None


class _PageGeolocation(TypedDict, total=False):
    #: In metres; 10 unless given.
    accuracy: float


class PageGeolocation(_PageGeolocation):
    latitude: float
    longitude: float


class PageMetadata(TypedDict):
    title: str | None
    description: str | None
    language: str | None
    canonical: str | None
    robots: str | None
    charset: str | None
    headings: list[PageMetadataHeadings]
    meta: dict[str, str]
    openGraph: dict[str, Union[str, list[str]]]
    twitter: dict[str, str]
    hreflang: list[PageMetadataHreflang]
    jsonLd: list[Any]
    microdata: list[Any]
    rdfa: list[Any]
    feeds: list[PageMetadataFeeds]
    pagination: PageMetadataPagination
    images: list[PageMetadataImages]


class PageMetadataHeadings(TypedDict):
    level: int
    text: str


class PageMetadataHreflang(TypedDict):
    lang: str
    url: str


class PageMetadataFeeds(TypedDict):
    url: str
    type: str
    title: str


class PageMetadataPagination(TypedDict):
    next: str | None
    prev: str | None


class PageMetadataImages(TypedDict):
    url: str
    alt: str


class PageOptions(TypedDict, total=False):
    #: How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
    engine: Union[Literal["auto", "http", "browser", "flaresolverr", "stealth", "firecrawl", "replay"], str]
    #: Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
    headers: dict[str, str]
    #: Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret (`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.
    crossOriginHeaders: list[str]
    #: Cookies to send to the origin of the URL.
    cookies: dict[str, str]
    #: What to wait for before the page is read. Needs a browser.
    wait: PageWait | None
    #: Go down the page until it grows no more, for lists that load on the way. Needs a browser. Unless given, a page that is rendered for the types `job_posting` and `linkedin_profile` is scrolled a little.
    scroll: Union[bool, PageScroll] | None
    #: What to do on the page, in this order, before it is read. The first step that fails ends them, is named by the error, and what there was by then is kept. Needs a browser.
    actions: list[Union[PageActionClick, PageActionHover, PageActionBack, PageActionUpload, PageActionType, PageActionPress, PageActionSelect, PageActionWait, PageActionScroll, PageActionEvaluate, PageActionScreenshot]]
    #: What a browser need not load.
    blockResources: list[Literal["images", "fonts", "media", "trackers"]]
    #: Size of the window in pixels; 1280 × 800 unless given, 412 × 915 with `mobile`. Needs a browser.
    viewport: PageViewport | None
    #: Show pages as on a phone: touch, a narrow window, `Mobile` in the user agent. Needs a browser.
    mobile: bool
    #: Where pages that ask for the position find the browser. Needs a browser.
    geolocation: PageGeolocation | None
    #: Language of the browser, which sites also get as `Accept-Language`. Needs a browser.
    locale: str | None
    #: Time zone of the browser. Needs a browser.
    timezone: str | None
    #: Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.
    session: str | None
    #: The way out. Without it, as policy and need say.
    proxy: PageProxy | None
    #: `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
    identity: Literal["bot", "browser"] | None
    #: The browser that plain HTTP looks like, in headers and handshake; Chrome unless given. Needs `identity: "browser"` and `engine: "http"`.
    identityBrowser: Literal["firefox", "safari"] | None
    #: Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.
    timeoutMs: int
    #: Time for all attempts at one URL and the pauses between them; a minute, or `timeoutMs` where that is longer, unless the operator has set another. Waits before the first attempt, for the turn of the host, and pauses that the host asks for by `Retry-After` are not counted.
    taskTimeoutMs: int
    #: Tries per URL, the first one included.
    maxAttempts: int
    #: Largest body that is read, after decompression.
    maxBodyBytes: int
    #: `false` is refused unless the operator’s policy consents to that for the host.
    obeyRobots: bool


class PageProxy(TypedDict, total=False):
    #: Kind of proxy, from cheap to trusted.
    tier: Literal["datacenter", "residential", "mobile"]
    #: Where the proxy is to be, `de` for Germany.
    country: str
    #: The dearest kind that may be used; `datacenter` keeps residential and mobile ones out.
    maxTier: Literal["datacenter", "residential", "mobile"]
    #: A proxy of your own, `http://user:password@host:port`, https or socks5; never shown again.
    url: str
    #: Several proxies of your own, which are used in turn.
    urls: list[str]


class PageScreenshot(TypedDict, total=False):
    #: The whole page instead of what a window shows.
    fullPage: bool
    #: Only the first element that matches.
    selector: str
    #: png unless given.
    format: Literal["png", "jpeg"]
    #: Of a jpeg.
    quality: int


class PageScroll(TypedDict, total=False):
    #: Screens to go at most; 20 unless given.
    maxSteps: int
    #: Pause after each; 150 unless given.
    pauseMs: int


class PageViewport(TypedDict):
    width: int
    height: int


class PageWait(TypedDict, total=False):
    #: Until an element matches.
    selector: str
    #: So long, after everything else that is waited for.
    ms: int
    #: How far the page must have loaded.
    until: Literal["load", "domcontentloaded", "networkidle"]


class Proxies(TypedDict):
    #: Whether any process that was heard of uses proxies.
    isSetUp: bool
    proxies: list[ProxiesProxies]
    providers: list[ProxiesProviders]
    tiers: list[ProxiesTiers]


class ProxiesProxies(TypedDict):
    id: str
    provider: str
    tier: Literal["datacenter", "residential", "mobile"]
    country: str | None
    isHealthy: bool
    #: The sum of the four that follow.
    requests: int
    successes: int
    #: Not served, by the fault of the proxy or perhaps so.
    failures: int
    #: Refused by the target because of where the request came from.
    bans: int
    #: Not served by the fault of the target.
    targetFailures: int
    bytes: int
    #: Median of the latest successes.
    p50Ms: float | None


class ProxiesProviders(TypedDict):
    name: str
    tier: Literal["datacenter", "residential", "mobile"]
    breaker: Literal["closed", "open", "half-open"]
    proxies: int
    healthy: int
    #: The sum of the four that follow.
    requests: int
    successes: int
    #: Not served, by the fault of the proxy or perhaps so.
    failures: int
    #: Refused by the target because of where the request came from.
    bans: int
    #: Not served by the fault of the target.
    targetFailures: int
    bytes: int
    #: Median of the latest successes.
    p50Ms: float | None


class ProxiesTiers(TypedDict):
    tier: Literal["datacenter", "residential", "mobile"]
    #: The sum of the four that follow.
    requests: int
    successes: int
    #: Not served, by the fault of the proxy or perhaps so.
    failures: int
    #: Refused by the target because of where the request came from.
    bans: int
    #: Not served by the fault of the target.
    targetFailures: int
    bytes: int
    #: Median of the latest successes.
    p50Ms: float | None


class _PutCredentialRequestLogin(TypedDict, total=False):
    #: Send it by unencrypted `http://` too, where everybody on the way can read it.
    allowHttp: bool


class PutCredentialRequestLogin(_PutCredentialRequestLogin):
    #: For a form: `{{username}}` and `{{password}}` in `type` actions.
    kind: Literal["login"]
    #: The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it.
    hosts: list[str]
    username: str
    password: str


class _PutCredentialRequestBasic(TypedDict, total=False):
    #: Send it by unencrypted `http://` too, where everybody on the way can read it.
    allowHttp: bool


class PutCredentialRequestBasic(_PutCredentialRequestBasic):
    #: HTTP Basic authentication.
    kind: Literal["basic"]
    #: The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it.
    hosts: list[str]
    username: str
    password: str


class _PutCredentialRequestBearer(TypedDict, total=False):
    #: Send it by unencrypted `http://` too, where everybody on the way can read it.
    allowHttp: bool


class PutCredentialRequestBearer(_PutCredentialRequestBearer):
    #: `Authorization: Bearer …`.
    kind: Literal["bearer"]
    #: The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it.
    hosts: list[str]
    token: str


class _PutCredentialRequestHeaders(TypedDict, total=False):
    #: Send it by unencrypted `http://` too, where everybody on the way can read it.
    allowHttp: bool


class PutCredentialRequestHeaders(_PutCredentialRequestHeaders):
    #: Any request headers.
    kind: Literal["headers"]
    #: The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it.
    hosts: list[str]
    headers: dict[str, str]


class _PutCredentialRequestCookies(TypedDict, total=False):
    #: Send it by unencrypted `http://` too, where everybody on the way can read it.
    allowHttp: bool


class PutCredentialRequestCookies(_PutCredentialRequestCookies):
    #: Cookies by name.
    kind: Literal["cookies"]
    #: The only hosts it is ever sent to: `example.com`, `example.com:8443`, or `*.example.com` for all below it.
    hosts: list[str]
    cookies: dict[str, str]


_QueryRequestReserved = TypedDict("_QueryRequestReserved", {"from": "str"}, total=False)


class QueryRequest(_QueryRequestReserved, total=False):
    #: Columns: names of fields, `{"field": "fetchedAt", "by": "day"}`, or `{"fn": "sum", "field": "bytes", "as": "total"}` with one of count, countDistinct, sum, avg, min, max. Left out: some fields of the source; of groups, how many rows each has.
    select: list[Union[str, dict[str, Any]]]
    #: `{"field", "op", "value"}` with one of eq, lt, lte, gt, gte, ne, in, notIn, contains, startsWith, endsWith, icontains, isNull, isNotNull, or `{"and": […]}`, `{"or": […]}`, `{"not": {…}}`; at most 100 comparisons, 8 levels deep.
    where: dict[str, Any]
    #: One row for each value: names of fields, or `{"field", "by"}` with hour, day, week, month, year in UTC. An empty list is one group of all rows.
    group: list[Union[str, dict[str, Any]]]
    #: Names of fields or columns; `-bytes` is from the largest down. Nulls come last.
    order: list[str]
    #: Rows at most: 100 when left out, up to 1000, of groups 10000. Of SQL up to 100000.
    limit: int
    #: `nextCursor` of the answer before, with the same query; not for groups.
    cursor: str
    #: One SELECT in the SQL of DuckDB over the views `pages`, `links` and `records` of the lake.
    sql: str
    timeoutMs: int
    #: Only files of these hosts are read; with the port where it is not the default.
    domains: list[str]
    #: Only files of this day (UTC) and later are read.
    since: str
    #: Only files of this day (UTC) and earlier are read.
    until: str


class QueryResult(TypedDict):
    columns: list[QueryResultColumns]
    #: One object per row, with the names of `columns`.
    items: list[dict[str, Any]]
    #: Where the next rows begin; null at the end, and of groups.
    nextCursor: str | None
    #: There are more groups than `limit`.
    isTruncated: bool


class QueryResultColumns(TypedDict):
    name: str
    #: text, number, time, boolean or json; of SQL, the type in DuckDB.
    type: str


class _RecordedXhr(TypedDict, total=False):
    #: The answer, when it is short and text.
    text: str
    #: Any other answer.
    body: Artifact


class RecordedXhr(_RecordedXhr):
    url: str
    method: str
    statusCode: int
    contentType: str | None
    #: The answer was too large to be kept.
    isTooLarge: bool


class Redirect(TypedDict):
    url: str
    statusCode: int


class ReextractRequest(TypedDict, total=False):
    #: Formats to extract; screenshots, PDFs and XHR require a fetch.
    formats: list[Literal["html", "rawHtml", "text", "links", "metadata", "markdown", "content", "structured"]]
    #: What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
    extract: ExtractOptions | None
    #: `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
    onlyMainContent: bool
    #: CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
    includeTags: list[str]
    #: CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
    excludeTags: list[str]
    #: Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
    maxPdfPages: int


class ResumeJobRequest(TypedDict, total=False):
    #: New page budget of the whole job.
    maxPages: int | None
    #: New byte budget of the whole job.
    maxBytes: int | None
    #: Time the job gets from now on.
    maxDurationMs: int | None
    #: New budget of browser time of the whole job.
    maxBrowserMs: int | None
    #: New budget of bytes through proxies of the whole job.
    maxProxyBytes: int | None
    #: New budget of credits of the whole job.
    maxCredits: float | None


class Retention(TypedDict):
    #: What the account asked for; null: nothing.
    own: RetentionLimits | None
    #: What the operator set for the account; null: nothing.
    operator: RetentionLimits | None
    #: What holds: the shortest time of account, operator and installation; null: without limit.
    effective: RetentionLimits


class RetentionLimits(TypedDict):
    bodiesMs: int | None
    artifactsMs: int | None
    recordsMs: int | None
    ledgerMs: int | None
    jobsMs: int | None
    exportsMs: int | None
    snapshotsMs: int | None
    #: Ended jobs that are kept, the newest; null: all.
    maxJobs: int | None
    #: Bytes of fetched pages that are kept; null: all.
    maxBytes: int | None


class RetentionRequest(TypedDict, total=False):
    #: How long bodies are kept as they were fetched; null: as the account and the installation say.
    bodies: Union[int, str] | None
    #: How long pictures, PDFs and recorded answers are kept; null: as the account and the installation say.
    artifacts: Union[int, str] | None
    #: How long is kept what was read out of pages; null: as the account and the installation say.
    records: Union[int, str] | None
    #: How long the URLs and pages of an ended job are kept, but for its summary; null: as the account and the installation say.
    ledger: Union[int, str] | None
    #: How long an ended job is kept at all; null: as the account and the installation say.
    jobs: Union[int, str] | None
    #: How long exports are kept after they were written; null: as the account and the installation say.
    exports: Union[int, str] | None
    #: How long snapshots are kept after their content was last seen; null: as the account and the installation say.
    snapshots: Union[int, str] | None
    #: Ended jobs that are kept, the newest; null: all.
    maxJobs: int | None
    #: Bytes of fetched pages that are kept; beyond that the oldest bodies go. null: all.
    maxBytes: int | None


class RobotsTest(TypedDict):
    url: str
    userAgent: str
    #: Null when the robots.txt of the host was never fetched.
    isAllowed: bool | None
    #: The line that decided; null when none matched.
    rule: str | None
    #: Its number, from 1.
    line: int | None
    message: str
    #: The pause that the file asks for between requests.
    crawlDelayMs: float | None
    sitemaps: list[str]
    #: Which file was asked: the stored one, the one of the request, or none.
    source: Literal["stored", "given", "none"]
    #: Of the stored file.
    status: Literal["ok", "absent", "unreachable"] | None
    fetchedAt: str | None
    #: Whether the policy of the host obeys robots.txt.
    policy: Literal["obey", "ignore"]


class RotateKeyRequest(TypedDict, total=False):
    #: Another account, for the operator; left out: the account of the key.
    account: str
    #: How long the secret of now goes on.
    overlapSeconds: int


class RotateWebhookSecretRequest(TypedDict, total=False):
    #: The new secret; made unless given.
    secret: str
    #: Hours for which messages are signed with the former secret as well.
    overlapHours: int


class Schedule(TypedDict):
    id: str
    name: str
    cron: str | None
    everyMs: int | None
    timeZone: str
    activeHours: MonitorTimingActiveHours | None
    jitterMs: int
    overlap: Literal["skip", "queue", "cancelPrevious"]
    catchUp: Literal["one", "none"]
    #: What each run starts, with all defaults; secrets are hidden.
    job: ScheduleJob
    status: Literal["active", "paused"]
    #: The next tick with its jitter; null while it is paused.
    nextRunAt: str | None
    createdAt: str
    updatedAt: str
    links: ScheduleLinks


class ScheduleJob(TypedDict):
    kind: Literal["scrape", "batch", "crawl"]


class ScheduleLinks(TypedDict):
    self: str
    runs: str
    next: str
    jobs: str


class SchedulePreviewRequest(TypedDict, total=False):
    #: Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
    cron: str
    #: The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else.
    every: Union[str, float]
    #: IANA time zone of the cron line and of the active hours.
    timeZone: str
    #: Times outside of these hours are left out; null: none are.
    activeHours: ActiveHours | None


class ScheduleOptions(TypedDict, total=False):
    #: Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
    cron: str
    #: The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else.
    every: Union[str, float]
    #: IANA time zone of the cron line and of the active hours.
    timeZone: str
    #: Runs begin up to this much later, each tick always by the same part; never after the next tick.
    jitterMs: int
    #: What becomes of a run that is due while the job before goes on: it is left out, waits (one at most), or the job before is cancelled.
    overlap: Literal["skip", "queue", "cancelPrevious"]
    #: After a time without schedulers: one run for all that were missed, or none.
    catchUp: Literal["one", "none"]
    #: Times outside of these hours are left out; null: none are.
    activeHours: ActiveHours | None


class ScheduleRequest(ScheduleOptions):
    #: For people.
    name: str
    #: What each run starts: `kind`, and what `/v1/scrape`, `/v1/batch` or `/v1/crawl` takes.
    job: Union[ScheduledScrape, ScheduledBatch, ScheduledCrawl]


class ScheduleRun(TypedDict):
    id: str
    scheduleId: str
    trigger: Literal["tick", "manual"]
    #: The tick; of a run that was asked for, when; of missed ticks, the first.
    at: str
    #: It ran later than it should have, after a time without schedulers.
    isLate: bool
    #: pending: decided within a second. waiting: begins when the job before has ended. started: has a job. skipped, refused, missed: got none, for `reason`.
    status: Literal["pending", "waiting", "started", "skipped", "refused", "missed"]
    reason: str | None
    #: Only of a run that has started.
    jobId: str | None
    #: How its job stands or has ended; null when there is none, or none any more.
    jobStatus: Literal["queued", "running", "completed", "partially_completed", "failed", "cancelled"] | None
    #: Of missed ticks: the last, and how many.
    missed: ScheduleRunMissed | None
    createdAt: str
    #: When it was decided.
    settledAt: str | None
    links: ScheduleRunLinks


class ScheduleRunMissed(TypedDict):
    lastAt: str
    #: 1000 stands for that many or more.
    count: int


class ScheduleRunLinks(TypedDict):
    self: str
    job: str | None


class ScheduleUpdate(TypedDict, total=False):
    #: For people.
    name: str
    #: Minute, hour, day of month, month and day of week, with seconds in front of them or without; names (`MON`, `JAN`), ranges, lists, steps, `L`, `LW`, `15W`, `5L`, `MON#2`, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
    cron: str
    #: The time between two runs, such as `15m` or `1h30m`, or milliseconds; counted from the creation. At least a minute, where the server says nothing else.
    every: Union[str, float]
    #: IANA time zone of the cron line and of the active hours.
    timeZone: str
    #: What each run starts: `kind`, and what `/v1/scrape`, `/v1/batch` or `/v1/crawl` takes.
    job: Union[ScheduledScrape, ScheduledBatch, ScheduledCrawl]
    jitterMs: int
    overlap: Literal["skip", "queue", "cancelPrevious"]
    catchUp: Literal["one", "none"]
    #: Times outside of these hours are left out; null: none are.
    activeHours: ActiveHours | None


class _ScheduledBatch(TypedDict, total=False):
    #: Fetch the valid URLs when others are none; these are listed as `invalidUrls` in the answer. Otherwise one invalid URL refuses the request.
    ignoreInvalidUrls: bool
    #: How each page is fetched.
    options: BatchPageOptions
    #: Query parameters that do not make a URL another one; `*` at the end is a wildcard.
    ignoreQueryParameters: list[str]
    #: Bytes the job may download before it stops; null: no limit.
    maxBytes: int | None
    #: Time after which the job stops; null: no limit.
    maxDurationMs: int | None
    #: Time that browsers may work for the job, over all its pages, before it stops; null: no limit.
    maxBrowserMs: int | None
    #: Bytes the job may download through proxies before it stops; null: no limit.
    maxProxyBytes: int | None
    #: Credits the job may cost before it stops; pages under way then are finished. Null: no limit.
    maxCredits: float | None
    #: Most fetches of this job at once, over all hosts; null: no limit of its own.
    concurrency: int | None
    #: How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
    retention: JobRetention | None
    #: Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
    snapshots: bool
    #: Make the pages of the job findable by `GET /v1/search`.
    search: bool
    #: Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
    lake: bool
    #: Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
    exports: list[JobExport]
    #: Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks.
    webhook: JobWebhook


class ScheduledBatch(_ScheduledBatch):
    #: The pages to fetch; a URL given twice is fetched once.
    urls: list[str]
    kind: Literal["batch"]


class _ScheduledCrawl(TypedDict, total=False):
    #: Where the crawl starts.
    urls: list[str]
    #: Sitemaps to start from.
    sitemapUrls: list[str]
    #: Pages to fetch at most; null: no limit.
    maxPages: int | None
    #: Links to follow from a seed at most; null: no limit.
    maxDepth: int | None
    #: Domains or hosts that belong to the crawl, `*.` for subdomains only. Empty: the seeds’ hosts.
    allowedDomains: list[str]
    #: Follow links to subdomains of the allowed hosts.
    allowSubdomains: bool
    #: Follow links to any host.
    allowExternal: bool
    #: Only URLs that match one are fetched; empty: all. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    include: list[str]
    #: URLs that match one are not fetched. Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.
    exclude: list[str]
    #: Query parameters that do not make a URL another one; `*` at the end is a wildcard.
    ignoreQueryParameters: list[str]
    #: Treat URLs that differ after `#` as different pages.
    keepFragment: bool
    #: Whether sitemaps (declared in robots.txt or at /sitemap.xml) are read: not at all, too, or nothing else.
    sitemap: Literal["skip", "include", "only"]
    #: Do not follow links marked nofollow.
    obeyNofollow: bool
    #: Do not keep pages marked noindex.
    obeyNoindex: bool
    #: Treat rel=canonical as the same page.
    followCanonical: bool
    #: Leave out links whose queries lead to pages without end: calendars, combinations of filters, ids of sessions.
    avoidQueryTraps: bool
    #: Ask for pages that the last finished crawl of the same start URLs has stored only if they changed; unchanged ones keep the stored body and are marked `notModified`.
    ifModified: bool
    #: What becomes of pages whose URL matches; the first route that fits decides.
    routes: list[CrawlRoute]
    #: Bytes the job may download before it stops; null: no limit.
    maxBytes: int | None
    #: Time after which the job stops; null: no limit.
    maxDurationMs: int | None
    #: Time that browsers may work for the job, over all its pages, before it stops; null: no limit.
    maxBrowserMs: int | None
    #: Bytes the job may download through proxies before it stops; null: no limit.
    maxProxyBytes: int | None
    #: Credits the job may cost before it stops; pages under way then are finished. Null: no limit.
    maxCredits: float | None
    #: Most fetches of this job at once, over all hosts; null: no limit of its own.
    concurrency: int | None
    #: How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
    retention: JobRetention | None
    #: Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
    snapshots: bool
    #: Make the pages of the job findable by `GET /v1/search`.
    search: bool
    #: Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
    lake: bool
    #: Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
    exports: list[JobExport]
    #: Pages in a row, of one host, that ask to log in before the crawl stops with `login-walls`; 0: it never does. null: 5 with a session, 25 without.
    maxLoginWalls: int | None
    #: How each page is fetched.
    options: CrawlPageOptions
    #: Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks.
    webhook: JobWebhook


class ScheduledCrawl(_ScheduledCrawl):
    kind: Literal["crawl"]


_ScheduledScrapeReserved = TypedDict("_ScheduledScrapeReserved", {"async": "bool"}, total=False)


class _ScheduledScrape(_ScheduledScrapeReserved, total=False):
    #: How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
    engine: Union[Literal["auto", "http", "browser", "flaresolverr", "stealth", "firecrawl", "replay"], str]
    #: Formats that are kept of each page and returned.
    formats: list[Literal["html", "rawHtml", "text", "links", "metadata", "markdown", "content", "structured", "screenshot", "pdf", "xhr"]]
    #: Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.
    inline: bool
    #: Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
    headers: dict[str, str]
    #: Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret (`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.
    crossOriginHeaders: list[str]
    #: Cookies to send to the origin of the URL.
    cookies: dict[str, str]
    #: What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
    extract: ExtractOptions | None
    #: `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
    onlyMainContent: bool
    #: CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
    includeTags: list[str]
    #: CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
    excludeTags: list[str]
    #: Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
    maxPdfPages: int
    #: What to wait for before the page is read. Needs a browser.
    wait: PageWait | None
    #: Go down the page until it grows no more, for lists that load on the way. Needs a browser. Unless given, a page that is rendered for the types `job_posting` and `linkedin_profile` is scrolled a little.
    scroll: Union[bool, PageScroll] | None
    #: What to do on the page, in this order, before it is read. The first step that fails ends them, is named by the error, and what there was by then is kept. Needs a browser.
    actions: list[Union[PageActionClick, PageActionHover, PageActionBack, PageActionUpload, PageActionType, PageActionPress, PageActionSelect, PageActionWait, PageActionScroll, PageActionEvaluate, PageActionScreenshot]]
    #: How the picture is taken; asks for the format `screenshot` as well. Needs a browser.
    screenshot: PageScreenshot | None
    #: What a browser need not load.
    blockResources: list[Literal["images", "fonts", "media", "trackers"]]
    #: Size of the window in pixels; 1280 × 800 unless given, 412 × 915 with `mobile`. Needs a browser.
    viewport: PageViewport | None
    #: Show pages as on a phone: touch, a narrow window, `Mobile` in the user agent. Needs a browser.
    mobile: bool
    #: Where pages that ask for the position find the browser. Needs a browser.
    geolocation: PageGeolocation | None
    #: Language of the browser, which sites also get as `Accept-Language`. Needs a browser.
    locale: str | None
    #: Time zone of the browser. Needs a browser.
    timezone: str | None
    #: Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.
    session: str | None
    #: The way out. Without it, as policy and need say.
    proxy: PageProxy | None
    #: `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
    identity: Literal["bot", "browser"] | None
    #: The browser that plain HTTP looks like, in headers and handshake; Chrome unless given. Needs `identity: "browser"` and `engine: "http"`.
    identityBrowser: Literal["firefox", "safari"] | None
    #: Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.
    timeoutMs: int
    #: Time for all attempts at one URL and the pauses between them; a minute, or `timeoutMs` where that is longer, unless the operator has set another. Waits before the first attempt, for the turn of the host, and pauses that the host asks for by `Retry-After` are not counted.
    taskTimeoutMs: int
    #: Tries per URL, the first one included.
    maxAttempts: int
    #: Largest body that is read, after decompression.
    maxBodyBytes: int
    #: `false` is refused unless the operator’s policy consents to that for the host.
    obeyRobots: bool
    #: HTTP method.
    method: Literal["GET", "POST"]
    #: Request body; needs `method: "POST"`.
    body: str | None
    #: A page that this account has stored within this time (milliseconds, or `2h`) answers without a request; 0: none does. Never for requests with headers, cookies, a session, a proxy, actions or a body.
    maxAge: Union[int, str]
    #: Whether the page that is fetched may answer later requests with `maxAge`.
    reuse: bool
    #: Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
    snapshots: bool
    #: Make the pages of the job findable by `GET /v1/search`.
    search: bool
    #: Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
    lake: bool
    #: Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
    exports: list[JobExport]
    #: How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
    retention: JobRetention | None
    #: Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks.
    webhook: JobWebhook


class ScheduledScrape(_ScheduledScrape):
    #: The page to fetch.
    url: str
    kind: Literal["scrape"]


class _Scrape(TypedDict, total=False):
    #: Exactly as it was submitted; `url` where the page was found on another one.
    sourceUrl: str
    #: What the response turned out to be. Null for pages that an earlier version stored.
    outcome: Literal["ok", "soft-404", "blocked", "captcha", "login-wall", "needs-javascript", "rate-limited", "empty", "error"] | None
    #: What decided the outcome; null for a page that is plainly ok.
    evidence: str | None
    #: Of the response, names in lower case; cookies are in `cookies`.
    headers: dict[str, Union[str, list[str]]]
    #: Cookies that the response set.
    cookies: list[SetCookie]
    #: URLs that answered with a redirect, in the order they were followed; `finalUrl` is where they led.
    redirects: list[Redirect]
    #: With `maxAge`: whether a stored page answered, without a request.
    cache: PageCache
    #: With `ifModified`: the host said that the page has not changed; the body is that of the crawl before.
    notModified: bool
    metadata: PageMetadata | None
    links: list[PageLinks]
    html: str | None
    #: The body as the server sent it, decoded; of a page that was rendered, before any script ran.
    rawHtml: str | None
    #: Of the main content.
    text: str | None
    #: The main content as Markdown (GFM).
    markdown: str | None
    content: PageContent | None
    #: Structured data of every kind in one view that says where each value is from.
    structured: Any
    #: What `extract` found: fields of the type, and of the rules. Null when `auto` found no type.
    extracted: dict[str, Any] | None
    #: The type that was read.
    extractedType: str | None
    #: How likely the page is of that type, from 0 to 1; `auto` chooses none below 0.3.
    extractedProbability: float
    #: Where each field is from.
    extractedBy: dict[str, ValueOrigin]
    #: Fields that are missing, not what they should be, or not what the schema allows; with a code, what a plug-in threw.
    extractProblems: list[PageExtractProblems]
    #: The call of a language model for this page, and what it has cost.
    llm: PageLlm
    #: Content that is not in the results, because it lies beyond a limit or could not be read.
    warnings: list[ExportError]
    #: Of a PDF whose text was asked for: how many of its pages were read.
    pdfPages: PagePdfPages
    screenshot: Artifact | None
    pdf: Artifact | None
    #: What the page’s scripts asked for; null when none ran.
    xhr: list[RecordedXhr] | None
    #: One entry per action that ran to its end.
    actions: list[ActionResult]
    #: Only for pages rendered in a browser.
    consoleErrors: list[str]
    #: Parts that were deleted because their time was over; formats made of them are null, and artifacts answer 410.
    expired: list[Literal["bodies", "artifacts", "records"]]
    #: Parts that were asked for and are gone although nothing has deleted them: a disk or an object store has lost them. Formats made of them are null.
    lost: list[Literal["bodies", "artifacts"]]
    #: Why the page is not usable although a response arrived. The other fields describe that response.
    error: PageError


class Scrape(_Scrape):
    #: The job that fetched it.
    id: str
    url: str
    #: Where redirects led.
    finalUrl: str
    statusCode: int | None
    contentType: str | None
    fetchedAt: str
    depth: int
    bytes: int
    #: SHA-256 of the body.
    contentHash: str | None
    title: str | None
    #: The URL whose page this one repeats: by rel=canonical, or because an earlier page of the job has the same body.
    duplicateOf: str | None
    trace: ScrapeTrace


class ScrapeTrace(TypedDict):
    decision: str
    rule: str | None
    attempts: list[Attempt]
    #: What the attempts cost together.
    credits: float
    timings: ScrapeTraceTimings


class ScrapeTraceTimings(TypedDict):
    totalMs: float
    fetchMs: float


_ScrapeRequestReserved = TypedDict("_ScrapeRequestReserved", {"async": "bool"}, total=False)


class ScrapeOptions(_ScrapeRequestReserved, total=False):
    #: How pages are fetched. `auto` takes the cheapest engine that works. `stealth`, `flaresolverr` and `firecrawl` need the operator’s consent for the host. `replay` answers from the archive that the operator has set up. The engine of a plug-in has the name of the plug-in in front, such as `lab:fetcher`.
    engine: Union[Literal["auto", "http", "browser", "flaresolverr", "stealth", "firecrawl", "replay"], str]
    #: Formats that are kept of each page and returned.
    formats: list[Literal["html", "rawHtml", "text", "links", "metadata", "markdown", "content", "structured", "screenshot", "pdf", "xhr"]]
    #: Pictures, PDFs and large XHR bodies also come as base64, and not only as addresses.
    inline: bool
    #: Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.
    headers: dict[str, str]
    #: Names of `headers` that also go to other origins, where redirects and links lead. Headers that tell no secret (`Accept…`, `User-Agent`, `Referer` and the like) go there anyway.
    crossOriginHeaders: list[str]
    #: Cookies to send to the origin of the URL.
    cookies: dict[str, str]
    #: What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.
    extract: ExtractOptions | None
    #: `false`: `text`, `markdown` and `content` are of the whole page, navigation included.
    onlyMainContent: bool
    #: CSS selectors: `text`, `markdown`, `content` and `html` are of the matching elements only.
    includeTags: list[str]
    #: CSS selectors: matching elements are removed before `text`, `markdown`, `content` and `html`.
    excludeTags: list[str]
    #: Pages that are read of a PDF; `pdfPages` and `warnings` tell of those beyond.
    maxPdfPages: int
    #: What to wait for before the page is read. Needs a browser.
    wait: PageWait | None
    #: Go down the page until it grows no more, for lists that load on the way. Needs a browser. Unless given, a page that is rendered for the types `job_posting` and `linkedin_profile` is scrolled a little.
    scroll: Union[bool, PageScroll] | None
    #: What to do on the page, in this order, before it is read. The first step that fails ends them, is named by the error, and what there was by then is kept. Needs a browser.
    actions: list[Union[PageActionClick, PageActionHover, PageActionBack, PageActionUpload, PageActionType, PageActionPress, PageActionSelect, PageActionWait, PageActionScroll, PageActionEvaluate, PageActionScreenshot]]
    #: How the picture is taken; asks for the format `screenshot` as well. Needs a browser.
    screenshot: PageScreenshot | None
    #: What a browser need not load.
    blockResources: list[Literal["images", "fonts", "media", "trackers"]]
    #: Size of the window in pixels; 1280 × 800 unless given, 412 × 915 with `mobile`. Needs a browser.
    viewport: PageViewport | None
    #: Show pages as on a phone: touch, a narrow window, `Mobile` in the user agent. Needs a browser.
    mobile: bool
    #: Where pages that ask for the position find the browser. Needs a browser.
    geolocation: PageGeolocation | None
    #: Language of the browser, which sites also get as `Accept-Language`. Needs a browser.
    locale: str | None
    #: Time zone of the browser. Needs a browser.
    timezone: str | None
    #: Name of a session, which keeps cookies, storage, proxy and identity from one request to the next.
    session: str | None
    #: The way out. Without it, as policy and need say.
    proxy: PageProxy | None
    #: `bot` identifies as Scrapifie. `browser` looks like a regular browser, which needs the operator’s consent for the host.
    identity: Literal["bot", "browser"] | None
    #: The browser that plain HTTP looks like, in headers and handshake; Chrome unless given. Needs `identity: "browser"` and `engine: "http"`.
    identityBrowser: Literal["firefox", "safari"] | None
    #: Time for one attempt. A scrape that waits also waits no longer than this, but for a moment to read what a browser shows.
    timeoutMs: int
    #: Time for all attempts at one URL and the pauses between them; a minute, or `timeoutMs` where that is longer, unless the operator has set another. Waits before the first attempt, for the turn of the host, and pauses that the host asks for by `Retry-After` are not counted.
    taskTimeoutMs: int
    #: Tries per URL, the first one included.
    maxAttempts: int
    #: Largest body that is read, after decompression.
    maxBodyBytes: int
    #: `false` is refused unless the operator’s policy consents to that for the host.
    obeyRobots: bool
    #: HTTP method.
    method: Literal["GET", "POST"]
    #: Request body; needs `method: "POST"`.
    body: str | None
    #: A page that this account has stored within this time (milliseconds, or `2h`) answers without a request; 0: none does. Never for requests with headers, cookies, a session, a proxy, actions or a body.
    maxAge: Union[int, str]
    #: Whether the page that is fetched may answer later requests with `maxAge`.
    reuse: bool
    #: Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.
    snapshots: bool
    #: Make the pages of the job findable by `GET /v1/search`.
    search: bool
    #: Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.
    lake: bool
    #: Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.
    exports: list[JobExport]
    #: How long what comes of this job is kept: milliseconds, or `24h`, `30d`. The shortest time of job, account and installation counts. Pages count from when they were fetched, jobs from their end.
    retention: JobRetention | None
    #: Where the events of this job are sent, in place of the webhooks of the account; see /v1/webhooks.
    webhook: JobWebhook


class ScrapeRequest(ScrapeOptions):
    #: The page to fetch.
    url: str


class SearchHit(TypedDict):
    url: str
    #: The job that has the newest content of the URL.
    jobId: str
    statusCode: int | None
    fetchedAt: str
    #: Larger is better; only for comparing hits of one search.
    score: float
    title: SearchHitTitle | None
    snippet: SearchHitTitle


class SearchHitTitle(TypedDict):
    #: Plain text of the page. Never HTML: escape it where you show it.
    text: str
    #: What was found in it: start and end, counted in UTF-16 units as JavaScript does.
    marks: list[list[int]]


class SelfLink(TypedDict):
    self: str


class Session(TypedDict):
    name: str
    #: It has ended and is of no more use; its name is free once it is deleted.
    isExpired: bool
    #: The name of what it logs in with.
    credentials: str | None
    #: Which way out was asked for.
    proxy: SessionProxy | None
    identity: Literal["bot", "browser"] | None
    requestCount: int
    createdAt: str
    lastUsedAt: str | None
    expiresAt: str
    links: SelfLink


class SessionDetail(TypedDict):
    name: str
    #: It has ended and is of no more use; its name is free once it is deleted.
    isExpired: bool
    #: The name of what it logs in with.
    credentials: str | None
    #: Which way out was asked for.
    proxy: SessionProxy | None
    identity: Literal["bot", "browser"] | None
    requestCount: int
    createdAt: str
    lastUsedAt: str | None
    expiresAt: str
    links: SelfLink
    #: The proxy that it keeps; null before it had one.
    usedProxy: SessionDetailUsedProxy | None
    #: Whose browser it says it is; null before it had to be one.
    userAgent: str | None
    #: Without their values.
    cookies: list[SessionDetailCookies]
    storage: list[SessionDetailStorage]
    #: What did not fit in and was left out, the longest unchanged first.
    dropped: SessionDetailDropped


class SessionDetailUsedProxy(TypedDict):
    id: str
    tier: Literal["datacenter", "residential", "mobile"]
    country: str | None


class SessionDetailCookies(TypedDict):
    name: str
    domain: str


class SessionDetailStorage(TypedDict):
    origin: str
    items: int


class SessionDetailDropped(TypedDict):
    cookies: int
    origins: int


class SessionProxy(TypedDict):
    tier: Literal["datacenter", "residential", "mobile"] | None
    country: str | None


class SessionRequest(TypedDict, total=False):
    #: Left out: a name is made up.
    name: str
    #: The name of what to log in with.
    credentials: str | None
    #: Which way out its requests take; it keeps one proxy for as long as that works.
    proxy: SessionRequestProxy | None
    #: `browser` carries the identity of a regular browser, the same one throughout; a host’s policy must consent.
    identity: Literal["bot", "browser"] | None
    #: When it ends; null: as the settings say, a day unless told.
    expiresInHours: int | None


class SessionRequestProxy(TypedDict, total=False):
    tier: Literal["datacenter", "residential", "mobile"] | None
    country: str | None


class SetCookie(TypedDict):
    name: str
    #: `[hidden]` where the page may have been fetched with stored credentials.
    value: str
    domain: str | None
    path: str | None
    #: Null: until the browser is closed.
    expiresAt: str | None
    isSecure: bool
    isHttpOnly: bool
    sameSite: Literal["strict", "lax", "none"] | None


class Setting(TypedDict):
    name: str
    variable: str
    #: Secrets are hidden, and of URLs all but scheme and host. Null: not set.
    value: Any
    default: Any
    source: Literal["default", "command line", "code", "environment", ".env"]
    description: str


class Sighting(TypedDict):
    snapshotId: str
    url: str
    hash: str
    jobId: str
    #: ISO 8601.
    seenAt: str
    links: SightingLinks


class SightingLinks(TypedDict):
    snapshot: str


class SiteChange(TypedDict):
    type: Literal["ADDED", "REMOVED", "MODIFIED", "UNCHANGED", "MOVED", "REVERTED", "NOT_COVERED"]
    url: str
    #: Of a page that has moved: where it was.
    previousUrl: str | None
    previousAt: str | None
    currentAt: str
    #: Names of what changed: fields, `text`, `markdown`, selectors, `screenshot`.
    changed: list[str]
    #: What proves that a page came or went, or why nothing is known about it.
    reason: SiteChangeReason | None
    previous: SiteChangePage | None
    current: SiteChangePage | None
    comparison: SiteChangeComparison | None


class SiteChangeReason(TypedDict):
    crawl: Literal["previous", "current"]
    code: str
    message: str


class SiteChangeComparison(TypedDict):
    isChanged: bool
    texts: list[SiteChangeComparisonTexts]
    fields: list[SiteChangeComparisonFields]
    #: How the screenshots differ; null where they do not, or are not watched.
    picture: Any


class SiteChangeComparisonTexts(TypedDict):
    name: str
    diff: SiteChangeComparisonTextsDiff


class SiteChangeComparisonTextsDiff(TypedDict):
    segments: list[SiteChangeComparisonTextsDiffSegments]
    addedChars: float
    removedChars: float
    #: Changed characters of all, 0 to 1.
    share: float
    #: The texts differ in too many places to tell them apart.
    isCoarse: bool
    #: Segments were cut, because together they are too long.
    isTruncated: bool


class SiteChangeComparisonTextsDiffSegments(TypedDict):
    kind: Literal["same", "removed", "added", "skipped"]
    text: str
    #: Characters of the segment, also where its text is cut.
    chars: float


class _SiteChangeComparisonFields(TypedDict, total=False):
    difference: float
    share: float
    #: JSON Patch (RFC 6902), between lists and objects.
    patch: list[Any]


class SiteChangeComparisonFields(_SiteChangeComparisonFields):
    field: str
    kind: Literal["added", "removed", "changed"]
    type: str
    before: Any
    after: Any


class SiteChangePage(TypedDict):
    #: The number of the page in its job.
    page: str
    finalUrl: str
    statusCode: float | None
    fetchedAt: str
    title: str | None
    price: float | None
    currency: str | None
    availability: str | None


class Snapshot(TypedDict):
    id: str
    #: Canonical.
    url: str
    #: Of the normalized content: the same for the same content, also at another URL.
    hash: str
    #: ISO 8601.
    firstSeenAt: str
    #: ISO 8601.
    lastSeenAt: str
    #: Pages of jobs that had this content.
    timesSeen: int
    finalUrl: str
    statusCode: int | None
    contentType: str | None
    #: SHA-256 of the body as it was the first time.
    contentHash: str
    bytes: int
    #: As the server said the last time.
    etag: str | None
    lastModified: str | None
    title: str | None
    #: As the page states it, or as `extract` found it.
    price: float | None
    currency: str | None
    availability: str | None
    #: What `extract` of the job found that saw it first.
    record: dict[str, Any] | None
    #: The picture that was taken the first time.
    screenshot: SnapshotScreenshot | None
    #: The job that saw it first; it may be deleted.
    jobId: str
    links: SelfLink


class SnapshotScreenshot(TypedDict):
    url: str
    contentType: str
    bytes: int


class _SnapshotContent(TypedDict, total=False):
    text: str | None
    markdown: str | None
    html: str | None
    rawHtml: str | None


class SnapshotContent(_SnapshotContent):
    id: str
    #: Canonical.
    url: str
    #: Of the normalized content: the same for the same content, also at another URL.
    hash: str
    #: ISO 8601.
    firstSeenAt: str
    #: ISO 8601.
    lastSeenAt: str
    #: Pages of jobs that had this content.
    timesSeen: int
    finalUrl: str
    statusCode: int | None
    contentType: str | None
    #: SHA-256 of the body as it was the first time.
    contentHash: str
    bytes: int
    #: As the server said the last time.
    etag: str | None
    lastModified: str | None
    title: str | None
    #: As the page states it, or as `extract` found it.
    price: float | None
    currency: str | None
    availability: str | None
    #: What `extract` of the job found that saw it first.
    record: dict[str, Any] | None
    #: The picture that was taken the first time.
    screenshot: SnapshotScreenshot | None
    #: The job that saw it first; it may be deleted.
    jobId: str
    links: SelfLink


class SnapshotDiff(TypedDict):
    mode: Literal["rules", "text", "word", "line", "html", "json", "fields", "visual"]
    #: False exactly when the diff is empty.
    isChanged: bool
    #: By `mode`; see docs/diff.md.
    diff: Any
    before: SnapshotDiffBefore
    after: SnapshotDiffBefore
    links: SelfLink


class SnapshotDiffBefore(TypedDict):
    id: str
    url: str
    firstSeenAt: str
    title: str | None


class System(TypedDict):
    version: str
    node: str
    role: str
    #: Name of this machine.
    host: str
    pid: int
    startedAt: str
    uptimeMs: int
    #: Whether other processes use the same database.
    isShared: bool
    drivers: SystemDrivers
    #: This process first, then those that were heard of in the last 35 seconds.
    processes: list[SystemProcesses]
    readiness: dict[str, SystemReadiness]
    queues: SystemQueues
    machine: SystemMachine
    memory: SystemMemory
    storage: SystemStorage


class SystemDrivers(TypedDict):
    store: str
    queue: str
    blobs: str


class SystemProcesses(TypedDict):
    process: str
    role: str
    version: str
    startedAt: str
    heardAt: str


class SystemReadiness(TypedDict):
    status: Literal["ok", "degraded", "failing"]
    ms: float
    message: str | None


class SystemQueues(TypedDict):
    #: URLs of all jobs that are still to be done.
    openUrls: int
    #: Hosts with work that wait for a worker.
    waitingHosts: int | None
    activeHosts: int | None
    #: Work that waits for a worker, in the whole installation.
    waiting: list[SystemQueuesWaiting]
    #: Hosts that this process works on.
    activeSlices: int
    #: Requests of this process that are under way.
    inFlightFetches: int
    #: Webhooks to be sent.
    deliveries: SystemQueuesDeliveries


class SystemQueuesWaiting(TypedDict):
    #: http: hosts with URLs that are due. browser, stealth: renders.
    queue: Literal["http", "browser", "stealth"]
    waiting: int
    #: How long the oldest of it has waited.
    oldestMs: float


class SystemQueuesDeliveries(TypedDict):
    pending: int
    oldestMs: float


class SystemMachine(TypedDict):
    processors: int
    loadAverage: list[float]
    totalMemory: float
    freeMemory: float


class SystemMemory(TypedDict):
    rss: float
    heapUsed: float
    heapTotal: float
    external: float


class SystemStorage(TypedDict):
    folder: str
    bytes: float
    #: The 20 largest of the data folder.
    entries: list[SystemStorageEntries]


class SystemStorageEntries(TypedDict):
    name: str
    bytes: float


class TestRobotsOptions(TypedDict, total=False):
    #: The product token that the groups of the file are searched for.
    userAgent: str
    #: A robots.txt to try in place of the stored one.
    robotsTxt: str | None


class TestRobotsRequest(TestRobotsOptions):
    #: A URL of the host, or a path on it over https.
    url: str


class Usage(TypedDict):
    #: The day, the id of the key or the job, the engine or the host. Empty: no key made the job.
    value: str
    pages: int
    attempts: int
    bytes: int
    browserMs: int
    proxyBytes: int
    #: Of language models.
    tokens: int
    credits: float


class ValueOrigin(TypedDict):
    source: str
    confidence: float


class WatchRules(TypedDict, total=False):
    #: The visible text of the page.
    text: bool
    #: The main content as Markdown, which has the addresses of links as well.
    markdown: bool
    #: The text of the elements that a CSS selector or an XPath expression (one that begins with `/`, `(` or `./`) finds, each for itself.
    selectors: list[str]
    #: Values by name: `title`, `price`, `currency`, `availability`, and extracted fields; or `all`.
    fields: Union[Literal["all"], list[str]]
    #: The pixels of the screenshot.
    screenshot: bool


class Webhook(TypedDict):
    id: str
    #: Where events are sent; the addresses of chats are hidden behind their host.
    url: str
    events: list[str]
    format: Union[Literal["json", "slack", "discord", "teams", "ntfy", "email"], str]
    enabled: bool
    #: `gone`: the receiver answered 410. `failing`: nothing could be delivered for three days. `unconfirmed`: the owner of the e-mail address has not opened the link that was sent there; `test` sends it again.
    disabledReason: Literal["user", "gone", "failing", "unconfirmed"] | None
    disabledAt: str | None
    #: When the attempts began to fail that have failed in a row.
    failingSince: str | None
    createdAt: str
    updatedAt: str
    links: ChangedWebhookLinks


class WebhookOptions(TypedDict, total=False):
    #: What is sent: `json`, or a short message for people by an incoming webhook of Slack, Discord or Teams, by ntfy, or by e-mail. `email` for `mailto:` and `json` for the rest unless given. The channel of a plug-in has the name of the plug-in in front, such as `pager:sms`, and takes the addresses that the plug-in knows.
    format: Union[Literal["json", "slack", "discord", "teams", "ntfy", "email"], str]
    #: Sent along, such as `Authorization`. Never shown again.
    headers: dict[str, str]
    #: Signs what is sent: 16 characters or more, or `whsec_` and a key in base64. Made unless given.
    secret: str


class WebhookRequest(WebhookOptions):
    #: Where events are sent: an http or https URL, or `mailto:address`.
    url: str
    #: Types of events, or patterns such as `job.*`, `monitor.*` and `*`.
    events: list[str]


class WebhookUpdate(TypedDict, total=False):
    #: Where events are sent. With another origin the webhook gets a new secret, and headers that it has must be given anew.
    url: str
    #: Types of events, or patterns such as `job.*`, `monitor.*` and `*`.
    events: list[str]
    #: What is sent. With another format the webhook gets a new secret, and headers that it has must be given anew; from a chat to `json`, `url` must be given as well.
    format: Union[Literal["json", "slack", "discord", "teams", "ntfy", "email"], str]
    #: In place of all that it has; `{}`: none. Left out, they stay; `SECRETS_BOUND` when the origin of `url` or the format changes and it has any.
    headers: dict[str, str]
    #: Only with another origin or format: the new secret, in place of one that is made. Otherwise use `rotate`.
    secret: str
    #: False: nothing is sent, and open deliveries end as failed.
    enabled: bool


class Why(TypedDict):
    jobId: str
    #: As the job knows it.
    url: str
    #: `unseen` when the job has never met the URL.
    state: Literal["ready", "waiting", "claimed", "done", "failed", "skipped", "denied", "cancelled", "unseen"]
    code: str | None
    #: The rule that decided; of an unseen URL, the one that would have.
    rule: str | None
    #: What happened, in the order of events.
    sentences: list[str]
    entry: LedgerEntry | None
    links: JobLinks
