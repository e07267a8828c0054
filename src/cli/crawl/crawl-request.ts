import { isDeepStrictEqual } from 'node:util';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { draftCrawl, type OperatorOptions } from '../../jobs/job-draft.ts';
import { type CrawlRequest, crawlRequestSchema } from '../../jobs/job-request.ts';
import type { Budgets, Format, Job, JobOptions } from '../../model/job.ts';
import { EXTRACT_FLAG_OF, type ExtractFlags } from '../flags/extract-flags.ts';
import { given, parseFlags } from '../flags/flags.ts';
import { PAGE_FLAG_OF, type PageFlags, pageFieldsOf } from '../flags/page-flags.ts';
import { PART_FLAG_OF, type PartFlags, partFieldsOf } from '../flags/part-flags.ts';
import { OPERATOR } from '../folders/one-off.ts';

/** The flags of `crawl`: start URLs, scope and options. */
export interface CrawlFlags extends PageFlags, ExtractFlags, PartFlags {
  readonly maxPages?: number;
  readonly maxDepth?: number;
  readonly maxBytes?: number;
  readonly maxDuration?: number;
  readonly maxLoginWalls?: number;
  readonly include?: string[];
  readonly exclude?: string[];
  readonly sitemap?: string;
  readonly sitemapUrl?: string[];
  readonly subdomains?: true;
  readonly external?: true;
  readonly concurrency?: number;
  readonly rate?: number | 'unlimited';
  readonly format?: Format[];
  readonly header?: Record<string, string>;
  readonly timeout?: number;
  readonly robots: boolean;
  /** As it stands in the file. */
  readonly actions?: unknown;
  /** What the flags about extraction and their files came to. */
  readonly extractField?: object | undefined;
  readonly fullPage?: true;
  readonly session?: string;
}

export interface CrawlCommand {
  readonly request: CrawlRequest;
  readonly operator: OperatorOptions;
}

const FLAG_OF = {
  urls: 'URL',
  sitemapUrls: '--sitemap-url',
  maxPages: '--max-pages',
  maxDepth: '--max-depth',
  maxBytes: '--max-bytes',
  maxDurationMs: '--max-duration',
  maxLoginWalls: '--max-login-walls',
  include: '--include',
  exclude: '--exclude',
  sitemap: '--sitemap',
  concurrency: '--concurrency',
  'options.formats': '--format',
  'options.headers': '--header',
  'options.timeoutMs': '--timeout',
  'options.actions': '--actions',
  'options.screenshot': '--full-page',
  'options.session': '--session',
  ...Object.fromEntries(
    Object.entries({ ...EXTRACT_FLAG_OF, ...PART_FLAG_OF, ...PAGE_FLAG_OF }).map(([name, flag]) => [
      `options.${name}`,
      flag,
    ]),
  ),
};

/** As many connections as a host that may be asked without limit answers faster for; more only waste memory. */
const UNLIMITED_CONCURRENCY = 64;
/** Up to this rate the two connections of the default policy are enough. */
const SLOW_RATE = 2;

/** The request that the flags stand for, without defaults. */
export function crawlInputOf(urls: readonly string[], flags: CrawlFlags): object {
  return given({
    urls,
    sitemapUrls: flags.sitemapUrl,
    maxPages: flags.maxPages === 0 ? null : flags.maxPages,
    maxDepth: flags.maxDepth,
    maxBytes: flags.maxBytes,
    maxDurationMs: flags.maxDuration,
    maxLoginWalls: flags.maxLoginWalls,
    include: flags.include,
    exclude: flags.exclude,
    sitemap: flags.sitemap,
    allowSubdomains: flags.subdomains,
    allowExternal: flags.external,
    concurrency: flags.concurrency ?? concurrencyFor(flags.rate),
    options: given({
      ...pageFieldsOf(flags),
      ...partFieldsOf(flags),
      extract: flags.extractField,
      actions: flags.actions,
      screenshot: flags.fullPage === true ? { fullPage: true } : undefined,
      session: flags.session,
      formats: flags.format,
      headers: flags.header,
      timeoutMs: flags.timeout,
      obeyRobots: flags.robots,
    }),
  });
}

/** What the flags ask for. Throws INVALID_USAGE, INVALID_URL or UNSUPPORTED_OPTION before anything is touched. */
export function crawlCommandOf(urls: readonly string[], flags: CrawlFlags): CrawlCommand {
  const request = parseFlags(crawlRequestSchema, crawlInputOf(urls, flags), FLAG_OF);
  const operator = { ...OPERATOR, hostRatePerSecond: flags.rate ?? null };
  draftCrawl(request, () => true, operator);
  return { request, operator };
}

/** A rate that the policy's connections could not reach brings more of them along. */
function concurrencyFor(rate: CrawlFlags['rate']): number | undefined {
  if (rate === undefined || (rate !== 'unlimited' && rate <= SLOW_RATE)) return undefined;
  return rate === 'unlimited'
    ? UNLIMITED_CONCURRENCY
    : Math.min(UNLIMITED_CONCURRENCY, Math.max(16, Math.ceil(rate)));
}

