// Written by scripts/write-docs.ts from the registries of the program. Do not edit.

/** What an export can hold. */
export const EXPORT_TYPES = [
  {"value":"full","label":"Full","about":"A row per page with the columns of a catalogue: title, price, availability, pictures.","isOfTwoJobs":false},
  {"value":"seo","label":"SEO","about":"A row per page with what search engines read: titles, descriptions, canonicals, robots.","isOfTwoJobs":false},
  {"value":"diff","label":"Diff","about":"A row per URL with what has changed since another job.","isOfTwoJobs":true},
  {"value":"raw","label":"Raw","about":"Every stored page, its body included.","isOfTwoJobs":false},
  {"value":"links","label":"Links","about":"A row per link: page, target, text, place.","isOfTwoJobs":false},
  {"value":"records","label":"Records","about":"A row per extracted record, a column per field.","isOfTwoJobs":false},
  {"value":"results","label":"Results","about":"Pages as the API gives them.","isOfTwoJobs":false},
] as const;

/** How an export can be written, and from what. */
export const EXPORT_FORMATS = [
  {"value":"csv","label":"CSV","takes":"rows","isForExcel":true},
  {"value":"xlsx","label":"Excel","takes":"rows","isForExcel":false},
  {"value":"json","label":"JSON","takes":"rows","isForExcel":false},
  {"value":"ndjson","label":"NDJSON (a line per row)","takes":"rows","isForExcel":false},
  {"value":"parquet","label":"Parquet","takes":"rows","isForExcel":false},
  {"value":"warc","label":"WARC (web archive)","takes":"pages","isForExcel":false},
  {"value":"wacz","label":"WACZ (web archive with index)","takes":"pages","isForExcel":false},
  {"value":"markdown","label":"Markdown (ZIP for language models)","takes":"pages","isForExcel":false},
  {"value":"chunks","label":"Chunks (pieces of texts, a line each)","takes":"pages","isForExcel":false},
] as const;

/** What a stream of live events tells of, and how good the news is. */
export const STREAM_EVENTS = [
  {"value":"job.created","level":"neutral"},
  {"value":"job.started","level":"neutral"},
  {"value":"job.stopping","level":"neutral"},
  {"value":"job.resumed","level":"neutral"},
  {"value":"job.completed","level":"good"},
  {"value":"job.partially_completed","level":"warning"},
  {"value":"job.failed","level":"bad"},
  {"value":"job.cancelled","level":"warning"},
  {"value":"page.done","level":"neutral"},
  {"value":"page.failed","level":"bad"},
  {"value":"page.changed","level":"neutral"},
  {"value":"monitor.changed","level":"warning"},
  {"value":"monitor.failed","level":"bad"},
  {"value":"monitor.recovered","level":"good"},
  {"value":"schedule.missed","level":"bad"},
  {"value":"export.ready","level":"good"},
  {"value":"export.failed","level":"bad"},
  {"value":"account.low_credits","level":"warning"},
  {"value":"webhook.disabled","level":"bad"},
] as const;

/** The kinds of jobs. */
export const JOB_KINDS = [
  {"value":"scrape","label":"Scrape","isListOfUrls":false},
  {"value":"batch","label":"Batch","isListOfUrls":false},
  {"value":"crawl","label":"Crawl","isListOfUrls":false},
  {"value":"map","label":"Map","isListOfUrls":true},
] as const;

/** How far a job is, and how it ended. */
export const JOB_STATUSES = [
  "queued",
  "running",
  "completed",
  "partially_completed",
  "failed",
  "cancelled",
] as const;

/** What became of a URL, or will. */
export const TASK_STATES = [
  "ready",
  "waiting",
  "claimed",
  "done",
  "failed",
  "skipped",
  "denied",
  "cancelled",
] as const;

/** What a webhook can be told of. */
export const WEBHOOK_EVENTS = [
  {"value":"job.started","about":"Its first URL is worked on."},
  {"value":"job.completed","about":"The job has ended, after its last pages."},
  {"value":"job.partially_completed","about":"The job has ended, and pages failed."},
  {"value":"job.failed","about":"The job has failed."},
  {"value":"job.cancelled","about":"The job has ended because it was cancelled."},
  {"value":"page.done","about":"A page is stored; one event for each."},
  {"value":"page.failed","about":"A page has failed for good; one event for each."},
  {"value":"page.changed","about":"A page of a monitor has changed."},
  {"value":"monitor.changed","about":"A check found changes; one event for all pages of the check."},
  {"value":"monitor.failed","about":"A check found pages that cannot be checked."},
  {"value":"monitor.recovered","about":"A check found that pages work again."},
  {"value":"schedule.missed","about":"A tick of a schedule did not run."},
  {"value":"export.ready","about":"An export was written."},
  {"value":"export.failed","about":"An export was given up."},
  {"value":"account.low_credits","about":"The account fell below its threshold of credits."},
  {"value":"webhook.disabled","about":"Another webhook of the account was disabled."},
] as const;

