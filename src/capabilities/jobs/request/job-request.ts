import { z } from 'zod';
import { MOST_CREDITS } from '../../../core/model/credits.ts';
import type { DerivedOptions } from '../../../core/model/derived.ts';
import { formatProblem } from '../../../core/model/export.ts';
import { EXPORT_FORMATS, JOB_EXPORT_TYPES } from '../../../core/model/export-registry.ts';
import type { Format } from '../../../core/model/job.ts';
import type { JobKind } from '../../../core/model/job-kinds.ts';
import { pageFields } from './page-options.ts';
import { checkPage } from './page-request.ts';
import { retentionField } from './retention-fields.ts';
import { routesField } from './route-fields.ts';
import { jobWebhookField } from './webhook-fields.ts';

const MAX_EXPORTS = 20;

/** What a job leaves besides its pages. All of it is made after the pages were committed, and slows no crawl. */
const derivedFields = {
  snapshots: z
    .boolean()
    .default(false)
    .describe(
      'Keep each distinct content of a page in the history of its URL, over all jobs: `GET /v1/pages?url=`.',
    ),
  search: z.boolean().default(false).describe('Make the pages of the job findable by `GET /v1/search`.'),
  lake: z
    .boolean()
    .default(false)
    .describe(
      'Write pages, links and records of the job to the lake: Parquet files that SQL can be asked of.',
    ),
  exports: z
    .array(
      z
        .strictObject({
          type: z.enum(JOB_EXPORT_TYPES).describe('What the file has.'),
          format: z.enum(EXPORT_FORMATS).describe('How it is written.'),
        })
        .superRefine((wish, context) => {
          const message = formatProblem(wish);
          if (message !== null) context.addIssue({ code: 'custom', path: ['format'], message });
        })
        .meta({ id: 'JobExport', description: 'A file that is written when the job has ended.' }),
    )
    .max(MAX_EXPORTS)
    .default([])
    .describe('Files that are written when the job has ended: `GET /v1/jobs/:id/exports`.')
    .meta({ examples: [[{ type: 'full', format: 'csv' }]] }),
};

type DerivedRequest = {
  readonly [Name in keyof typeof derivedFields]: z.output<(typeof derivedFields)[Name]>;
};

/** The options that were asked for; those that were not are missing. */
export function derivedOptionsOf({
  snapshots,
  search,
  lake,
  exports,
}: Partial<DerivedRequest>): DerivedOptions {
  return {
    ...(snapshots === true ? { snapshots } : {}),
    ...(search === true ? { search } : {}),
    ...(lake === true ? { lake } : {}),
    ...(exports === undefined || exports.length === 0 ? {} : { exports }),
  };
}

/**
 * What a client may ask for, one schema per kind of job. API, command line and SDK parse with these; their
 * descriptions become the OpenAPI document. Objects are strict: an unknown field is refused by name.
 */

const MAX_BATCH_URLS = 10_000;
const MAX_SEEDS = 10_000;

const url = z.string().min(1).max(8_192);
const patterns = z.array(z.string().min(1).max(1_000)).max(100).default([]);
/** 0 could mean nothing or everything. */
const NOT_ZERO = 'Must be 1 or more; null (`none` on the command line) means no limit.';
const PATTERN_WORDS =
  'Globs for the whole path such as `/blog/*`, or for the whole URL; `re:` begins an RE2 expression, found anywhere in the URL.';
const urlExample = ['https://example.com/'];

/** Ten years: the end of the job is a time that the store can keep. */
export const MAX_DURATION_MS = 315_360_000_000;

const jobLimits = {
  maxBytes: z
    .number()
    .int()
    .min(1, NOT_ZERO)
    .nullable()
    .default(null)
    .describe('Bytes the job may download before it stops; null: no limit.'),
  maxDurationMs: z
    .number()
    .int()
    .min(1, NOT_ZERO)
    .max(MAX_DURATION_MS)
    .nullable()
    .default(null)
    .describe('Time after which the job stops; null: no limit.'),
  maxBrowserMs: z
    .number()
    .int()
    .min(1, NOT_ZERO)
    .nullable()
    .default(null)
    .describe(
      'Time that browsers may work for the job, over all its pages, before it stops; null: no limit.',
    ),
  maxProxyBytes: z
    .number()
    .int()
    .min(1, NOT_ZERO)
    .nullable()
    .default(null)
    .describe('Bytes the job may download through proxies before it stops; null: no limit.'),
  maxCredits: z
    .number()
    .positive()
    .max(MOST_CREDITS)
    .nullable()
    .default(null)
    .describe('Credits the job may cost before it stops; pages under way then are finished. Null: no limit.'),
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .nullable()
    .default(null)
    .describe('Most fetches of this job at once, over all hosts; null: no limit of its own.'),
  retention: retentionField,
};