/** What of a job each flag has decided; these cannot be changed once URLs have been judged by them. */
const FIXED: Readonly<Record<string, (options: JobOptions) => unknown>> = {
  '--max-depth': ({ scope }) => scope.maxDepth,
  '--include': ({ scope }) => scope.include,
  '--exclude': ({ scope }) => scope.exclude,
  '--sitemap': ({ scope }) => scope.sitemap,
  '--subdomains': ({ scope }) => scope.allowSubdomains,
  '--external': ({ scope }) => scope.allowExternal,
  '--concurrency': ({ concurrency }) => concurrency,
  '--max-login-walls': ({ maxLoginWalls }) => maxLoginWalls,
  '--rate': ({ hostRatePerSecond }) => hostRatePerSecond,
  '--engine': ({ page }) => page.engine,
  '--wait-for': ({ page }) => page.render?.wait?.selector,
  '--wait-ms': ({ page }) => page.render?.wait?.ms,
  '--wait-until': ({ page }) => page.render?.wait?.until,
  '--scroll': ({ page }) => page.render?.scroll,
  '--viewport': ({ page }) => page.render?.device?.viewport,
  '--mobile': ({ page }) => page.render?.device?.isMobile,
  '--geolocation': ({ page }) => page.render?.device?.geolocation,
  '--locale': ({ page }) => page.render?.device?.locale,
  '--timezone': ({ page }) => page.render?.device?.timezone,
  '--actions': ({ page }) => page.render?.actions,
  '--full-page': ({ page }) => page.render?.screenshot,
  '--session': ({ page }) => page.session,
  '--proxy': ({ page }) => page.proxy?.urls ?? page.proxy?.url,
  '--proxy-tier': ({ page }) => page.proxy?.tier,
  '--max-proxy-tier': ({ page }) => page.maxProxyTier,
  '--country': ({ page }) => page.proxy?.country,
  '--identity': ({ page }) => page.identity,
  '--identity-browser': ({ page }) => page.identityBrowser,
  '--format': ({ page }) => page.formats,
  '--extract': ({ page }) => page.extract?.type,
  '--rules': ({ page }) => page.extract?.rules,
  '--schema': ({ page }) => page.extract?.schema,
  '--no-only-main-content': ({ page }) => page.parts?.onlyMain ?? true,
  '--include-tags': ({ page }) => page.parts?.includeTags ?? [],
  '--exclude-tags': ({ page }) => page.parts?.excludeTags ?? [],
  '--header': ({ page }) => page.headers,
  '--timeout': ({ page }) => page.timeoutMs,
  '--task-timeout': ({ page }) => page.taskTimeoutMs,
  '--no-robots': ({ page }) => page.obeyRobots,
};

/** These may hold logins, or are long. */
const UNSHOWN: ReadonlySet<string> = new Set(['--header', '--proxy', '--actions', '--rules', '--schema']);

/**
 * The budgets with which a job goes on. Everything else is as it was when the job began: a flag that says otherwise
 * is refused rather than ignored, one that repeats it is fine, and so is leaving it out.
 */
export function resumedBudgets(
  job: Pick<Job, 'seeds' | 'options'>,
  urls: readonly string[],
  flags: CrawlFlags,
): Budgets {
  const seeds = [...urls, ...(flags.sitemapUrl ?? [])];
  if (seeds.length > 0 && !isDeepStrictEqual(seeds, [...job.seeds])) {
    throw differs('the start URLs', job.seeds.slice(0, 3).join(' '));
  }
  const { request, operator } = crawlCommandOf(urls.length > 0 ? urls : job.seeds.slice(0, 1), flags);
  const wanted = draftCrawl(request, () => true, operator).options;
  const wasGiven = new Set(Object.keys(given({ ...flags })).map((name) => `--${dashed(name)}`));
  if (!flags.robots) wasGiven.add('--no-robots');
  if (flags.onlyMainContent === false) wasGiven.add('--no-only-main-content');
  for (const [flag, partOf] of Object.entries(FIXED)) {
    if (!wasGiven.has(flag) || isDeepStrictEqual(partOf(wanted), partOf(job.options))) continue;
    throw differs(flag, UNSHOWN.has(flag) ? 'one that is not shown' : JSON.stringify(partOf(job.options)));
  }
  const { budgets } = job.options;
  return {
    maxPages: flags.maxPages === undefined ? budgets.maxPages : request.maxPages,
    maxBytes: flags.maxBytes ?? budgets.maxBytes,
    maxDurationMs: flags.maxDuration ?? budgets.maxDurationMs,
  };
}

const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const differs = (what: string, stored: string) =>
  new ScrapifieError(
    'INVALID_USAGE',
    `The crawl in this folder was begun with another value for ${what}: ${stored}. ` +
      'Only --max-pages, --max-bytes and --max-duration can change on --resume; for the rest take another --out.',
  );
