import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { defined } from '../../lib/defined.ts';
import { thisMachine } from '../byte-budget.ts';
import { createRequestGuard, type RequestGuard } from '../guard/guarded-lookup.ts';
import { type GuardProxy, type GuardProxyOptions, startGuardProxy } from '../guard-proxy/guard-proxy.ts';
import { type CheckProxy, createProxyCheck } from '../proxy/checked-proxy.ts';
import { shuttingDown } from '../render-errors.ts';
import { BrowserPool } from './pool/browser-pool.ts';
import { type RenderLimits, renderLimitsFor } from './pool/memory-watch.ts';
import { type BrowserPoolOptions, type RemoteAddress, remoteAddressOf } from './pool/pool-options.ts';

export interface BrowserRuntimeOptions
  extends GuardProxyOptions,
    Partial<RenderLimits>,
    Omit<BrowserPoolOptions, 'source' | 'proxy' | 'usesProxy' | keyof RenderLimits> {
  /** Null when no browser is installed: every request is then refused with that reason. */
  readonly executablePath: string | null;
  /** A browser that runs elsewhere, to be used instead. */
  readonly remote?: RemoteBrowser | undefined;
}

export interface RemoteBrowser {
  /** `ws://` of a Playwright server; `http://` or `ws://…/devtools/browser/…` of a CDP port. */
  readonly url: string;
  /**
   * How private addresses are kept from its pages: by our proxy, which it must be able to reach on loopback, or by a
   * check of each request. The address decides unless set; a browser behind a tunnel needs the setting.
   */
  readonly guardBy?: 'proxy' | 'requests' | undefined;
}

/** Browsers with the proxy in front of them. Nothing runs before the first page is wanted. */
export interface BrowserRuntime {
  /** How browsers are spoken to: `playwright` is a server's, of which only Playwright's own interface is known. */
  readonly kind: 'local' | RemoteAddress['kind'];
  ready(): Promise<RunningBrowsers>;
  /** Null while nothing runs. */
  readonly running: RunningBrowsers | null;
  close(): Promise<void>;
}

export interface RunningBrowsers {
  readonly pool: BrowserPool;
  readonly proxy: GuardProxy;
  /** Checks each request; null when the proxy does so. */
  readonly guard: RequestGuard | null;
  /** For proxies that browsers connect to by themselves; null where they are behind ours. */
  readonly checkProxy: CheckProxy | null;
}

/** Throws INVALID_SETTINGS when the address of a remote browser is none. */
export function createBrowserRuntime(options: BrowserRuntimeOptions): BrowserRuntime {
  const remote = options.remote === undefined ? null : remoteAddressOf(options.remote.url);
  const source = remote ?? options.executablePath;
  const guardBy = options.remote?.guardBy ?? (remote === null || remote.isNear ? 'proxy' : 'requests');
  const usesProxy = guardBy === 'proxy';
  let starting: Promise<RunningBrowsers> | null = null;
  let running: RunningBrowsers | null = null;
  let isClosed = false;

  const start = async (from: string | RemoteAddress): Promise<RunningBrowsers> => {
    const proxy = await startGuardProxy(options);
    const limits = { ...renderLimitsFor(thisMachine()), ...withoutUndefined(options) };
    // A browser elsewhere is one browser, however many pages it shows.
    const shared = remote === null ? {} : { maxBrowsers: 1, pagesEach: limits.pagesAtOnce };
    const pool = new BrowserPool({ ...options, ...limits, ...shared, source: from, proxy, usesProxy });
    running = {
      pool,
      proxy,
      guard: usesProxy ? null : createRequestGuard(options),
      checkProxy: usesProxy ? null : createProxyCheck(options),
    };
    return running;
  };

  return {
    kind: remote?.kind ?? 'local',
    get running() {
      return running;
    },
    async ready() {
      if (isClosed) throw shuttingDown();
      if (source === null) throw noBrowser();
      starting ??= start(source);
      return starting;
    },
    async close() {
      isClosed = true;
      const runtime = await starting?.catch(() => null);
      await runtime?.pool.close();
      await runtime?.proxy.close();
    },
  };
}

function noBrowser(): ScrapifieError {
  return new ScrapifieError(
    'NO_BROWSER',
    'No Chromium, Chrome or Edge was found on this machine; `scrapifie doctor --install` installs one, or name one in SCRAPIFIE_BROWSER_PATH',
  );
}

function withoutUndefined(options: Partial<RenderLimits>): Partial<RenderLimits> {
  const { maxBrowsers, pagesAtOnce, pagesEach, maxBrowserBytes, mostBrowserBytes, mostRendererBytes } =
    options;
  return {
    ...defined({ maxBrowsers, pagesAtOnce, pagesEach, maxBrowserBytes, mostBrowserBytes, mostRendererBytes }),
  };
}
