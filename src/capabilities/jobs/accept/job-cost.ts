import { readPrices } from '../../../core/config/plans-and-prices.ts';
import type { Settings } from '../../../core/config/settings.ts';
import type { EngineName } from '../../../core/model/attempt.ts';
import { dearestPrice, type PriceTable, priceTable } from '../../../core/model/credits.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { JobOptions } from '../../../core/model/job.ts';
import type { HostPolicy } from '../../../core/model/policy.ts';
import { PROXY_TIERS, type ProxyTier } from '../../../core/model/proxy.ts';
import type { HostState } from '../../../core/ports/host-store.ts';
import type { Policies } from '../../../crawl/policy/policies.ts';
import { admissionMs } from '../../../crawl/politeness/gate.ts';
import { newHostState } from '../../../crawl/politeness/host-state.ts';

export function pricesOf({ prices }: Pick<Settings, 'prices'>): PriceTable {
  const read = readPrices(prices);
  if (read === null) throw new Error('The settings were read without a look at the prices.');
  return priceTable(read);
}

/**
 * The most that an attempt of a job may cost, by the settings of this process and the policy of its first hosts. In a
 * fleet the processes that fetch should have the same settings: an attempt that turns out dearer is charged all the same.
 */
export function reserveFor(
  settings: Settings,
  policies: () => Policies,
  pluginEngines: Iterable<EngineName>,
): (options: JobOptions, hosts: readonly HostKey[]) => number {
  const prices = pricesOf(settings);
  const proxyTiers = tiersOf(settings);
  const added = [...pluginEngines];
  const hasSolverKey = settings.captchaKey !== undefined || settings.antiCaptchaKey !== undefined;
  return ({ page, routes = [] }, hosts) => {
    const consents = new Set(
      hosts.slice(0, MOST_HOSTS).flatMap((host) => policies().policyFor(host).consent),
    );
    const engines = new Set<EngineName>(['http', 'browser', ...added]);
    if (consents.has('stealth')) engines.add('stealth');
    if (consents.has('stealth') && settings.flaresolverrUrl !== undefined) engines.add('flaresolverr');
    if (consents.has('stealth') && settings.firecrawlUrl !== undefined) engines.add('firecrawl');
    const may = { engines, proxyTiers, hasSolver: hasSolverKey && consents.has('captcha') };
    const pages = [page, ...routes.map((route) => ({ ...page, ...route.page }))];
    return Math.max(...pages.map((each) => dearestPrice(each, prices, may)));
  };
}

/** The file may name proxies of every tier; those of the setting are of one. */
function tiersOf({ proxyFile, proxies }: Settings): readonly ProxyTier[] {
  if (proxyFile !== undefined) return PROXY_TIERS;
  return proxies === '' ? [] : ['datacenter'];
}

/** Hosts whose policy is looked at: a batch may have thousands. */
const MOST_HOSTS = 100;

/** What is known of a host before a job asks it. */
export interface EstimatedHost {
  readonly host: HostKey;
  readonly policy: HostPolicy;
  readonly state: HostState | null;
  readonly crawlDelayMs: number | null;
  /** URLs of the job on this host, where the request names them all. */
  readonly urls: number;
}

export interface EstimateInput {
  readonly options: JobOptions;
  readonly hosts: readonly EstimatedHost[];
  readonly pages: Bounds;
  readonly prices: PriceTable;
  /** The most that an attempt may cost. */
  readonly mostPerAttempt: number;
  readonly now: number;
}

export interface Bounds {
  readonly low: number;
  /** Null when there is no bound. */
  readonly high: number | null;
}

export interface Estimate {
  readonly pages: Bounds;
  readonly durationMs: Bounds;
  readonly microcredits: Bounds;
  readonly hosts: readonly {
    readonly host: HostKey;
    readonly pauseMs: number;
    readonly concurrency: number;
    /** What makes the pause as long as it is. */
    readonly reason: string;
  }[];
}

/** What fetching one page takes when nothing keeps it waiting: over plain HTTP, and in a browser. */
const FETCH_MS = { http: 500, browser: 3_000 } as const;

/** How long a job will take and what it will cost, from the pace of its hosts and the prices. */
export function estimateJob(input: EstimateInput): Estimate {
  const { options, hosts, pages, now, mostPerAttempt } = input;
  const paces = hosts.map((each) => paceOf(each, options, now));
  const named = hosts.reduce((sum, { urls }) => sum + urls, 0);
  /** Each host has its part of the pages: hosts are asked side by side, and the slowest one decides. */
  const timeFor = (count: number, fetchMs: number): number =>
    Math.max(
      0,
      ...hosts.map(({ urls, policy }, index) => {
        const share = named === 0 ? 1 / hosts.length : urls / named;
        const pauseMs = paces[index]?.pauseMs ?? 0;
        const places = Math.min(policy.concurrency, options.concurrency ?? policy.concurrency);
        return Math.ceil(count * share) * Math.max(pauseMs, fetchMs / Math.max(1, places));
      }),
    );
  const { maxDurationMs, maxMicrocredits = null } = options.budgets;
  const least = leastPrice(input);
  return {
    pages,
    durationMs: {
      low: Math.round(capped(timeFor(pages.low, FETCH_MS.http), maxDurationMs)),
      high:
        pages.high === null
          ? maxDurationMs
          : Math.round(capped(timeFor(pages.high, FETCH_MS.browser), maxDurationMs)),
    },
    microcredits: {
      low: capped(pages.low * least, maxMicrocredits),
      high:
        pages.high === null
          ? maxMicrocredits
          : capped(pages.high * Math.max(least, mostPerAttempt), maxMicrocredits),
    },
    hosts: paces,
  };
}

const capped = (amount: number, most: number | null) => (most === null ? amount : Math.min(amount, most));

function paceOf({ host, policy, state, crawlDelayMs }: EstimatedHost, options: JobOptions, now: number) {
  const known = state ?? newHostState(now);
  const input = { now, inFlight: 0, crawlDelayMs, rateOverride: options.hostRatePerSecond };
  const admission = admissionMs(known, policy, input);
  const pauseMs = Number.isFinite(admission) ? Math.round(admission) : 0;
  const delay = Math.min(crawlDelayMs ?? 0, policy.maxCrawlDelayMs);
  const reason =
    pauseMs === 0
      ? 'The policy sets no pace.'
      : delay > 0 && delay >= pauseMs
        ? `robots.txt asks for ${delay} ms between requests.`
        : policy.minDelayMs >= pauseMs
          ? `The policy asks for ${policy.minDelayMs} ms between requests.`
          : `The policy allows ${policy.ratePerSecond} requests per second${known.rateFactor < 1 ? ', less after the host asked to slow down' : ''}.`;
  return { host, pauseMs, concurrency: policy.concurrency, reason };
}

/** One attempt by the cheapest engine that can serve the options, without a proxy. */
function leastPrice({ options: { page }, prices }: EstimateInput): number {
  const needsBrowser =
    page.render !== null || page.formats.some((each) => each === 'screenshot' || each === 'pdf');
  return dearestPrice({ ...page, extract: null, proxy: null }, prices, {
    engines: new Set([needsBrowser ? 'browser' : 'http']),
    proxyTiers: [],
    hasSolver: false,
  });
}
