import type { HostKey } from '../../../core/model/ids.ts';
import type { HostPolicy } from '../../../core/model/policy.ts';
import type { HostMemory, HostState } from '../../../core/ports/host-store.ts';
import { CLOSED_BREAKER, onCall } from '../../politeness/breaker.ts';
import { type GateDecision, type GateInput, gate } from '../../politeness/gate.ts';
import { newHostState, noteAbandoned, noteFailure, noteSuccess } from '../../politeness/host-state.ts';
import type { RunningJob } from '../process/running-job.ts';
import { hasOwnProxy, keepOwnState, ownStateOf, pauseUntil } from './host-access.ts';

/**
 * What requests of a job meet at a host, and what their answers change. Jobs share one side; a job with a proxy of its
 * caller's has one of its own (see hasOwnProxy).
 */
export interface AccessSide {
  /** Requests under way that the next request of the job has to wait for. */
  readonly inFlight: number;
  count(change: 1 | -1): void;
  /** Until when answers to the job ask for a pause that other jobs need not make; 0: none. */
  pausedUntil(ratePerSecond: number | null): number;
  /** A long pause of the host is one for all jobs that have this side: the host is released. */
  readonly holdsHost: boolean;
  decide(policy: HostPolicy, input: GateInput): GateDecision;
  /** A request was admitted, and the gate's new state is the host's. */
  noteAdmitted(): void;
  /** A request ended without an outcome that says anything about the host. */
  noteAbandoned(): void;
  /** A request for robots.txt ended, whatever its answer. */
  noteRobotsEnd(): void;
  noteAnswer(after: (before: HostState) => HostState): void;
  memory: HostMemory | undefined;
}

/** The state of the host, which its owner changes. */
export interface OwnedState {
  state: HostState;
}

/** The side of all jobs whose requests reach the host directly or by a proxy of the operator's. */
export class SharedSide implements AccessSide {
  readonly holdsHost = true;
  readonly #host: OwnedState;
  readonly #onAnswer: (before: HostState, after: HostState) => void;
  #inFlight = 0;

  constructor(host: OwnedState, onAnswer: (before: HostState, after: HostState) => void) {
    this.#host = host;
    this.#onAnswer = onAnswer;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  count(change: 1 | -1): void {
    this.#inFlight += change;
  }

  pausedUntil(): number {
    return 0;
  }

  decide(policy: HostPolicy, input: GateInput): GateDecision {
    return gate(this.#host.state, policy, input);
  }

  noteAdmitted(): void {
    // The gate's state says it.
  }

  noteAbandoned(): void {
    this.#host.state = noteAbandoned(this.#host.state);
  }

  noteRobotsEnd(): void {
    // The loader of robots.txt notes what the answer means for the host.
  }

  noteAnswer(after: (before: HostState) => HostState): void {
    const before = this.#host.state;
    this.#host.state = after(before);
    this.#onAnswer(before, this.#host.state);
  }

  get memory(): HostMemory | undefined {
    return this.#host.state.memory;
  }

  set memory(memory: HostMemory | undefined) {
    if (memory === undefined || memory === this.#host.state.memory) return;
    this.#host.state = { ...this.#host.state, memory };
  }
}

/** What the sides of all jobs with a proxy of their caller's have in common at one host. */
export interface OwnProxies {
  readonly host: OwnedState;
  readonly key: HostKey;
  readonly shared: AccessSide;
  /** Requests under way through proxies of callers. */
  inFlight: number;
  readonly now: () => number;
}

/** The side of one job with a proxy of its caller's. */
export class OwnProxySide implements AccessSide {
  readonly holdsHost = false;
  readonly #proxies: OwnProxies;
  readonly #running: RunningJob;

  constructor(proxies: OwnProxies, running: RunningJob) {
    this.#proxies = proxies;
    this.#running = running;
  }

  get inFlight(): number {
    return this.#proxies.shared.inFlight + this.#proxies.inFlight;
  }

  count(change: 1 | -1): void {
    this.#proxies.inFlight += change;
  }

  pausedUntil(ratePerSecond: number | null): number {
    const now = this.#proxies.now();
    const until = pauseUntil(this.#state, { ratePerSecond, inFlight: this.#proxies.inFlight, now });
    return until > now ? until : 0;
  }

  /** The breaker counts answers that reach us directly: a request by another route neither waits for it nor is its probe. */
  decide(policy: HostPolicy, input: GateInput): GateDecision {
    const { breaker } = this.#proxies.host.state;
    const decision = gate({ ...this.#proxies.host.state, breaker: CLOSED_BREAKER }, policy, input);
    return decision.kind === 'go' ? { ...decision, state: { ...decision.state, breaker } } : decision;
  }

  noteAdmitted(): void {
    const own = this.#state;
    this.#keep({ ...own, lastRequestAt: this.#proxies.now(), breaker: onCall(own.breaker) });
  }

  noteAbandoned(): void {
    this.#keep(noteAbandoned(this.#state));
  }

  noteRobotsEnd(): void {
    this.noteAbandoned();
  }

  noteAnswer(after: (before: HostState) => HostState): void {
    this.#keep(after(this.#state));
  }

  get memory(): HostMemory | undefined {
    return this.#state.memory ?? this.#proxies.host.state.memory;
  }

  set memory(memory: HostMemory | undefined) {
    if (memory !== undefined) this.#keep({ ...this.#state, memory });
  }

  get #state(): HostState {
    return ownStateOf(this.#running, this.#proxies.key, this.#proxies.now());
  }

  #keep(state: HostState): void {
    keepOwnState(this.#running, this.#proxies.key, state);
  }
}

/**
 * What failures by a caller's own time limit mean for jobs that share their side. A caller who allows less time than the
 * default gets no answer where others are answered: such failures count for the job alone, in a breaker of its own.
 */
export class OwnTimeLimits {
  readonly #key: HostKey;
  readonly #now: () => number;

  constructor(key: HostKey, now: () => number) {
    this.#key = key;
    this.#now = now;
  }

  pausedUntil(running: RunningJob, inFlight: number): number {
    const own = this.#stateOf(running);
    if (own === undefined) return 0;
    const now = this.#now();
    const until = pauseUntil(own, { ratePerSecond: null, inFlight, now });
    return until > now ? until : 0;
  }

  noteAdmitted(running: RunningJob): void {
    const own = this.#stateOf(running);
    if (own !== undefined) keepOwnState(running, this.#key, { ...own, breaker: onCall(own.breaker) });
  }

  noteAbandoned(running: RunningJob): void {
    const own = this.#stateOf(running);
    if (own !== undefined) keepOwnState(running, this.#key, noteAbandoned(own));
  }

  noteEnd(running: RunningJob, { href }: URL, end: 'answered' | 'own-limit' | 'unclear'): void {
    const own = this.#stateOf(running);
    const now = this.#now();
    if (end === 'unclear') this.noteAbandoned(running);
    else if (end === 'own-limit') {
      keepOwnState(running, this.#key, noteFailure(own ?? newHostState(now), href, now));
    } else if (own !== undefined) keepOwnState(running, this.#key, noteSuccess(own, href, now));
  }

  #stateOf(running: RunningJob): HostState | undefined {
    return hasOwnProxy(running) ? undefined : running.ownAnswers.get(this.#key);
  }
}
