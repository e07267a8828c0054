import type { Page } from 'patchright-core';
import type { ProxyLogin } from '../../guard-proxy/guard-proxy.ts';
import type { ReplacedFor } from './pool-health.ts';

/** A page that is used by one attempt, until `release`, which must be called exactly once. */
export interface PageLease {
  readonly page: Page;
  /** Names the context to the guard's proxy. */
  readonly proxyUsername: string;
  /** What the guard's proxy asks of this context; null when the context has an entrance of its own. */
  readonly proxyLogin: ProxyLogin | null;
  /** Aborts with a ScrapifieError when the page's process, the browser or the pool ends. */
  readonly lost: AbortSignal;
  /** Whether the browser works, by a probe since the page was lent. What it answers may take as long as a probe may. */
  isBrowserAlive(): Promise<boolean>;
  /**
   * `broken`: the page may be in any state and is closed. `lost`: its browser is not to be trusted any more, and retired.
   * Never waits, never throws.
   */
  release(state: 'clean' | 'broken' | 'lost'): void;
}

export interface PoolStats {
  readonly browsers: number;
  readonly contexts: number;
  readonly pagesOpen: number;
  readonly pagesInUse: number;
  readonly waiting: number;
  readonly launched: number;
  readonly launchesFailed: number;
  /** Browsers whose process ended by itself. */
  readonly crashed: number;
  /** Browsers that were closed in order and replaced. */
  readonly recycled: number;
  readonly replaced: Readonly<Record<ReplacedFor, number>>;
}
