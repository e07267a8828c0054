const OTHER = 'other';

/**
 * Lets a bounded number of well-formed label values through and turns the rest into `other`. Every value of a
 * label is a time series that is kept for good: a URL, a host or a secret must never become one.
 */
export class LabelGuard {
  readonly #pattern: RegExp;
  readonly #maxValues: number;
  readonly #seen = new Set<string>();

  constructor(pattern: RegExp, maxValues: number) {
    this.#pattern = pattern;
    this.#maxValues = maxValues;
  }

  admit(value: string): string {
    if (this.#seen.has(value)) return value;
    if (this.#seen.size >= this.#maxValues || !this.#pattern.test(value)) return OTHER;
    this.#seen.add(value);
    return value;
  }
}
