import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { ProxyOptions } from '../../../core/model/job.ts';
import type { HostPolicy } from '../../../core/model/policy.ts';
import { PROXY_TIERS, type ProxyEndpoint, type ProxyTier } from '../../../core/model/proxy.ts';
import { type ProxiedAttemptEnd, proxyOutcomeOf } from '../../plan/outcome.ts';
import type { ProxyUse } from '../../plan/proxies/proxy-pool.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { RunningJob } from '../process/running-job.ts';
import { OWN_PROXY } from './plan-attempt.ts';

/** The proxy through which a request leaves, or none. Its user reports how the request ended. */
export interface ProxyRoute {
  readonly proxy: ProxyEndpoint | null;
  ended(end: ProxyRouteEnd): void;
}

export interface ProxyRouteEnd extends ProxiedAttemptEnd {
  readonly ms: number;
  readonly bytes: number;
}

export type ProxyRouteDecision =
  | { readonly kind: 'go'; readonly route: ProxyRoute }
  /** Every proxy that fits was used for this host a moment ago. */
  | { readonly kind: 'wait'; readonly until: number; readonly reason: string };

/** Keeps one proxy for several requests. */
export interface StickyProxy {
  readonly id: string;
  readonly proxyId: string | null;
}

const DIRECT: ProxyRoute = { proxy: null, ended: () => undefined };

/**
 * `ownTurn` says which of several proxies of the caller's is next. Throws NO_HEALTHY_PROXY when none can be used, and VALIDATION_FAILED for a proxy of the
 * caller's that is none.
 */
export function chooseProxyRoute(
  tier: string | null,
  wish: ProxyOptions | null,
  host: HostKey,
  sticky: StickyProxy | null,
  { proxies, ownProxy }: Pick<FetchResources, 'proxies' | 'ownProxy'>,
  now: () => number,
  ownTurn = 0,
): ProxyRouteDecision {
  if (tier === null) return { kind: 'go', route: DIRECT };
  if (tier === OWN_PROXY && wish?.url) {
    const url = wish.urls?.[ownTurn % wish.urls.length] ?? wish.url;
    return { kind: 'go', route: { proxy: ownProxy(url), ended: () => undefined } };
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
  return { kind: 'go', route: { proxy: use.proxy, ended: (end) => report(proxies, use, end, now()) } };
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
 * The route of a request for robots.txt. Where pages go through a proxy, this request must not show our own address. Throws like `chooseProxyRoute`.
 */
export function chooseRobotsRoute(
  running: RunningJob,
  { proxyTier }: Pick<HostPolicy, 'proxyTier'>,
  host: HostKey,
  resources: FetchResources,
  now: () => number,
): ProxyRouteDecision {
  if (resources.isReplay === true) return { kind: 'go', route: DIRECT };
  const wish = running.job.options.page.proxy;
  const cheapest = () => resources.installation().tiers[0] ?? null;
  const wished = wish?.url == null ? (wish?.tier ?? cheapest()) : OWN_PROXY;
  if (wish !== null && wished === null) throw new ScrapifieError('NO_HEALTHY_PROXY', 'No proxy is set up.');
  const tier = wish === null ? proxyTier : wished;
  return chooseProxyRoute(tier, wish, host, null, resources, now, nextOwnTurn(running));
}

/** The pages of a job, and its requests for robots.txt, take the caller's proxies in turn. */
export function nextOwnTurn(running: RunningJob): number {
  running.ownTurn += 1;
  return running.ownTurn - 1;
}

const isTier = (tier: string): tier is ProxyTier => PROXY_TIERS.some((one) => one === tier);
