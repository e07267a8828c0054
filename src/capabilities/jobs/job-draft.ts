import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { microcreditsOf } from '../../core/model/credits.ts';
import { isDisguised } from '../../core/model/engine-traits.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { Budgets, JobOptions, PageOptions, Scope } from '../../core/model/job.ts';
import type { JobKind } from '../../core/model/job-kinds.ts';
import type { Consent } from '../../core/model/policy.ts';
import type { NewTask, TaskKind } from '../../core/model/task.ts';
import {
  type Canonicalizer,
  type CanonicalUrl,
  createCanonicalizer,
  parseSeed,
} from '../../crawl/frontier/canonical.ts';
import { compileScope } from '../../crawl/frontier/scope.ts';
import { derivedOptionsOf } from './derived-fields.ts';
import { type FieldProblem, listed } from './invalid-request.ts';
import type { BatchRequest, CrawlRequest, MapRequest, ScrapeRequest } from './job-request.ts';
import { pageOptionsOf } from './page-request.ts';
import { retentionAgesOf } from './retention-fields.ts';
import { routeFrom } from './route-fields.ts';

/** A request turned into what will be stored; nothing has happened yet. */
export interface JobDraft {
  readonly kind: JobKind;
  readonly options: JobOptions;
  readonly seeds: readonly string[];
  readonly tasks: readonly NewTask[];
  /** See `NewJob.sources`; a scrape has its one in `seeds`. */
  readonly sources?: Readonly<Record<string, string>>;
  /** What the job does only by the operator's consent; each use belongs in the audit log. */
  readonly usedConsents: readonly Consent[];
}

/** Whether the operator's policy consents to this feature on the host. */
export type Consents = (host: HostKey, what: Consent) => boolean;

/** Options that only the operator of the installation may set. */
export interface OperatorOptions {
  readonly hostRatePerSecond?: JobOptions['hostRatePerSecond'];
  /** Consents for this run to what otherwise only a policy that names the domain allows. */
  readonly hasConsent?: boolean;
}

/** Only the given URLs, nothing followed; a redirect may lead anywhere. */
export const CLOSED_SCOPE: Scope = {
  maxDepth: 0,
  allowedDomains: [],
  allowSubdomains: true,
  allowExternal: true,
  include: [],
  exclude: [],
  ignoreQueryParameters: [],
  keepFragment: false,
  sitemap: 'skip',
  obeyNofollow: false,
  obeyNoindex: false,
  followCanonical: false,
};
/** The ledger has them all; the job's row is read with every commit and must stay small. */
const SHOWN_BATCH_URLS = 100;
const NO_BUDGETS: Budgets = { maxPages: null, maxBytes: null, maxDurationMs: null };
const plainCanonical = createCanonicalizer(CLOSED_SCOPE);

export function draftScrape(
  request: ScrapeRequest,
  consents: Consents,
  operator: OperatorOptions = {},
): JobDraft {
  const page = pageOptionsOf(request);
  const [seed] = readSeeds([request.url], () => 'url', plainCanonical, asGiven);
  if (seed === undefined) throw new ScrapifieError('INVALID_URL', 'No URL was given.');
  const usedConsents = requireConsent(page, [seed], consents, operator);
  return {
    kind: 'scrape',
    usedConsents,
    options: optionsOf(request, page, CLOSED_SCOPE, NO_BUDGETS, null, operator),
    seeds: [request.url],
    tasks: [seedTask('page', seed)],
  };
}

export function draftBatch(
  request: BatchRequest,
  consents: Consents,
  operator: OperatorOptions = {},
): JobDraft {
  const page = pageOptionsOf(request.options);
  const scope = { ...CLOSED_SCOPE, ignoreQueryParameters: request.ignoreQueryParameters };
  const read = tryBatchSeeds(request);
  const { seeds } = read;
  if (seeds.length === 0 || !request.ignoreInvalidUrls) requireNone(read.problems);
  const usedConsents = requireConsent(page, seeds, consents, operator);
  return {
    kind: 'batch',
    usedConsents,
    ...sourcesOf(seeds),
    options: optionsOf(
      request,
      page,
      scope,
      { ...budgetsOf(request), maxPages: null },
      request.concurrency,
      operator,
    ),
    seeds: request.urls.slice(0, SHOWN_BATCH_URLS),
    tasks: seeds.map((seed) => seedTask('page', seed)),
  };
}

