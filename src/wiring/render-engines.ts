import type { Settings } from '../core/config/settings.ts';
import type { BrowserFigures } from '../core/observe/metrics/sources.ts';
import type { CaptchaSolver } from '../core/ports/captcha.ts';
import { createBrowserEngine } from '../fetch/browser/browser-engine.ts';
import {
  type BrowserRuntime,
  type BrowserRuntimeOptions,
  createBrowserRuntime,
} from '../fetch/browser/browser-runtime.ts';
import type { RenderLimits } from '../fetch/browser/pool/memory-watch.ts';
import {
  type BrowserHealth,
  HEALTHY,
  type PoolStats,
  REPLACED_FOR,
} from '../fetch/browser/pool/pool-health.ts';
import { createCaptchaHook } from '../fetch/captcha/captcha-hook.ts';
import type { Engine } from '../fetch/engine.ts';
import type { RenderName } from '../fetch/remote/render-message.ts';
import { createStealthEngine } from '../fetch/stealth/stealth-engine.ts';
import { userAgentFor } from '../fetch/user-agent.ts';
import { withholdSecrets } from '../fetch/wrapped-engines.ts';
import { VERSION } from '../version.ts';

/**
 * The engines that show pages. This file brings the library that drives browsers, so only a render process imports it:
 * what a page does to that library must not reach the server.
 */
export interface RenderEngines {
  engine(name: RenderName): Engine;
  /** Health of the browsers that show pages for this engine, as far as it is known. */
  health(name: RenderName): BrowserHealth;
  /** Figures over all browsers; null while none is running. */
  figures(): BrowserFigures | null;
  /** Launches the browsers that are kept while they have nothing to do. */
  warm(): Promise<void>;
  /** Main processes of the browsers that were started here. */
  browserPids(): readonly number[];
  close(): Promise<void>;
}

export interface RenderEnginesOptions {
  readonly settings: Readonly<
    Partial<Pick<Settings, 'contact' | 'remoteBrowserUrl'>> &
      Pick<Settings, 'allowPrivate' | 'browserIsolation' | 'maxRenderBytes'>
  >;
  /** Null when no solver is set up. */
  readonly solver: CaptchaSolver | null;
  readonly executablePath: string | null;
  readonly limits: Partial<RenderLimits> & Pick<BrowserRuntimeOptions, 'pagesPerBrowser' | 'minBrowsers'>;
  readonly isSandboxed: boolean;
  /** What the pools ask for and tell. `relocate` and `onLaunched` concern browsers of this machine. */
  readonly events: Pick<BrowserRuntimeOptions, 'relocate' | 'onLaunched' | 'onHealth' | 'onEvent'>;
}

export function createRenderEngines(options: RenderEnginesOptions): RenderEngines {
  const { settings, solver, executablePath, limits, isSandboxed, events } = options;
  const { onHealth, onEvent } = events;
  const { allowPrivate, contact, remoteBrowserUrl } = settings;
  const userAgent = userAgentFor(VERSION, contact ?? null);
  const pageLimits = { maxPageBytes: settings.maxRenderBytes };
  const afterLoad = solver === null ? undefined : createCaptchaHook({ solver });
  /** Both kinds of pages count against the same limits. */
  let shared: BrowserRuntime | null = null;
  const ownRuntime = () => {
    shared ??= createBrowserRuntime({
      executablePath,
      allowPrivate,
      isSandboxed,
      isolation: settings.browserIsolation,
      ...limits,
      ...events,
    });
    return shared;
  };
  let remote: BrowserRuntime | null = null;
  const stealthRuntime = () => {
    if (remoteBrowserUrl === undefined) return ownRuntime();
    remote ??= createBrowserRuntime({
      executablePath: null,
      remote: { url: remoteBrowserUrl },
      allowPrivate,
      ...limits,
      minBrowsers: 0,
      onHealth,
      onEvent,
    });
    return remote;
  };
  const makers: Readonly<Record<RenderName, () => Engine>> = {
    browser: () =>
      createBrowserEngine({ runtime: ownRuntime(), userAgent, limits: pageLimits, hooks: { afterLoad } }),
    stealth: () =>
      createStealthEngine({ runtime: stealthRuntime(), userAgent, limits: pageLimits, afterLoad }),
  };
  const made = new Map<RenderName, Engine>();

  return {
    engine(name) {
      const engine = made.get(name) ?? withholdSecrets(makers[name]());
      made.set(name, engine);
      return engine;
    },
    health(name) {
      const runtime = name === 'stealth' && remoteBrowserUrl !== undefined ? remote : shared;
      return runtime?.running?.pool.health ?? HEALTHY;
    },
    figures() {
      const pools = [shared, remote].flatMap((runtime) => runtime?.running?.pool ?? []);
      return pools.length === 0 ? null : sumOf(pools.map(({ stats }) => stats));
    },
    async warm() {
      if ((limits.minBrowsers ?? 0) > 0) await ownRuntime().ready();
    },
    browserPids: () => [shared, remote].flatMap((runtime) => runtime?.running?.pool.pids ?? []),
    async close() {
      for (const engine of made.values()) await engine.close();
    },
  };
}

function sumOf(all: readonly PoolStats[]): BrowserFigures {
  const sum = (value: (stats: PoolStats) => number) => all.reduce((total, stats) => total + value(stats), 0);
  return {
    browsers: sum(({ browsers }) => browsers),
    pagesOpen: sum(({ pagesOpen }) => pagesOpen),
    pagesInUse: sum(({ pagesInUse }) => pagesInUse),
    launched: sum(({ launched }) => launched),
    launchesFailed: sum(({ launchesFailed }) => launchesFailed),
    replaced: Object.fromEntries(REPLACED_FOR.map((why) => [why, sum(({ replaced }) => replaced[why])])),
  };
}
