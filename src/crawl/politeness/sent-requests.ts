import type { HostPolicy } from '../../core/model/policy.ts';
import type { SentRequests } from '../../core/ports/host-store.ts';

export const BUCKET_MS = 15_000;
/** An hour. Written to the store these take 960 bytes at most, as long as a host gets less than 3,000 requests in a second. */
export const BUCKETS = 240;

const RADIX = 36;
const bucketOf = (at: number): number => Math.floor(at / BUCKET_MS);

export interface SentPoint {
  /** When the bucket begins. */
  readonly at: number;
  readonly requests: number;
}

/** Counts the requests that an owner sends to its host, after those that earlier owners have counted. */
export interface SentCounter {
  /** A request is sent now. */
  add(now: number): void;
  /** What was counted within the last hour, for the state of the host; undefined when nothing was. */
  written(now: number): SentRequests | undefined;
}

/** Costs nothing until a request is sent, and then an addition for each. */
export function createSentCounter(earlier: SentRequests | undefined): SentCounter {
  let counts: Map<number, number> | null = null;
  return {
    add(now) {
      counts ??= countsOf(earlier);
      const bucket = bucketOf(now);
      const before = counts.get(bucket);
      counts.set(bucket, (before ?? 0) + 1);
      if (before === undefined) forgetOthers(counts, bucket);
    },
    written(now) {
      if (counts === null) return earlier;
      forgetOthers(counts, bucketOf(now));
      return written(counts);
    },
  };
}

/** The buckets of the last hour in which requests were sent, oldest first. */
export function sentPoints(sent: SentRequests | undefined, now: number): readonly SentPoint[] {
  const counts = countsOf(sent);
  forgetOthers(counts, bucketOf(now));
  return [...counts].map(([bucket, requests]) => ({ at: bucket * BUCKET_MS, requests }));
}

/**
 * The rate that the policy allows, and the most requests that can be sent within one bucket by it; null: unlimited. A
 * bucket may begin with a burst, and a slow host may have a request at both ends of one, as for a second (gate.ts).
 */
export function sentLimit({ ratePerSecond, minDelayMs, burst }: HostPolicy): {
  readonly perSecond: number | null;
  readonly perBucket: number | null;
} {
  const byDelay = minDelayMs > 0 ? 1_000 / minDelayMs : null;
  const perSecond = Math.min(ratePerSecond ?? Number.POSITIVE_INFINITY, byDelay ?? Number.POSITIVE_INFINITY);
  if (perSecond === Number.POSITIVE_INFINITY) return { perSecond: null, perBucket: null };
  // A pause between any two requests leaves no burst.
  const most = (rate: number, together: number) => Math.ceil((rate * BUCKET_MS) / 1_000) + together - 1;
  const perBucket = Math.min(
    ratePerSecond === null ? Number.POSITIVE_INFINITY : most(ratePerSecond, burst),
    byDelay === null ? Number.POSITIVE_INFINITY : most(byDelay, 1),
  );
  return { perSecond, perBucket };
}

function countsOf(sent: SentRequests | undefined): Map<number, number> {
  const counts = new Map<number, number>();
  if (sent === undefined) return counts;
  sent.counts.split(',').forEach((count, index) => {
    if (count !== '') counts.set(sent.first + index, Number.parseInt(count, RADIX));
  });
  return counts;
}

/** Older ones, and those of the time to come, which a clock that was set back leaves. */
function forgetOthers(counts: Map<number, number>, current: number): void {
  for (const bucket of counts.keys()) {
    if (bucket <= current - BUCKETS || bucket > current) counts.delete(bucket);
  }
}

function written(counts: ReadonlyMap<number, number>): SentRequests | undefined {
  if (counts.size === 0) return undefined;
  const buckets = [...counts.keys()];
  const first = Math.min(...buckets);
  const length = Math.max(...buckets) - first + 1;
  const texts = Array.from({ length }, (_, index) => counts.get(first + index)?.toString(RADIX) ?? '');
  return { first, counts: texts.join(',') };
}
