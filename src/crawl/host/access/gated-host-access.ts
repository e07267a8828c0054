import { guarded } from '../../../core/errors/guarded.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { Consent, HostPolicy } from '../../../core/model/policy.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import type { HostHold, HostLease, HostMemory, HostState } from '../../../core/ports/host-store.ts';
import type { Policies } from '../../policy/policies.ts';
import { probeAt } from '../../politeness/breaker.ts';
import { admissionMs, type GateDecision, type GateInput } from '../../politeness/gate.ts';
import { noteSent, stateAtAcquisition } from '../../politeness/host-state.ts';
import { createSentCounter, type SentCounter } from '../../politeness/sent-requests.ts';
import type { Robots, RobotsCache } from '../../robots/robots-cache.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { RunningJob } from '../process/running-job.ts';
import type { AttemptResult } from '../process/task-end.ts';
import { type AccessSide, type OwnProxies, OwnProxySide, OwnTimeLimits, SharedSide } from './access-side.ts';
import {
  type AccessDecision,
  afterAnswer,
  aloneOf,
  type HostAccess,
  hasOwnProxy,
  ownPauseReason,
} from './host-access.ts';

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

type Refused = Exclude<AccessDecision, { kind: 'go' }>;

const WHEN_ANSWERED = Number.POSITIVE_INFINITY;
/** The operator may change allowed hours: a host that is closed is checked again this often. */
const HOURS_CHECK_MS = 60_000;
/** The owner keeps a host through shorter pauses between two requests; through longer ones it releases the host. */
const LONG_PAUSE_MS = 5_000;
/** Without the lease nothing is sent; a renewal may be on its way. */
const LEASE_CHECK_MS = 50;
/** Requests that wait outside the mailbox ask the gate at least this often. */
const LONGEST_PAUSE_MS = 1_000;

export const createHostAccess = (lease: HostLease, parts: HostAccessParts): HostAccess =>
  new GatedHostAccess(lease, parts);

/** Asks the gate, counts what is under way, and keeps the state of the host. */
class GatedHostAccess implements HostAccess {
  heldUntil = 0;
  readonly #key: HostKey;
  readonly #parts: HostAccessParts;
  readonly #counter: SentCounter;
  readonly #shared: SharedSide;
  readonly #ownProxies: OwnProxies;
  readonly #ownTimeLimits: OwnTimeLimits;
  readonly #ownSides = new WeakMap<RunningJob, AccessSide>();
  state: HostState;
  #heldFor: HostHold | null = null;
  #operatorPlaces = 0;
  /** A request of this owner was answered. */
  #isWarm = false;

  constructor(lease: HostLease, parts: HostAccessParts) {
    this.#key = lease.key;
    this.#parts = parts;
    this.state = stateAtAcquisition(lease.state, lease.isTakenOver, parts.now());
    this.#counter = createSentCounter(lease.state.sent);
    this.#shared = new SharedSide(this, (before, after) => this.#reportBreaker(before, after));
    this.#ownTimeLimits = new OwnTimeLimits(lease.key, parts.now);
    this.#ownProxies = { host: this, key: lease.key, shared: this.#shared, inFlight: 0, now: parts.now };
  }

  stateToStore(): HostState {
    const { sent: _, ...others } = this.state;
    const written = this.#counter.written(this.#parts.now());
    return written === undefined ? others : { ...others, sent: written };
  }

  get inFlight(): number {
    return this.#shared.inFlight + this.#ownProxies.inFlight;
  }

  get hold(): HostHold | null {
    return this.heldUntil > this.#parts.now() ? this.#heldFor : null;
  }

  get operatorPlaces(): number {
    return this.#operatorPlaces;
  }

  policy(): HostPolicy {
    return this.#parts.policies().policyFor(this.#key);
  }

  hasConsent({ job }: RunningJob, what: Consent): boolean {
    return job.options.isOperated || this.policy().consent.includes(what);
  }

  /** The seeds' hosts were asked about when the job was accepted; links may have led to others. */
  isObeyed(running: RunningJob): boolean {
    if (this.policy().robots !== 'obey') return false;
    return running.job.options.page.obeyRobots || !this.hasConsent(running, 'robots');
  }

