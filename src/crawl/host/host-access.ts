import { guarded } from '../../core/errors/guarded.ts';
import type { HostMemory } from '../../core/model/host-memory.ts';
import type { HostKey, JobId } from '../../core/model/ids.ts';
import type { Consent, HostPolicy } from '../../core/model/policy.ts';
import type { Metrics } from '../../core/observe/metrics.ts';
import type { HostLease, HostState } from '../../core/ports/store.ts';
import type { HostHold } from '../../core/ports/task-wait.ts';
import type { Policies } from '../policy/policies.ts';
import { CLOSED_BREAKER, onCall, probeAt } from '../politeness/breaker.ts';
import { admissionMs, type GateDecision, type GateInput, gate } from '../politeness/gate.ts';
import { noteAbandoned, noteSent, stateAtAcquisition } from '../politeness/host-state.ts';
import { createSentCounter } from '../politeness/sent-requests.ts';
import type { Robots, RobotsCache } from '../robots/robots-cache.ts';
import type { FetchResources } from './fetch-resources.ts';
import { afterAnswer, hasOwnProxy, keepOwnState, ownStateOf, pauseUntil } from './own-answers.ts';
import type { RunningJob } from './running-job.ts';
import type { AttemptResult } from './task-end.ts';

/**
 * The owner's access to the host: the gate admits every request here, and every outcome is recorded here in the state of
 * the host.
 *
 * Requests of a job with a proxy of its caller's are admitted by the same gate and count towards the same rate, but
 * what they are answered with changes nothing for other jobs (see own-answers.ts). Nor do other jobs wait for the
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
   * Until when the answers that the job has had through its caller's proxy ask for a pause; 0 for other jobs, and where
   * they ask for none. Infinity: until a request under way is answered.
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
  /** The request for `url` ended with this result, which goes into the state of the host. */
  settle(running: RunningJob, url: URL, result: AttemptResult, requestedAt: number): void;
  /** The host memory for this job; undefined while nothing was learned. */
  memoryFor(running: RunningJob): HostMemory | undefined;
  /** Replaces the host memory. */
  remember(running: RunningJob, memory: HostMemory): void;
  /** The origin's robots.txt from memory; null when it has to be loaded. */
  knownRobots(running: RunningJob, url: URL): Robots | null;
  /**
   * The same for a request for robots.txt, waiting for the gate; false when the gate holds the host. The pause that
   * answers through the job's own proxy ask for is for pages alone.
   */
  admitRobots(running: RunningJob, url: URL): Promise<boolean>;
  /** The next hop of an admitted request for robots.txt; false when the gate holds the host. It stays under way. */
  readmitRobots(running: RunningJob, url: URL): Promise<boolean>;
  /** The request for robots.txt has ended. */
  releaseRobots(running: RunningJob): void;
}

/** The gate's, or why it was not asked: the lease may have run out, or the job's own answers ask for a pause. */
type AccessDecision =
  | GateDecision
  | { readonly kind: 'wait'; readonly until: number; readonly reason: 'lease.over' | 'own-proxy.paused' };

type Refused = Exclude<AccessDecision, { kind: 'go' }>;

export interface HostAccessParts {
  readonly robots: RobotsCache;
  readonly policies: () => Policies;
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Where requests are answered from an archive, each is admitted at once. */
  readonly resources?: Pick<FetchResources, 'isReplay'>;
  /** False once the lease may have run out: another process may own the host by then. */
  readonly isOurs: () => boolean;
}

const WHEN_ANSWERED = Number.POSITIVE_INFINITY;
/** The operator may change allowed hours: a host that is closed is checked again this often. */
const HOURS_CHECK_MS = 60_000;
/** The owner keeps a host through shorter pauses between two requests; through longer ones it releases the host. */
const LONG_PAUSE_MS = 5_000;
/** Without the lease nothing is sent; a renewal may be on its way. */
const LEASE_CHECK_MS = 50;
/** Requests that wait outside the mailbox ask the gate at least this often. */
const LONGEST_PAUSE_MS = 1_000;