export function draftCrawl(
  request: CrawlRequest,
  consents: Consents,
  operator: OperatorOptions = {},
): JobDraft {
  const page = pageOptionsOf(request.options);
  const scope: Scope = {
    maxDepth: request.maxDepth,
    allowedDomains: request.allowedDomains,
    allowSubdomains: request.allowSubdomains,
    allowExternal: request.allowExternal,
    patternSyntax: 'glob',
    include: request.include,
    exclude: request.exclude,
    ignoreQueryParameters: request.ignoreQueryParameters,
    keepFragment: request.keepFragment,
    sitemap: request.sitemap,
    obeyNofollow: request.obeyNofollow,
    obeyNoindex: request.obeyNoindex,
    followCanonical: request.followCanonical,
    avoidQueryTraps: request.avoidQueryTraps,
  };
  const canonical = createCanonicalizer(scope);
  const pages = readSeeds(request.urls, (index) => `urls.${index}`, canonical);
  const sitemaps = readSeeds(request.sitemapUrls, (index) => `sitemapUrls.${index}`, canonical);
  const all = [...pages, ...sitemaps];
  const seeds = [...request.urls, ...request.sitemapUrls];
  const usedConsents = requireConsent(page, all, consents, operator);
  compileScope(
    scope,
    all.map((seed) => seed.url),
    { isNew: true },
  );
  return {
    kind: 'crawl',
    usedConsents,
    ...sourcesOf(all),
    options: {
      ...optionsOf(
        request,
        page,
        scope,
        { ...budgetsOf(request), maxPages: request.maxPages },
        request.concurrency,
        operator,
      ),
      ...(request.routes.length === 0 ? {} : { routes: request.routes.map(routeFrom) }),
      ...(request.maxLoginWalls === null ? {} : { maxLoginWalls: request.maxLoginWalls }),
    },
    seeds,
    tasks: [
      ...(scope.sitemap === 'only' ? [] : pages.map((seed) => seedTask('page', seed))),
      ...(scope.sitemap === 'skip' ? [] : siteTasks(pages, canonical)),
      ...sitemaps.map((seed) => seedTask('sitemap', seed)),
    ],
  };
}

/** The runner knows from the kind that what a map discovers is only remembered. */
export function draftMap(request: MapRequest, consents: Consents, operator: OperatorOptions = {}): JobDraft {
  const page = pageOptionsOf({ ...request.options, formats: ['links'] });
  const scope: Scope = {
    ...CLOSED_SCOPE,
    maxDepth: null,
    allowSubdomains: request.allowSubdomains,
    allowExternal: false,
    patternSyntax: 'glob',
    include: request.include,
    exclude: request.exclude,
    ignoreQueryParameters: request.ignoreQueryParameters,
    sitemap: request.sitemap,
  };
  const canonical = createCanonicalizer(scope);
  const seeds = readSeeds([request.url], () => 'url', canonical);
  const usedConsents = requireConsent(page, seeds, consents, operator);
  compileScope(
    scope,
    seeds.map((seed) => seed.url),
    { isNew: true },
  );
  return {
    kind: 'map',
    usedConsents,
    ...sourcesOf(seeds),
    options: optionsOf({ retention: request.retention }, page, scope, NO_BUDGETS, null, operator),
    seeds: [request.url],
    tasks: [
      ...(scope.sitemap === 'only' ? [] : seeds.map((seed) => seedTask('page', seed))),
      ...(scope.sitemap === 'skip' ? [] : siteTasks(seeds, canonical)),
    ],
  };
}

const budgetsOf = ({
  maxBytes,
  maxDurationMs,
  maxBrowserMs,
  maxProxyBytes,
  maxCredits,
}: Pick<CrawlRequest, 'maxBytes' | 'maxDurationMs' | 'maxBrowserMs' | 'maxProxyBytes' | 'maxCredits'>) => ({
  maxBytes,
  maxDurationMs,
  maxBrowserMs,
  maxProxyBytes,
  ...(maxCredits === null ? {} : { maxMicrocredits: microcreditsOf(maxCredits) }),
});

function optionsOf(
  request: Pick<CrawlRequest, 'retention'> & Parameters<typeof derivedOptionsOf>[0],
  page: PageOptions,
  scope: Scope,
  budgets: Budgets,
  concurrency: number | null,
  operator: OperatorOptions,
): JobOptions {
  const ages = retentionAgesOf(request.retention);
  return {
    page,
    scope,
    budgets,
    concurrency,
    isOperated: operator.hasConsent ?? false,
    hostRatePerSecond: operator.hostRatePerSecond ?? null,
    ...(ages === undefined ? {} : { retention: ages }),
    ...derivedOptionsOf(request),
  };
}

/** A start URL, and what was submitted for it. */
interface Seed extends CanonicalUrl {
  readonly source: string;
}

interface ReadSeeds {
  readonly seeds: readonly Seed[];
  readonly problems: readonly SeedProblem[];
}

interface SeedProblem extends FieldProblem {
  readonly source: string;
}

/** Reads every seed, naming each bad one; one URL is reported as INVALID_URL the same way as ten thousand. */
function readSeeds(...given: Parameters<typeof trySeeds>): readonly Seed[] {
  const { seeds, problems } = trySeeds(...given);
  requireNone(problems);
  return seeds;
}

function trySeeds(
  urls: readonly string[],
  field: (index: number) => string,
  canonical: Canonicalizer,
  finish: (seed: CanonicalUrl, parsed: string) => CanonicalUrl = (seed) => seed,
): ReadSeeds {
  const seeds: Seed[] = [];
  const problems: SeedProblem[] = [];
  for (let index = 0; index < urls.length; index++) {
    const source = urls[index] ?? '';
    try {
      const parsed = parseSeed(source);
      const seed = canonical(parsed);
      if (seed === null) problems.push({ field: field(index), message: notAUrl(source), source });
      else seeds.push({ ...finish(seed, parsed), source });
    } catch (error) {
      if (!(error instanceof ScrapifieError)) throw error;
      problems.push({ field: field(index), message: error.message, source });
    }
  }
  return { seeds, problems };
}

