import type { HostState } from '../../core/ports/store.ts';

/**
 * A token is the right to send one request. Tokens grow with time up to a cap and are taken one by one.
 *
 * The promise: in any second, counted at the server, at most `ceil(rate) + burst - 1` requests arrive. Two
 * allowances make it hold in practice:
 *
 * - Tokens grow 5 % slower than the rate says. Requests that leave on time may arrive bunched (a new connection, a busy
 *   event loop), and 5 % absorbs 50 ms of that.
 * - 10 ms of those are given back as credit for waking up late: timers are a millisecond or more off, and without
 *   it a rate of 500/s would come out as 300/s. 40 ms of jitter remain covered.
 *
 * Up to 5 requests per second, requests are never closer than 1/rate with a burst of 1.
 */
type TokenBucket = Pick<HostState, 'tokens' | 'tokensAt'>;

export const RATE_MARGIN = 1.05;
const LATENESS_CREDIT_MS = 10;
/** A time of this century is exact to a quarter of this; without it a wait could end a hair before its token. */
const ROUNDING_MS = 0.001;

/** Tokens in the bucket now. A rate of null is unlimited. Plain numbers: the gate must not allocate to refuse a request. */
export function tokensNow(bucket: TokenBucket, rate: number | null, burst: number, now: number): number {
  // One token, so that taking it leaves none: a limit that is set later begins with a full pause.
  if (rate === null) return 1;
  const tokensPerMs = tokensPerMsOf(rate);
  const grown = (now - bucket.tokensAt) * tokensPerMs;
  // `tokensAt` lies more than one pause in the future: the clock was set back. Waiting for it could take hours.
  if (grown < -1) return 1;
  return Math.min(bucket.tokens + grown, burst + LATENESS_CREDIT_MS * tokensPerMs);
}

export function hasToken(tokens: number): boolean {
  return tokens >= 1;
}

export function tokensAfter(tokens: number): number {
  return Math.max(0, tokens - 1);
}

/** When a bucket that holds `tokens` now will hold one. */
export function tokenDueAt(tokens: number, rate: number | null, now: number): number {
  return rate === null || tokens >= 1 ? now : now + (1 - tokens) / tokensPerMsOf(rate) + ROUNDING_MS;
}

function tokensPerMsOf(rate: number): number {
  return rate / RATE_MARGIN / 1_000;
}