export function createHostAccess(lease: HostLease, parts: HostAccessParts): HostAccess {
  const { robots, now, metrics, signal, isOurs } = parts;
  const key: HostKey = lease.key;
  let state: HostState = stateAtAcquisition(lease.state, lease.isTakenOver, now());
  const counter = createSentCounter(lease.state.sent);
  /** Requests under way, without those through proxies of callers. */
  let inFlight = 0;
  let ownInFlight = 0;
  let heldUntil = 0;
  let heldFor: HostHold | null = null;
  let operatorPlaces = 0;
  /** A request of this owner was answered. */
  let isWarm = false;

  const policy = () => parts.policies().policyFor(key);
  const hasConsent = ({ job }: RunningJob, what: Consent) =>
    job.options.isOperated || policy().consent.includes(what);
  /** The seeds' hosts were asked about when the job was accepted; links may have led to others. */
  const isObeyed = (running: RunningJob) =>
    policy().robots === 'obey' && (running.job.options.page.obeyRobots || !hasConsent(running, 'robots'));
  const knownRobots = (running: RunningJob, { origin }: URL): Robots | null =>
    robots.recall(origin, aloneOf(running));
  const ownState = (running: RunningJob): HostState => ownStateOf(running, key, now());

  /** The requests that this job has to wait for: other jobs do not wait for requests through proxies of callers. */
  const inFlightFor = (running: RunningJob): number => inFlight + (hasOwnProxy(running) ? ownInFlight : 0);

  function count(running: RunningJob, change: 1 | -1): void {
    if (hasOwnProxy(running)) ownInFlight += change;
    else inFlight += change;
  }

  function decide(running: RunningJob, url: URL): GateDecision {
    if (parts.resources?.isReplay === true) return { kind: 'go', state };
    const { hostRatePerSecond, concurrency } = running.job.options;
    operatorPlaces = hostRatePerSecond === null ? 0 : (concurrency ?? 0);
    const base = policy();
    const isPaced =
      hostRatePerSecond === null ? base.ratePerSecond !== null : hostRatePerSecond !== 'unlimited';
    if (isPaced && !isWarm && inFlightFor(running) > 0) {
      return { kind: 'wait', until: WHEN_ANSWERED, reason: 'concurrency.host' };
    }
    const inForce: HostPolicy =
      operatorPlaces > base.concurrency ? { ...base, concurrency: operatorPlaces } : base;
    if (!hasOwnProxy(running)) return gate(state, inForce, gateInput(running, url));
    // The breaker counts answers that reach us directly. A request by another route neither waits for it nor is its probe.
    const { breaker } = state;
    const decision = gate({ ...state, breaker: CLOSED_BREAKER }, inForce, gateInput(running, url));
    return decision.kind === 'go' ? { ...decision, state: { ...decision.state, breaker } } : decision;
  }

  function gateInput(running: RunningJob, url: URL): GateInput {
    return {
      now: now(),
      inFlight: inFlightFor(running),
      crawlDelayMs: isObeyed(running) ? (knownRobots(running, url)?.crawlDelayMs ?? null) : null,
      rateOverride: running.job.options.hostRatePerSecond,
    };
  }

  /** Waits for the pause that answers through the job's own proxy ask for, and for the gate. */
  function admit(running: RunningJob, url: URL): AccessDecision {
    const until = ownPauseUntil(running);
    return until > 0 ? { kind: 'wait', until, reason: 'own-proxy.paused' } : admitByGate(running, url);
  }

  function ownPauseUntil(running: RunningJob): number {
    if (!hasOwnProxy(running)) return 0;
    const rate = running.job.options.hostRatePerSecond ?? policy().ratePerSecond;
    const until = pauseUntil(ownState(running), {
      ratePerSecond: rate === 'unlimited' ? null : rate,
      inFlight: ownInFlight,
      now: now(),
    });
    return until > now() ? until : 0;
  }

  function check(running: RunningJob, url: URL): AccessDecision {
    // The host worker renews the lease, or ends the slice.
    if (!isOurs()) return { kind: 'wait', until: now() + LEASE_CHECK_MS, reason: 'lease.over' };
    const decision = decide(running, url);
    if (decision.kind === 'hold' || isLongPause(running, decision)) hold(decision);
    return decision;
  }

  /** The pause of a slow host is as long as one that it asks for: the host is released, and callers are told. */
  function isLongPause(
    running: RunningJob,
    decision: GateDecision,
  ): decision is Exclude<GateDecision, { kind: 'go' }> {
    if (decision.kind !== 'wait' || hasOwnProxy(running)) return false;
    const pauseMs = decision.until - now();
    return Number.isFinite(pauseMs) && pauseMs > LONG_PAUSE_MS;
  }

  function admitByGate(running: RunningJob, url: URL): AccessDecision {
    const decision = check(running, url);
    if (decision.kind === 'go') {
      state = decision.state;
      count(running, 1);
      if (hasOwnProxy(running)) {
        const own = ownState(running);
        keepOwnState(running, key, { ...own, lastRequestAt: now(), breaker: onCall(own.breaker) });
      }
    }
    return decision;
  }

  function mayStart(): boolean {
    if (!isOurs()) return false;
    state = noteSent(state, now());
    if (parts.resources?.isReplay !== true) counter.add(now());
    return true;
  }

  function hold({ until, reason }: Exclude<GateDecision, { kind: 'go' }>): void {
    heldUntil = reason === 'hours.closed' ? Math.min(until, now() + HOURS_CHECK_MS) : until;
    heldFor = { rule: reason, until: Math.ceil(until) };
  }

  /** False when the gate refuses for now, and `canWait` says that this is too long. */
  async function admitInTime(
    tryOnce: () => AccessDecision,
    canWait: (decision: Refused) => boolean,
  ): Promise<boolean> {
    for (;;) {
      signal.throwIfAborted();
      const decision = tryOnce();
      if (decision.kind === 'go') return true;
      if (!canWait(decision)) return false;
      const waitMs = Math.min(decision.until - now(), LONGEST_PAUSE_MS);
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, waitMs)));
    }
  }

  /**
   * The first request has to open the connection, so it arrives later than it was admitted by an unknown time. The second
   * request therefore waits for the answer to the first, and the pause counts from there.
   */
  function warmUp(): void {
    if (isWarm) return;
    isWarm = true;
    state = { ...state, lastRequestAt: now(), tokensAt: now() };
  }

  return {
    get state() {
      return state;
    },
    stateToStore() {
      const { sent: _, ...others } = state;
      const written = counter.written(now());
      return written === undefined ? others : { ...others, sent: written };
    },
    get inFlight() {
      return inFlight + ownInFlight;
    },
    ownPauseUntil,
    get heldUntil() {
      return heldUntil;
    },
    set heldUntil(until) {
      heldUntil = until;
    },
    get hold() {
      return heldUntil > now() ? heldFor : null;
    },
    get operatorPlaces() {
      return operatorPlaces;
    },
    policy,
    hasConsent,
    isObeyed,
    admit,
    check,
    admitSoon(running, url, withinMs) {
      const lastAt = now() + withinMs;
      return admitInTime(
        () => admit(running, url),
        ({ kind, until }) => kind !== 'hold' && until <= lastAt,
      );
    },
    mayStart,
    async readmit(running, url, ended) {
      let isCounted = false;
      // At once when the attempt ends, because `release` or `settle` follows and subtracts it.
      const countAgain = guarded(() => {
        if (!isCounted) count(running, 1);
        isCounted = true;
      });
      ended.throwIfAborted();
      count(running, -1);
      ended.addEventListener('abort', countAgain, { once: true });
      try {
        await admitInTime(
          () => {
            ended.throwIfAborted();
            const decision = admitByGate(running, url);
            if (decision.kind === 'go') isCounted = true;
            return decision;
          },
          () => true,
        );
      } finally {
        countAgain();
        ended.removeEventListener('abort', countAgain);
      }
    },
    admissionMs: (running, url) => admissionMs(state, policy(), gateInput(running, url)),
    release(running) {
      count(running, -1);
      if (hasOwnProxy(running)) keepOwnState(running, key, noteAbandoned(ownState(running)));
      else state = noteAbandoned(state);
    },
    settle(running, url, result, requestedAt) {
      count(running, -1);
      warmUp();
      const { slowDownMs } = policy();
      const after = (before: HostState) =>
        afterAnswer(before, url, result, requestedAt, signal.aborted, now(), slowDownMs);
      if (hasOwnProxy(running)) {
        keepOwnState(running, key, after(ownState(running)));
        return;
      }
      const { phase } = state.breaker;
      state = after(state);
      if (phase !== 'open' && state.breaker.phase === 'open')
        metrics.breakerOpened(key, probeAt(state.breaker) - now());
      if (phase !== 'closed' && state.breaker.phase === 'closed') metrics.breakerClosed(key);
    },
    memoryFor: (running) =>
      hasOwnProxy(running) ? (ownState(running).memory ?? state.memory) : state.memory,
    remember(running, memory) {
      if (hasOwnProxy(running)) keepOwnState(running, key, { ...ownState(running), memory });
      else if (memory !== state.memory) state = { ...state, memory };
    },
    knownRobots,
    admitRobots: (running, url) =>
      admitInTime(
        () => admitByGate(running, url),
        ({ kind }) => kind !== 'hold',
      ),
    async readmitRobots(running, url) {
      count(running, -1);
      let isAdmitted = false;
      try {
        isAdmitted = await this.admitRobots(running, url);
        return isAdmitted;
      } finally {
        if (!isAdmitted) count(running, 1);
      }
    },
    releaseRobots(running) {
      count(running, -1);
      if (hasOwnProxy(running)) keepOwnState(running, key, noteAbandoned(ownState(running)));
      warmUp();
    },
  };
}

/** The job whose robots.txt is kept apart; null for jobs that share one. */
export const aloneOf = (running: RunningJob): JobId | null => (hasOwnProxy(running) ? running.job.id : null);
