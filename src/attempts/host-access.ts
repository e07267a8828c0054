import { isScrapifieError, type ScrapifieError } from '../errors/scrapifie-error.ts';
import { faultOf } from '../fetch/proxy/proxy-failure.ts';
import type { HostMemory } from '../model/host-memory.ts';
import type { HostKey, JobId } from '../model/ids.ts';
import type { Consent, HostPolicy } from '../model/policy.ts';
import type { Logger } from '../observe/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Policies } from '../policy/policies.ts';
import { CLOSED_BREAKER, onCall } from '../politeness/breaker.ts';
import { admissionMs, type GateDecision, type GateInput, gate } from '../politeness/gate.ts';
import { noteAbandoned, noteSent, takenOver } from '../politeness/host-state.ts';
import type { HostLease, HostState } from '../ports/store.ts';
import type { Robots, RobotsCache } from '../robots/robots-cache.ts';
import { afterAnswer, hasOwnProxy, keepOwnState, ownStateOf, pauseUntil } from './own-answers.ts';
import type { ProxyRoute, ProxyRouteDecision } from './proxy-route.ts';
import { beside, type Quarantine } from './quarantine.ts';
import type { RunningJob } from './running-job.ts';
import { type AttemptResult, isOurFault } from './task-end.ts';

/**
 * The owner's way to the host: every request goes through here, and every answer is noted here. It keeps the host's
 * state, asks the gate, and reads robots.txt, which is a request like any other.
 *
 * Requests of a job with a proxy of its caller's are admitted by the same gate and count towards the same rate, but
 * what they are answered with changes nothing for other jobs (see own-answers.ts). Nor do other jobs wait for the
 * places that they take: such a proxy may let every request hang.
 */
export interface HostAccess {
  /** The host's state as it is to be stored. */
  readonly state: HostState;
  /** Requests under way. */
  readonly inFlight: number;
  /**
   * Until when the answers that the job has had through its caller's proxy ask for a pause; 0 for other jobs, and where
   * they ask for none. Infinity: until a request under way is answered.
   */
  ownPauseUntil(running: RunningJob): number;
  /** Until when the host is to be left alone, as the last one who asked was told; 0 when nobody was. */
  heldUntil: number;
  /** Connections that the person who runs a job allows it, beyond the policy's; 0 when nobody does. */
  readonly operatorPlaces: number;
  readonly isLoadingRobots: boolean;
  policy(): HostPolicy;
  hasConsent(running: RunningJob, what: Consent): boolean;
  isObeyed(running: RunningJob): boolean;
  /** Asked when a request is about to be written to its connection: false when the host is no longer ours. */
  mayStart(): boolean;
  /** A `go` is a request under way, until `left` or `answered`. */
  enter(running: RunningJob, url: URL): AccessDecision;
  /** What `enter` would say now; nothing is under way by it. */
  look(running: RunningJob, url: URL): AccessDecision;
  /** Enters as soon as the gate admits it, and gives up when that is not within `withinMs`. */
  enterSoon(running: RunningJob, url: URL, withinMs: number): Promise<boolean>;
  /**
   * The same, waiting for it, for a request under way that is followed by another one: the next hop of a redirect, or
   * the same request once more. While it waits it does not count as under way. Rejects when `ended` says that the
   * attempt is over before it was admitted; the request counts as under way again from that moment.
   */
  enterAgain(running: RunningJob, url: URL, ended: AbortSignal): Promise<void>;
  /** How long after its admission a request may leave; later it has to enter again. Infinity: at any time. */
  admissionMs(running: RunningJob, url: URL): number;
  /** The request came to nothing that says something about the host. */
  left(running: RunningJob): void;
  answered(running: RunningJob, result: AttemptResult, requestedAt: number): void;
  /** What was learned about the host; undefined while nothing was. */
  memoryFor(running: RunningJob): HostMemory | undefined;
  /** Keeps what was learned about the host. */
  remember(running: RunningJob, memory: HostMemory): void;
  /** The origin's robots.txt, as far as it is in memory. */
  knownRobots(running: RunningJob, url: URL): Robots | null;
  /**
   * Brings the origin's robots.txt into the cache, unless the host is held. `isSuspected`: a task that waits for it was
   * under way when a process died, and so may have been a request for this file.
   */
  loadRobots(running: RunningJob, url: URL, isSuspected: boolean): void;
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
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly quarantine: Quarantine;
  readonly signal: AbortSignal;
  /** Nothing is to begin any more. */
  readonly stopped: AbortSignal;
  /** False once the lease may have run out: somebody else may be talking to the host by then. */
  readonly isOurs: () => boolean;
  readonly onChange: () => void;
  readonly onFailure: (error: unknown) => void;
  /** By which address robots.txt is asked for. Throws like `chooseProxyRoute`. */
  readonly wayOut: (running: RunningJob) => ProxyRouteDecision;
}

