import type { ProxyOutcome } from '../outcome.ts';

/** `requests` is the sum of the four that follow it. */
export interface ProxyFigures {
  readonly requests: number;
  readonly successes: number;
  /** Not served, by the fault of the proxy or perhaps so. */
  readonly failures: number;
  readonly bans: number;
  /** Not served by the fault of the target. */
  readonly targetFailures: number;
  readonly bytes: number;
  /** Median of the latest successes; null before the first. */
  readonly p50Ms: number | null;
}

export interface RequestEnd {
  readonly outcome: ProxyOutcome;
  readonly ms: number;
  readonly bytes: number;
}

const KEPT_DURATIONS = 64;

/** Counts how requests ended. */
export class RequestTally {
  private successes = 0;
  private failures = 0;
  private bans = 0;
  private targetFailures = 0;
  private bytes = 0;
  /** The latest, in no order. */
  private readonly durations: number[] = [];

  add({ outcome, ms, bytes }: RequestEnd): void {
    if (outcome === 'nothing') return;
    this.bytes += bytes;
    if (outcome === 'served') {
      this.durations[this.successes % KEPT_DURATIONS] = ms;
      this.successes += 1;
    } else if (outcome === 'banned' || outcome === 'throttled') this.bans += 1;
    else if (outcome === 'target-failed') this.targetFailures += 1;
    else this.failures += 1;
  }

  figures(): ProxyFigures {
    const { successes, failures, bans, targetFailures, bytes } = this;
    const sorted = this.durations.toSorted((a, b) => a - b);
    const p50Ms = sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
    const requests = successes + failures + bans + targetFailures;
    return { requests, successes, failures, bans, targetFailures, bytes, p50Ms };
  }
}
