import { readPrices } from '../config/prices.ts';
import type { Settings } from '../config/settings.ts';
import type { EngineName } from '../model/attempt.ts';
import type { HostKey } from '../model/ids.ts';
import type { JobOptions } from '../model/job.ts';
import type { Consent } from '../model/policy.ts';
import { dearestPrice, type PriceTable, priceTable } from '../model/prices.ts';

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
  consentsOf: (host: HostKey) => readonly Consent[],
): (options: JobOptions, hosts: readonly HostKey[]) => number {
  const prices = pricesOf(settings);
  const hasProxies = settings.proxyFile !== undefined || settings.proxies !== undefined;
  const hasSolverKey = settings.captchaKey !== undefined || settings.antiCaptchaKey !== undefined;
  return ({ page, routes = [] }, hosts) => {
    const consents = new Set(hosts.slice(0, MOST_HOSTS).flatMap((host) => consentsOf(host)));
    const engines = new Set<EngineName>(['http', 'browser']);
    if (consents.has('stealth')) engines.add('stealth');
    if (consents.has('stealth') && settings.flaresolverrUrl !== undefined) engines.add('flaresolverr');
    const may = { engines, hasProxies, hasSolver: hasSolverKey && consents.has('captcha') };
    const pages = [page, ...routes.map((route) => ({ ...page, ...route.page }))];
    return Math.max(...pages.map((each) => dearestPrice(each, prices, may)));
  };
}

/** Hosts whose policy is looked at: a batch may have thousands. */
const MOST_HOSTS = 100;
