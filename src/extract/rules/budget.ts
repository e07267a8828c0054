import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { RULE_LIMITS } from './rule-text.ts';

const STEPS_PER_CLOCK_CHECK = 200_000;

export interface BudgetOptions {
  /** A clock that only goes forward, in milliseconds. */
  readonly now: () => number;
  readonly steps?: number | undefined;
  readonly timeMs?: number | undefined;
}

/**
 * The remaining cost that the rules of one page may have. Counting steps stops the same rules on the same page always at
 * the same position; the clock bounds work that cannot be counted, such as the search of a regular expression.
 */
export class Budget {
  /** The path of the current rule, for error messages. */
  at = 'rules';
  #left: number;
  #stepsToClockCheck = STEPS_PER_CLOCK_CHECK;
  readonly #steps: number;
  readonly #timeMs: number;
  readonly #now: () => number;
  readonly #endsAt: number;

  constructor({ now, steps = RULE_LIMITS.steps, timeMs = RULE_LIMITS.timeMs }: BudgetOptions) {
    this.#now = now;
    this.#steps = steps;
    this.#left = steps;
    this.#timeMs = timeMs;
    this.#endsAt = now() + timeMs;
  }

  /** Throws EXTRACTION_FAILED when no steps are left. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) {
      throw new ScrapifieError(
        'EXTRACTION_FAILED',
        `The rules need more than ${this.#steps} steps on this page; stopped at ${this.at}.`,
        { details: { limit: 'steps', path: this.at } },
      );
    }
    this.#stepsToClockCheck -= steps;
    if (this.#stepsToClockCheck < 0) this.checkClock();
  }

  /** Throws EXTRACTION_FAILED when the time is over. */
  checkClock(): void {
    this.#stepsToClockCheck = STEPS_PER_CLOCK_CHECK;
    if (this.#now() <= this.#endsAt) return;
    throw new ScrapifieError(
      'EXTRACTION_FAILED',
      `The rules took longer than ${this.#timeMs} ms on this page; stopped at ${this.at}.`,
      { details: { limit: 'time', path: this.at } },
    );
  }
}

/** Counts the size of the values of one page, written as JSON. */
export class OutputMeter {
  readonly #budget: Budget;
  #bytes = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Throws EXTRACTION_FAILED beyond the limit. The value must be shallow enough for JSON.stringify. */
  add(value: unknown): void {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    this.#budget.spend(1 + (text.length >>> 4));
    this.#bytes += Buffer.byteLength(text) + 2;
    if (this.#bytes <= RULE_LIMITS.outputBytes) return;
    throw new ScrapifieError(
      'EXTRACTION_FAILED',
      `The rules take more than ${RULE_LIMITS.outputBytes} bytes out of this page; stopped at ${this.#budget.at}.`,
      { details: { limit: 'output', path: this.#budget.at } },
    );
  }
}
