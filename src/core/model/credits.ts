import type { Prices } from '../config/plans-and-prices.ts';
import { ERRORS, type ErrorSpec } from '../errors/registry.ts';
import type { Attempt, EngineName, OwnEngineName } from './attempt.ts';
import { traitsOf } from './engine-traits.ts';
import type { Budgets, Job, PageOptions } from './job.ts';
import { PROXY_TIERS, type ProxyTier } from './proxy.ts';
import type { AttemptReason } from './reasons.ts';
import type { StopReason } from './task-reasons.ts';

/** How many make a credit; stores and prices count in these, so that no sum is ever rounded. */
const MICROCREDITS = 1_000_000;

/** The largest amount of one entry or price, in credits. */
export const MOST_CREDITS = 1_000_000_000;

/** Credits as clients see them. */
export const creditsOf = (microcredits: number): number => microcredits / MICROCREDITS;

/** The nearest whole number of microcredits. */
export const microcreditsOf = (credits: number): number => Math.round(credits * MICROCREDITS);

/** Months since year 0 in UTC: allowances are renewed when it changes. */
export function monthOf(at: number): number {
  const date = new Date(at);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** When the month begins, as epoch milliseconds. */
export const startOfMonth = (month: number): number => Date.UTC(Math.floor(month / 12), month % 12);

const DAY_MS = 86_400_000;
/** Days since 1970-01-01 in UTC: the day that usage is counted under. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** The reason of a job that was stopped because its account could not pay for another page. */
export const CREDITS_EXHAUSTED = 'credits.exhausted' satisfies StopReason;

/** What budgets are compared with. */
interface Spending {
  readonly counters: Pick<Job['counters'], 'pages' | 'failed' | 'bytes' | 'browserMs' | 'proxyBytes'>;
  readonly microcredits: number;
}

/** Which of the budgets the job has spent already, as a stop reason; null when it could go on under them. */
export function spentBudget(
  { counters, microcredits }: Spending,
  budgets: Omit<Budgets, 'maxDurationMs'>,
): StopReason | null {
  const { pages, failed, bytes, browserMs, proxyBytes } = counters;
  const reaches = (spent: number, most: number | null | undefined) => most != null && spent >= most;
  // What a job has not used at all stops it under no limit.
  const uses = (spent: number, most: number | null | undefined) => spent > 0 && reaches(spent, most);
  if (reaches(pages + failed, budgets.maxPages)) return 'budget.pages';
  if (reaches(bytes, budgets.maxBytes)) return 'budget.bytes';
  if (uses(browserMs, budgets.maxBrowserMs)) return 'budget.browser';
  if (uses(proxyBytes, budgets.maxProxyBytes)) return 'budget.proxy';
  return uses(microcredits, budgets.maxMicrocredits) ? 'budget.credits' : null;
}

/** What attempts cost, in whole microcredits. */
export interface PriceTable {
  readonly engines: Readonly<Record<OwnEngineName, number>>;
  /** On top of the engine, for a proxy of the operator's. */
  readonly proxies: Readonly<Record<ProxyTier, number>>;
  /** For a thousand tokens of a language model. */
  readonly tokens: number;
  /** For each puzzle that was sent to a solver service. */
  readonly solver: number;
  readonly screenshot: number;
  readonly pdf: number;
}

export function priceTable(prices: Prices): PriceTable {
  const of = (name: keyof Prices) => microcreditsOf(prices[name]);
  return {
    engines: {
      http: of('http'),
      browser: of('browser'),
      flaresolverr: of('flaresolverr'),
      stealth: of('stealth'),
      firecrawl: of('firecrawl'),
      replay: 0,
    },
    proxies: { datacenter: of('datacenter'), residential: of('residential'), mobile: of('mobile') },
    tokens: of('tokens'),
    solver: of('solver'),
    screenshot: of('screenshot'),
    pdf: of('pdf'),
  };
}

/** The tokens of one page that are reserved for: most pages need fewer, and none is given much more. */
const MOST_TOKENS = 20_000;
const TOKENS = 1_000;

/**
 * What the attempt costs. Nothing when it failed on this side, when a stored page answered, and for a proxy of the
 * caller's own.
 */
export function priceOf(attempt: Attempt, prices: PriceTable): number {
  const { engine, proxyTier, proxyId, errorCode, reason, extras = {} } = attempt;
  if (isFree(reason) || (errorCode !== undefined && isOurs(errorCode))) return 0;
  const tier = proxyTier === null || proxyId?.startsWith('own/') === true ? null : (proxyTier as ProxyTier);
  return (
    enginePrice(engine, prices) +
    (tier === null ? 0 : prices.proxies[tier]) +
    Math.ceil(((extras.tokens ?? 0) * prices.tokens) / TOKENS) +
    (extras.solverCalls ?? 0) * prices.solver +
    (extras.screenshots ?? 0) * prices.screenshot +
    (extras.pdfs ?? 0) * prices.pdf
  );
}

/** The price of an engine; an engine of a plug-in costs as many fetches over plain HTTP as its traits say. */
const enginePrice = (engine: EngineName, { engines }: PriceTable): number =>
  engines[engine as OwnEngineName] ?? Math.round(traitsOf(engine).cost * engines.http);

/** What an installation can do for the hosts of a job at all. */
export interface DearestMethod {
  readonly engines: ReadonlySet<EngineName>;
  /** Tiers of the operator's proxies. */
  readonly proxyTiers: readonly ProxyTier[];
  readonly hasSolver: boolean;
}

/** The most that one attempt at a page of these options may cost: the dearest engine and proxy that may be used. */
export function dearestPrice(
  page: Pick<PageOptions, 'engine' | 'formats' | 'proxy' | 'maxProxyTier' | 'extract'>,
  prices: PriceTable,
  may: DearestMethod,
): number {
  const engines = page.engine === 'auto' ? [...may.engines] : [page.engine];
  const isOwnProxy = page.proxy !== null && page.proxy.url !== null;
  const most =
    page.maxProxyTier === undefined ? PROXY_TIERS.length : PROXY_TIERS.indexOf(page.maxProxyTier) + 1;
  const tiers = isOwnProxy ? [] : PROXY_TIERS.slice(0, most).filter((tier) => may.proxyTiers.includes(tier));
  const dearest = (amounts: readonly number[]) => Math.max(0, ...amounts);
  const canRender = engines.some((name) => name !== 'http');
  return (
    dearest(engines.map((name) => enginePrice(name, prices))) +
    dearest(tiers.map((tier) => prices.proxies[tier])) +
    ((page.extract?.llm ?? false) === false ? 0 : (MOST_TOKENS / TOKENS) * prices.tokens) +
    (may.hasSolver && canRender ? prices.solver : 0) +
    (page.formats.includes('screenshot') ? prices.screenshot : 0) +
    (page.formats.includes('pdf') ? prices.pdf : 0)
  );
}

/** Whether the failure is on this side: then the whole task costs nothing. */
export const isOurs = (code: keyof typeof ERRORS): boolean => (ERRORS[code] as ErrorSpec).isOurs === true;

const isFree = (reason: AttemptReason) => reason === 'cache.hit';
