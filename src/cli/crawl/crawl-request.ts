import { isDeepStrictEqual } from 'node:util';
import { draftCrawl, type OperatorOptions } from '../../capabilities/jobs/accept/job-draft.ts';
import { type CrawlRequest, crawlRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { microcreditsOf } from '../../core/model/credits.ts';
import type { Budgets, Format, Job, JobOptions, Pace } from '../../core/model/job.ts';
import { DERIVED_FLAG_OF, type DerivedFlags, derivedFieldsOf } from '../flags/derived-flags.ts';
import { EXTRACT_FLAG_OF, type ExtractFlags } from '../flags/extract-flags.ts';
import { type Limit, limitOf } from '../flags/flag-values.ts';
import { checkFlags, given, parseFlags } from '../flags/flags.ts';
import {
  type OptionFlags,
  PAGE_FLAG_OF,
  PART_FLAG_OF,
  PICTURE_FLAG_OF,
  pageFieldsOf,
  partFieldsOf,
  pictureFieldOf,
  STORED_FLAGS,
} from '../flags/option-flags.ts';
import { OPERATOR } from '../folders/one-off.ts';

/** The flags of `crawl`: start URLs, scope and options. */
export interface CrawlFlags extends OptionFlags, ExtractFlags, DerivedFlags {
  readonly maxPages?: Limit;
  readonly maxDepth?: Limit;
  readonly maxBytes?: Limit;
  readonly maxDuration?: Limit;
  readonly maxBrowserTime?: Limit;
  readonly maxProxyBytes?: Limit;
  readonly maxCredits?: Limit;
  readonly maxLoginWalls?: number;
  readonly include?: string[];
  readonly exclude?: string[];
  readonly sitemap?: string;
  readonly sitemapUrl?: string[];
  readonly allowedDomain?: string[];
  readonly allowSubdomains?: true;
  readonly allowExternal?: true;
  readonly ignoreQueryParameter?: string[];
  readonly keepFragment?: true;
  readonly obeyNofollow: boolean;
  readonly obeyNoindex: boolean;
  readonly followCanonical: boolean;
  readonly avoidQueryTraps: boolean;
  readonly ifModified?: true;
  readonly concurrency?: Limit;
  readonly rate?: number | 'unlimited';
  readonly format?: Format[];
  readonly timeout?: number;
  readonly robots: boolean;
  /** Actions and routes as they stand in the files that the flags name. */
  readonly actions?: unknown;
  readonly routes?: unknown;
  /** What the flags about extraction and their files came to. */
  readonly extractField?: object | undefined;
}

export interface CrawlCommand {
  readonly request: CrawlRequest;
  readonly operator: OperatorOptions;
}

/** Which flag a field of the request comes from; the first that fits counts. */
export const CRAWL_FLAG_OF = {
  urls: 'URL',
  sitemapUrls: '--sitemap-url',
  maxPages: '--max-pages',
  maxDepth: '--max-depth',
  maxBytes: '--max-bytes',
  maxDurationMs: '--max-duration',
  maxBrowserMs: '--max-browser-time',
  maxProxyBytes: '--max-proxy-bytes',
  maxCredits: '--max-credits',
  maxLoginWalls: '--max-login-walls',
  include: '--include',
  exclude: '--exclude',
  sitemap: '--sitemap',
  allowedDomains: '--allowed-domain',
  allowSubdomains: '--allow-subdomains',
  allowExternal: '--allow-external',
  ignoreQueryParameters: '--ignore-query-parameter',
  keepFragment: '--keep-fragment',
  obeyNofollow: '--no-obey-nofollow',
  obeyNoindex: '--no-obey-noindex',
  followCanonical: '--no-follow-canonical',
  avoidQueryTraps: '--no-avoid-query-traps',
  routes: '--routes',
  ifModified: '--if-modified',
  concurrency: '--concurrency',
  ...DERIVED_FLAG_OF,
  'options.formats': '--format',
  'options.timeoutMs': '--timeout',
  ...Object.fromEntries(
    Object.entries({
      ...EXTRACT_FLAG_OF,
      ...PART_FLAG_OF,
      ...PICTURE_FLAG_OF,
      ...PAGE_FLAG_OF,
    }).map(([name, flag]) => [`options.${name}`, flag]),
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
    maxPages: limitOf(flags.maxPages),
    maxDepth: limitOf(flags.maxDepth),
    maxBytes: limitOf(flags.maxBytes),
    maxDurationMs: limitOf(flags.maxDuration),
    maxBrowserMs: limitOf(flags.maxBrowserTime),
    maxProxyBytes: limitOf(flags.maxProxyBytes),
    maxCredits: limitOf(flags.maxCredits),
    maxLoginWalls: flags.maxLoginWalls,
    include: flags.include,
    exclude: flags.exclude,
    sitemap: flags.sitemap,
    allowedDomains: flags.allowedDomain,
    allowSubdomains: flags.allowSubdomains,
    allowExternal: flags.allowExternal,
    ignoreQueryParameters: flags.ignoreQueryParameter,
    keepFragment: flags.keepFragment,
    obeyNofollow: flags.obeyNofollow,
    obeyNoindex: flags.obeyNoindex,
    followCanonical: flags.followCanonical,
    avoidQueryTraps: flags.avoidQueryTraps,
    routes: flags.routes,
    ifModified: flags.ifModified,
    concurrency: flags.concurrency === undefined ? concurrencyFor(flags.rate) : limitOf(flags.concurrency),
    ...derivedFieldsOf(flags),
    options: given({
      ...pageFieldsOf(flags),
      ...partFieldsOf(flags),
      extract: flags.extractField,
      actions: flags.actions,
      screenshot: pictureFieldOf(flags),
      formats: flags.format,
      timeoutMs: flags.timeout,
      obeyRobots: flags.robots,
    }),
  });
}

