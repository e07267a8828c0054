import type { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Aborts one request. Every step of the request is awaited through it. */
export class RequestAbort {
  readonly #controller = new AbortController();
  /**
   * The steps that are waited for. A race with one promise for all of them would leave something behind with each step,
   * and a body may come in millions of them.
   */
  readonly #waiting = new Set<(error: ScrapifieError) => void>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only the first counts. */
  end(error: ScrapifieError): void {
    if (this.signal.aborted) return;
    this.#controller.abort(error);
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** The step's end, or this one's. The step goes on by itself; what it still throws is of no interest. */
  race<T>(step: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) {
        step.catch(() => {});
        reject(this.signal.reason);
        return;
      }
      this.#waiting.add(reject);
      step.then(
        (value) => {
          this.#waiting.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          this.#waiting.delete(reject);
          reject(error);
        },
      );
    });
  }

  /** The same with a limit, which ends everything. */
  async within<T>(step: Promise<T>, ms: number, error: () => ScrapifieError): Promise<T> {
    const timer = setTimeout(() => this.end(error()), ms);
    try {
      return await this.race(step);
    } finally {
      clearTimeout(timer);
    }
  }
}