  ownPauseUntil(running: RunningJob): number {
    if (!hasOwnProxy(running)) return this.#ownTimeLimits.pausedUntil(running, this.#shared.inFlight);
    const rate = running.job.options.hostRatePerSecond ?? this.policy().ratePerSecond;
    return this.#sideOf(running).pausedUntil(rate === 'unlimited' ? null : rate);
  }

  /** Waits for the pause that answers which count for the job alone ask for, and for the gate. */
  admit(running: RunningJob, url: URL): AccessDecision {
    const until = this.ownPauseUntil(running);
    if (until > 0) return { kind: 'wait', until, reason: ownPauseReason(running) };
    const decision = this.#admitByGate(running, url);
    if (decision.kind === 'go') this.#ownTimeLimits.noteAdmitted(running);
    return decision;
  }

  check(running: RunningJob, url: URL): AccessDecision {
    const { now, isOurs } = this.#parts;
    // The host worker renews the lease, or ends the slice.
    if (!isOurs()) return { kind: 'wait', until: now() + LEASE_CHECK_MS, reason: 'lease.over' };
    const decision = this.#decide(running, url);
    if (decision.kind === 'hold' || this.#isLongPause(running, decision)) this.#hold(decision);
    return decision;
  }

  admitSoon(running: RunningJob, url: URL, withinMs: number): Promise<boolean> {
    const lastAt = this.#parts.now() + withinMs;
    return this.#admitInTime(
      () => this.admit(running, url),
      ({ kind, until }) => kind !== 'hold' && until <= lastAt,
    );
  }

  mayStart(): boolean {
    const { now, isOurs, resources } = this.#parts;
    if (!isOurs()) return false;
    this.state = noteSent(this.state, now());
    if (resources?.isReplay !== true) this.#counter.add(now());
    return true;
  }

