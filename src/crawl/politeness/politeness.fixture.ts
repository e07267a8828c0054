import type { BreakerState, HostState } from '../../core/ports/host-store.ts';
import { DEFAULT_POLICY } from '../policy/policies.ts';
import { gate } from './gate.ts';
import { newHostState } from './host-state.ts';

type TokenBucket = Pick<HostState, 'tokens' | 'tokensAt'>;

/** Asks the gate for a request to a host that only its rate limits: an empty bucket is returned unchanged, with the time of its next token. */
export function takeToken(bucket: TokenBucket, rate: number | null, burst: number, now: number) {
  const policy = {
    ...DEFAULT_POLICY,
    ratePerSecond: rate,
    burst,
    minDelayMs: 0,
    concurrency: Number.POSITIVE_INFINITY,
  };
  const input = { now, inFlight: 0, crawlDelayMs: null, rateOverride: null };
  const decision = gate({ ...newHostState(now), ...bucket }, policy, input);
  if (decision.kind !== 'go') return { granted: false, bucket, nextAt: decision.until };
  const next = gate(decision.state, policy, input);
  const { tokens, tokensAt } = decision.state;
  return { granted: true, bucket: { tokens, tokensAt }, nextAt: next.kind === 'go' ? now : next.until };
}

/** Whether the gate admits a request past this breaker; a probe counts as under way. */
export function passesGate(breaker: BreakerState, now: number): boolean {
  const input = {
    now,
    inFlight: breaker.isProbing ? 1 : 0,
    crawlDelayMs: null,
    rateOverride: 'unlimited' as const,
  };
  return gate({ ...newHostState(now), breaker }, DEFAULT_POLICY, input).kind === 'go';
}
