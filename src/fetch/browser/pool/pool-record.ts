import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { describeMismatch } from '../patchright/message-limit.ts';
import { programState } from './find-browser.ts';
import {
  type BrowserHealth,
  healthOf,
  type PoolEvent,
  REPLACED_FOR,
  type ReplacedFor,
} from './pool-health.ts';
import type { PoolSettings } from './pool-options.ts';
import type { PooledBrowser } from './pooled-browser.ts';

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
