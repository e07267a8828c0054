import type { ConnectionOptions } from 'node:tls';
import { Client } from 'undici';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import type { PrivateAddresses } from '../guard/address-guard.ts';
import {
  createProxyConnector,
  createProxyReach,
  createTunnelOpener,
  type OpenTunnel,
} from './open-tunnel.ts';
import { faultOf } from './proxy-failure.ts';

/** What a check says; anything from `served` to `target-failed` means that the proxy carried it. */
export type CheckOutcome = 'served' | 'target-failed' | 'proxy-failed' | 'unclear' | 'nothing';

/** The proxy pool: names the proxies to check, and takes the results. */
export interface CheckedProxies {
  due(now: number): readonly ProxyEndpoint[];
  checked(
    proxyId: string,
    end: { readonly outcome: CheckOutcome; readonly host: string; readonly sentAt: number },
    now: number,
  ): void;
}

export interface ProxyHealthOptions {
  readonly pool: CheckedProxies;
  /**
   * Fetched through each proxy that is due; should be small, near and always up. Null: a connection to the proxy is
   * opened and closed, which shows that it listens.
   */
  readonly url: string | null;
  readonly userAgent: string;
  readonly allowPrivate: PrivateAddresses;
  /** Interval between checks of the pool. */
  readonly lookEveryMs?: number;
  /** For a check as a whole. */
  readonly timeoutMs?: number;
  readonly maxAtOnce?: number;
  readonly tls?: ConnectionOptions | undefined;
  readonly proxyTls?: ConnectionOptions | undefined;
  /** The clock of the proxy pool, whose pauses are compared with it. */
  readonly now?: () => number;
}

export interface ProxyHealthWatch {
  /** Checks the proxies that are due, and resolves when all checks have ended. */
  run(): Promise<void>;
  /** Ends the checks under way; nothing is recorded afterwards. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 65_536;

/** Looks after the proxies until closed: a small request through each that is due, a few at a time. */
export function createProxyHealth(options: ProxyHealthOptions): ProxyHealthWatch {
  const { pool, timeoutMs = 15_000, maxAtOnce = 8, lookEveryMs = 5_000, now = Date.now } = options;
  const openTunnel = createTunnelOpener({ ...options, timeoutMs });
  const reach = createProxyReach({ ...options, timeoutMs });
  const url = options.url === null ? null : new URL(options.url);
  const closing = new AbortController();
  /** Bounded by the number of proxies. */
  const underWay = new Set<string>();
  const runs = new Set<Promise<void>>();

  const checkOne = async (proxy: ProxyEndpoint): Promise<void> => {
    const sentAt = now();
    const outcome =
      url === null
        ? await reachable(reach(proxy, closing.signal), closing.signal)
        : await checkProxy(proxy, url, openTunnel, options, timeoutMs, closing.signal);
    underWay.delete(proxy.id);
    const host = url?.host ?? '';
    if (!closing.signal.aborted) pool.checked(proxy.id, { outcome, host, sentAt }, now());
  };

  const runDue = async (): Promise<void> => {
    const waiting = pool.due(now()).filter(({ id }) => !underWay.has(id));
    for (const { id } of waiting) underWay.add(id);
    const work = async () => {
      for (let proxy = waiting.pop(); proxy !== undefined; proxy = waiting.pop()) {
        if (closing.signal.aborted) return;
        await checkOne(proxy);
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxAtOnce, waiting.length) }, work));
  };

  const run = (): Promise<void> => {
    if (closing.signal.aborted) return Promise.resolve();
    const running = runDue().finally(() => runs.delete(running));
    runs.add(running);
    return running;
  };

  const timer = setInterval(() => {
    // One round at a time bounds how many checks run at once.
    if (runs.size === 0) void run();
  }, lookEveryMs).unref();

  return {
    run,
    async close() {
      clearInterval(timer);
      closing.abort();
      await Promise.allSettled([...runs]);
    },
  };
}

async function reachable(reaching: Promise<void>, closing: AbortSignal): Promise<CheckOutcome> {
  try {
    await reaching;
    return 'served';
  } catch (error) {
    return closing.aborted ? 'nothing' : outcomeOfFailure(error);
  }
}

async function checkProxy(
  proxy: ProxyEndpoint,
  url: URL,
  openTunnel: OpenTunnel,
  { tls, userAgent }: ProxyHealthOptions,
  timeoutMs: number,
  closing: AbortSignal,
): Promise<CheckOutcome> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]);
  const connect = createProxyConnector({
    proxy,
    openTunnel,
    timeoutMs,
    tls,
    signal,
    allowH2: false,
    maxCachedSessions: 0,
  });
  const client = new Client(url.origin, { connect, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  try {
    const { statusCode, body } = await client.request({
      path: url.pathname + url.search,
      method: 'GET',
      headers: { 'user-agent': userAgent },
      signal,
    });
    await body.dump({ limit: MAX_BODY_BYTES });
    if (statusCode === 407) return 'proxy-failed';
    return statusCode >= 500 ? 'target-failed' : 'served';
  } catch (error) {
    if (closing.aborted) return 'nothing';
    return outcomeOfFailure(error);
  } finally {
    await client.destroy();
  }
}

function outcomeOfFailure(error: unknown): CheckOutcome {
  const fault = faultOf(error);
  if (fault !== null) return fault === 'proxy' ? 'proxy-failed' : 'unclear';
  // Out of time in one way or another.
  if (!isScrapifieError(error) || error.code === 'CANCELLED') return 'unclear';
  // A check that our own guard refuses was never made.
  return error.code === 'ADDRESS_REFUSED' ? 'nothing' : 'target-failed';
}