function requireNone(problems: readonly SeedProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new ScrapifieError('INVALID_URL', `${first.field}: ${first.message}${more}`, {
    details: listed(problems.map(({ field, message }) => ({ field, message }))),
  });
}

const tryBatchSeeds = ({ urls, ignoreQueryParameters }: BatchRequest): ReadSeeds =>
  trySeeds(
    urls,
    (index) => `urls.${index}`,
    createCanonicalizer({ ...CLOSED_SCOPE, ignoreQueryParameters }),
    asGiven,
  );

/** The URLs that a batch with `ignoreInvalidUrls` leaves out, each with the reason. */
export function invalidUrlsOf(request: BatchRequest): { readonly url: string; readonly message: string }[] {
  if (!request.ignoreInvalidUrls) return [];
  return tryBatchSeeds(request).problems.map(({ source, message }) => ({ url: source, message }));
}

/** Empty when every seed is fetched as it was submitted. */
function sourcesOf(seeds: readonly Seed[]): Pick<JobDraft, 'sources'> {
  const changed = seeds.filter(({ url, source }) => url !== source);
  if (changed.length === 0) return {};
  const sources: Record<string, string> = {};
  // When a URL was given in two spellings, the first is fetched.
  for (const { url, source } of changed) sources[url] ??= source;
  return { sources };
}

/**
 * A page asked for by name is fetched under that name: order and tracking parameters may be part of a signature.
 * Its key stays canonical, so that the same page asked for twice is fetched once.
 */
function asGiven(seed: CanonicalUrl, parsed: string): CanonicalUrl {
  const fragmentAt = parsed.indexOf('#');
  const url = fragmentAt === -1 ? parsed : parsed.slice(0, fragmentAt);
  return url.startsWith(`${seed.origin}/`) ? { ...seed, url } : seed;
}

const notAUrl = (raw: string) => `"${raw.slice(0, 200)}" is not an absolute http or https URL.`;

const seedTask = (kind: TaskKind, seed: CanonicalUrl): NewTask => ({
  kind,
  url: seed.url,
  urlKey: seed.urlKey,
  hostKey: seed.hostKey,
  depth: 0,
  foundBy: 'seed',
  foundOn: null,
  state: 'ready',
  rule: null,
});

/** One per origin: its robots.txt says where the sitemaps are. */
function siteTasks(seeds: readonly CanonicalUrl[], canonical: Canonicalizer): NewTask[] {
  const origins = new Set(seeds.map((seed) => seed.origin));
  return [...origins].flatMap((origin) => {
    const robots = canonical(`${origin}/robots.txt`);
    return robots === null ? [] : [seedTask('site', robots)];
  });
}

/** Returns the consents that are made use of. Throws CONSENT_REQUIRED for one that some host lacks. */
function requireConsent(
  page: PageOptions,
  seeds: readonly CanonicalUrl[],
  policy: Consents,
  operator: OperatorOptions,
): readonly Consent[] {
  const consents: Consents = operator.hasConsent === true ? () => true : policy;
  const wanted = consentsFor(page);
  for (const each of wanted) refuseWithout(each, seeds, consents);
  return [...new Set(wanted.map(({ what }) => what))];
}

/** Something that is off unless the operator consents, and the field that asks for it. */
interface Wanted {
  readonly what: Consent;
  readonly field: string;
  readonly asked: string;
}

function consentsFor({ obeyRobots, headers, engine, identity }: PageOptions): Wanted[] {
  const wanted: Wanted[] = [];
  if (!obeyRobots) wanted.push({ what: 'robots', field: 'obeyRobots', asked: 'ignoring robots.txt' });
  if (isDisguised(engine)) wanted.push({ what: 'stealth', field: 'engine', asked: `the engine ${engine}` });
  // What such an engine does anyway is covered by the consent to it.
  if (identity === 'browser' && !isDisguised(engine)) {
    wanted.push({ what: 'identity', field: 'identity', asked: 'the identity of a browser' });
  }
  const agent = Object.keys(headers).find((name) => name.toLowerCase() === 'user-agent');
  if (agent !== undefined) {
    wanted.push({ what: 'identity', field: `headers.${agent}`, asked: 'another user agent' });
  }
  return wanted;
}

function refuseWithout(
  { what, field, asked }: Wanted,
  seeds: readonly CanonicalUrl[],
  consents: Consents,
): void {
  const refused = [...new Set(seeds.map((seed) => seed.hostKey))].filter((host) => !consents(host, what));
  if (refused.length === 0) return;
  throw new ScrapifieError(
    'CONSENT_REQUIRED',
    `The operator's policy does not allow ${asked} on ${refused.slice(0, 3).join(', ')}.`,
    { details: refused.slice(0, 100).map((host) => ({ field, message: `no consent for ${host}` })) },
  );
}
