import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { microcreditsOf } from '../../../core/model/credits.ts';
import { isDisguised } from '../../../core/model/engine-traits.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { Budgets, JobOptions, PageOptions, Scope } from '../../../core/model/job.ts';
import type { JobKind } from '../../../core/model/job-kinds.ts';
import type { Consent } from '../../../core/model/policy.ts';
import type { NewTask } from '../../../core/model/task.ts';
import { type CanonicalUrl, createCanonicalizer } from '../../../crawl/frontier/canonical.ts';
import { compileScope } from '../../../crawl/frontier/scope.ts';
import {
  type BatchRequest,
  type CrawlRequest,
  derivedOptionsOf,
  type MapRequest,
  type RequestOf,
  type ScrapeRequest,
} from '../request/job-request.ts';
import { pageOptionsOf } from '../request/page-request.ts';
import { retentionAgesOf } from '../request/retention-fields.ts';
import { routeFrom } from '../request/route-fields.ts';
import {
  asGiven,
  type ReadSeeds,
  readSeeds,
  requireNone,
  seedTask,
  siteTasks,
  sourcesOf,
  trySeeds,
} from './seeds.ts';

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

type DrawUp<Kind extends JobKind> = (
  request: RequestOf<Kind>,
  ...how: [Consents, OperatorOptions?]
) => JobDraft;
/** What job is made of a request of each kind. */
const DRAFTS: { readonly [Kind in JobKind]: DrawUp<Kind> } = {
  scrape: draftScrape,
  batch: draftBatch,
  crawl: draftCrawl,
  map: draftMap,
};

export const draftOf = <Kind extends JobKind>(
  { kind, request }: { readonly kind: Kind; readonly request: RequestOf<Kind> },
  ...how: [Consents, OperatorOptions?]
): JobDraft => DRAFTS[kind](request, ...how);
