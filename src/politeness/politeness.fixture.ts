import { DEFAULT_POLICY } from '../policy/policies.ts';
import type { BreakerState, HostState } from '../ports/store.ts';
import { gate } from './gate.ts';
import { newHostState } from './host-state.ts';
import { hasToken, tokenDueAt, tokensAfter, tokensNow } from './token-bucket.ts';

type TokenBucket = Pick<HostState, 'tokens' | 'tokensAt'>;

/** Takes a token as the gate does: an empty bucket is returned unchanged, with the time of its next token. */
export function takeToken(bucket: TokenBucket, rate: number | null, burst: number, now: number) {
  const tokens = tokensNow(bucket, rate, burst, now);
  if (!hasToken(tokens)) return { granted: false, bucket, nextAt: tokenDueAt(tokens, rate, now) };
  const left = tokensAfter(tokens);
  return { granted: true, bucket: { tokens: left, tokensAt: now }, nextAt: tokenDueAt(left, rate, now) };
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
