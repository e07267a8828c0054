import { readFileSync } from 'node:fs';
import type { Settings } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { PROXY_TIERS, type ProxyTier } from '../core/model/proxy.ts';
import type { Bus } from '../core/ports/bus.ts';
import {
  mergeFigures,
  type PoolFigures,
  readFigures,
  writeFigures,
} from '../crawl/plan/proxies/fleet-figures.ts';
import { parseProxyFile, withListedProxies } from '../crawl/plan/proxies/proxy-file.ts';
import { ProxyPool } from '../crawl/plan/proxies/proxy-pool.ts';
import { createProxyHealth } from '../fetch/proxy/proxy-health.ts';

interface OpenProxies {
  /** Null: none are set up. */
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

interface ProxyFigureSharing {
  /** Figures of this process and of those that were heard of lately; null when none of them uses proxies. */
  figures(): PoolFigures | null;
  /** Publishes what has changed, and everything now and then for processes that have just started. */
  tell(): void;
  close(): void;
}

interface ProxyFigureSharingParts {
  readonly bus: Bus;
  /** The name of this process. */
  readonly process: string;
  /** Figures of this process; null when it uses no proxies. */
  readonly own: () => PoolFigures | null;
  readonly now: () => number;
}

const TELL_EVERY_MS = 5_000;
/** A process that has done nothing meanwhile is announced again after this. */
const REPEAT_MS = 30_000;
/** A process that was not heard of for longer has ended. */
const KEPT_MS = 90_000;
const MOST_PROCESSES = 1_000;

/** Lets each process of a fleet answer for the proxies of all, until it is closed. */
export function shareProxyFigures(parts: ProxyFigureSharingParts): ProxyFigureSharing {
  const { bus, process, own, now } = parts;
  /** Figures of other processes, at most MOST_PROCESSES of them. */
  const heard = new Map<string, { readonly figures: PoolFigures; readonly at: number }>();
  let told = '';
  let toldAt = Number.NEGATIVE_INFINITY;
  const unsubscribe = bus.subscribe('proxy.figures', (message) => {
    if (message.process === process) return;
    for (const [name, { at }] of heard) if (now() - at >= KEPT_MS) heard.delete(name);
    const figures = heard.size < MOST_PROCESSES ? readFigures(message.figures) : null;
    if (figures !== null) heard.set(message.process, { figures, at: now() });
  });
  const tell = (): void => {
    const figures = own();
    if (figures === null) return;
    const text = writeFigures(figures);
    if (text === told && now() - toldAt < REPEAT_MS) return;
    told = text;
    toldAt = now();
    bus.publish('proxy.figures', { process, figures: text });
  };
  const timer = setInterval(tell, TELL_EVERY_MS).unref();
  return {
    figures() {
      const mine = own();
      const others = [...heard.values()]
        .filter(({ at }) => now() - at < KEPT_MS)
        .map(({ figures }) => figures);
      return mergeFigures(mine === null ? others : [mine, ...others]);
    },
    tell,
    close() {
      clearInterval(timer);
      unsubscribe();
    },
  };
}
