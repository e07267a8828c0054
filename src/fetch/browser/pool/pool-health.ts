import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';

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

export interface HealthFacts {
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
