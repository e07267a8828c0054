/**
 * Leaves a provider alone whose proxies keep failing. Closed: requests pass, and those of the last minute are
 * counted; ten failures, or half of them once there are enough to tell, open it. Open: nothing passes for half a
 * minute. Half-open: three probes pass; when all three have worked it closes, and when one fails it opens again.
 */
export const PROVIDER_BREAKER = {
  windowMs: 60_000,
  buckets: 6,
  failuresToOpen: 10,
  failureRateToOpen: 0.5,
  /** Below this many requests a rate says nothing. */
  minRequests: 6,
  openMs: 30_000,
  probes: 3,
  /** A probe without a report for so long makes room for another. */
  probeMs: 60_000,
} as const;

interface Bucket {
  readonly startedAt: number;
  readonly requests: number;
  readonly failures: number;
}

export interface ProviderBreaker {
  readonly phase: 'closed' | 'open' | 'half-open';
  readonly buckets: readonly Bucket[];
  readonly openedAt: number;
  /** When each probe under way was sent. */
  readonly probes: readonly number[];
  /** Probes that have worked. */
  readonly passed: number;
}

export const CLOSED_PROVIDER: ProviderBreaker = {
  phase: 'closed',
  buckets: [],
  openedAt: Number.NEGATIVE_INFINITY,
  probes: [],
  passed: 0,
};

export function canPass(breaker: ProviderBreaker, now: number): boolean {
  if (breaker.phase === 'closed') return true;
  if (breaker.phase === 'open') return now >= opensAgainAt(breaker);
  return underWay(breaker, now).length + breaker.passed < PROVIDER_BREAKER.probes;
}

/** When an open breaker lets probes pass. */
export function opensAgainAt(breaker: ProviderBreaker): number {
  return breaker.openedAt + PROVIDER_BREAKER.openMs;
}

/** The state once a request that `canPass` let through is sent. */
export function onPass(breaker: ProviderBreaker, now: number): ProviderBreaker {
  if (breaker.phase === 'closed') return breaker;
  const probes = breaker.phase === 'open' ? [now] : [...underWay(breaker, now), now];
  return { ...breaker, phase: 'half-open', probes, passed: breaker.phase === 'open' ? 0 : breaker.passed };
}

/** How a request ended that was sent at `sentAt`; null: without saying anything about the provider. */
export function onEnd(
  breaker: ProviderBreaker,
  isFailure: boolean | null,
  sentAt: number,
  now: number,
): ProviderBreaker {
  if (breaker.phase === 'closed') return isFailure === null ? breaker : count(breaker, isFailure, now);
  // The request was sent before the breaker opened, so its outcome decides nothing.
  if (breaker.phase === 'open' || !breaker.probes.includes(sentAt)) return breaker;
  if (isFailure === true) return { ...CLOSED_PROVIDER, phase: 'open', openedAt: now };
  const passed = breaker.passed + (isFailure === null ? 0 : 1);
  if (passed >= PROVIDER_BREAKER.probes) return CLOSED_PROVIDER;
  const ended = breaker.probes.indexOf(sentAt);
  return { ...breaker, passed, probes: breaker.probes.filter((_, index) => index !== ended) };
}

function count(breaker: ProviderBreaker, isFailure: boolean, now: number): ProviderBreaker {
  const { windowMs, failuresToOpen, failureRateToOpen, minRequests } = PROVIDER_BREAKER;
  const bucketMs = windowMs / PROVIDER_BREAKER.buckets;
  const startedAt = Math.floor(now / bucketMs) * bucketMs;
  const kept = breaker.buckets.filter(
    (bucket) => bucket.startedAt > startedAt - windowMs && bucket.startedAt !== startedAt,
  );
  const current = breaker.buckets.find((bucket) => bucket.startedAt === startedAt);
  const buckets = [
    ...kept,
    {
      startedAt,
      requests: (current?.requests ?? 0) + 1,
      failures: (current?.failures ?? 0) + (isFailure ? 1 : 0),
    },
  ];
  const requests = buckets.reduce((sum, bucket) => sum + bucket.requests, 0);
  const failures = buckets.reduce((sum, bucket) => sum + bucket.failures, 0);
  const isRateBad = requests >= minRequests && failures / requests >= failureRateToOpen;
  if (isFailure && (failures >= failuresToOpen || isRateBad)) {
    return { ...CLOSED_PROVIDER, phase: 'open', openedAt: now };
  }
  return { ...breaker, buckets };
}

function underWay(breaker: ProviderBreaker, now: number): readonly number[] {
  return breaker.probes.filter((sentAt) => now - sentAt < PROVIDER_BREAKER.probeMs);
}
