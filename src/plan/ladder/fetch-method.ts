import type { EngineName } from '../../model/attempt.ts';
import type { IdentityKind } from '../../model/identity.ts';

/** One way of asking a host for a page. */
export interface FetchMethod {
  readonly engine: EngineName;
  /** Null: no proxy. */
  readonly proxyTier: string | null;
  readonly identity: IdentityKind;
}

/** What one page costs, in fetches over plain HTTP. The order of engines on the ladder is the order of these. */
export const ENGINE_COST: Readonly<Record<EngineName, number>> = {
  http: 1,
  browser: 10,
  flaresolverr: 15,
  stealth: 20,
};
export const RUNS_SCRIPTS: Readonly<Record<EngineName, boolean>> = {
  http: false,
  browser: true,
  flaresolverr: true,
  stealth: true,
};

/** The cheapest tier; each further one costs as many times more. */
const FIRST_TIER_COST = 2;
const TIER_FACTOR = 3;
/** Hardly anything, but where honesty does it is not given up. */
const DISGUISE_COST = 0.5;

/** `tiers` from cheap to dear; a tier that is not among them is the caller's own proxy and costs nothing. */
export function costOf({ engine, proxyTier, identity }: FetchMethod, tiers: readonly string[]): number {
  const rank = tierRank(proxyTier, tiers);
  const tierCost = rank === 0 ? 0 : FIRST_TIER_COST * TIER_FACTOR ** (rank - 1);
  return ENGINE_COST[engine] + tierCost + (identity === 'browser' ? DISGUISE_COST : 0);
}

/** 0 without a proxy. */
export function tierRank(tier: string | null, tiers: readonly string[]): number {
  return tier === null ? 0 : tiers.indexOf(tier) + 1;
}

export function isSameMethod(one: FetchMethod, other: FetchMethod): boolean {
  return one.engine === other.engine && one.proxyTier === other.proxyTier && one.identity === other.identity;
}

/** How many of engine, tier and identity are higher than before; null when one of them is lower. */
export function raisedBy(way: FetchMethod, before: FetchMethod, tiers: readonly string[]): number | null {
  const steps = [
    ENGINE_COST[way.engine] - ENGINE_COST[before.engine],
    tierRank(way.proxyTier, tiers) - tierRank(before.proxyTier, tiers),
    Number(way.identity === 'browser') - Number(before.identity === 'browser'),
  ];
  return steps.some((step) => step < 0) ? null : steps.filter((step) => step > 0).length;
}
