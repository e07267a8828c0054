import * as z from 'zod/mini';
import type { Body } from '../../api/types.ts';
import { fullUrl, isPageUrl, linesOf } from '../../format/full-url.ts';

export type CrawlBody = Body<'startCrawl'>;
export type BatchBody = Body<'startBatch'>;
/** A form starts a crawl from pages, a crawl from sitemaps alone, or a batch. */
export type FormKind = 'crawl' | 'sitemap' | 'batch';

const number = (message = 'Enter a whole number, or nothing for no limit.') =>
  z.string().check(z.regex(/^\s*\d*\s*$/, message));
const decimal = z
  .string()
  .check(z.regex(/^\s*(\d+(\.\d+)?)?\s*$/, 'Enter a number, or nothing for no limit.'));
const json = z.string().check(z.refine(isObjectText, 'Enter a JSON object, such as {"key": "value"}.'));

function isObjectText(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** What is typed into the form: texts as they are, a list as one entry a line. */
const fields = z.object({
  kind: z.enum(['crawl', 'sitemap', 'batch']),
  urls: z.string().check(z.refine((text) => linesOf(text).length > 0, 'Enter at least one URL.')),
  include: z.string(),
  exclude: z.string(),
  allowedDomains: z.string(),
  ignoreQueryParameters: z.string(),
  maxDepth: number(),
  allowSubdomains: z.boolean(),
  allowExternal: z.boolean(),
  readsSitemap: z.boolean(),
  obeyNofollow: z.boolean(),
  obeyNoindex: z.boolean(),
  followCanonical: z.boolean(),
  avoidQueryTraps: z.boolean(),
  keepFragment: z.boolean(),
  ifModified: z.boolean(),
  ignoreInvalidUrls: z.boolean(),
  maxPages: number(),
  maxMinutes: decimal,
  maxCredits: decimal,
  maxMegabytes: decimal,
  maxBrowserMinutes: decimal,
  maxProxyMegabytes: decimal,
  concurrency: number(),
  timeoutSeconds: number('Enter whole seconds.'),
  maxAttempts: number('Enter a whole number from 1 to 10.'),
  engine: z.string(),
  formats: z.array(z.string()).check(z.minLength(1, 'Choose at least one format.')),
  onlyMainContent: z.boolean(),
  extractType: z.string(),
  extractRules: json,
  snapshots: z.boolean(),
  search: z.boolean(),
  lake: z.boolean(),
  exports: z.array(z.string()),
  webhookUrl: z.string(),
  webhookSecret: z.string(),
  more: json,
});
export type JobForm = z.output<typeof fields>;

export const jobFormSchema = fields.check(
  z.refine(
    ({ urls, ignoreInvalidUrls, kind }) =>
      (kind === 'batch' && ignoreInvalidUrls) || linesOf(urls).every(isPageUrl),
    {
      path: ['urls'],
      error: 'Each line must be the URL of a page, such as https://example.com/.',
    },
  ),
);

export const EMPTY_FORM: JobForm = {
  kind: 'crawl',
  urls: '',
  include: '',
  exclude: '',
  allowedDomains: '',
  ignoreQueryParameters: '',
  maxDepth: '',
  allowSubdomains: false,
  allowExternal: false,
  readsSitemap: true,
  obeyNofollow: true,
  obeyNoindex: true,
  followCanonical: true,
  avoidQueryTraps: true,
  keepFragment: false,
  ifModified: false,
  ignoreInvalidUrls: false,
  maxPages: '1000',
  maxMinutes: '',
  maxCredits: '',
  maxMegabytes: '',
  maxBrowserMinutes: '',
  maxProxyMegabytes: '',
  concurrency: '',
  timeoutSeconds: '30',
  maxAttempts: '3',
  engine: 'auto',
  formats: ['metadata', 'links'],
  onlyMainContent: true,
  extractType: '',
  extractRules: '',
  snapshots: false,
  search: false,
  lake: false,
  exports: [],
  webhookUrl: '',
  webhookSecret: '',
  more: '',
};

/** Where the problems of a request are shown: path in the request → field of the form. */
export const FIELD_OF: Readonly<Record<string, keyof JobForm>> = {
  sitemapUrls: 'urls',
  sitemap: 'readsSitemap',
  maxDurationMs: 'maxMinutes',
  maxBytes: 'maxMegabytes',
  maxBrowserMs: 'maxBrowserMinutes',
  maxProxyBytes: 'maxProxyMegabytes',
  'options.timeoutMs': 'timeoutSeconds',
  'options.maxAttempts': 'maxAttempts',
  'options.engine': 'engine',
  'options.formats': 'formats',
  'options.onlyMainContent': 'onlyMainContent',
  'options.extract.type': 'extractType',
  'options.extract.rules': 'extractRules',
  'options.extract': 'extractRules',
  'webhook.secret': 'webhookSecret',
  webhook: 'webhookUrl',
  options: 'more',
  routes: 'more',
  retention: 'more',
  maxLoginWalls: 'more',
};

const limitOf = (text: string, unit = 1): number | null =>
  text.trim() === '' ? null : Math.round(Number(text) * unit);

/** Fields that differ from what the server takes anyway, so that the request as code stays short. */
const unless = <K extends string, T>(name: K, value: T, standard: T): Partial<Record<K, T>> =>
  JSON.stringify(value) === JSON.stringify(standard) ? {} : ({ [name]: value } as Record<K, T>);

/** An object of JSON; an empty one while the text is none, which the schema reports. */
const objectOf = (text: string): Record<string, unknown> =>
  text.trim() !== '' && isObjectText(text) ? (JSON.parse(text) as Record<string, unknown>) : {};

function pageOptions(form: JobForm): Record<string, unknown> {
  const extract = {
    ...(form.extractType !== '' && { type: form.extractType }),
    ...(form.extractRules.trim() !== '' && { rules: objectOf(form.extractRules) }),
  };
  return {
    ...unless('engine', form.engine, 'auto'),
    ...unless('formats', form.formats, ['metadata', 'links']),
    ...unless('onlyMainContent', form.onlyMainContent, true),
    ...(Object.keys(extract).length > 0 && { extract }),
    ...unless('timeoutMs', (limitOf(form.timeoutSeconds) ?? 30) * 1000, 30_000),
    ...unless('maxAttempts', limitOf(form.maxAttempts) ?? 3, 3),
  };
}

const crawlFields = (form: JobForm): Record<string, unknown> => ({
  ...unless('maxPages', limitOf(form.maxPages), 10_000),
  ...unless('maxDepth', limitOf(form.maxDepth), null),
  ...unless('allowedDomains', linesOf(form.allowedDomains), []),
  ...unless('allowSubdomains', form.allowSubdomains, false),
  ...unless('allowExternal', form.allowExternal, false),
  ...unless('include', linesOf(form.include), []),
  ...unless('exclude', linesOf(form.exclude), []),
  ...unless('sitemap', form.kind === 'sitemap' ? 'only' : form.readsSitemap ? 'include' : 'skip', 'include'),
  ...unless('obeyNofollow', form.obeyNofollow, true),
  ...unless('obeyNoindex', form.obeyNoindex, true),
  ...unless('followCanonical', form.followCanonical, true),
  ...unless('avoidQueryTraps', form.avoidQueryTraps, true),
  ...unless('keepFragment', form.keepFragment, false),
  ...unless('ifModified', form.ifModified, false),
});

/** The request of the form, without what is the default. */
export function bodyOf(form: JobForm): CrawlBody & BatchBody {
  const urls = linesOf(form.urls).map(fullUrl);
  const { options: moreOptions, ...more } = objectOf(form.more) as { options?: object };
  const options = { ...pageOptions(form), ...moreOptions };
  const body = {
    ...(form.kind === 'sitemap' ? { sitemapUrls: urls } : { urls }),
    ...(form.kind === 'batch'
      ? unless('ignoreInvalidUrls', form.ignoreInvalidUrls, false)
      : crawlFields(form)),
    ...unless('ignoreQueryParameters', linesOf(form.ignoreQueryParameters), []),
    ...unless('maxDurationMs', limitOf(form.maxMinutes, 60_000), null),
    ...unless('maxCredits', form.maxCredits.trim() === '' ? null : Number(form.maxCredits), null),
    ...unless('maxBytes', limitOf(form.maxMegabytes, 1e6), null),
    ...unless('maxBrowserMs', limitOf(form.maxBrowserMinutes, 60_000), null),
    ...unless('maxProxyBytes', limitOf(form.maxProxyMegabytes, 1e6), null),
    ...unless('concurrency', limitOf(form.concurrency), null),
    ...unless('snapshots', form.snapshots, false),
    ...unless('search', form.search, false),
    ...unless('lake', form.lake, false),
    ...(form.exports.length > 0 && { exports: form.exports.map(exportOf) }),
    ...(form.webhookUrl.trim() !== '' && {
      webhook: {
        url: form.webhookUrl.trim(),
        ...(form.webhookSecret !== '' && { secret: form.webhookSecret }),
      },
    }),
    ...more,
    ...(Object.keys(options).length > 0 && { options }),
  };
  return body as CrawlBody & BatchBody;
}

function exportOf(text: string): { type: string; format: string } {
  const [type = 'full', format = 'csv'] = text.split(':');
  return { type, format };
}

export const pathOfKind = (kind: FormKind): '/v1/batch' | '/v1/crawl' =>
  kind === 'batch' ? '/v1/batch' : '/v1/crawl';
