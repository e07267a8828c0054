import { z } from 'zod';
import { PROXY_TIERS, type ProxyTier } from '../../../core/model/proxy.ts';
import type { ProviderGroup } from './pool-members.ts';
import {
  type HealthRules,
  isHealthy,
  type ProviderBreaker,
  type ProxyFigures,
  type RequestTally,
} from './proxy-health.ts';

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

/** Proxies that one process tells others of; those that it used most come first. */
const MOST_TOLD = 1_000;

const count = z.number().min(0);
const figures = {
  requests: count,
  successes: count,
  failures: count,
  bans: count,
  targetFailures: count,
  bytes: count,
  p50Ms: count.nullable(),
};
const name = z.string().max(200);
const tier = z.enum(PROXY_TIERS);
const schema: z.ZodType<PoolFigures> = z.object({
  proxies: z
    .array(
      z.object({
        id: name,
        provider: name,
        tier,
        country: name.nullable(),
        isHealthy: z.boolean(),
        ...figures,
      }),
    )
    .max(MOST_TOLD),
  providers: z
    .array(
      z.object({
        name,
        tier,
        breaker: z.enum(['closed', 'open', 'half-open']),
        proxies: count,
        healthy: count,
        ...figures,
      }),
    )
    .max(1_000),
  tiers: z.array(z.object({ tier, ...figures })).max(PROXY_TIERS.length),
});

/** The figures of a process as other processes are told them. */
export function writeFigures(own: PoolFigures): string {
  const proxies = own.proxies.toSorted((one, other) => other.requests - one.requests).slice(0, MOST_TOLD);
  return JSON.stringify({ ...own, proxies });
}

/** Returns null for a text that `writeFigures` has not made. */
export function readFigures(text: string): PoolFigures | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * The figures of all processes together: counts are added, and the medians weighted by their successes. A proxy is healthy
 * where one process uses it; a provider is left alone where one process leaves it alone.
 */
export function mergeFigures(all: readonly PoolFigures[]): PoolFigures | null {
  const [first, ...others] = all;
  if (first === undefined) return null;
  if (others.length === 0) return first;
  return {
    proxies: grouped(
      all.flatMap(({ proxies }) => proxies),
      ({ id }) => id,
      (one, other) => ({ ...one, ...sumOf(one, other), isHealthy: one.isHealthy || other.isHealthy }),
    ),
    providers: grouped(
      all.flatMap(({ providers }) => providers),
      (provider) => provider.name,
      (one, other) => ({
        ...one,
        ...sumOf(one, other),
        breaker: WORST.find((phase) => one.breaker === phase || other.breaker === phase) ?? 'closed',
        healthy: Math.max(one.healthy, other.healthy),
      }),
    ),
    tiers: grouped(
      all.flatMap(({ tiers }) => tiers),
      (each) => each.tier,
      (one, other) => ({ ...one, ...sumOf(one, other) }),
    ),
  };
}

const WORST = ['open', 'half-open', 'closed'] as const;

function grouped<T>(all: readonly T[], keyOf: (each: T) => string, merge: (one: T, other: T) => T): T[] {
  const found = new Map<string, T>();
  for (const each of all) {
    const before = found.get(keyOf(each));
    found.set(keyOf(each), before === undefined ? each : merge(before, each));
  }
  return [...found.values()];
}

function sumOf(one: ProxyFigures, other: ProxyFigures): ProxyFigures {
  const successes = one.successes + other.successes;
  const weighted = (each: ProxyFigures) => (each.p50Ms ?? 0) * each.successes;
  const p50Ms = one.p50Ms === null ? other.p50Ms : other.p50Ms === null ? one.p50Ms : null;
  return {
    requests: one.requests + other.requests,
    successes,
    failures: one.failures + other.failures,
    bans: one.bans + other.bans,
    targetFailures: one.targetFailures + other.targetFailures,
    bytes: one.bytes + other.bytes,
    p50Ms: p50Ms ?? (successes === 0 ? null : Math.round((weighted(one) + weighted(other)) / successes)),
  };
}
