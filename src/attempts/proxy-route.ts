import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { HostKey } from '../model/ids.ts';
import type { ProxyOptions } from '../model/job.ts';
import type { HostPolicy } from '../model/policy.ts';
import { PROXY_TIERS, type ProxyEndpoint, type ProxyTier } from '../model/proxy.ts';
import { type AttemptEnd, proxyOutcomeOf } from '../plan/proxies/proxy-outcome.ts';
import type { ProxyUse } from '../plan/proxies/proxy-pool.ts';
import type { FetchResources } from './fetch-resources.ts';
import { OWN_PROXY } from './ladder-request.ts';
import type { RunningJob } from './running-job.ts';

/** By which address a request leaves; whoever got it says how it ended. */
export interface ProxyRoute {
  readonly proxy: ProxyEndpoint | null;
  ended(end: ProxyRouteEnd): void;
}

export interface ProxyRouteEnd extends AttemptEnd {
  readonly ms: number;
  readonly bytes: number;
}

export type ProxyRouteDecision =
  | { readonly kind: 'go'; readonly out: ProxyRoute }
  /** Every proxy that fits was used for this host a moment ago. */
  | { readonly kind: 'wait'; readonly until: number; readonly reason: string };

/** Keeps one proxy for several requests. */
export interface StickyProxy {
  readonly id: string;
  readonly proxyId: string | null;
}

const DIRECT: ProxyRoute = { proxy: null, ended: () => undefined };

/** Throws NO_HEALTHY_PROXY when none can be used, and VALIDATION_FAILED for a proxy of the caller's that is none. */
export function chooseProxyRoute(
  tier: string | null,
  wish: ProxyOptions | null,
  host: HostKey,
  sticky: StickyProxy | null,
  { proxies, ownProxy }: Pick<FetchResources, 'proxies' | 'ownProxy'>,
  now: () => number,
): ProxyRouteDecision {
  if (tier === null) return { kind: 'go', out: DIRECT };
  if (tier === OWN_PROXY && wish?.url) {
    return { kind: 'go', out: { proxy: ownProxy(wish.url), ended: () => undefined } };
  }
  if (proxies === null || !isTier(tier)) {
    throw new ScrapifieError('NO_HEALTHY_PROXY', `No ${tier} proxy is set up.`);
  }
  const decision = proxies.choose({ host, tier, country: wish?.country ?? null, session: sticky }, now());
  if (decision.kind === 'wait') return decision;
  if (decision.kind === 'none') {
    const retryAfterMs = decision.retryAt === null ? undefined : Math.max(0, decision.retryAt - now());
    throw new ScrapifieError(
      'NO_HEALTHY_PROXY',
      decision.reason,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
  const { use } = decision;
  return { kind: 'go', out: { proxy: use.proxy, ended: (end) => report(proxies, use, end, now()) } };
}

function report(
  proxies: NonNullable<FetchResources['proxies']>,
  use: ProxyUse,
  end: ProxyRouteEnd,
  now: number,
): void {
  proxies.ended(use, { outcome: proxyOutcomeOf(end), ms: end.ms, bytes: end.bytes }, now);
}

/**
 * By which address a host is asked for its robots.txt. Where a proxy is wanted for pages, our own address must not be
 * shown by that question. Throws like `chooseProxyRoute`.
 */
export function chooseWayForRobots(
  { job }: RunningJob,
  { proxyTier }: Pick<HostPolicy, 'proxyTier'>,
  host: HostKey,
  means: FetchResources,
  now: () => number,
): ProxyRouteDecision {
  const wish = job.options.page.proxy;
  const cheapest = () => means.installation().tiers[0] ?? null;
  const wished = wish?.url == null ? (wish?.tier ?? cheapest()) : OWN_PROXY;
  return chooseProxyRoute(wish === null ? proxyTier : wished, wish, host, null, means, now);
}

const isTier = (tier: string): tier is ProxyTier => PROXY_TIERS.some((one) => one === tier);
