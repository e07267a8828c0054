import { settlesWithin } from '../../deadline.ts';

export interface WatchLimits {
  /** A page that is not open, or not shown, after this makes the watch probe the browser. */
  readonly probeAfterMs: number;
  /** While pages are in use for long: the least time between two probes. */
  readonly probeEveryMs: number;
  /** A browser that does not answer a probe within this is dead. */
  readonly probeTimeoutMs: number;
}

/** When operations began that are still under way, by the clock of the watch. */
export interface WorkUnderWay {
  readonly openings: Iterable<number>;
  readonly uses: Iterable<number>;
}

/**
 * When the browser has to be probed; null while nothing is under way. A page that does not open is reason for one
 * probe, since it either is the browser's fault or not. A page in use may be slow for good reasons, so the browser
 * is probed now and then for as long as it lasts. `provenAt` is when the last probe began that was answered.
 */
export function nextProbeAt(work: WorkUnderWay, provenAt: number, limits: WatchLimits): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const since of work.openings) {
    if (provenAt < since) next = Math.min(next, since + limits.probeAfterMs);
  }
  for (const since of work.uses) {
    next = Math.min(next, Math.max(since + limits.probeAfterMs, provenAt + limits.probeEveryMs));
  }
  return Number.isFinite(next) ? next : null;
}

export interface BrowserWatchOptions {
  /** Uses the whole browser once: a new context, a new process, a request, a script. Throws when that fails. */
  readonly probe: () => Promise<void>;
  /** Called at most once, when the browser does not answer. */
  readonly onDead: (why: string) => void;
  readonly limits: WatchLimits;
  readonly now?: (() => number) | undefined;
}

/** A probe that fails at once is made again: one accident does not make a browser dead. */
const TRIES = 2;

/**
 * Finds out whether a browser still works. A slow site never makes it dead: time-outs lead to a probe, and only a
 * probe that fails does.
 */
export class BrowserWatch {
  readonly #options: BrowserWatchOptions;
  readonly #now: () => number;
  readonly #openings = new Map<object, number>();
  readonly #uses = new Map<object, number>();
  #provenAt = Number.NEGATIVE_INFINITY;
  #probing: Promise<boolean> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isDead = false;
  #isEnded = false;

  constructor(options: BrowserWatchOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Until the returned function is called, a page is being opened, or in use. */
  begin(what: 'opening' | 'use'): () => void {
    const operations = what === 'opening' ? this.#openings : this.#uses;
    const key = {};
    operations.set(key, this.#now());
    this.#arm();
    return () => operations.delete(key);
  }

  /** Whether the browser works, shown by a probe that began after `since`; one is made if there was none. */
  async isAlive(since: number): Promise<boolean> {
    if (this.#isDead) return false;
    if (this.#provenAt >= since || this.#isEnded) return true;
    const earlier = this.#probing;
    if (earlier !== null && !(await earlier)) return false;
    if (this.#provenAt >= since) return true;
    return this.#probe();
  }

  end(): void {
    this.#isEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #arm(): void {
    if (this.#timer !== null || this.#isEnded) return;
    const work = { openings: this.#openings.values(), uses: this.#uses.values() };
    const dueAt = nextProbeAt(work, this.#provenAt, this.#options.limits);
    if (dueAt === null) return;
    // What begins meanwhile may be due earlier, and does not set the timer anew.
    const waitMs = Math.min(this.#options.limits.probeAfterMs, Math.max(0, dueAt - this.#now()));
    this.#timer = setTimeout(() => this.#tick(), Math.ceil(waitMs));
    this.#timer.unref();
  }

  #tick(): void {
    this.#timer = null;
    const work = { openings: this.#openings.values(), uses: this.#uses.values() };
    const dueAt = nextProbeAt(work, this.#provenAt, this.#options.limits);
    if (dueAt === null || this.#isEnded) return;
    if (dueAt > this.#now()) this.#arm();
    else this.#probe().then(() => this.#arm());
  }

  #probe(): Promise<boolean> {
    this.#probing ??= this.#tryProbe().finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }

  async #tryProbe(): Promise<boolean> {
    const { probe, onDead, limits } = this.#options;
    let why = '';
    for (let count = 0; count < TRIES; count += 1) {
      const startedAt = this.#now();
      const probing = probe().then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      if (!(await settlesWithin(probing, limits.probeTimeoutMs))) {
        why = `it did not show a test page within ${limits.probeTimeoutMs} ms`;
        break;
      }
      const failure = await probing;
      if (failure === null) {
        this.#provenAt = startedAt;
        return true;
      }
      why = `it cannot show a test page (${failure.split('\n', 1)[0]?.slice(0, 200)})`;
      if (this.#isEnded) return true;
    }
    // A browser that is being closed fails its probes and is no case for the watch.
    if (this.#isEnded) return true;
    this.#isDead = true;
    this.end();
    onDead(why);
    return false;
  }
}