const canonicalFields = {
  ignoreQueryParameters: z
    .array(z.string().min(1).max(200))
    .max(100)
    .default([])
    .describe('Query parameters that do not make a URL another one; `*` at the end is a wildcard.'),
};

const sitemap = z
  .enum(['skip', 'include', 'only'])
  .default('include')
  .describe(
    'Whether sitemaps (declared in robots.txt or at /sitemap.xml) are read: not at all, too, or nothing else.',
  );

const asyncField = z
  .boolean()
  .default(false)
  .describe('Answer 202 with the job at once instead of waiting for the result.');

/** The formats of a single page, unless the request says otherwise. */
export const SCRAPE_FORMATS = ['metadata', 'links', 'text'] as const satisfies readonly Format[];
/**
 * The formats of pages of a job with many, unless the request names others: the main content costs ten times as much.
 */
const CHEAP_FORMATS = ['metadata', 'links'] as const satisfies readonly Format[];

export const scrapeRequestSchema = z
  .strictObject({
    url: url.describe('The page to fetch.').meta({ examples: urlExample }),
    ...pageFields('scrape', SCRAPE_FORMATS),
    ...derivedFields,
    retention: retentionField,
    async: asyncField,
    webhook: jobWebhookField,
  })
  .superRefine(checkPage)
  .meta({
    id: 'ScrapeRequest',
    examples: [{ url: 'https://example.com/', formats: ['metadata', 'links', 'text'] }],
  });

const batchOptions = z
  .strictObject(pageFields('batch', CHEAP_FORMATS))
  .superRefine(checkPage)
  .meta({ id: 'BatchPageOptions' })
  .prefault({})
  .describe('How each page is fetched.');

export const batchRequestSchema = z
  .strictObject({
    urls: z
      .array(url)
      .min(1)
      .max(MAX_BATCH_URLS)
      .describe('The pages to fetch; a URL given twice is fetched once.'),
    ignoreInvalidUrls: z
      .boolean()
      .default(false)
      .describe(
        'Fetch the valid URLs when others are none; these are listed as `invalidUrls` in the answer. Otherwise one invalid URL refuses the request.',
      ),
    options: batchOptions,
    ...canonicalFields,
    ...jobLimits,
    ...derivedFields,
    webhook: jobWebhookField,
  })
  .meta({ id: 'BatchRequest', examples: [{ urls: ['https://example.com/a', 'https://example.com/b'] }] });

/** How the pages of a crawl are fetched, and those of a monitor. */
export const crawlPageOptions = z
  .strictObject(pageFields('crawl', CHEAP_FORMATS))
  .superRefine(checkPage)
  .meta({ id: 'CrawlPageOptions' });

