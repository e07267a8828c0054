import type { ProxyEndpoint, ProxyTier } from '../../../core/model/proxy.ts';
import type { ProxyOutcome } from '../outcome.ts';
import type { ListedProxy, ListProvider, ProxyConfig } from './proxy-config.ts';
import type { ProxyDecision, ProxyPool, ProxyQuery, ProxyUse } from './proxy-pool.ts';

export function listOf(
  name: string,
  countries: readonly (string | null)[],
  tier: ProxyTier = 'datacenter',
): ListProvider {
  const proxies = countries.map(
    (country, index): ListedProxy => ({
      protocol: 'http',
      host: `p${index + 1}.${name}.example`,
      port: 3_128,
      credentials: null,
      country,
    }),
  );
  return { kind: 'list', name, tier, isPrivateAllowed: false, proxies };
}

export const anywhere = (count: number): null[] => new Array<null>(count).fill(null);

export function configOf(providers: ProxyConfig['providers'], more: Partial<ProxyConfig> = {}): ProxyConfig {
  return {
    providers,
    selection: 'first',
    cooldownMs: 0,
    checkUrl: 'http://check.example/',
    checkEveryMs: 60_000,
    ...more,
  };
}

export const queryFor = (host: string, more: Partial<ProxyQuery> = {}): ProxyQuery => ({
  host,
  tier: null,
  country: null,
  session: null,
  ...more,
});

export function useOf(decision: ProxyDecision): ProxyUse {
  if (decision.kind === 'use') return decision.use;
  throw new Error(`no proxy: ${decision.reason}`);
}

export function choose(
  pool: ProxyPool,
  host: string,
  now: number,
  more: Partial<ProxyQuery> = {},
): ProxyEndpoint {
  return useOf(pool.choose(queryFor(host, more), now)).proxy;
}

export function end(pool: ProxyPool, use: ProxyUse, outcome: ProxyOutcome, now = use.chosenAt): void {
  pool.ended(use, { outcome, ms: 10, bytes: 100 }, now);
}