/** A host that no proxy leads to is looked at again after this. */
const NO_WAY_OUT_MS = 10_000;
const WHEN_ANSWERED = Number.POSITIVE_INFINITY;
/** Allowed hours are the operator's to change: a host that is closed is looked at again this often. */
const LOOK_AT_HOURS_MS = 60_000;
/** Without the lease nothing is sent; a renewal may be on its way. */
const LOOK_AT_LEASE_MS = 50;
/** Who waits outside the mailbox looks at the gate at least this often. */
const LONGEST_PAUSE_MS = 1_000;

export function createHostAccess(lease: HostLease, parts: HostAccessParts): HostAccess {
  const { robots, now, logger, metrics, quarantine, signal, stopped, isOurs, onChange, onFailure } = parts;
  const key: HostKey = lease.key;
  const robotsOnTheWay = new Set<string>();
  let state: HostState = lease.isTakenOver ? takenOver(lease.state, now()) : lease.state;
  /** Requests under way, without those through proxies of callers. */
  let inFlight = 0;
  let ownInFlight = 0;
  let heldUntil = 0;
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

  /** What this job has to wait for: others do not wait for requests through proxies of callers. */
  const inFlightFor = (running: RunningJob): number => inFlight + (hasOwnProxy(running) ? ownInFlight : 0);

  function count(running: RunningJob, change: 1 | -1): void {
    if (hasOwnProxy(running)) ownInFlight += change;
    else inFlight += change;
  }

  function decide(running: RunningJob, url: URL): GateDecision {
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
    // The breaker counts what the host answers us. A request by another way neither waits for it nor is its probe.
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

  /** With what the job's own answers ask for, if they ask for anything. */
  function enter(running: RunningJob, url: URL): AccessDecision {
    const until = ownPauseUntil(running);
    return until > 0 ? { kind: 'wait', until, reason: 'own-proxy.paused' } : admit(running, url);
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

  function look(running: RunningJob, url: URL): AccessDecision {
    // Whoever renews the lease goes on, or ends the slice.
    if (!isOurs()) return { kind: 'wait', until: now() + LOOK_AT_LEASE_MS, reason: 'lease.over' };
    const decision = decide(running, url);
    if (decision.kind === 'hold') hold(decision);
    return decision;
  }

  function admit(running: RunningJob, url: URL): AccessDecision {
    const decision = look(running, url);
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
    return true;
  }

  function hold({ until, reason }: Exclude<GateDecision, { kind: 'go' }>): void {
    heldUntil = reason === 'hours.closed' ? Math.min(until, now() + LOOK_AT_HOURS_MS) : until;
  }

  /** False when the gate refuses for now, and `canWait` says that this is too long. */
  async function enterInTime(
    tryToEnter: () => AccessDecision,
    canWait: (decision: Refused) => boolean,
  ): Promise<boolean> {
    for (;;) {
      signal.throwIfAborted();
      const decision = tryToEnter();
      if (decision.kind === 'go') return true;
      if (!canWait(decision)) return false;
      const waitMs = Math.min(decision.until - now(), LONGEST_PAUSE_MS);
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, waitMs)));
    }
  }

  /**
   * The first request has to open the connection and arrives later than it was let go, by however long that takes.
   * So the second one waits for its answer, and the pause counts from there.
   */
  function warmUp(): void {
    if (isWarm) return;
    isWarm = true;
    state = { ...state, lastRequestAt: now(), tokensAt: now() };
  }

  async function askBy(
    { proxy, ended }: ProxyRoute,
    origin: string,
    alone: JobId | null,
    isRecorded: boolean,
  ): Promise<void> {
    const askedAt = now();
    const end = { statusCode: null, ms: 0, bytes: 0, errorCode: null, fault: null };
    try {
      const asking = { signal, mayStart, isRecorded, alone, ...(proxy === null ? {} : { proxy }) };
      await robots.ask(origin, asking);
      ended({ ...end, outcome: 'ok', ms: now() - askedAt });
    } catch (error) {
      const errorCode = isScrapifieError(error) ? error.code : null;
      ended({ ...end, outcome: 'error', errorCode, fault: faultOf(error) });
      throw error;
    }
  }

  /** Asks for robots.txt as soon as the gate admits it, unless the host is held. */
  async function askRobots(running: RunningJob, url: URL, isRecorded: boolean): Promise<void> {
    if (
      !(await enterInTime(
        () => admit(running, url),
        ({ kind }) => kind !== 'hold',
      ))
    )
      return;
    try {
      const way = parts.wayOut(running);
      if (way.kind === 'wait') heldUntil = way.until;
      else await askBy(way.out, url.origin, aloneOf(running), isRecorded);
    } finally {
      count(running, -1);
      if (hasOwnProxy(running)) keepOwnState(running, key, noteAbandoned(ownState(running)));
      warmUp();
    }
  }

  async function askRobotsAlone(running: RunningJob, url: URL, deaths: number): Promise<void> {
    const turn = await quarantine.turn(deaths, stopped);
    if (turn === null) return;
    logger.warn({ host: key, origin: url.origin, deaths: deaths + 1 }, 'robots.txt is asked for alone');
    try {
      await askRobots(running, url, true);
    } finally {
      turn.end();
    }
  }

  function loadRobots(running: RunningJob, url: URL, isSuspected: boolean): void {
    const { origin } = url;
    const alone = aloneOf(running);
    const onTheWay = `${alone ?? ''} ${origin}`;
    if (robotsOnTheWay.has(onTheWay)) return;
    const decision = decide(running, url);
    if (decision.kind === 'hold') {
      hold(decision);
      return;
    }
    robotsOnTheWay.add(onTheWay);
    robots
      .lookUp(origin, alone)
      .then(async ({ robots: known, interruptions }) => {
        if (known !== null) return;
        if (interruptions > 0) await askRobotsAlone(running, url, interruptions - 1);
        else await beside(quarantine, () => askRobots(running, url, isSuspected));
      })
      .catch((error: unknown) => {
        // A proxy that one job brought along is that job's trouble, and no reason to hold the host for others.
        if (isScrapifieError(error) && alone !== null && isOfTheProxy(error)) {
          running.proxyRouteFailure = error.code;
          return;
        }
        if (isScrapifieError(error) && isOurFault(error.code)) {
          heldUntil = now() + (error.retryAfterMs ?? NO_WAY_OUT_MS);
          return;
        }
        if (!signal.aborted) logger.error({ host: key, err: error }, 'reading robots.txt failed');
        if (isScrapifieError(error) || signal.aborted) onFailure(error);
        // A file that a fault of the program keeps from being read is one that cannot be had: its tasks wait or end.
        else robots.giveUp(origin, alone);
      })
      .finally(() => {
        robotsOnTheWay.delete(onTheWay);
        onChange();
      });
  }

  return {
    get state() {
      return state;
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
    get operatorPlaces() {
      return operatorPlaces;
    },
    get isLoadingRobots() {
      return robotsOnTheWay.size > 0;
    },
    policy,
    hasConsent,
    isObeyed,
    enter,
    look,
    enterSoon(running, url, withinMs) {
      const lastAt = now() + withinMs;
      return enterInTime(
        () => enter(running, url),
        ({ kind, until }) => kind !== 'hold' && until <= lastAt,
      );
    },
    mayStart,
    async enterAgain(running, url, ended) {
      let isCounted = false;
      // At once when the attempt ends: `left` or `answered` follows, and ends what counts.
      const countAgain = () => {
        if (!isCounted) count(running, 1);
        isCounted = true;
      };
      ended.throwIfAborted();
      count(running, -1);
      ended.addEventListener('abort', countAgain, { once: true });
      try {
        await enterInTime(
          () => {
            ended.throwIfAborted();
            const decision = admit(running, url);
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
    left(running) {
      count(running, -1);
      if (hasOwnProxy(running)) keepOwnState(running, key, noteAbandoned(ownState(running)));
      else state = noteAbandoned(state);
    },
    answered(running, result, requestedAt) {
      count(running, -1);
      warmUp();
      const after = (before: HostState) => afterAnswer(before, result, requestedAt, signal.aborted, now());
      if (hasOwnProxy(running)) {
        keepOwnState(running, key, after(ownState(running)));
        return;
      }
      const wasOpen = state.breaker.phase === 'open';
      state = after(state);
      if (!wasOpen && state.breaker.phase === 'open') metrics.breakerOpened();
    },
    memoryFor: (running) =>
      hasOwnProxy(running) ? (ownState(running).memory ?? state.memory) : state.memory,
    remember(running, memory) {
      if (hasOwnProxy(running)) keepOwnState(running, key, { ...ownState(running), memory });
      else if (memory !== state.memory) state = { ...state, memory };
    },
    knownRobots,
    loadRobots,
  };
}

/** The job whose robots.txt is kept apart; null for jobs that share one. */
const aloneOf = (running: RunningJob): JobId | null => (hasOwnProxy(running) ? running.job.id : null);

/** The URL of the proxy is none, or its proxy failed. */
const isOfTheProxy = (error: ScrapifieError): boolean =>
  faultOf(error) !== null || error.code === 'VALIDATION_FAILED';