export const crawlRequestSchema = z
  .strictObject({
    urls: z.array(url).max(MAX_SEEDS).default([]).describe('Where the crawl starts.'),
    sitemapUrls: z.array(url).max(MAX_SEEDS).default([]).describe('Sitemaps to start from.'),
    maxPages: z
      .number()
      .int()
      .min(1, NOT_ZERO)
      .nullable()
      .default(10_000)
      .describe('Pages to fetch at most; null: no limit.'),
    maxDepth: z
      .number()
      .int()
      .min(0)
      .max(100_000)
      .nullable()
      .default(null)
      .describe('Links to follow from a seed at most; null: no limit.'),
    allowedDomains: z
      .array(z.string().min(1).max(253))
      .max(1_000)
      .default([])
      .describe(
        'Domains or hosts that belong to the crawl, `*.` for subdomains only. Empty: the seeds’ hosts.',
      ),
    allowSubdomains: z.boolean().default(false).describe('Follow links to subdomains of the allowed hosts.'),
    allowExternal: z.boolean().default(false).describe('Follow links to any host.'),
    include: patterns.describe(`Only URLs that match one are fetched; empty: all. ${PATTERN_WORDS}`),
    exclude: patterns.describe(`URLs that match one are not fetched. ${PATTERN_WORDS}`),
    ...canonicalFields,
    keepFragment: z.boolean().default(false).describe('Treat URLs that differ after `#` as different pages.'),
    sitemap,
    obeyNofollow: z.boolean().default(true).describe('Do not follow links marked nofollow.'),
    obeyNoindex: z.boolean().default(true).describe('Do not keep pages marked noindex.'),
    followCanonical: z.boolean().default(true).describe('Treat rel=canonical as the same page.'),
    avoidQueryTraps: z
      .boolean()
      .default(true)
      .describe(
        'Leave out links whose queries lead to pages without end: calendars, combinations of filters, ids of sessions.',
      ),
    ifModified: z
      .boolean()
      .default(false)
      .describe(
        'Ask for pages that the last finished crawl of the same start URLs has stored only if they changed; unchanged ' +
          'ones keep the stored body and are marked `notModified`.',
      ),
    routes: routesField,
    ...jobLimits,
    ...derivedFields,
    maxLoginWalls: z
      .number()
      .int()
      .min(0)
      .max(100_000)
      .nullable()
      .default(null)
      .describe(
        'Pages in a row, of one host, that ask to log in before the crawl stops with `login-walls`; 0: it never does. ' +
          'null: 5 with a session, 25 without.',
      ),
    options: crawlPageOptions.prefault({}).describe('How each page is fetched.'),
    webhook: jobWebhookField,
  })
  .superRefine((given, context) => {
    if (given.urls.length === 0 && given.sitemapUrls.length === 0) {
      context.addIssue({ code: 'custom', path: ['urls'], message: 'Give `urls` or `sitemapUrls`.' });
    }
    if (given.sitemapUrls.length > 0 && given.sitemap === 'skip') {
      context.addIssue({
        code: 'custom',
        path: ['sitemap'],
        message: '`skip` contradicts `sitemapUrls`; use `include` or `only`.',
      });
    }
  })
  .meta({ id: 'CrawlRequest', examples: [{ urls: ['https://example.com/'], maxPages: 100, maxDepth: 3 }] });

export const mapRequestSchema = z
  .strictObject({
    url: url.describe('The site, or the part of it to start from.').meta({ examples: urlExample }),
    sitemap,
    include: patterns.describe(`Only URLs that match one are listed; empty: all. ${PATTERN_WORDS}`),
    exclude: patterns.describe(`URLs that match one are not listed. ${PATTERN_WORDS}`),
    allowSubdomains: z.boolean().default(false).describe('List URLs on subdomains too.'),
    ...canonicalFields,
    search: z
      .string()
      .max(1_000)
      .nullable()
      .default(null)
      .describe(
        'Words that the address or the title of a URL must have; those with them in the title come first.',
      ),
    limit: z.number().int().min(1).max(100_000).default(5_000).describe('URLs in the answer at most.'),
    timeoutMs: z
      .number()
      .int()
      .min(1_000)
      .max(300_000)
      .default(60_000)
      .describe('Time to wait for the list; the job goes on afterwards.'),
    retention: retentionField,
    async: asyncField,
    options: z
      .strictObject(pageFields('map'))
      .superRefine(checkPage)
      .meta({ id: 'PageOptions' })
      .prefault({})
      .describe('How the start page and the sitemaps are fetched.'),
  })
  .meta({ id: 'MapRequest', examples: [{ url: 'https://example.com/' }] });

export type ScrapeRequest = z.output<typeof scrapeRequestSchema>;
export type BatchRequest = z.output<typeof batchRequestSchema>;
export type CrawlRequest = z.output<typeof crawlRequestSchema>;
export type MapRequest = z.output<typeof mapRequestSchema>;

/** What a request of each kind of job is. */
export const JOB_REQUESTS = {
  scrape: scrapeRequestSchema,
  batch: batchRequestSchema,
  crawl: crawlRequestSchema,
  map: mapRequestSchema,
} as const satisfies Readonly<Record<JobKind, z.ZodObject>>;

export type RequestOf<Kind extends JobKind> = z.output<(typeof JOB_REQUESTS)[Kind]>;
/** A request with its kind, where jobs of several kinds are taken. */
export type JobRequest<Kind extends JobKind = JobKind> = {
  [Each in Kind]: { readonly kind: Each; readonly request: RequestOf<Each> };
}[Kind];
