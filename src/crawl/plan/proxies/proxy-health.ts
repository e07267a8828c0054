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
  // With checks, an answer that was under way when it failed must not bring it back.
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