/** How the deliveries of a webhook are written. */
export const WEBHOOK_FORMATS = [
  "json",
  "slack",
  "discord",
  "teams",
  "ntfy",
  "email",
] as const;

/** Which limits of its own can end a job. */
export const BUDGET_REASONS = [
  "budget.pages",
  "budget.bytes",
  "budget.duration",
  "budget.browser",
  "budget.proxy",
  "budget.credits",
] as const;

/** What a value that a rule finds can be read as. */
export const VALUE_TYPES = [
  "string",
  "number",
  "integer",
  "price",
  "currency",
  "date",
  "url",
  "email",
  "phone",
  "bool",
  "json",
] as const;

/** How forms ask for the options of a page. */
export const PAGE_OPTION_FIELDS = [
  {"group":"fetch","isMain":false,"path":"headers","label":"Request headers","kind":"pairs","hint":"Name: value, one per line.","placeholder":"Accept-Language: de"},
  {"group":"fetch","isMain":false,"path":"crossOriginHeaders","label":"Headers for other origins too","kind":"lines","hint":"Names of the headers above, one per line."},
  {"group":"fetch","isMain":false,"path":"cookies","label":"Cookies","kind":"pairs","hint":"Name: value, one per line. Sent to the origin of the URL alone."},
  {"group":"fetch","isMain":false,"path":"session","label":"Session","kind":"text","hint":"Keeps cookies, storage, proxy and identity; the first use makes it.","placeholder":"my-shop"},
  {"group":"fetch","isMain":false,"path":"proxy.tier","label":"Proxy","kind":"choice","isHalf":true,"choices":[{"value":"","label":"As needed"},{"value":"datacenter","label":"Datacenter"},{"value":"residential","label":"Residential"},{"value":"mobile","label":"Mobile"}]},
  {"group":"fetch","isMain":false,"path":"proxy.country","label":"Country","kind":"text","placeholder":"de","isHalf":true},
  {"group":"fetch","isMain":false,"path":"proxy.maxTier","label":"Dearest proxy","kind":"choice","isHalf":true,"choices":[{"value":"","label":"As needed"},{"value":"datacenter","label":"Datacenter"},{"value":"residential","label":"Residential"},{"value":"mobile","label":"Mobile"}]},
  {"group":"fetch","isMain":false,"path":"proxy.url","label":"Own proxy","kind":"text","placeholder":"http://user:password@host:port","isHalf":true},
  {"group":"fetch","isMain":false,"path":"identity","label":"Identity","kind":"choice","isHalf":true,"choices":[{"value":"","label":"As the policy says"},{"value":"bot","label":"Scrapifie"},{"value":"browser","label":"Browser (needs consent)"}]},
  {"group":"fetch","isMain":false,"path":"identityBrowser","label":"Which browser","kind":"choice","isHalf":true,"choices":[{"value":"","label":"Chrome"},{"value":"firefox","label":"Firefox"},{"value":"safari","label":"Safari"}]},
  {"group":"fetch","isMain":false,"path":"method","label":"Method","kind":"choice","choices":[{"value":"","label":"GET"},{"value":"POST","label":"POST"}]},
  {"group":"fetch","isMain":false,"path":"body","label":"Request body","kind":"long","hint":"Needs the method POST."},
  {"group":"limits","isMain":false,"path":"reuse","label":"The page may answer later requests","kind":"off","hint":"Those that take a stored page by its age."},
  {"group":"fetch","isMain":true,"path":"engine","label":"Engine","kind":"choice","hint":"Automatic takes the cheapest that works; the tab “Why” gives the reason.","choices":[{"value":"","label":"Automatic"},{"value":"http","label":"HTTP, without scripts"},{"value":"browser","label":"Browser"},{"value":"stealth","label":"Stealth browser (needs consent)"},{"value":"flaresolverr","label":"FlareSolverr (needs consent)"},{"value":"firecrawl","label":"Firecrawl-compatible API (needs consent)"},{"value":"replay","label":"Archive of the operator"}]},
  {"group":"get","isMain":true,"path":"formats","label":"Formats","kind":"checks","choices":[{"value":"markdown","label":"Markdown","hint":"main content"},{"value":"text","label":"Text","hint":"main content"},{"value":"html","label":"HTML","hint":"without scripts"},{"value":"rawHtml","label":"Raw HTML","hint":"as the server sent it"},{"value":"links","label":"Links","hint":"with text and rel"},{"value":"metadata","label":"Metadata","hint":"title, OG, JSON-LD"},{"value":"content","label":"Content","hint":"author, dates, words"},{"value":"structured","label":"Structured data","hint":"in one view"},{"value":"screenshot","label":"Screenshot","hint":"needs a browser"},{"value":"pdf","label":"PDF","hint":"needs a browser"},{"value":"xhr","label":"Network","hint":"needs a browser"}]},
  {"group":"extract","isMain":true,"path":"extract.type","label":"Read the page as","kind":"choice","choices":[{"value":"","label":"No type"},{"value":"auto","label":"Whatever the evidence says"},{"value":"product","label":"Product"},{"value":"article","label":"Article"},{"value":"job_posting","label":"Job posting"},{"value":"recipe","label":"Recipe"},{"value":"event","label":"Event"},{"value":"forum_thread","label":"Forum thread"},{"value":"organization","label":"Organization"},{"value":"company_website","label":"Company website"},{"value":"linkedin_profile","label":"LinkedIn profile"},{"value":"breadcrumbs","label":"Breadcrumbs"}]},
  {"group":"extract","isMain":true,"path":"extract.rules","label":"Rules","kind":"json","hint":"Field → CSS selector, or an object. The tab “Picker” writes them by a click.","placeholder":"{ \"title\": \"h1\", \"price\": { \"css\": \".price\", \"type\": \"price\" } }"},
  {"group":"extract","isMain":false,"path":"extract.schema","label":"JSON Schema","kind":"json","hint":"What the rules found is checked against it.","placeholder":"{ \"required\": [\"title\"] }"},
  {"group":"extract","isMain":false,"path":"extract.llm","label":"Language model","kind":"choice","hint":"Asks the model of the settings for required fields that the rules left empty.","choices":[{"value":"","label":"Not asked"},{"value":"true","label":"Fills gaps"},{"value":"derived","label":"Fills gaps and judges"}]},
  {"group":"get","isMain":true,"path":"onlyMainContent","label":"Main content only","kind":"off"},
  {"group":"get","isMain":false,"path":"includeTags","label":"Only these elements","kind":"lines","hint":"CSS selectors, one per line.","placeholder":"main\n.reviews"},
  {"group":"get","isMain":false,"path":"excludeTags","label":"Without these elements","kind":"lines","hint":"CSS selectors, one per line.","placeholder":".advertisement\nfooter"},
  {"group":"get","isMain":true,"path":"maxPdfPages","label":"Pages of a PDF","kind":"number","placeholder":"500"},
  {"group":"fetch","isMain":true,"path":"wait.selector","label":"Wait for an element","kind":"text","placeholder":"#results"},
  {"group":"fetch","isMain":true,"path":"wait.until","label":"Wait until","kind":"choice","isHalf":true,"choices":[{"value":"","label":"Loaded"},{"value":"domcontentloaded","label":"Document read"},{"value":"networkidle","label":"Network is quiet"}]},
  {"group":"fetch","isMain":true,"path":"wait.ms","label":"And then, ms","kind":"number","placeholder":"500","isHalf":true},
  {"group":"fetch","isMain":true,"path":"scroll","label":"Scroll","kind":"choice","choices":[{"value":"","label":"As usual"},{"value":"true","label":"Until the page grows no more"},{"value":"false","label":"Never"}]},
  {"group":"fetch","isMain":true,"path":"actions","label":"Actions on the page","kind":"actions"},
  {"group":"get","isMain":false,"path":"screenshot.fullPage","label":"Screenshot of the whole page","kind":"on"},
  {"group":"get","isMain":false,"path":"screenshot.selector","label":"Screenshot of one element","kind":"text","placeholder":"#chart"},
  {"group":"get","isMain":false,"path":"screenshot.format","label":"Picture format","kind":"choice","isHalf":true,"choices":[{"value":"","label":"PNG"},{"value":"jpeg","label":"JPEG"}]},
  {"group":"get","isMain":false,"path":"screenshot.quality","label":"JPEG quality","kind":"number","placeholder":"80","isHalf":true},
  {"group":"fetch","isMain":false,"path":"blockResources","label":"Do not load","kind":"checks","choices":[{"value":"images","label":"Images"},{"value":"fonts","label":"Fonts"},{"value":"media","label":"Media"},{"value":"trackers","label":"Trackers"}]},
  {"group":"limits","isMain":true,"path":"timeoutMs","label":"One attempt, ms","kind":"number","placeholder":"30000","isHalf":true},
  {"group":"limits","isMain":false,"path":"taskTimeoutMs","label":"All attempts, ms","kind":"number","placeholder":"60000","isHalf":true},
  {"group":"limits","isMain":true,"path":"maxAttempts","label":"Attempts","kind":"number","placeholder":"3","isHalf":true},
  {"group":"limits","isMain":false,"path":"maxBodyBytes","label":"Largest body, bytes","kind":"number","placeholder":"10485760","isHalf":true},
  {"group":"limits","isMain":true,"path":"maxAge","label":"A stored page may answer","kind":"text","hint":"If it is no older than this: 2h, 30m, or milliseconds.","placeholder":"0"},
  {"group":"fetch","isMain":false,"path":"mobile","label":"As on a phone","kind":"on"},
  {"group":"fetch","isMain":false,"path":"viewport.width","label":"Window width","kind":"number","placeholder":"1280","isHalf":true},
  {"group":"fetch","isMain":false,"path":"viewport.height","label":"Window height","kind":"number","placeholder":"800","isHalf":true},
  {"group":"fetch","isMain":false,"path":"locale","label":"Language","kind":"text","placeholder":"de-DE","isHalf":true},
  {"group":"fetch","isMain":false,"path":"timezone","label":"Time zone","kind":"text","placeholder":"Europe/Berlin","isHalf":true},
  {"group":"fetch","isMain":false,"path":"geolocation.latitude","label":"Latitude","kind":"number","placeholder":"52.52","isHalf":true},
  {"group":"fetch","isMain":false,"path":"geolocation.longitude","label":"Longitude","kind":"number","placeholder":"13.405","isHalf":true},
  {"group":"fetch","isMain":false,"path":"geolocation.accuracy","label":"Accuracy, metres","kind":"number","placeholder":"10"},
  {"group":"fetch","isMain":false,"path":"obeyRobots","label":"Obey robots.txt","kind":"off","hint":"Off needs the consent of the operator."},
] as const;

