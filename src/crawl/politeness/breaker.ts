import { hash } from 'node:crypto';
import type { BreakerState } from '../../core/ports/host-store.ts';

/**
 * Leaves a host alone that keeps failing. Closed: requests pass, and the last outcome of each of the last ten URLs is
 * remembered; five failures among them open it. Open: nothing passes for two minutes. Half-open: one probe passes; its
 * success closes the breaker, its failure opens it again.
 *
 * A URL that fails again and again counts once, so that a few broken pages do not stop a host that answers on others.
 * Where no other URL has answered for two minutes, five failures in a row open the breaker, even those of one URL.
 *
 * A failure is no usable answer: a 5xx or a fault of the network. A 404 is an answer.
 */
export const BREAKER = { window: 10, failuresToOpen: 5, openMs: 120_000 } as const;

export const CLOSED_BREAKER: BreakerState = { phase: 'closed', window: [], openedAt: 0, isProbing: false };

/** The time of the last answer is kept no more precisely than this while all is well. */
const ANSWERED_STEP_MS = 1_000;
const UNKNOWN_URL = '';

/** When an open breaker lets a probe pass. */
export function probeAt(breaker: BreakerState): number {
  return breaker.openedAt + BREAKER.openMs;
}

/** The state once the gate has admitted a request: unless the breaker is closed, that request is the probe. */
export function onCall(breaker: BreakerState): BreakerState {
  return breaker.phase === 'closed' ? breaker : { ...breaker, phase: 'half-open', isProbing: true };
}

export function recordSuccess(breaker: BreakerState, url: string, now: number): BreakerState {
  if (breaker.phase === 'half-open') return answered(CLOSED_BREAKER, url, now);
  // The request was sent before the breaker opened, so its outcome decides nothing.
  if (breaker.phase === 'open') return breaker;
  const isCalm = breaker.window.length === BREAKER.window && !breaker.window.includes(true);
  const isUnchanged = isCalm && Math.abs(now - (breaker.answeredAt ?? 0)) < ANSWERED_STEP_MS;
  return isUnchanged ? breaker : answered(breaker, url, now);
}

export function recordFailure(breaker: BreakerState, url: string, now: number): BreakerState {
  if (breaker.phase === 'open') return breaker;
  const { answeredAt = 0 } = breaker;
  const seen = slide(breaker, url, true);
  const failuresInARow = (breaker.failuresInARow ?? 0) + 1;
  // The window has no older outcome of this URL any more: a success in it is that of another URL.
  const isAnsweringElsewhere = seen.window.includes(false) && now - answeredAt < BREAKER.openMs;
  const isOpening =
    breaker.phase === 'half-open' ||
    countFailures(seen.window) >= BREAKER.failuresToOpen ||
    (failuresInARow >= BREAKER.failuresToOpen && !isAnsweringElsewhere);
  const after = { ...seen, isProbing: false, failuresInARow, answeredAt };
  return isOpening ? { ...after, phase: 'open', openedAt: now } : { ...after, phase: 'closed', openedAt: 0 };
}

/**
 * The place of a URL in the order in which probes are chosen, lowest first: the answer to a URL that has failed already
 * says more about the URL than about the host.
 */
export function probeRank(breaker: BreakerState, url: string, attempts: number): number {
  const at = urlsOf(breaker).indexOf(keyOf(url));
  return at >= 0 && breaker.window[at] === true ? Number.POSITIVE_INFINITY : attempts;
}

/** The probe ended without an outcome (cancelled, or its owner died): the next request is a probe again. */
export function forgetProbe(breaker: BreakerState): BreakerState {
  return breaker.isProbing ? { ...breaker, isProbing: false } : breaker;
}

function answered(breaker: BreakerState, url: string, now: number): BreakerState {
  return { ...breaker, ...slide(breaker, url, false), failuresInARow: 0, answeredAt: now };
}

/** The window with this outcome in place of an older one of the same URL. */
function slide(
  breaker: BreakerState,
  url: string,
  isFailure: boolean,
): { readonly window: readonly boolean[]; readonly urls: readonly string[] } {
  const key = keyOf(url);
  const known = urlsOf(breaker);
  const others = known.flatMap((other, at) => (other === key ? [] : [at])).slice(1 - BREAKER.window);
  return {
    window: [...others.map((at) => breaker.window[at] === true), isFailure],
    urls: [...others.map((at) => known[at] ?? UNKNOWN_URL), key],
  };
}

/** Returns a URL for each outcome of the window; states that an earlier version stored have none. */
function urlsOf({ window, urls = [] }: BreakerState): readonly string[] {
  return urls.length === window.length ? urls : window.map(() => UNKNOWN_URL);
}

/** Short, because the state of a host is written often. */
const keyOf = (url: string): string => hash('sha1', url, 'base64url').slice(0, 8);

function countFailures(window: readonly boolean[]): number {
  let failures = 0;
  for (const isFailure of window) if (isFailure) failures++;
  return failures;
}