  async readmit(running: RunningJob, url: URL, ended: AbortSignal): Promise<void> {
    const side = this.#sideOf(running);
    let isCounted = false;
    // At once when the attempt ends, because `release` or `settle` follows and subtracts it.
    const countAgain = guarded(() => {
      if (!isCounted) side.count(1);
      isCounted = true;
    });
    ended.throwIfAborted();
    side.count(-1);
    ended.addEventListener('abort', countAgain, { once: true });
    try {
      await this.#admitInTime(
        () => {
          ended.throwIfAborted();
          const decision = this.#admitByGate(running, url);
          if (decision.kind === 'go') isCounted = true;
          return decision;
        },
        () => true,
      );
    } finally {
      countAgain();
      ended.removeEventListener('abort', countAgain);
    }
  }

  admissionMs(running: RunningJob, url: URL): number {
    return admissionMs(this.state, this.policy(), this.#gateInput(running, url));
  }

  release(running: RunningJob): void {
    const side = this.#sideOf(running);
    side.count(-1);
    side.noteAbandoned();
    this.#ownTimeLimits.noteAbandoned(running);
  }

  settle(
    running: RunningJob,
    url: URL,
    result: AttemptResult,
    requestedAt: number,
    isOwnLimit: boolean = false,
  ): void {
    const { now, signal } = this.#parts;
    const side = this.#sideOf(running);
    side.count(-1);
    this.#warmUp();
    const { slowDownMs } = this.policy();
    if (!hasOwnProxy(running)) {
      const isAnswered = result.statusCode !== null;
      this.#ownTimeLimits.noteEnd(
        running,
        url,
        isOwnLimit ? 'own-limit' : isAnswered ? 'answered' : 'unclear',
      );
      if (isOwnLimit) {
        side.noteAbandoned();
        return;
      }
    }
    side.noteAnswer((before) =>
      afterAnswer(before, url, result, requestedAt, signal.aborted, now(), slowDownMs),
    );
  }

  memoryFor(running: RunningJob): HostMemory | undefined {
    return this.#sideOf(running).memory;
  }

  remember(running: RunningJob, memory: HostMemory): void {
    this.#sideOf(running).memory = memory;
  }

  knownRobots(running: RunningJob, { origin }: URL): Robots | null {
    return this.#parts.robots.recall(origin, aloneOf(running));
  }

  admitRobots(running: RunningJob, url: URL): Promise<boolean> {
    return this.#admitInTime(
      () => this.#admitByGate(running, url),
      ({ kind }) => kind !== 'hold',
    );
  }

  async readmitRobots(running: RunningJob, url: URL): Promise<boolean> {
    const side = this.#sideOf(running);
    side.count(-1);
    let isAdmitted = false;
    try {
      isAdmitted = await this.admitRobots(running, url);
      return isAdmitted;
    } finally {
      if (!isAdmitted) side.count(1);
    }
  }

  releaseRobots(running: RunningJob): void {
    const side = this.#sideOf(running);
    side.count(-1);
    side.noteRobotsEnd();
    this.#warmUp();
  }

  #sideOf(running: RunningJob): AccessSide {
    if (!hasOwnProxy(running)) return this.#shared;
    let side = this.#ownSides.get(running);
    if (side === undefined) {
      side = new OwnProxySide(this.#ownProxies, running);
      this.#ownSides.set(running, side);
    }
    return side;
  }

  #decide(running: RunningJob, url: URL): GateDecision {
    if (this.#parts.resources?.isReplay === true) return { kind: 'go', state: this.state };
    const side = this.#sideOf(running);
    const { hostRatePerSecond, concurrency } = running.job.options;
    this.#operatorPlaces = hostRatePerSecond === null ? 0 : (concurrency ?? 0);
    const base = this.policy();
    const isPaced =
      hostRatePerSecond === null ? base.ratePerSecond !== null : hostRatePerSecond !== 'unlimited';
    if (isPaced && !this.#isWarm && side.inFlight > 0) {
      return { kind: 'wait', until: WHEN_ANSWERED, reason: 'concurrency.host' };
    }
    const inForce: HostPolicy =
      this.#operatorPlaces > base.concurrency ? { ...base, concurrency: this.#operatorPlaces } : base;
    return side.decide(inForce, this.#gateInput(running, url));
  }

  #gateInput(running: RunningJob, url: URL): GateInput {
    return {
      now: this.#parts.now(),
      inFlight: this.#sideOf(running).inFlight,
      crawlDelayMs: this.isObeyed(running) ? (this.knownRobots(running, url)?.crawlDelayMs ?? null) : null,
      rateOverride: running.job.options.hostRatePerSecond,
    };
  }

  #admitByGate(running: RunningJob, url: URL): AccessDecision {
    const decision = this.check(running, url);
    if (decision.kind === 'go') {
      const side = this.#sideOf(running);
      this.state = decision.state;
      side.count(1);
      side.noteAdmitted();
    }
    return decision;
  }

  /** The pause of a slow host is as long as one that it asks for: the host is released, and callers are told. */
  #isLongPause(
    running: RunningJob,
    decision: GateDecision,
  ): decision is Exclude<GateDecision, { kind: 'go' }> {
    if (decision.kind !== 'wait' || !this.#sideOf(running).holdsHost) return false;
    const pauseMs = decision.until - this.#parts.now();
    return Number.isFinite(pauseMs) && pauseMs > LONG_PAUSE_MS;
  }

  #hold({ until, reason }: Exclude<GateDecision, { kind: 'go' }>): void {
    const lookAt = this.#parts.now() + HOURS_CHECK_MS;
    this.heldUntil = reason === 'hours.closed' ? Math.min(until, lookAt) : until;
    this.#heldFor = { rule: reason, until: Math.ceil(until) };
  }

  /** False when the gate refuses for now, and `canWait` says that this is too long. */
  async #admitInTime(
    tryOnce: () => AccessDecision,
    canWait: (decision: Refused) => boolean,
  ): Promise<boolean> {
    const { signal, now } = this.#parts;
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
  #warmUp(): void {
    if (this.#isWarm) return;
    this.#isWarm = true;
    const now = this.#parts.now();
    this.state = { ...this.state, lastRequestAt: now, tokensAt: now };
  }

  #reportBreaker({ breaker: { phase } }: HostState, { breaker }: HostState): void {
    const { metrics, now } = this.#parts;
    if (phase !== 'open' && breaker.phase === 'open') {
      metrics.breakerOpened(this.#key, probeAt(breaker) - now());
    }
    if (phase !== 'closed' && breaker.phase === 'closed') metrics.breakerClosed(this.#key);
  }
}
