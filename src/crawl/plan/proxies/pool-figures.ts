import type { ProxyTier } from '../../../core/model/proxy.ts';
import type { ProviderGroup } from './pool-members.ts';
import type { ProviderBreaker } from './provider-breaker.ts';
import { type HealthRules, isHealthy } from './proxy-health.ts';
import type { ProxyFigures, RequestTally } from './request-tally.ts';

export interface PoolFigures {
  readonly proxies: readonly (ProxyFigures & {
    readonly id: string;
    readonly provider: string;
    readonly tier: ProxyTier;
    readonly country: string | null;
    readonly isHealthy: boolean;
  })[];
  readonly providers: readonly (ProxyFigures & {
    readonly name: string;
    readonly tier: ProxyTier;
    readonly breaker: ProviderBreaker['phase'];
    readonly proxies: number;
    readonly healthy: number;
  })[];
  readonly tiers: readonly (ProxyFigures & { readonly tier: ProxyTier })[];
}

/** What the requests so far amount to, for people and metrics. Without logins. */
export function figuresOf(
  groups: readonly ProviderGroup[],
  tiers: ReadonlyMap<ProxyTier, RequestTally>,
  rules: HealthRules,
  now: number,
): PoolFigures {
  const healthy = (group: ProviderGroup) =>
    group.members.filter(({ health }) => isHealthy(health, rules, now));
  return {
    proxies: groups.flatMap(({ members }) =>
      members.map(({ endpoint: { id, provider, tier, country }, health, tally }) => ({
        id,
        provider,
        tier,
        country,
        isHealthy: isHealthy(health, rules, now),
        ...tally.figures(),
      })),
    ),
    providers: groups.map((group) => ({
      name: group.provider.name,
      tier: group.provider.tier,
      breaker: group.breaker.phase,
      proxies: group.members.length,
      healthy: healthy(group).length,
      ...group.tally.figures(),
    })),
    tiers: [...tiers].map(([tier, tally]) => ({ tier, ...tally.figures() })),
  };
}