/** What the flags ask for. Throws INVALID_USAGE, INVALID_URL or UNSUPPORTED_OPTION before anything is touched. */
export function crawlCommandOf(urls: readonly string[], flags: CrawlFlags): CrawlCommand {
  const request = parseFlags(crawlRequestSchema, crawlInputOf(urls, flags), CRAWL_FLAG_OF);
  const operator = { ...OPERATOR, hostRatePerSecond: flags.rate ?? null };
  checkFlags(() => draftCrawl(request, () => true, operator), CRAWL_FLAG_OF);
  return { request, operator };
}

/** A rate that the policy's connections could not reach brings more of them along. */
export function concurrencyFor(rate: CrawlFlags['rate']): number | undefined {
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
  '--allowed-domain': ({ scope }) => scope.allowedDomains,
  '--allow-subdomains': ({ scope }) => scope.allowSubdomains,
  '--allow-external': ({ scope }) => scope.allowExternal,
  '--ignore-query-parameter': ({ scope }) => scope.ignoreQueryParameters,
  '--keep-fragment': ({ scope }) => scope.keepFragment,
  '--no-obey-nofollow': ({ scope }) => scope.obeyNofollow,
  '--no-obey-noindex': ({ scope }) => scope.obeyNoindex,
  '--no-follow-canonical': ({ scope }) => scope.followCanonical,
  '--no-avoid-query-traps': ({ scope }) => scope.avoidQueryTraps,
  '--routes': ({ routes }) => routes,
  '--max-login-walls': ({ maxLoginWalls }) => maxLoginWalls,
  '--snapshots': ({ snapshots }) => snapshots,
  '--search': ({ search }) => search,
  '--lake': ({ lake }) => lake,
  '--export': ({ exports }) => exports,
  '--actions': ({ page }) => page.render?.actions,
  '--format': ({ page }) => page.formats,
  '--extract': ({ page }) => page.extract?.type,
  '--rules': ({ page }) => page.extract?.rules,
  '--schema': ({ page }) => page.extract?.schema,
  '--timeout': ({ page }) => page.timeoutMs,
  '--no-robots': ({ page }) => page.obeyRobots,
  ...Object.fromEntries(
    STORED_FLAGS.map(({ flag, places, unstored }) => [
      flag,
      ({ page }: JobOptions) => {
        const value = firstOf(page, places);
        return value === undefined ? unstored : value;
      },
    ]),
  ),
};

const firstOf = (page: object, places: readonly string[]): unknown =>
  places.map((place) => valueAt(page, place)).find((value) => value !== undefined);

function valueAt(holder: unknown, place: string): unknown {
  let value = holder;
  for (const step of place.split('.'))
    value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step];
  return value;
}

/** These may hold logins, or are long. */
const UNSHOWN: ReadonlySet<string> = new Set([
  ...STORED_FLAGS.filter(({ isHidden }) => isHidden).map(({ flag }) => flag),
  '--actions',
  '--rules',
  '--schema',
  '--routes',
]);

/** How fast a job is fetched: this decides nothing about its URLs, so the operator may change it. */
const PACE: typeof FIXED = {
  '--rate': ({ hostRatePerSecond }) => hostRatePerSecond,
  '--concurrency': ({ concurrency }) => concurrency,
};

