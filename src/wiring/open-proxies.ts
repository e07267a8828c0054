import { readFileSync } from 'node:fs';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { PROXY_TIERS, type ProxyTier } from '../core/model/proxy.ts';
import { parseProxyFile, withListedProxies } from '../crawl/plan/proxies/proxy-file.ts';
import { ProxyPool } from '../crawl/plan/proxies/proxy-pool.ts';
import { createProxyHealth } from '../fetch/proxy/proxy-health.ts';

interface OpenProxies {
  /** Null when no proxies are set up. */
  readonly pool: ProxyPool | null;
  /** Tiers of the proxies, from the cheapest to the dearest. */
  readonly tiers: readonly ProxyTier[];
  close(): Promise<void>;
}

const NONE: OpenProxies = { pool: null, tiers: [], close: async () => undefined };

/** Opens the proxies of the settings. Throws INVALID_PROXY_FILE when the file cannot be used. */
export function openProxies(
  { proxyFile, proxies, allowPrivate }: Pick<Settings, 'proxyFile' | 'proxies' | 'allowPrivate'>,
  userAgent: string,
  now: () => number,
): OpenProxies {
  const file = proxyFile === undefined ? null : parseProxyFile(readFile(proxyFile), proxyFile);
  const config = withListedProxies(file, proxies);
  if (config === null) return NONE;
  const pool = new ProxyPool(config, Math.random);
  const health = createProxyHealth({ pool, url: config.checkUrl, userAgent, allowPrivate, now });
  return {
    pool,
    tiers: PROXY_TIERS.filter((tier) => config.providers.some((provider) => provider.tier === tier)),
    close: () => health.close(),
  };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new ScrapifieError('INVALID_PROXY_FILE', `The proxy file ${path} cannot be read (${why}).`, {
      cause,
    });
  }
}
