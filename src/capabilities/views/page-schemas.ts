import { z } from 'zod';
import { OUTCOME_KINDS } from '../../core/model/attempt.ts';
import { PAGE_PARTS } from '../../core/model/retention.ts';
import { TASK_STATES } from '../../core/model/task.ts';
import { jobLinksSchema } from './job-view.ts';

/** What stored pages, ledger lines and traces look like in answers. */

const time = z.iso.datetime();
const count = z.number().int().min(0);
const texts = z.record(z.string(), z.string());

const redirect = z.object({ url: z.string(), statusCode: count }).meta({ id: 'Redirect' });

const attempt = z
  .object({
    engine: z.string(),
    proxyTier: z.string().nullable(),
    proxyId: z
      .string()
      .optional()
      .describe('The proxy by its id, as in `GET /v1/proxies`; `own/…` for one of the caller’s.'),
    identity: z
      .string()
      .optional()
      .describe('`browser` when the request carried the identity of a regular browser.'),
    hasSolver: z.boolean().optional().describe('A solver service was allowed to help.'),
    reason: z.string().describe('Why this attempt was made this way.'),
    outcome: z.string(),
    evidence: z.string().optional().describe('What decided the outcome.'),
    redirects: z.array(redirect).optional().describe('Of an attempt that led on: the redirects it followed.'),
    ledOn: z
      .literal(true)
      .optional()
      .describe('The page led on to another host, where the next attempt was made.'),
    vendor: z.string().optional().describe('Whose block or challenge it is, where that is known.'),
    errorCode: z.string().optional(),
    yield: z
      .object({ textLength: count, linkCount: count })
      .optional()
      .describe('How much there was to read, where that decides about rendering.'),
    statusCode: count.nullable(),
    waitedMs: z
      .number()
      .optional()
      .describe(
        'Between the claim of the URL by a worker and the request: for robots.txt, the host’s gate and a free place.',
      ),
    ms: z.number(),
    bytes: count,
    extras: z
      .object({
        tokens: count.optional(),
        solverCalls: count.optional(),
        screenshots: count.optional(),
        pdfs: count.optional(),
      })
      .optional()
      .describe('What was used beside the request, as far as it has a price.'),
    microcredits: count.optional().describe('What it costs in millionths of a credit; left out: nothing.'),
    at: time,
  })
  .meta({ id: 'Attempt' });

const link = z.object({ url: z.string(), text: z.string(), rel: z.string(), from: z.string() });

const metadata = z
  .object({
    title: z.string().nullable(),
    description: z.string().nullable(),
    language: z.string().nullable(),
    canonical: z.string().nullable(),
    robots: z.string().nullable(),
    charset: z.string().nullable(),
    headings: z.array(z.object({ level: count, text: z.string() })),
    meta: texts,
    openGraph: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    twitter: texts,
    hreflang: z.array(z.object({ lang: z.string(), url: z.string() })),
    jsonLd: z.array(z.unknown()),
    microdata: z.array(z.unknown()),
    rdfa: z.array(z.unknown()),
    feeds: z.array(z.object({ url: z.string(), type: z.string(), title: z.string() })),
    pagination: z.object({ next: z.string().nullable(), prev: z.string().nullable() }),
    images: z.array(z.object({ url: z.string(), alt: z.string() })),
  })
  .meta({ id: 'PageMetadata' });

const artifact = z
  .object({
    url: z.string().describe('Where it can be fetched, with the API key.'),
    contentType: z.string(),
    bytes: count,
    base64: z.string().nullable().optional().describe('With `inline: true`; null when the bytes are gone.'),
  })
  .meta({ id: 'Artifact' });

const xhr = z
  .object({
    url: z.string(),
    method: z.string(),
    statusCode: count,
    contentType: z.string().nullable(),
    isTooLarge: z.boolean().describe('The answer was too large to be kept.'),
    text: z.string().optional().describe('The answer, when it is short and text.'),
    body: artifact.optional().describe('Any other answer.'),
  })
  .meta({ id: 'RecordedXhr' });

const action = z
  .object({
    type: z.string(),
    ms: count,
    value: z.unknown().optional().describe('Of `evaluate`: what the script returned.'),
    screenshot: artifact.optional().describe('Of `screenshot`.'),
  })
  .meta({ id: 'ActionResult' });

