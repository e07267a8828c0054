import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { RULE_LIMITS } from './rule-limits.ts';

const STEPS_PER_LOOK = 200_000;

export interface BudgetOptions {
  /** A clock that only goes forward, in milliseconds. */
  readonly now: () => number;
  readonly steps?: number | undefined;
  readonly timeMs?: number | undefined;
}

/**
 * What the rules of one page may still cost. Counting steps ends the same rules on the same page always at the same
 * place; the clock is for what cannot be counted, such as how far a regular expression looked ahead.
 */
export class Budget {
  /** The rule at work, for the message. */
  at = 'rules';
  #left: number;
  #untilLook = STEPS_PER_LOOK;
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

  /** Throws EXTRACTION_FAILED when nothing is left. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) {
      throw new ScrapifieError(
        'EXTRACTION_FAILED',
        `The rules need more than ${this.#steps} steps on this page; stopped at ${this.at}.`,
        { details: { limit: 'steps', path: this.at } },
      );
    }
    this.#untilLook -= steps;
    if (this.#untilLook < 0) this.look();
  }

  /** Looks at the clock. */
  look(): void {
    this.#untilLook = STEPS_PER_LOOK;
    if (this.#now() <= this.#endsAt) return;
    throw new ScrapifieError(
      'EXTRACTION_FAILED',
      `The rules took longer than ${this.#timeMs} ms on this page; stopped at ${this.at}.`,
      { details: { limit: 'time', path: this.at } },
    );
  }
}
