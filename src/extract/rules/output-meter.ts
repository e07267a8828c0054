import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { Budget } from './budget.ts';
import { RULE_LIMITS } from './rule-limits.ts';

/** How much the values of one page take, written as JSON. */
export class OutputMeter {
  readonly #budget: Budget;
  #bytes = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Throws EXTRACTION_FAILED when it is too much. The value must not nest too deep to be written. */
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
