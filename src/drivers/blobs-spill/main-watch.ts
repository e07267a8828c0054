import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

export interface MainWatchOptions {
  /** The first pause after a failure; each further one is twice as long, up to the longest. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly onAway: (error: ScrapifieError) => void;
  readonly onReturn: () => void;
}

/** How the main store is seen from here: `works`; `away`, to be left alone; or `due`, to be tried again. */
export type MainState = 'works' | 'away' | 'due';

/**
 * Remembers that the main store failed and when to try it again. Calls that began before the last change of mind
 * change nothing: twenty that fail together are one failure.
 */
export class MainWatch {
  readonly #options: MainWatchOptions;
  #error: ScrapifieError | null = null;
  #failures = 0;
  #dueAt = 0;
  /** Counts changes of mind. */
  #turn = 0;

  constructor(options: MainWatchOptions) {
    this.#options = options;
  }

  get state(): MainState {
    if (this.#error === null) return 'works';
    return this.#options.now() < this.#dueAt ? 'away' : 'due';
  }

  /** Why it is away; null while it works. */
  get error(): ScrapifieError | null {
    return this.#error;
  }

  get retryAfterMs(): number {
    return Math.max(0, this.#dueAt - this.#options.now());
  }

  /** Taken before a call, to be given with its result. */
  get turn(): number {
    return this.#turn;
  }

  succeeded(turn: number): void {
    if (turn !== this.#turn || this.#error === null) return;
    this.#turn += 1;
    this.#error = null;
    this.#failures = 0;
    this.#options.onReturn();
  }

  failed(turn: number, error: ScrapifieError): void {
    if (turn !== this.#turn) return;
    const { retryMs, longestRetryMs, now, random, onAway } = this.#options;
    const wasAway = this.#error !== null;
    this.#turn += 1;
    this.#error = error;
    this.#failures += 1;
    const ceilingMs = Math.min(longestRetryMs, retryMs * 2 ** (this.#failures - 1));
    // Half of it by chance, so that many processes do not come back together.
    this.#dueAt = now() + ceilingMs * (0.5 + random() / 2);
    if (!wasAway) onAway(error);
  }
}
