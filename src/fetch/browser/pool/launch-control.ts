import { isScrapifieError, type ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { browserUnavailable } from '../../render-errors.ts';
import { BrowserStarter, type PatchedBrowser } from './browser-launch.ts';
import type { PoolSettings } from './pool-options.ts';

export interface LaunchControlOptions {
  readonly settings: PoolSettings;
  readonly onLaunched: (launched: PatchedBrowser) => Promise<void> | undefined;
  /** After each launch, however it ended, and when one may be made again. */
  readonly onChange: () => void;
}

/** Launches browsers for a pool, one failure after another with longer pauses, and remembers why it fails. */
export class LaunchControl {
  underWay = 0;
  launched = 0;
  failed = 0;
  /** Why the last launch failed; null once one succeeded. */
  failure: ScrapifieError | null = null;
  readonly #options: LaunchControlOptions;
  readonly #starter: BrowserStarter;
  #pausedUntil = 0;
  /** Since when launches fail for want of a browser. */
  #missingSince: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** So that closing leaves none behind. */
  readonly #starting = new Set<Promise<void>>();

  constructor(options: LaunchControlOptions) {
    this.#options = options;
    this.#starter = new BrowserStarter(options.settings);
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /**
   * What requests end with while no browser can be launched; null while they should wait. A program that is just being
   * replaced is gone for a moment, so the first seconds without one are waited out.
   */
  get refusal(): ScrapifieError | null {
    const { failure } = this;
    if (failure === null) return null;
    if (failure.code !== 'NO_BROWSER') {
      return browserUnavailable(
        failure.message,
        undefined,
        Math.max(0, this.#pausedUntil - performance.now()),
      );
    }
    const missingMs = performance.now() - (this.#missingSince ?? 0);
    return missingMs < this.#options.settings.missingGraceMs ? null : failure;
  }

  launch(): void {
    this.underWay += 1;
    const { onLaunched, onChange } = this.#options;
    const starting: Promise<void> = this.#starter
      .start()
      .then(
        (launched) => {
          this.launched += 1;
          this.failure = null;
          this.#missingSince = null;
          return onLaunched(launched);
        },
        (error: unknown) => this.#fail(error),
      )
      .finally(() => {
        this.underWay -= 1;
        this.#starting.delete(starting);
        onChange();
      });
    this.#starting.add(starting);
  }

  /** A browser has opened a page. */
  noteWorking(): void {
    this.#starter.noteWorking();
  }

  /** A launched browser has ended before it opened a page: that launch failed after all. */
  noteEndedUnused(): void {
    this.#fail(this.#starter.endedUnused());
  }

  /** Resolves when no launch is under way, and makes no more wake-ups. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all(this.#starting);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #fail(error: unknown): void {
    this.failed += 1;
    const known = isScrapifieError(error) ? error : browserUnavailable('it does not start', error);
    this.failure = known;
    this.#missingSince = known.code === 'NO_BROWSER' ? (this.#missingSince ?? performance.now()) : null;
    const pauseMs = known.retryAfterMs ?? 0;
    this.#pausedUntil = performance.now() + pauseMs;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#options.onChange, Math.ceil(pauseMs) + 1);
    this.#timer.unref();
  }
}
