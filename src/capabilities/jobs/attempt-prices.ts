import { readPrices } from '../../core/config/prices.ts';
import type { Settings } from '../../core/config/settings.ts';
import type { EngineName } from '../../core/model/attempt.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { JobOptions } from '../../core/model/job.ts';
import { dearestPrice, type PriceTable, priceTable } from '../../core/model/prices.ts';
import { PROXY_TIERS, type ProxyTier } from '../../core/model/proxy.ts';
import type { Policies } from '../../crawl/policy/policies.ts';

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
