import { BrowserPool } from './browser-pool.ts';
import { type GuardProxy, type GuardProxyOptions, startGuardProxy } from './guard-proxy.ts';
import { type RenderLimits, renderLimitsFor, thisMachine } from './memory-budget.ts';
import type { BrowserPoolOptions } from './pool-options.ts';
import { browserUnavailable, shuttingDown } from './render-errors.ts';

export interface BrowserRigOptions
  extends GuardProxyOptions,
    Partial<RenderLimits>,
    Omit<BrowserPoolOptions, 'executablePath' | 'proxy' | keyof RenderLimits> {
  /** Null when no browser is installed: every request is then refused with that reason. */
  readonly executablePath: string | null;
}

/** Browsers with the proxy in front of them. Nothing runs before the first page is wanted. */
export interface BrowserRig {
  ready(): Promise<RunningRig>;
  /** Null while nothing runs. */
  readonly running: RunningRig | null;
  close(): Promise<void>;
}

export interface RunningRig {
  readonly pool: BrowserPool;
  readonly proxy: GuardProxy;
}

export function createBrowserRig(options: BrowserRigOptions): BrowserRig {
  let starting: Promise<RunningRig> | null = null;
  let running: RunningRig | null = null;
  let isClosed = false;

  const start = async (executablePath: string): Promise<RunningRig> => {
    const proxy = await startGuardProxy(options);
    const limits = { ...renderLimitsFor(thisMachine()), ...withoutUndefined(options) };
    const pool = new BrowserPool({ ...options, ...limits, executablePath, proxy });
    running = { pool, proxy };
    return running;
  };

  return {
    get running() {
      return running;
    },
    async ready() {
      if (isClosed) throw shuttingDown();
      const { executablePath } = options;
      if (executablePath === null) {
        throw browserUnavailable('no Chromium, Chrome or Edge was found on this machine');
      }
      starting ??= start(executablePath);
      return starting;
    },
    async close() {
      isClosed = true;
      const rig = await starting?.catch(() => null);
      await rig?.pool.close();
      await rig?.proxy.close();
    },
  };
}

function withoutUndefined(options: Partial<RenderLimits>): Partial<RenderLimits> {
  const { maxBrowsers, pagesAtOnce, pagesEach, maxBrowserBytes } = options;
  return {
    ...(maxBrowsers === undefined ? {} : { maxBrowsers }),
    ...(pagesAtOnce === undefined ? {} : { pagesAtOnce }),
    ...(pagesEach === undefined ? {} : { pagesEach }),
    ...(maxBrowserBytes === undefined ? {} : { maxBrowserBytes }),
  };
}
