import type { Page } from 'patchright-core';
import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ProxyLogin } from '../../guard-proxy/guard-proxy.ts';

/**
 * ok       pages can be shown, or nothing says otherwise
 * degraded they can, but something is wrong that will show: a program that was removed, a launch that failed
 * failing  no page can be opened
 */
export interface BrowserHealth {
  readonly state: 'ok' | 'degraded' | 'failing';
  readonly code: ErrorCode | null;
  readonly reason: string | null;
  /** A weakness of the installation, although pages can be rendered. */
  readonly note?: string | null;
}

export const HEALTHY: BrowserHealth = { state: 'ok', code: null, reason: null };

/** Why a browser was replaced: `limits` are its share of pages and memory. */
export type ReplacedFor = 'unresponsive' | 'ended' | 'distrusted' | 'upgraded' | 'limits';
export const REPLACED_FOR: readonly ReplacedFor[] = [
  'unresponsive',
  'ended',
  'distrusted',
  'upgraded',
  'limits',
];

export interface PoolEvent {
  readonly kind: 'launched' | 'launch failed' | 'replaced' | 'program removed' | 'driver unpatched';
  readonly reason: string;
}

interface HealthFacts {
  /** Browsers that take pages. */
  readonly usable: number;
  /** Why the last launch failed; null when it did not. */
  readonly launchFailure: ScrapifieError | null;
  /** Why the last browser was given up; null once a browser after it has shown a page. */
  readonly lostFor: string | null;
  /** The program that the browsers were started from, while it is gone. */
  readonly missingProgram: string | null;
}

export function healthOf({ usable, launchFailure, lostFor, missingProgram }: HealthFacts): BrowserHealth {
  const state = usable > 0 ? 'degraded' : 'failing';
  if (launchFailure !== null) return { state, code: launchFailure.code, reason: launchFailure.message };
  if (lostFor !== null) return { state, code: 'BROWSER_LOST', reason: lostFor };
  if (missingProgram !== null && usable > 0) {
    return { state, code: 'NO_BROWSER', reason: `the program ${missingProgram} was removed` };
  }
  return HEALTHY;
}

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
