import type { HostKey, JobId } from '../../../core/model/ids.ts';
import type { Consent, HostPolicy } from '../../../core/model/policy.ts';
import type { HostHold, HostMemory, HostState } from '../../../core/ports/host-store.ts';
import type { TaskEnd } from '../../../core/ports/ledger-store.ts';
import { isHostFault, isOwnFault } from '../../plan/outcome.ts';
import { probeAt } from '../../politeness/breaker.ts';
import { type GateDecision, UNLIMITED_SLOWED_PER_SECOND } from '../../politeness/gate.ts';
import {
  newHostState,
  noteAbandoned,
  noteFailure,
  noteSuccess,
  onRateLimited,
  rateFactorAt,
} from '../../politeness/host-state.ts';
import type { Robots } from '../../robots/robots-cache.ts';
import type { RunningJob } from '../process/running-job.ts';
import type { AttemptResult } from '../process/task-end.ts';

/**
 * The owner's access to the host: the gate admits every request here, and every outcome is recorded here in the state of
 * the host.
 *
 * Requests of a job with a proxy of its caller's are admitted by the same gate and count towards the same rate, but
 * what they are answered with changes nothing for other jobs (see hasOwnProxy). Nor do other jobs wait for the
 * places that they take: such a proxy may let every request hang.
 */
export interface HostAccess {
  /** The state of the host, without the requests that were counted since the owner has it. */
  readonly state: HostState;
  /** The state to store, with these requests. */
  stateToStore(): HostState;
  /** Number of requests under way. */
  readonly inFlight: number;
  /**
   * Until when the answers of the job that count for it alone ask for a pause: those through its caller's proxy, and
   * failures by its caller's time limit. 0 where they ask for none. Infinity: until a request under way is answered.
   */
  ownPauseUntil(running: RunningJob): number;
  /** Until when the gate holds the host, by a hold or a long pause of its last decision; 0 when it does not. */
  heldUntil: number;
  /** Why the gate holds the host, by its last decision; null when it does not. */
  readonly hold: HostHold | null;
  /** Connections that the operator allows a job beyond the policy; 0 when none are. */
  readonly operatorPlaces: number;
  policy(): HostPolicy;
  hasConsent(running: RunningJob, what: Consent): boolean;
  isObeyed(running: RunningJob): boolean;
  /** Called right before a request is written to its connection: false when this process may no longer own the host. */
  mayStart(): boolean;
  /** Asks the gate for one request. After `go` a request is under way, until `release` or `settle`. */
  admit(running: RunningJob, url: URL): AccessDecision;
  /** The gate's present decision, without admitting a request. */
  check(running: RunningJob, url: URL): AccessDecision;
  /** Waits for the gate; false when it does not admit the request within `withinMs`. */
  admitSoon(running: RunningJob, url: URL, withinMs: number): Promise<boolean>;
  /**
   * Waits for the gate to admit one more request of an attempt: the next hop of a redirect, or the same request once
   * more. Meanwhile the attempt has no request under way. Rejects when `ended` aborts because the attempt is over; its
   * request counts as under way again from that moment, until `release` or `settle`.
   */
  readmit(running: RunningJob, url: URL, ended: AbortSignal): Promise<void>;
  /** How long after its admission a request may leave; later it has to be admitted again. Infinity: at any time. */
  admissionMs(running: RunningJob, url: URL): number;
  /** The request ended without an outcome that says anything about the host. */
  release(running: RunningJob): void;
  /**
   * The request for `url` ended with this result, which goes into the state of the host. `isOwnLimit`: it failed by a
   * time limit of the caller's, so that the failure counts for the job alone.
   */
  settle(
    running: RunningJob,
    url: URL,
    result: AttemptResult,
    requestedAt: number,
    isOwnLimit?: boolean,
  ): void;
  /** The host memory for this job; undefined while nothing was learned. */
  memoryFor(running: RunningJob): HostMemory | undefined;
  /** Replaces the host memory. */
  remember(running: RunningJob, memory: HostMemory): void;
  /** The origin's robots.txt from memory; null when it has to be loaded. */
  knownRobots(running: RunningJob, url: URL): Robots | null;
  /**
   * Waits until the gate admits a request for robots.txt; false when the gate holds the host. The pause that
   * answers through the job's own proxy ask for is for pages alone.
   */
  admitRobots(running: RunningJob, url: URL): Promise<boolean>;
  /** The next hop of an admitted request for robots.txt; false when the gate holds the host. It stays under way. */
  readmitRobots(running: RunningJob, url: URL): Promise<boolean>;
  /** The request for robots.txt has ended. */
  releaseRobots(running: RunningJob): void;
}

/** Why a job pauses on a host on which other jobs go on. */
export type OwnPauseReason = 'own-proxy.paused' | 'own-time-limit.paused';

/** The gate's, or why it was not asked: the lease may have run out, or the job's own answers ask for a pause. */
export type AccessDecision =
  | GateDecision
  | { readonly kind: 'wait'; readonly until: number; readonly reason: 'lease.over' | OwnPauseReason };

export const ownPauseReason = (running: RunningJob): OwnPauseReason =>
  hasOwnProxy(running) ? 'own-proxy.paused' : 'own-time-limit.paused';

/** The job whose robots.txt is kept apart; null for jobs that share one. */
export const aloneOf = (running: RunningJob): JobId | null => (hasOwnProxy(running) ? running.job.id : null);

/**
 * A proxy that the caller brings can answer in the name of any host. Its answers therefore count for the job
 * alone: Retry-After, failures, host memory and robots.txt. Only the time of the request itself goes into the
 * shared state of the host, so that the host is not asked faster than promised by all jobs together.
 */
export const hasOwnProxy = ({ job }: RunningJob): boolean => job.options.page.proxy?.url != null;

/** The state of the host as the answers that count for the job alone describe it. Of its times only `lastRequestAt` counts. */
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
  // When nothing is under way, the probe is lost, and the next request takes its place.
  if (breaker.isProbing && inFlight > 0) return Number.POSITIVE_INFINITY;
  const factor = rateFactorAt(state, now);
  const slowedPerSecond = (ratePerSecond ?? UNLIMITED_SLOWED_PER_SECOND) * factor;
  const slowedUntil = factor === 1 || lastRequestAt === null ? 0 : lastRequestAt + 1_000 / slowedPerSecond;
  return Math.max(blockedUntil, breaker.phase === 'open' ? probeAt(breaker) : 0, slowedUntil);
}

/** Tasks that wait no longer than this stay with the owner of the host; the others go back to the store. */
const LONGEST_HELD_BACK_MS = 30_000;

/** The end of a task whose job has to pause on the host until then; null: the owner keeps the task in its mailbox. */
export function pausedEnd(until: number, now: number, rule: OwnPauseReason): TaskEnd | null {
  const isLong = Number.isFinite(until) && until - now > LONGEST_HELD_BACK_MS;
  return isLong ? { state: 'waiting', readyAt: Math.ceil(until), rule } : null;
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
