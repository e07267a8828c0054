import type { HostKey } from '../../../core/model/ids.ts';
import type { HostState, TaskEnd } from '../../../core/ports/store.ts';
import { isHostFault, isOwnFault } from '../../plan/outcome.ts';
import { probeAt } from '../../politeness/breaker.ts';
import { UNLIMITED_SLOWED_PER_SECOND } from '../../politeness/gate.ts';
import {
  newHostState,
  noteAbandoned,
  noteFailure,
  noteSuccess,
  onRateLimited,
  rateFactorAt,
} from '../../politeness/host-state.ts';
import type { RunningJob } from '../process/running-job.ts';
import type { AttemptResult } from '../process/task-end.ts';

/**
 * A proxy that the caller brings can answer in the name of any host. Its answers therefore count for the job
 * alone: Retry-After, failures, host memory and robots.txt. Only the time of the request itself goes into the
 * shared state of the host, so that the host is not asked faster than promised by all jobs together.
 */
export const hasOwnProxy = ({ job }: RunningJob): boolean => job.options.page.proxy?.url != null;

/** The state of the host as the answers through the job's own proxy describe it. Of its times only `lastRequestAt` counts. */
export function ownStateOf({ ownAnswers }: RunningJob, host: HostKey, now: number): HostState {
  return ownAnswers.get(host) ?? newHostState(now);
}

export function keepOwnState({ ownAnswers }: RunningJob, host: HostKey, state: HostState): void {
  ownAnswers.set(host, state);
}

/**
 * Until when the answers that this state holds ask for a pause; not after `now`: another request may be sent. Infinity:
 * until the request that tries the host again is answered. `ratePerSecond` is the host's; null: unlimited.
 */
export function pauseUntil(
  state: HostState,
  { ratePerSecond, inFlight, now }: { ratePerSecond: number | null; inFlight: number; now: number },
): number {
  const { breaker, blockedUntil, lastRequestAt } = state;
  // With nothing under way the probe is lost, and the next request takes its place.
  if (breaker.isProbing && inFlight > 0) return Number.POSITIVE_INFINITY;
  const factor = rateFactorAt(state, now);
  const slowedPerSecond = (ratePerSecond ?? UNLIMITED_SLOWED_PER_SECOND) * factor;
  const slowedUntil = factor === 1 || lastRequestAt === null ? 0 : lastRequestAt + 1_000 / slowedPerSecond;
  return Math.max(blockedUntil, breaker.phase === 'open' ? probeAt(breaker) : 0, slowedUntil);
}

/** Tasks that wait no longer than this stay with the owner of the host; the others go back to the store. */
const LONGEST_HELD_BACK_MS = 30_000;

/** The end of a task whose job has to pause on the host until then; null: the owner keeps the task in its mailbox. */
export function pausedEnd(until: number, now: number): TaskEnd | null {
  const isLong = Number.isFinite(until) && until - now > LONGEST_HELD_BACK_MS;
  return isLong ? { state: 'waiting', readyAt: Math.ceil(until), rule: 'own-proxy.paused' } : null;
}

/** The state of a host after an answer to a request for `url`. `isGivenUp`: the attempt was ended by us, so it says nothing about the host. */
export function afterAnswer(
  before: HostState,
  url: URL,
  result: AttemptResult,
  requestedAt: number,
  isGivenUp: boolean,
  now: number,
  slowDownMs: number,
): HostState {
  const state =
    result.outcome === 'rate-limited'
      ? onRateLimited(before, result.retryAfterMs, now, requestedAt, slowDownMs)
      : before;
  // A failure on this side says nothing about the host: it neither opens the breaker nor closes it.
  const isOurs = result.errorCode !== null && isOwnFault(result.errorCode);
  if (isGivenUp || isOurs) return noteAbandoned(state);
  return isHostFault(result) ? noteFailure(state, url.href, now) : noteSuccess(state, url.href, now);
}
