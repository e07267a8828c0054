import type { HostPolicy } from '../../core/model/policy.ts';
import type { HoldReason } from '../../core/model/reasons.ts';
import type { HostState } from '../../core/ports/host-store.ts';
import { onCall, probeAt } from './breaker.ts';
import { rateFactorAt } from './host-state.ts';
import { nextOpening } from './hours.ts';

export interface GateInput {
  readonly now: number;
  /** Requests to this host under way. */
  readonly inFlight: number;
  /** The crawl delay of robots.txt; null when it has none or is not obeyed. */
  readonly crawlDelayMs: number | null;
  /** The rate that the operator's command sets in place of the policy's. Null: the policy's. */
  readonly rateOverride: number | 'unlimited' | null;
}

/**
 * go: send one request now; `state` has it noted, its token taken and its probe marked.
 * wait: soon. `until` is when to ask again; Infinity means when a request under way has ended.
 * hold: not soon. The host can be given back until then.
 */
export type GateDecision =
  | { readonly kind: 'go'; readonly state: HostState }
  | { readonly kind: 'wait' | 'hold'; readonly until: number; readonly reason: HoldReason };

interface GateCheck {
  readonly rule: HoldReason;
  readonly kind: 'wait' | 'hold';
  /** From when on this check has no objection; a time not after now: it has none. */
  readonly from: (state: HostState, policy: HostPolicy, input: GateInput) => number;
}

/** The rate from which an unlimited host is slowed down once it answers 429: half of this, a quarter … */
export const UNLIMITED_SLOWED_PER_SECOND = 100;
/** Pauses are stretched a little, because a late request followed by a prompt one arrives with less between them. */
const DELAY_MARGIN = 0.05;
const DELAY_MARGIN_MAX_MS = 50;
/** Requests that leave later than admitted by no more than this are covered by the margin of the token bucket. */
const COVERED_JITTER_MS = 40;

/** In this order; the first objection is the answer. Long ones come first, so that a host is not kept for a short one. */
const CHECKS: readonly GateCheck[] = [
  // The operator's word on when, before anything the host did.
  { rule: 'hours.closed', kind: 'hold', from: hoursOpenFrom },
  // The pause that the host asked for itself.
  { rule: 'rate.retry-after', kind: 'hold', from: (state) => state.blockedUntil },
  // A host that fails is left alone …
  { rule: 'breaker.open', kind: 'hold', from: breakerFrom },
  // … and then tried with one request, whose outcome everything else awaits.
  { rule: 'breaker.probe', kind: 'wait', from: probeEndFrom },
  // Before the rates: a place must be free before a token is worth anything.
  { rule: 'concurrency.host', kind: 'wait', from: placeFreeFrom },
  { rule: 'rate.crawl-delay', kind: 'wait', from: crawlDelayFrom },
  { rule: 'rate.min-delay', kind: 'wait', from: minDelayFrom },
  // Last, because a go takes the token.
  { rule: 'rate.bucket', kind: 'wait', from: tokenFrom },
];

/** May a request be sent to this host now? If not: which rule objects, and when to ask again. */
export function gate(state: HostState, policy: HostPolicy, input: GateInput): GateDecision {
  const { now } = input;
  for (const check of CHECKS) {
    const until = check.from(state, policy, input);
    if (until > now) return { kind: check.kind, until, reason: check.rule };
  }
  const rate = effectiveRate(state, policy, input);
  return {
    kind: 'go',
    state: {
      ...state,
      lastRequestAt: now,
      tokens: tokensAfter(tokensNow(state, rate, policy.burst, now)),
      tokensAt: now,
      breaker: onCall(state.breaker),
      requests: state.requests + 1,
    },
  };
}

/**
 * How long after its admission a request may leave without being admitted again: until then the gate has admitted no
 * other request beyond the burst, so that requests that were kept waiting do not leave together. Infinity when the
 * host is not paced.
 */
export function admissionMs(state: HostState, policy: HostPolicy, input: GateInput): number {
  const rate = effectiveRate(state, policy, input);
  const crawlDelayMs = Math.min(input.crawlDelayMs ?? 0, policy.maxCrawlDelayMs);
  const pauseMs = Math.max(rate === null ? 0 : 1_000 / rate, crawlDelayMs, policy.minDelayMs);
  return pauseMs === 0 ? Number.POSITIVE_INFINITY : Math.max(COVERED_JITTER_MS, pauseMs);
}

