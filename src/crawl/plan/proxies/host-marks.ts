import { BoundedMap } from '../../../lib/bounded-map.ts';
import { countryName } from './proxy-config.ts';

/**
 * How bad a host's treatment of a proxy weighs. A block alone reaches the limit and keeps the proxy from the host
 * until it has decayed; what may have another cause reaches it when it happens twice in a short time.
 */
export const BAN_SCORE = {
  ban: 2,
  suspicion: 0.75,
  /** From here on the proxy is not used for the host. */
  limit: 1,
  /** However often it happens, forgiveness takes no longer than three half-lives. */
  max: 8,
  halfLifeMs: 600_000,
} as const;

interface Mark {
  /** When the proxy was last chosen for the host. */
  readonly usedAt: number;
  readonly score: number;
  readonly scoredAt: number;
}

/** The marks of each pair of proxy and host; pairs that were marked longest ago are evicted. */
export class HostMarks {
  private readonly marks: BoundedMap<string, Mark>;

  constructor(maxPairs: number) {
    this.marks = new BoundedMap(maxPairs);
  }

  get size(): number {
    return this.marks.size;
  }

  used(proxyId: string, host: string, now: number): void {
    const { score = 0, scoredAt = now } = this.marks.peek(keyOf(proxyId, host)) ?? {};
    this.marks.set(keyOf(proxyId, host), { usedAt: now, score, scoredAt });
  }

  blamed(proxyId: string, host: string, weight: number, now: number): void {
    const key = keyOf(proxyId, host);
    const score = Math.min(BAN_SCORE.max, this.scoreOf(proxyId, host, now) + weight);
    this.marks.set(key, {
      usedAt: this.marks.peek(key)?.usedAt ?? Number.NEGATIVE_INFINITY,
      score,
      scoredAt: now,
    });
  }

  /** The host serves this proxy: half of its ban score is forgiven. */
  served(proxyId: string, host: string, now: number): void {
    const mark = this.marks.peek(keyOf(proxyId, host));
    if (mark === undefined || mark.score === 0) return;
    const score = this.scoreOf(proxyId, host, now) / 2;
    this.marks.set(keyOf(proxyId, host), { ...mark, score, scoredAt: now });
  }

  scoreOf(proxyId: string, host: string, now: number): number {
    const mark = this.marks.peek(keyOf(proxyId, host));
    if (mark === undefined) return 0;
    return mark.score * 2 ** (-Math.max(0, now - mark.scoredAt) / BAN_SCORE.halfLifeMs);
  }

  /** When the host's ban of this proxy has decayed; in the past when there is none. */
  bannedUntil(proxyId: string, host: string): number {
    const mark = this.marks.peek(keyOf(proxyId, host));
    if (mark === undefined || mark.score < BAN_SCORE.limit) return Number.NEGATIVE_INFINITY;
    return mark.scoredAt + BAN_SCORE.halfLifeMs * Math.log2(mark.score / BAN_SCORE.limit);
  }

  /** When the proxy may be used for this host again after its last use. */
  restsUntil(proxyId: string, host: string, cooldownMs: number): number {
    return (this.marks.peek(keyOf(proxyId, host))?.usedAt ?? Number.NEGATIVE_INFINITY) + cooldownMs;
  }
}

function keyOf(proxyId: string, host: string): string {
  return `${proxyId} ${host}`;
}

/** Why the members of one provider were passed over: how many for which reason. */
export interface Obstacles {
  readonly provider: string;
  /** When a provider that is left alone may be probed; null when it is not. */
  readonly leftAloneUntil: number | null;
  readonly total: number;
  readonly elsewhere: number;
  readonly failed: number;
  readonly banned: number;
  readonly resting: number;
}

/** In words, for the trace; empty when nothing stood in the way. */
export function describeObstacles(
  { provider, leftAloneUntil, total, elsewhere, failed, banned, resting }: Obstacles,
  host: string,
  country: string | null,
  now: number,
): string {
  if (leftAloneUntil !== null) {
    const seconds = Math.max(1, Math.ceil((leftAloneUntil - now) / 1_000));
    return `${provider} kept failing and is left alone for ${seconds} s`;
  }
  const counted = [
    [elsewhere, country === null ? '' : `not in ${countryName(country)}`],
    [failed, 'failed'],
    [banned, `banned by ${host}`],
    [resting, `resting from ${host}`],
  ] as const;
  const parts = counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return parts.length === 0 ? '' : `${provider}: of ${total}, ${parts.join(', ')}`;
}