const content = z
  .object({
    html: z.string().nullable().describe('Null for documents other than web pages.'),
    text: z.string(),
    title: z.string().nullable(),
    author: z.string().nullable(),
    publishedAt: z.string().nullable(),
    modifiedAt: z.string().nullable(),
    siteName: z.string().nullable(),
    language: z.string().nullable(),
    excerpt: z.string().nullable(),
    wordCount: count,
    readingMinutes: count,
    pageType: z
      .string()
      .nullable()
      .describe('What kind of page it looks like; of other bodies, what they are.'),
  })
  .meta({ id: 'PageContent', description: 'The main content of the page.' });

const origin = z
  .object({ source: z.string(), confidence: z.number().min(0).max(1) })
  .meta({ id: 'ValueOrigin' });

const setCookie = z
  .object({
    name: z.string(),
    value: z.string().describe('`[hidden]` where the page may have been fetched with stored credentials.'),
    domain: z.string().nullable(),
    path: z.string().nullable(),
    expiresAt: time.nullable().describe('Null: until the browser is closed.'),
    isSecure: z.boolean(),
    isHttpOnly: z.boolean(),
    sameSite: z.enum(['strict', 'lax', 'none']).nullable(),
  })
  .meta({
    id: 'SetCookie',
    description: 'A cookie that the response set, with its attributes as the site stated them.',
  });

const responseFields = {
  outcome: z
    .enum(OUTCOME_KINDS)
    .nullable()
    .optional()
    .describe('What the response turned out to be. Null for pages that an earlier version stored.'),
  evidence: z
    .string()
    .nullable()
    .optional()
    .describe('What decided the outcome; null for a page that is plainly ok.'),
  headers: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .optional()
    .describe('Of the response, names in lower case; cookies are in `cookies`.'),
  cookies: z.array(setCookie).optional().describe('Cookies that the response set.'),
  redirects: z
    .array(redirect)
    .optional()
    .describe(
      'URLs that answered with a redirect, in the order they were followed; `finalUrl` is where they led.',
    ),
};

const pageFields = {
  url: z.string(),
  sourceUrl: z
    .string()
    .optional()
    .describe('Exactly as it was submitted; `url` where the page was found on another one.'),
  ...responseFields,
  finalUrl: z.string().describe('Where redirects led.'),
  statusCode: count.nullable(),
  contentType: z.string().nullable(),
  fetchedAt: time,
  depth: count,
  bytes: count,
  contentHash: z.string().nullable().describe('SHA-256 of the body.'),
  title: z.string().nullable(),
  duplicateOf: z
    .string()
    .nullable()
    .describe(
      'The URL whose page this one repeats: by rel=canonical, or because an earlier page of the job has the same body.',
    ),
  cache: z
    .object({
      hit: z.boolean(),
      storedAt: time.nullable().describe('When the page was fetched that answered.'),
    })
    .optional()
    .describe('With `maxAge`: whether a stored page answered, without a request.'),
  notModified: z
    .literal(true)
    .optional()
    .describe(
      'With `ifModified`: the host said that the page has not changed; the body is that of the crawl before.',
    ),
  metadata: metadata.nullable().optional(),
  links: z.array(link).optional(),
  html: z.string().nullable().optional(),
  rawHtml: z
    .string()
    .nullable()
    .optional()
    .describe('The body as the server sent it, decoded; of a page that was rendered, before any script ran.'),
  text: z.string().nullable().optional().describe('Of the main content.'),
  markdown: z.string().nullable().optional().describe('The main content as Markdown (GFM).'),
  content: content.nullable().optional(),
  structured: z
    .unknown()
    .optional()
    .describe('Structured data of every kind in one view that says where each value is from.'),
  extracted: z
    .record(z.string(), z.unknown())
    .nullable()
    .optional()
    .describe('What `extract` found: fields of the type, and of the rules. Null when `auto` found no type.'),
  extractedType: z.string().nullable().optional().describe('The type that was read.'),
  extractedProbability: z
    .number()
    .optional()
    .describe('How likely the page is of that type, from 0 to 1; `auto` chooses none below 0.3.'),
  extractedBy: z.record(z.string(), origin).optional().describe('Where each field is from.'),
  extractProblems: z
    .array(z.object({ path: z.string(), message: z.string(), code: z.literal('PLUGIN_FAILED').optional() }))
    .optional()
    .describe(
      'Fields that are missing, not what they should be, or not what the schema allows; with a code, what a plug-in threw.',
    ),
  llm: z
    .object({
      model: z.string(),
      promptTokens: count,
      completionTokens: count,
      isEstimated: z.boolean().describe('The server did not count: the numbers are estimates.'),
      isCached: z.boolean().describe('The answer was known already, and cost nothing.'),
    })
    .optional()
    .describe('The call of a language model for this page, and what it has cost.'),
  warnings: z
    .array(z.object({ code: z.string(), message: z.string() }))
    .optional()
    .describe('Content that is not in the results, because it lies beyond a limit or could not be read.'),
  pdfPages: z
    .object({ read: count, total: count })
    .optional()
    .describe('Of a PDF whose text was asked for: how many of its pages were read.'),
  screenshot: artifact.nullable().optional(),
  pdf: artifact.nullable().optional(),
  xhr: z.array(xhr).nullable().optional().describe('What the page’s scripts asked for; null when none ran.'),
  actions: z.array(action).optional().describe('One entry per action that ran to its end.'),
  consoleErrors: z.array(z.string()).optional().describe('Only for pages rendered in a browser.'),
  expired: z
    .array(z.enum(PAGE_PARTS))
    .optional()
    .describe(
      'Parts that were deleted because their time was over; formats made of them are null, and artifacts answer 410.',
    ),
  lost: z
    .array(z.enum(['bodies', 'artifacts']))
    .optional()
    .describe(
      'Parts that were asked for and are gone although nothing has deleted them: a disk or an object store has lost them. Formats made of them are null.',
    ),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      details: z
        .object({
          step: z.string().optional().describe('Where on the page, as in `actions.2 click #buy`.'),
          screenshot: artifact.optional().describe('The page at the moment when the step failed.'),
          html: artifact.optional().describe('Its HTML at that moment.'),
        })
        .optional(),
    })
    .optional()
    .describe(
      'Why the page is not usable although a response arrived. The other fields describe that response.',
    ),
};

