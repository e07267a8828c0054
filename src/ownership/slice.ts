import { faultHoldMs } from '../attempts/fault-end.ts';
import type { FetchResources } from '../attempts/fetch-resources.ts';
import { createHostAccess } from '../attempts/host-access.ts';
import { createAttempts } from '../attempts/make-attempt.ts';
import { hasOwnProxy, pausedEnd } from '../attempts/own-answers.ts';
import { chooseWayForRobots } from '../attempts/proxy-route.ts';
import type { Quarantine } from '../attempts/quarantine.ts';
import { proxyRouteEnd, type Refusal, robotsEnd, siteEnd } from '../attempts/robots-end.ts';
import { type RunningJobs, tellWaiting } from '../attempts/running-job.ts';
import { isScrapifieError } from '../errors/scrapifie-error.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HostKey } from '../model/ids.ts';
import { hasDiedTooOften, mustRunAlone } from '../model/interruptions.ts';
import type { Logger } from '../observe/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { PageReader } from '../pages/page-reading.ts';
import type { Policies } from '../policy/policies.ts';
import type { HostLease, HostState, Store } from '../ports/store.ts';
import type { RobotsCache } from '../robots/robots-cache.ts';
import { createLoneTasks } from './lone-tasks.ts';
import { createMailbox, type Letter, mostInHand } from './mailbox.ts';
import type { Slots } from './slots.ts';
import { createTaskEnds } from './task-ends.ts';

export interface SliceParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly means: FetchResources;
  readonly reader: PageReader;
  readonly robots: RobotsCache;
  readonly jobs: RunningJobs;
  readonly slots: Slots;
  readonly quarantine: Quarantine;
  readonly policies: () => Policies;
  /** Whether other hosts wait for a place: then a slice ends when its time is over. */
  readonly isContended: () => boolean;
  readonly now: () => number;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface SliceOptions extends SliceParts {
  /** Whether the lease has certainly not run out. False is not the end: a renewal may still be answered. */
  readonly isOurs: () => boolean;
  /** The store has said that the lease is lost. */
  readonly onLeaseLost: () => void;
}

/** One stretch of owning a host. */
export interface Slice {
  readonly lease: HostLease;
  /** What is known about the host here. */
  readonly state: HostState;
  /** The store has said that the lease is lost: what came of the slice after that is void. */
  readonly isLost: boolean;
  /** Works until nothing is due, time is over while others wait, or it is told to stop. Releases the host. */
  run(): Promise<void>;
  /** There may be new tasks. */
  wake(): void;
  /** Starts nothing more; what is under way goes on, until `abort`. */
  stop(): void;
  /** Ends what is under way; its tasks are given back. */
  abort(): void;
  /** The store says that the lease is lost: starts nothing more and ends what is under way. */
  lose(): void;
}

/** A host stays owned a little after its last task: single scrapes of one host follow each other. */
const LINGER_MS = 1_000;
const SLICE_MS = 10_000;
/** Pages read or written at the same time, over all hosts, before no more are fetched. */
const MOST_UNREAD = 64;
const MOST_UNWRITTEN = 4_096;
const PRESSURE_MS = 10;
/** Between two looks whether fetched pages can be stored again. */
const HOLDING_MS = 250;
const RELEASE_AGAIN_MS = 500;
const WHEN_SIGNALLED = Number.POSITIVE_INFINITY;

/** What failed is not there at the moment, and says nothing about this host. */
const isAway = (error: unknown) => isScrapifieError(error) && error.spec.retry === 'later';

