import type { ScrapifieError } from '../../errors/scrapifie-error.ts';

/** What may end a request before its time: whoever has it waits for nothing without it. */
export class Ending {
  private readonly controller = new AbortController();
  private readonly over = Promise.withResolvers<never>();

  constructor() {
    // Nobody may be waiting when it comes.
    this.over.promise.catch(() => {});
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Only the first counts. */
  end(error: ScrapifieError): void {
    if (this.signal.aborted) return;
    this.over.reject(error);
    this.controller.abort(error);
  }

  /** The step's end, or this one's. The step goes on by itself; what it still throws is of no interest. */
  race<T>(step: Promise<T>): Promise<T> {
    return Promise.race([this.over.promise, step]);
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
