import type { HostHold, HostState } from '../../core/ports/host-store.ts';
import { CLOSED_BREAKER, forgetProbe, recordFailure, recordSuccess } from './breaker.ts';
import { clampRetryAfter } from './retry-after.ts';

/** Halving stops here: a sixteenth of the rate still gets on. */
export const MIN_RATE_FACTOR = 1 / 16;
export const SLOW_DOWN_MS = 60_000;
export const MAX_SLOW_DOWN_MS = 900_000;

/** A host that was never asked: its first request may leave at once, and a burst is earned by idle time. */
export function newHostState(now: number): HostState {
  return {
    lastRequestAt: null,
    tokens: 1,
    tokensAt: now,
    rateFactor: 1,
    rateFactorUntil: 0,
    blockedUntil: 0,
    breaker: CLOSED_BREAKER,
    requests: 0,
    failures: 0,
  };
}

/**
 * The state with which an owner begins. A host that was never asked has one token and no burst, however old its row is.
 * When the last owner did not release the host, it may have
 * sent a request just now, and the answer to its probe is lost: the last request counts as sent now.
 */
export function stateAtAcquisition(state: HostState, isTakenOver: boolean, now: number): HostState {
  if (isTakenOver) return takenOver(state, now);
  return state.lastRequestAt === null ? { ...state, tokens: 1, tokensAt: now } : state;
}

/**
 * The state that an owner leaves: with the reason why the host is held, and the number of slices in a row that unexpected
 * errors have ended, each of which makes the next pause longer.
 */
export function stateAtRelease(
  { faults: earlier = 0, hold: _, ...state }: HostState,
  how: {
    readonly hold: HostHold | null;
    /** Until when the host is left alone because of unexpected errors; 0: none ended the slice. */
    readonly faultHoldUntil: number;
    /** An attempt ended without an unexpected error. */
    readonly hasWorked: boolean;
  },
): HostState {
  if (how.faultHoldUntil > 0) {
    const hold: HostHold = { rule: 'own-fault:INTERNAL', until: Math.ceil(how.faultHoldUntil) };
    return { ...state, faults: earlier + 1, hold };
  }
  const kept = how.hold === null ? state : { ...state, hold: how.hold };
  return how.hasWorked || earlier === 0 ? kept : { ...kept, faults: earlier };
}

/** A request that the gate has admitted is written to its connection now: pauses count from here. */
export function noteSent(state: HostState, now: number): HostState {
  if (state.lastRequestAt !== null && now <= state.lastRequestAt) return state;
  return { ...state, lastRequestAt: now, tokensAt: Math.max(state.tokensAt, now) };
}

/** The host answered as a working host does; a 404 counts, a 5xx does not. */
export function noteSuccess(state: HostState, url: string, now: number): HostState {
  const breaker = recordSuccess(state.breaker, url, now);
  return breaker === state.breaker ? state : { ...state, breaker };
}

/** A 5xx, or no answer at all. */
export function noteFailure(state: HostState, url: string, now: number): HostState {
  return { ...state, breaker: recordFailure(state.breaker, url, now), failures: state.failures + 1 };
}

/** An admitted request ended without an outcome, for example because its job was cancelled. */
export function noteAbandoned(state: HostState): HostState {
  const breaker = forgetProbe(state.breaker);
  return breaker === state.breaker ? state : { ...state, breaker };
}

/**
 * The host answered 429 or 503. Its rate halves for `slowDownMs`, for twice as long with each further halving, and
 * `Retry-After` is obeyed, up to a day. Answers to requests that started before the last halving do not halve
 * again: they say nothing about the new rate.
 */
export function onRateLimited(
  state: HostState,
  retryAfterMs: number | null,
  now: number,
  requestStartedAt: number = now,
  slowDownMs: number = SLOW_DOWN_MS,
): HostState {
  const blockedUntil =
    retryAfterMs === null
      ? state.blockedUntil
      : Math.max(state.blockedUntil, now + clampRetryAfter(retryAfterMs));
  const factor = rateFactorAt(state, now);
  if (factor <= MIN_RATE_FACTOR) {
    return { ...state, blockedUntil, rateFactor: factor, rateFactorUntil: now + MAX_SLOW_DOWN_MS };
  }
  const wasSentBefore = factor < 1 && requestStartedAt < state.rateFactorUntil - pauseFor(factor, slowDownMs);
  if (wasSentBefore) return blockedUntil === state.blockedUntil ? state : { ...state, blockedUntil };
  const rateFactor = factor / 2;
  return { ...state, blockedUntil, rateFactor, rateFactorUntil: now + pauseFor(rateFactor, slowDownMs) };
}

/** The part of the rate that is in force now. */
export function rateFactorAt(state: HostState, now: number): number {
  return now < state.rateFactorUntil ? state.rateFactor : 1;
}

function takenOver(state: HostState, now: number): HostState {
  return { ...state, lastRequestAt: now, tokens: 0, tokensAt: now, breaker: forgetProbe(state.breaker) };
}

/** 1/2 → one minute, 1/4 → two, … so that the factor also tells when it was set. */
function pauseFor(rateFactor: number, slowDownMs: number): number {
  return Math.min(MAX_SLOW_DOWN_MS, slowDownMs / (2 * rateFactor));
}
