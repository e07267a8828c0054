import { guarded } from '../../../core/errors/guarded.ts';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { abortError, tookTooLong } from '../../deadline.ts';
import type { PageLease } from './pool-health.ts';
import type { ContextPlan, PooledBrowser } from './pooled-browser.ts';

/** A request that has no page yet. */
export interface Waiter {
  readonly plan: ContextPlan;
  readonly grant: (lease: PageLease) => void;
  readonly refuse: (error: ScrapifieError) => void;
  isDone: boolean;
  tries: number;
  /** Where its page is being opened. */
  opening: PooledBrowser | null;
}

/** Requests that wait for a page, in their order. Bounded by the callers; each leaves at its time limit. */
export class PageWaiters {
  readonly #waiting: Waiter[] = [];
  readonly #explainLate: (waiter: Waiter, error: ScrapifieError) => ScrapifieError;

  /** `explainLate` says what a request whose time is over ends with. */
  constructor(explainLate: (waiter: Waiter, error: ScrapifieError) => ScrapifieError) {
    this.#explainLate = explainLate;
  }

  get count(): number {
    return this.#waiting.length;
  }

  /** Waits for a page until the time is over or the signal comes. */
  join(plan: ContextPlan, timeoutMs: number, signal?: AbortSignal): Promise<PageLease> {
    const { promise, resolve, reject } = Promise.withResolvers<PageLease>();
    const waiter: Waiter = { plan, grant: resolve, refuse: reject, isDone: false, tries: 0, opening: null };
    const leave = (error: ScrapifieError) => {
      this.refuse(waiter, error.code === 'TASK_TIMEOUT' ? this.#explainLate(waiter, error) : error);
    };
    const onAbort = guarded(() => leave(abortError(signal?.reason)));
    const timer = setTimeout(() => leave(tookTooLong('Waiting for a page', timeoutMs)), timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    promise.then(over, over);
    this.#waiting.push(waiter);
    return promise;
  }

  /** Removes the requests that `place` could place. */
  placeAll(place: (waiter: Waiter) => boolean): void {
    for (const waiter of [...this.#waiting]) {
      if (place(waiter)) this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
    }
  }

  /** Back to the front of the line. */
  putBack(waiter: Waiter): void {
    this.#waiting.unshift(waiter);
  }

  refuse(waiter: Waiter, error: ScrapifieError): void {
    if (waiter.isDone) return;
    waiter.isDone = true;
    const at = this.#waiting.indexOf(waiter);
    if (at !== -1) this.#waiting.splice(at, 1);
    waiter.refuse(error);
  }

  refuseAll(error: ScrapifieError): void {
    for (const waiter of [...this.#waiting]) this.refuse(waiter, error);
  }
}
