import type { BreakerState } from '../ports/store.ts';

/**
 * Leaves a host alone that keeps failing. Closed: requests pass and the last ten outcomes are remembered; five
 * failures among them open it. Open: nothing passes for two minutes. Half-open: one probe passes; its success
 * closes the breaker, its failure opens it again.
 *
 * A failure is no usable answer: a 5xx or a fault of the network. A 404 is an answer.
 */
export const BREAKER = { window: 10, failuresToOpen: 5, openMs: 120_000 } as const;

export const CLOSED_BREAKER: BreakerState = { phase: 'closed', window: [], openedAt: 0, isProbing: false };

/** When an open breaker lets a probe pass. */
export function probeAt(breaker: BreakerState): number {
  return breaker.openedAt + BREAKER.openMs;
}

/** The state once the gate has admitted a request: unless the breaker is closed, that request is the probe. */
export function onCall(breaker: BreakerState): BreakerState {
  return breaker.phase === 'closed' ? breaker : { ...breaker, phase: 'half-open', isProbing: true };
}

export function recordSuccess(breaker: BreakerState): BreakerState {
  if (breaker.phase === 'half-open') return CLOSED_BREAKER;
  // The request was sent before the breaker opened, so its outcome decides nothing.
  if (breaker.phase === 'open') return breaker;
  const isUnchanged = breaker.window.length === BREAKER.window && !breaker.window.includes(true);
  return isUnchanged ? breaker : { ...breaker, window: slide(breaker.window, false) };
}

export function recordFailure(breaker: BreakerState, now: number): BreakerState {
  if (breaker.phase === 'open') return breaker;
  const window = slide(breaker.window, true);
  const isOpening = breaker.phase === 'half-open' || countFailures(window) >= BREAKER.failuresToOpen;
  return isOpening
    ? { phase: 'open', window, openedAt: now, isProbing: false }
    : { phase: 'closed', window, openedAt: 0, isProbing: false };
}

/** The probe ended without an outcome (cancelled, or its owner died): the next request is a probe again. */
export function forgetProbe(breaker: BreakerState): BreakerState {
  return breaker.isProbing ? { ...breaker, isProbing: false } : breaker;
}

function slide(window: readonly boolean[], isFailure: boolean): readonly boolean[] {
  const kept = window.length < BREAKER.window ? window : window.slice(window.length - BREAKER.window + 1);
  return [...kept, isFailure];
}

function countFailures(window: readonly boolean[]): number {
  let failures = 0;
  for (const isFailure of window) if (isFailure) failures++;
  return failures;
}