/** The budgets and the pace with which a job goes on. */
export interface ResumedOptions {
  readonly budgets: Budgets;
  readonly pace: Pace;
}

/**
 * The budgets with which a job goes on, and its pace where the command may change that. Everything else is as it was when the job began: a flag that says otherwise
 * is refused rather than ignored, one that repeats it is fine, and so is leaving it out.
 */
export function resumedOptions(
  job: Pick<Job, 'seeds' | 'options'>,
  urls: readonly string[],
  flags: CrawlFlags,
  mayChangePace: boolean,
): ResumedOptions {
  const seeds = [...urls, ...(flags.sitemapUrl ?? [])];
  if (seeds.length > 0 && !isDeepStrictEqual(seeds, [...job.seeds])) {
    throw differs('the start URLs', job.seeds.slice(0, 3).join(' '));
  }
  const { request, operator } = crawlCommandOf(urls.length > 0 ? urls : job.seeds.slice(0, 1), flags);
  const wanted = draftCrawl(request, () => true, operator).options;
  const wasGiven = new Set(Object.keys(given({ ...flags })).map((name) => `--${dashed(name)}`));
  for (const name of [
    'robots',
    'obeyNofollow',
    'obeyNoindex',
    'followCanonical',
    'avoidQueryTraps',
    'onlyMainContent',
  ] as const) {
    if (flags[name] === false) wasGiven.add(`--no-${dashed(name)}`);
  }
  for (const [flag, partOf] of Object.entries(mayChangePace ? FIXED : { ...FIXED, ...PACE })) {
    if (!wasGiven.has(flag) || isDeepStrictEqual(partOf(wanted), partOf(job.options))) continue;
    throw differs(flag, UNSHOWN.has(flag) ? 'one that is not shown' : JSON.stringify(partOf(job.options)));
  }
  const { budgets } = job.options;
  return { pace: paceOf(flags, wanted), budgets: raisedBudgets(flags, request, budgets) };
}

/** Only what the flags say: a rate brings a concurrency along. */
function paceOf({ rate, concurrency }: CrawlFlags, wanted: JobOptions): Pace {
  if (rate !== undefined)
    return { hostRatePerSecond: wanted.hostRatePerSecond, concurrency: wanted.concurrency };
  return concurrency === undefined ? {} : { concurrency: wanted.concurrency };
}

/** The limits that may change when a crawl goes on, by budget: their flags, and their values in a request. */
const LIMITS: {
  readonly [Name in keyof Budgets]-?: {
    readonly flag: keyof CrawlFlags;
    readonly of: (request: CrawlRequest) => number | null;
  };
} = {
  maxPages: { flag: 'maxPages', of: ({ maxPages }) => maxPages },
  maxBytes: { flag: 'maxBytes', of: ({ maxBytes }) => maxBytes },
  maxDurationMs: { flag: 'maxDuration', of: ({ maxDurationMs }) => maxDurationMs },
  maxBrowserMs: { flag: 'maxBrowserTime', of: ({ maxBrowserMs }) => maxBrowserMs },
  maxProxyBytes: { flag: 'maxProxyBytes', of: ({ maxProxyBytes }) => maxProxyBytes },
  maxMicrocredits: {
    flag: 'maxCredits',
    of: ({ maxCredits }) => (maxCredits === null ? null : microcreditsOf(maxCredits)),
  },
};

function raisedBudgets(flags: CrawlFlags, request: CrawlRequest, budgets: Budgets): Budgets {
  const raised = (name: keyof Budgets) => {
    const { flag, of } = LIMITS[name];
    return flags[flag] === undefined ? (budgets[name] ?? null) : of(request);
  };
  return {
    maxPages: raised('maxPages'),
    maxBytes: raised('maxBytes'),
    maxDurationMs: raised('maxDurationMs'),
    maxBrowserMs: raised('maxBrowserMs'),
    maxProxyBytes: raised('maxProxyBytes'),
    maxMicrocredits: raised('maxMicrocredits'),
  };
}

const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What another value is taken for, as docs/command-line.md has it as well. */
const CHANGEABLE = `Only limits (${Object.values(LIMITS)
  .map(({ flag }) => `--${dashed(flag)}`)
  .join(', ')}) and, without a server, ${Object.keys(PACE).join(' and ')}`;

const differs = (what: string, stored: string) =>
  new ScrapifieError(
    'INVALID_USAGE',
    `The crawl in this folder was begun with another value for ${what}: ${stored}. ` +
      `${CHANGEABLE} can change on --resume; for the rest take another --out.`,
  );