/** Where jobs have the options of a page, and what those are that were not given. */
export const STORED_OPTIONS = [
  {"name":"engine","stored":"engine","standard":"auto","hasField":true},
  {"name":"formats","stored":"formats","standard":[],"hasField":true},
  {"name":"inline","stored":"isInline","standard":false,"hasField":false},
  {"name":"headers","stored":"headers","standard":{},"hasField":true},
  {"name":"crossOriginHeaders","stored":"crossOriginHeaders","standard":[],"hasField":true},
  {"name":"cookies","stored":"cookies","standard":{},"hasField":true},
  {"name":"extract","stored":"extract","standard":null,"hasField":true},
  {"name":"onlyMainContent","stored":"parts.onlyMain","standard":true,"hasField":true},
  {"name":"includeTags","stored":"parts.includeTags","standard":[],"hasField":true},
  {"name":"excludeTags","stored":"parts.excludeTags","standard":[],"hasField":true},
  {"name":"maxPdfPages","stored":"maxPdfPages","standard":500,"hasField":true},
  {"name":"wait","stored":"render.wait","standard":null,"hasField":true},
  {"name":"scroll","stored":"render.scroll","standard":null,"hasField":true},
  {"name":"actions","stored":"render.actions","standard":[],"hasField":true},
  {"name":"screenshot","stored":"render.screenshot","standard":null,"hasField":true},
  {"name":"blockResources","stored":"render.blockResources","standard":[],"hasField":true},
  {"name":"viewport","stored":"render.device.viewport","standard":null,"hasField":true},
  {"name":"mobile","stored":"render.device.isMobile","standard":false,"hasField":true},
  {"name":"geolocation","stored":"render.device.geolocation","standard":null,"hasField":true},
  {"name":"locale","stored":"render.device.locale","standard":null,"hasField":true},
  {"name":"timezone","stored":"render.device.timezone","standard":null,"hasField":true},
  {"name":"session","stored":"session","standard":null,"hasField":true},
  {"name":"proxy","stored":"proxy","standard":null,"hasField":true},
  {"name":"identity","stored":"identity","standard":null,"hasField":true},
  {"name":"identityBrowser","stored":"identityBrowser","standard":null,"hasField":true},
  {"name":"timeoutMs","stored":"timeoutMs","standard":30000,"hasField":true},
  {"name":"taskTimeoutMs","stored":"taskTimeoutMs","standard":null,"hasField":true},
  {"name":"maxAttempts","stored":"maxAttempts","standard":3,"hasField":true},
  {"name":"maxBodyBytes","stored":"maxBodyBytes","standard":10485760,"hasField":true},
  {"name":"obeyRobots","stored":"obeyRobots","standard":true,"hasField":true},
  {"name":"method","stored":"method","standard":"GET","hasField":true},
  {"name":"body","stored":"body","standard":null,"hasField":true},
  {"name":"maxAge","stored":"maxAgeMs","standard":0,"hasField":true},
  {"name":"reuse","stored":"isReusable","standard":true,"hasField":true},
  {"name":"proxy.maxTier","stored":"maxProxyTier","standard":null,"hasField":true},
] as const;