export function createSlice(lease: HostLease, parts: SliceOptions): Slice {
  const { store, ledger, means, reader, jobs, slots, quarantine, now, logger, metrics } = parts;
  const key: HostKey = lease.key;
  const startedAt = now();
  const aborter = new AbortController();
  const stopper = new AbortController();
  /** Tasks started and not yet handed to the ledger. */
  let unfinished = 0;
  let finishedCount = 0;
  /** All places of the process are taken; one that becomes free is wanted here. */
  let wantsSlot = false;
  let isLost = false;
  let wakeUp: (() => void) | null = null;
  /** The host is left alone until then, because unexpected errors ended this slice; 0: none did. */
  let faultHoldUntil = 0;

  const mailbox = createMailbox({
    store,
    jobs,
    lease,
    quarantine,
    logger,
    onChange: signal,
    onFailure: fail,
  });
  const door = createHostAccess(lease, {
    ...parts,
    signal: aborter.signal,
    stopped: stopper.signal,
    onChange: signal,
    onFailure: fail,
    wayOut: (running) => chooseWayForRobots(running, door.policy(), key, means, now),
  });
  const attempts = createAttempts({
    ...parts,
    hostKey: key,
    lease,
    door,
    signal: aborter.signal,
    onAnswered: signal,
  });

  const loneTasks = createLoneTasks({
    ...parts,
    door,
    mailbox,
    stopped: stopper.signal,
    fetch: fetchOne,
    follow,
  });
  const ends = createTaskEnds({
    ...parts,
    lease,
    mailbox,
    door,
    aborted: aborter.signal,
    onChange: signal,
    onLost: lose,
    onFailure: fail,
    onManyFaults() {
      holdHost();
      stop();
    },
  });
  const isStopping = () => stopper.signal.aborted;

  function signal(): void {
    wakeUp?.();
    wakeUp = null;
  }

  function stop(): void {
    stopper.abort();
    signal();
  }

  /** What the slice as a whole needs has failed. A fault of the program would fail again at once: the host waits. */
  function fail(error: unknown): void {
    if (!isAway(error) && !aborter.signal.aborted) holdHost();
    stop();
  }

  function holdHost(): void {
    faultHoldUntil = now() + faultHoldMs(lease.state.faults ?? 0);
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === WHEN_SIGNALLED ? null : setTimeout(signal, Math.max(1, Math.ceil(ms)));
      wakeUp = () => {
        if (timer !== null) clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    let idleSince = Number.POSITIVE_INFINITY;
    for (;;) {
      wantsSlot = false;
      const waitMs = isStopping() ? WHEN_SIGNALLED : lookForWork();
      if (!wantsSlot) slots.decline(signal);
      const isBusy = unfinished > 0 || door.isLoadingRobots || mailbox.isRefilling;
      if (!isBusy && (isStopping() || door.heldUntil > now())) break;
      if (now() - startedAt > SLICE_MS && parts.isContended()) stop();
      const isIdle = !isBusy && mailbox.size === 0 && ends.unwritten === 0 && mailbox.isDry;
      idleSince = isIdle ? Math.min(idleSince, now()) : Number.POSITIVE_INFINITY;
      const lingerMs = (parts.isContended() ? 0 : LINGER_MS) - (now() - idleSince);
      if (isIdle && lingerMs <= 0) break;
      const canRefill = mailbox.size === 0 && !mailbox.isDry && !mailbox.isRefilling;
      if (!isStopping() && canRefill) continue;
      await pause(isIdle ? lingerMs : waitMs);
    }
    slots.decline(signal);
    await ends.allWritten();
    await release();
  }

  /**
   * Changes nothing where the lease is lost; where only a task was, by an opt-out, the host is free again. A store that
   * is away is asked again: otherwise the host, and whoever is to have it next, would wait for the end of the lease.
   */
  async function release(): Promise<void> {
    for (;;) {
      try {
        const until = Math.max(door.heldUntil, faultHoldUntil);
        await store.releaseHost(lease, stateToKeep(), until > now() ? Math.ceil(until) : 0);
        return;
      } catch (error) {
        if (!isAway(error) || aborter.signal.aborted || !parts.isOurs()) throw error;
        await new Promise((resolve) => setTimeout(resolve, RELEASE_AGAIN_MS));
      }
    }
  }

  /** With the number of slices in a row that unexpected errors have ended: each one makes the next pause longer. */
  function stateToKeep(): HostState {
    const { faults: earlier = 0, ...state } = door.state;
    if (faultHoldUntil > 0) return { ...state, faults: earlier + 1 };
    return ends.hasWorked || earlier === 0 ? state : { ...state, faults: earlier };
  }

  function lookForWork(): number {
    try {
      mailbox.refill(wantedInHand());
      return startTasks();
    } catch (error) {
      logger.error({ host: key, err: error }, 'slice failed unexpectedly');
      fail(error);
      return WHEN_SIGNALLED;
    }
  }

  function wantedInHand(): number {
    const perSecond = (finishedCount * 1_000) / Math.max(500, now() - startedAt);
    return mostInHand(perSecond, door.policy(), door.operatorPlaces);
  }

  /** Starts what may start; says how long to wait before asking again. */
  function startTasks(): number {
    door.heldUntil = 0;
    mailbox.releaseHeldBack();
    const next = () => mailbox.next(loneTasks.isFree);
    for (let letter = next(); letter !== null; letter = next()) {
      if (isStopping()) break;
      if (reader.isHolding) return HOLDING_MS;
      if (reader.backlog >= MOST_UNREAD || ledger.backlog >= MOST_UNWRITTEN) return PRESSURE_MS;
      try {
        const waitMs = endOrStart(letter);
        if (waitMs !== null && !hasOwnProxy(letter.running)) return waitMs;
        // What a caller's proxy does, or fails to do, must not keep the tasks of other jobs waiting.
        if (waitMs !== null) mailbox.holdBack(letter.running, now() + waitMs);
      } catch (error) {
        mailbox.remove(letter);
        void ends.faulted(letter, error);
      }
    }
    return mailbox.heldBackUntil - now();
  }

  /** Ends a task that must not be fetched, or starts it; else the time until it may start. */
  function endOrStart(letter: Letter): number | null {
    if (hasDiedTooOften(letter.task)) {
      mailbox.remove(letter);
      void ends.died(letter);
      return null;
    }
    const refusal = refusalOf(letter);
    if (refusal === null) return mustRunAlone(letter.task) ? loneTasks.start(letter) : startOne(letter);
    if (refusal === 'loading') return door.heldUntil > now() ? door.heldUntil - now() : WHEN_SIGNALLED;
    mailbox.remove(letter);
    void ends.refused(letter, refusal);
    return null;
  }

  /** Takes a place and the host's permission and sends the task on its way; else the time until it may. */
  function startOne(letter: Letter): number | null {
    if (!slots.take()) {
      wantsSlot = true;
      slots.whenFree(signal);
      return WHEN_SIGNALLED;
    }
    let isStarted = false;
    try {
      const decision = door.enter(letter.running, new URL(letter.task.atUrl));
      if (decision.kind !== 'go') return decision.until - now();
      isStarted = true;
    } finally {
      if (!isStarted) slots.give();
    }
    mailbox.remove(letter);
    start(letter);
    return null;
  }

  /** Why the task must not be fetched; `loading` while its robots.txt is on the way, or the host is held. */
  function refusalOf({ task, running }: Letter): Refusal | 'loading' | null {
    const denied = parts.policies().denied(key);
    if (denied !== null) return { end: { state: 'denied', rule: denied.rule } };
    const paused = pausedEnd(door.ownPauseUntil(running), now());
    if (paused !== null) return { end: paused };
    if (!door.isObeyed(running) && task.kind !== 'site') return null;
    const url = new URL(task.atUrl);
    const known = door.knownRobots(running, url);
    if (known === null) {
      const failure = running.proxyRouteFailure;
      running.proxyRouteFailure = null;
      if (failure !== null) return { end: proxyRouteEnd(task, running.job, failure, now()) };
      door.loadRobots(running, url, task.interruptions > 0);
      return 'loading';
    }
    if (task.kind === 'site') return siteEnd(task, known, running);
    const end = robotsEnd(task, running.job, known, url, now());
    if (end?.state === 'denied') metrics.robotsDenied();
    return end === null ? null : { end };
  }

  function start(letter: Letter): void {
    quarantine.enter();
    follow(fetchOne(letter).finally(quarantine.leave));
  }

  /** The slice has something under way until this ends. */
  function follow(underWay: Promise<void>): void {
    unfinished += 1;
    underWay.catch(fail).finally(() => {
      unfinished -= 1;
      signal();
    });
  }

  /** The task has a place and the host's permission. */
  async function fetchOne(letter: Letter): Promise<void> {
    const { running } = letter;
    running.inFlight += 1;
    try {
      await work(letter).catch((error: unknown) => ends.faulted(letter, error));
    } finally {
      running.inFlight -= 1;
      tellWaiting(running);
      finishedCount += 1;
      slots.give();
    }
  }

  async function work(letter: Letter): Promise<void> {
    const stored = ends.attempted(letter, await attempts.make(letter.task, letter.running));
    // A death before the commit would count against the task, whichever other task caused it.
    if (letter.task.interruptions > 0) await stored;
  }

  function lose(): void {
    const isNews = !isLost;
    isLost = true;
    aborter.abort();
    stop();
    if (isNews) parts.onLeaseLost();
  }

  return {
    lease,
    get state() {
      return door.state;
    },
    get isLost() {
      return isLost;
    },
    run,
    wake: mailbox.onNewTasks,
    stop,
    abort: () => aborter.abort(),
    lose,
  };
}