/** Requests per second in force: the override or the policy's, slowed down after 429 and 503. Null: unlimited. */
function effectiveRate(state: HostState, policy: HostPolicy, input: GateInput): number | null {
  const { rateOverride } = input;
  const rate =
    rateOverride === null ? policy.ratePerSecond : rateOverride === 'unlimited' ? null : rateOverride;
  const factor = rateFactorAt(state, input.now);
  if (factor === 1) return rate;
  return (rate ?? UNLIMITED_SLOWED_PER_SECOND) * factor;
}

function hoursOpenFrom(_state: HostState, policy: HostPolicy, input: GateInput): number {
  return policy.allowedHours === null ? 0 : nextOpening(policy.allowedHours, input.now);
}

function breakerFrom(state: HostState): number {
  return state.breaker.phase === 'open' ? probeAt(state.breaker) : 0;
}

function probeEndFrom(state: HostState, _policy: HostPolicy, input: GateInput): number {
  // When nothing is under way, the probe is lost, and the next request takes its place.
  return state.breaker.isProbing && input.inFlight > 0 ? Number.POSITIVE_INFINITY : 0;
}

function placeFreeFrom(_state: HostState, policy: HostPolicy, input: GateInput): number {
  // A host that asks for pauses does not want two requests at once.
  const places = input.crawlDelayMs !== null && input.crawlDelayMs > 0 ? 1 : policy.concurrency;
  return input.inFlight >= places ? Number.POSITIVE_INFINITY : 0;
}

function crawlDelayFrom(state: HostState, policy: HostPolicy, input: GateInput): number {
  if (input.crawlDelayMs === null) return 0;
  return pauseEnd(state, Math.min(input.crawlDelayMs, policy.maxCrawlDelayMs), input.now);
}

function minDelayFrom(state: HostState, policy: HostPolicy, input: GateInput): number {
  return pauseEnd(state, policy.minDelayMs, input.now);
}

function tokenFrom(state: HostState, policy: HostPolicy, input: GateInput): number {
  const rate = effectiveRate(state, policy, input);
  const tokens = tokensNow(state, rate, policy.burst, input.now);
  return hasToken(tokens) ? 0 : tokenDueAt(tokens, rate, input.now);
}

/** The end of a pause counted from the start of the last request; a host that limits us gets longer ones. */
function pauseEnd(state: HostState, delayMs: number, now: number): number {
  if (delayMs <= 0 || state.lastRequestAt === null) return 0;
  const pauseMs = delayMs / rateFactorAt(state, now);
  const stretchedMs = pauseMs + Math.min(DELAY_MARGIN_MAX_MS, pauseMs * DELAY_MARGIN);
  // A last request in the time to come: the clock was set back, and waiting for it could take hours.
  return state.lastRequestAt - now > stretchedMs ? 0 : state.lastRequestAt + stretchedMs;
}

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
function tokensNow(bucket: TokenBucket, rate: number | null, burst: number, now: number): number {
  // One token, so that taking it leaves none: a limit that is set later begins with a full pause.
  if (rate === null) return 1;
  const tokensPerMs = tokensPerMsOf(rate);
  const grown = (now - bucket.tokensAt) * tokensPerMs;
  // `tokensAt` lies more than one pause in the future: the clock was set back. Waiting for it could take hours.
  if (grown < -1) return 1;
  return Math.min(bucket.tokens + grown, burst + LATENESS_CREDIT_MS * tokensPerMs);
}

function hasToken(tokens: number): boolean {
  return tokens >= 1;
}

function tokensAfter(tokens: number): number {
  return Math.max(0, tokens - 1);
}

/** When a bucket that holds `tokens` now will hold one. */
function tokenDueAt(tokens: number, rate: number | null, now: number): number {
  return rate === null || tokens >= 1 ? now : now + (1 - tokens) / tokensPerMsOf(rate) + ROUNDING_MS;
}

function tokensPerMsOf(rate: number): number {
  return rate / RATE_MARGIN / 1_000;
}
