import type { ProxyOutcome } from '../outcome.ts';

/** The health of one proxy, regardless of hosts. */
export interface ProxyHealth {
  /** Set while it is not used. */
  readonly failedAt: number | null;
  /** Failures without a sign of life between them: the pause before the next try grows with it. */
  readonly failedTimes: number;
  /** When it is tried again, by a check where there are checks. */
  readonly retryAt: number;
  readonly restoredAt: number;
  /** When it last proved to work. */
  readonly heardAt: number;
  /** The host of the last failure that may be the host's own; null after a sign of life. */
  readonly doubtedAt: string | null;
}

export const NEW_PROXY: ProxyHealth = {
  failedAt: null,
  failedTimes: 0,
  retryAt: 0,
  restoredAt: Number.NEGATIVE_INFINITY,
  heardAt: Number.NEGATIVE_INFINITY,
  doubtedAt: null,
};

export interface HealthRules {
  /** Pause before a failed proxy is tried again, doubled each time it fails again. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** A failed proxy comes back only by a check; else it is simply tried once its pause is over. */
  readonly hasChecks: boolean;
}

export function isHealthy(health: ProxyHealth, rules: HealthRules, now: number): boolean {
  return health.failedAt === null || (!rules.hasChecks && now >= health.retryAt);
}

/**
 * The state after a request or check through the proxy that began at `sentAt`. A failure that may be the host's is
 * taken for the proxy's when the one before it happened at another host and nothing has worked between them.
 */
export function afterOutcome(
  health: ProxyHealth,
  outcome: ProxyOutcome,
  at: { readonly host: string; readonly sentAt: number; readonly now: number },
  rules: HealthRules,
  random: () => number,
): ProxyHealth {
  if (outcome === 'nothing') return health;
  if (outcome === 'unclear') {
    const isConfirmed =
      health.failedAt !== null || (health.doubtedAt !== null && health.doubtedAt !== at.host);
    return isConfirmed ? failed(health, at, rules, random) : { ...health, doubtedAt: at.host };
  }
  if (outcome === 'proxy-failed') return failed(health, at, rules, random);
  const alive = { ...health, heardAt: at.now, doubtedAt: null };
  // While proxies are checked, an answer that was under way when it failed must not bring it back.
  const isTrial = !rules.hasChecks && at.sentAt >= health.retryAt;
  return health.failedAt !== null && isTrial ? restored(alive, at.now) : alive;
}

export function restored(health: ProxyHealth, now: number): ProxyHealth {
  return { ...health, failedAt: null, failedTimes: 0, restoredAt: now, heardAt: now, doubtedAt: null };
}

function failed(
  health: ProxyHealth,
  { sentAt, now }: { readonly sentAt: number; readonly now: number },
  rules: HealthRules,
  random: () => number,
): ProxyHealth {
  // Old news: it has proved to work since that was sent, or has been tried and found failing already.
  if (sentAt < health.restoredAt) return health;
  if (health.failedAt !== null && sentAt < health.retryAt) return health;
  const pauseMs = Math.min(rules.maxRetryMs, rules.retryMs * 2 ** Math.min(health.failedTimes, 20));
  // Proxies that failed together are not all tried at the same moment.
  const retryAt = now + pauseMs * (0.75 + 0.25 * random());
  return { ...health, failedAt: now, failedTimes: health.failedTimes + 1, retryAt, doubtedAt: null };
}

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
