/** What became of one attempt at a page of a host. */
export interface HostAttempt {
  readonly result: 'ok' | 'blocked' | 'failed';
  readonly ms: number;
  readonly bytes: number;
}

export interface HostTotals {
  readonly ok: number;
  readonly blocked: number;
  readonly failed: number;
  readonly ms: number;
  readonly bytes: number;
}

interface Counted {
  totals: HostTotals;
  /** Attempts, of which each counts half as much after HALF_LIFE_MS. */
  score: number;
  scoredAt: number;
}

/** Hosts that are counted, of which the busiest are shown. */
const MOST_COUNTED = 2_000;
const HALF_LIFE_MS = 600_000;
/** The hosts that are shown are chosen anew after this: each choice may begin time series. */
const CHOSEN_MS = 60_000;
const HOST = /^[a-z0-9._:[\]-]{1,100}$/;
const NONE: HostTotals = { ok: 0, blocked: 0, failed: 0, ms: 0, bytes: 0 };

/**
 * The totals of the hosts that are asked most at present. Every host in a label is a time series that is kept for good,
 * so a few are shown and the others only count towards metrics without hosts. A host that is shown again goes on with
 * its former totals, unless it was forgotten meanwhile, which looks like the restart of a counter.
 */
export class TopHosts {
  readonly #shown: number;
  readonly #now: () => number;
  /** The host that was asked last is the last entry. Bounded by MOST_COUNTED. */
  readonly #hosts = new Map<string, Counted>();
  #chosen: readonly string[] = [];
  #chosenAt = Number.NEGATIVE_INFINITY;

  /** `shown`: how many hosts are shown. `now`: monotonic milliseconds. */
  constructor(shown: number, now: () => number) {
    this.#shown = shown;
    this.#now = now;
  }

  add(host: string, { result, ms, bytes }: HostAttempt): void {
    if (this.#shown === 0 || !HOST.test(host)) return;
    const now = this.#now();
    const known = this.#hosts.get(host);
    const { totals, score, scoredAt } = known ?? { totals: NONE, score: 0, scoredAt: now };
    this.#hosts.delete(host);
    this.#hosts.set(host, {
      totals: {
        ...totals,
        [result]: totals[result] + 1,
        ms: totals.ms + ms,
        bytes: totals.bytes + bytes,
      },
      score: faded(score, now - scoredAt) + 1,
      scoredAt: now,
    });
    if (this.#hosts.size <= MOST_COUNTED) return;
    const [oldest] = this.#hosts.keys();
    if (oldest !== undefined) this.#hosts.delete(oldest);
  }

  /** The hosts that are shown, with their totals since they were first counted. */
  shown(): readonly { readonly host: string; readonly totals: HostTotals }[] {
    const now = this.#now();
    // While there is room, a new host is shown at once.
    if (now - this.#chosenAt >= CHOSEN_MS || this.#chosen.length < this.#shown) {
      const scores = [...this.#hosts].map(([host, { score, scoredAt }]) => ({
        host,
        score: faded(score, now - scoredAt),
      }));
      this.#chosen = scores
        .sort((a, b) => b.score - a.score)
        .slice(0, this.#shown)
        .map(({ host }) => host);
      this.#chosenAt = now;
    }
    return this.#chosen.flatMap((host) => {
      const totals = this.#hosts.get(host)?.totals;
      return totals === undefined ? [] : [{ host, totals }];
    });
  }
}

const faded = (score: number, ms: number): number => score * 0.5 ** (ms / HALF_LIFE_MS);
