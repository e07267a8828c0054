import { guarded } from '../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';

/** The time limit of one attempt. Its clock can be stopped while a caller decides. */
export class Deadline {
  /** Aborts with TASK_TIMEOUT when the time is over. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #what: string;
  readonly #limitMs: number;
  #leftMs: number;
  #since = performance.now();
  #timer: NodeJS.Timeout | null = null;
  #holds = 0;

  constructor(limitMs: number, what: string) {
    this.signal = this.#controller.signal;
    this.#limitMs = limitMs;
    this.#leftMs = limitMs;
    this.#what = what;
    this.#run();
  }

  /** The time that is left, in whole milliseconds. */
  get remainingMs(): number {
    const spent = this.#timer === null ? 0 : performance.now() - this.#since;
    return Math.max(0, Math.ceil(this.#leftMs - spent));
  }

  /** Stops the clock until the work settles. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#holds === 0) this.#stop();
    this.#holds += 1;
    try {
      return await work();
    } finally {
      this.#holds -= 1;
      if (this.#holds === 0) this.#run();
    }
  }

  end(): void {
    this.#stop();
    this.#holds = Number.POSITIVE_INFINITY;
  }

  #run(): void {
    if (this.signal.aborted) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => {
      this.#stop();
      this.#controller.abort(tookTooLong(this.#what, this.#limitMs));
    }, this.#leftMs);
  }

  #stop(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#leftMs = this.remainingMs;
    this.#timer = null;
  }
}

/** Resolves with false when the limit passes first. The work goes on then, and its failure is ignored. */
export async function settlesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, limitMs, false);
  work.then(
    () => resolve(true),
    () => resolve(true),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves with the result of the work, or rejects with the signal's reason when that aborts first. The work goes on. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onAbort = () => reject(signal.reason);
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return promise;
}

/** The error for work that was aborted: the reason itself where that is a ScrapifieError, else CANCELLED. */
export function abortError(reason: unknown, message = 'The request was cancelled'): ScrapifieError {
  return isScrapifieError(reason) ? reason : new ScrapifieError('CANCELLED', message, { cause: reason });
}

/** Follows the caller's signal, but always aborts with a ScrapifieError. `end` stops following it. */
export function followSignal(signal: AbortSignal | undefined): {
  readonly signal: AbortSignal;
  end(): void;
} {
  const controller = new AbortController();
  const onAbort = guarded(() => controller.abort(abortError(signal?.reason)));
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return { signal: controller.signal, end: () => signal?.removeEventListener('abort', onAbort) };
}

/** TASK_TIMEOUT for a subject that exceeded its limit, such as a host. */
export function tookTooLong(what: string, ms: number): ScrapifieError {
  return new ScrapifieError('TASK_TIMEOUT', `${what} took longer than ${ms} ms`);
}