export const pageSchema = z.object(pageFields).meta({ id: 'Page' });

export const scrapeSchema = z
  .object({
    id: z.string().describe('The job that fetched it.'),
    ...pageFields,
    trace: z.object({
      decision: z.string(),
      rule: z.string().nullable(),
      attempts: z.array(attempt),
      credits: z.number().describe('What the attempts cost together.'),
      timings: z.object({ totalMs: z.number(), fetchMs: z.number() }),
    }),
  })
  .meta({ id: 'Scrape' });

export const ledgerSchema = z
  .object({
    url: z.string(),
    kind: z.enum(['page', 'sitemap', 'site']),
    state: z.enum(TASK_STATES),
    decision: z.enum(['pending', 'fetched', 'skipped', 'denied', 'failed', 'cancelled']),
    rule: z.string().nullable().describe('The rule that decided, e.g. `scope.exclude:/admin/`.'),
    message: z.string().nullable().optional().describe('The rule as a sentence.'),
    errorCode: z.string().nullable(),
    depth: count,
    foundBy: z.string(),
    foundOn: z.string().nullable(),
    attempts: z.array(attempt),
    discoveredAt: time,
    finishedAt: time.nullable(),
  })
  .meta({ id: 'LedgerEntry' });

export const whySchema = z
  .object({
    jobId: z.string(),
    url: z.string().describe('As the job knows it.'),
    state: z.enum([...TASK_STATES, 'unseen']).describe('`unseen` when the job has never met the URL.'),
    code: z.string().nullable(),
    rule: z.string().nullable().describe('The rule that decided; of an unseen URL, the one that would have.'),
    sentences: z.array(z.string()).describe('What happened, in the order of events.'),
    entry: ledgerSchema.nullable(),
    links: jobLinksSchema,
  })
  .meta({ id: 'Why' });

export const jobErrorSchema = z
  .object({
    url: z.string(),
    sourceUrl: z.string().describe('Exactly as it was submitted; `url` where it was found on another page.'),
    state: z.enum(['failed', 'denied']),
    code: z.string().nullable(),
    message: z.string(),
    retryable: z.boolean(),
    rule: z.string().nullable(),
    attempts: z.array(attempt),
    finishedAt: time.nullable(),
  })
  .meta({ id: 'JobError' });

export const mapSchema = z
  .object({
    id: z.string(),
    urls: z.array(z.string()),
    pages: z
      .array(
        z.object({
          url: z.string(),
          title: z
            .string()
            .nullable()
            .describe('What the start page calls it; null where only a sitemap has the URL.'),
        }),
      )
      .describe('The same URLs with their titles.'),
    links: jobLinksSchema,
    isTruncated: z.boolean().describe('More were found; `/v1/jobs/:id/urls` has them all.'),
  })
  .meta({ id: 'Map' });
