import type { Page } from 'patchright-core';
import type { ErrorCode } from '../../../core/errors/registry.ts';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ProxyLogin } from '../../guard-proxy/guard-proxy.ts';
import { describeMismatch } from '../patchright/patchright-patches.ts';
import { programState } from './find-browser.ts';
import type { PoolSettings } from './pool-options.ts';
import type { PooledBrowser } from './pooled-browser.ts';

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

function healthOf({ usable, launchFailure, lostFor, missingProgram }: HealthFacts): BrowserHealth {
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

/** Counts, logs and health of the browsers of a pool. */
export class PoolRecord {
  crashed = 0;
  recycled = 0;
  readonly replaced = Object.fromEntries(REPLACED_FOR.map((why) => [why, 0])) as Record<ReplacedFor, number>;
  /** Why the last browser was given up, until another one has shown a page. */
  lostFor: string | null = null;
  #missingProgram: string | null = null;
  /** Bounded by the combinations of the internals that patches need. */
  readonly #reportedMissing = new Set<string>();
  #toldFailure: string | null = null;
  readonly #settings: PoolSettings;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  health(browsers: Iterable<PooledBrowser>, launchFailure: ScrapifieError | null): BrowserHealth {
    let usable = 0;
    for (const browser of browsers) if (!browser.isClosing) usable += 1;
    const { lostFor } = this;
    const missingProgram = this.#missingProgram;
    // A replacement that has not shown a page yet is none.
    const proven = lostFor === null ? usable : Math.max(0, usable - 1);
    return healthOf({ usable: proven, launchFailure, lostFor, missingProgram });
  }

  noteLaunched(version: string, path: string | null): void {
    this.#missingProgram = null;
    this.#tell('launched', version);
    this.#settings.onLaunched?.(version, path);
  }

  noteLaunchEnded(failure: ScrapifieError | null): void {
    const message = failure?.message ?? null;
    // The pool tries to launch again and again; the log has one line for each reason.
    if (message !== null && message !== this.#toldFailure) this.#tell('launch failed', message);
    this.#toldFailure = message;
    this.#settings.onHealth?.();
  }

  /** The browser does not answer any more. */
  noteDead(why: string): void {
    this.lostFor = why;
    this.noteReplaced('unresponsive', why);
    this.#settings.onHealth?.();
  }

  /** A browser has shown a page. */
  noteProven(): void {
    if (this.lostFor === null) return;
    this.lostFor = null;
    this.#settings.onHealth?.();
  }

  /** Logs each list of missing internals once. */
  noteUnpatched(missing: readonly string[]): void {
    const names = missing.join(', ');
    if (names === '' || this.#reportedMissing.has(names)) return;
    this.#reportedMissing.add(names);
    this.#tell('driver unpatched', describeMismatch(missing));
  }

  noteReplaced(why: ReplacedFor, reason: string): void {
    this.replaced[why] += 1;
    this.#tell('replaced', `${why}: ${reason}`);
  }

  /**
   * Looks now and then whether the program of a browser was removed, which is reported, or replaced: the browser is
   * then retired once the new files have come to rest. `onChanged` is called when the pool has something to do.
   */
  lookAtProgram(browser: PooledBrowser, now: number, onChanged: () => void): void {
    const { program } = browser;
    const everyMs = this.#settings.lookAtProgramEveryMs;
    if (program === null || now - browser.programLookedAt < everyMs) return;
    browser.programLookedAt = now;
    programState(program).then((found) => {
      if (browser.isClosing) return;
      this.#noteMissing(found.kind === 'missing' ? found.path : null);
      if (found.kind !== 'changed') return;
      const isAtRest = browser.changedProgram === found.signature;
      browser.changedProgram = found.signature;
      if (isAtRest) {
        browser.retire('upgraded');
        onChanged();
      } else setTimeout(onChanged, everyMs + 1).unref();
    });
  }

  #noteMissing(path: string | null): void {
    if (path === this.#missingProgram) return;
    this.#missingProgram = path;
    if (path !== null) this.#tell('program removed', path);
    this.#settings.onHealth?.();
  }

  #tell(kind: PoolEvent['kind'], reason: string): void {
    this.#settings.onEvent?.({ kind, reason });
  }
}
