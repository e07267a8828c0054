import { tookTooLong } from './render-errors.ts';

/** What is left of the time for one attempt. The clock can be held while somebody else is asked. */
export class Deadline {
  /** Aborts with TASK_TIMEOUT. */
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly what: string;
  private readonly limitMs: number;
  private leftMs: number;
  private since = performance.now();
  private timer: NodeJS.Timeout | null = null;
  private holds = 0;

  constructor(limitMs: number, what: string) {
    this.signal = this.controller.signal;
    this.limitMs = limitMs;
    this.leftMs = limitMs;
    this.what = what;
    this.run();
  }

  /** In whole milliseconds. */
  get remainingMs(): number {
    const spent = this.timer === null ? 0 : performance.now() - this.since;
    return Math.max(0, Math.ceil(this.leftMs - spent));
  }

  /** Stops the clock while `work` goes on. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.holds === 0) this.stop();
    this.holds += 1;
    try {
      return await work();
    } finally {
      this.holds -= 1;
      if (this.holds === 0) this.run();
    }
  }

  end(): void {
    this.stop();
    this.holds = Number.POSITIVE_INFINITY;
  }

  private run(): void {
    if (this.signal.aborted) return;
    this.since = performance.now();
    this.timer = setTimeout(() => {
      this.stop();
      this.controller.abort(tookTooLong(this.what, this.limitMs));
    }, this.leftMs);
  }

  private stop(): void {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.leftMs = this.remainingMs;
    this.timer = null;
  }
}

/** Whether `work` settled in time. It goes on otherwise, and nobody hears of its failure. */
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

/** The result of `work`, unless the signal comes first: then its reason is thrown and the work is left to itself. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const onAbort = () => reject(signal.reason);
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return promise;
}
