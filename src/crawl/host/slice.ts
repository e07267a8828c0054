import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey, JobId } from '../../core/model/ids.ts';
import { hasDiedTooOften, mustRunAlone } from '../../core/model/task.ts';
import { levelOfError } from '../../core/observe/logger.ts';
import type { HostLease, HostState } from '../../core/ports/store.ts';
import { stateAtRelease } from '../politeness/host-state.ts';
import { createSliceSpans } from './attempt-spans.ts';
import type { Finished } from './finish-task.ts';
import { createHostAccess } from './host-access.ts';
import { createLoneTasks } from './lone-tasks.ts';
import { type ClaimedTask, createMailbox, mostInHand } from './mailbox.ts';
import { createAttempts, type Faulted } from './make-attempt.ts';
import { hasOwnProxy } from './own-answers.ts';
import type { Postponed } from './prepare-attempt.ts';
import { createRobotsLoader } from './robots-loader.ts';
import { tellWaiting } from './running-job.ts';
import type { SliceOptions } from './slice-parts.ts';
import { createStoredAnswers } from './stored-answers.ts';
import { createTaskEnds } from './task-ends.ts';
import { createTaskRefusals } from './task-refusals.ts';

/** One stretch of owning a host. */
export interface Slice {
  readonly lease: HostLease;
  /** The state of the host, as this owner knows it. */
  readonly state: HostState;
  /** The store has said that the lease is lost: what came of the slice after that is void. */
  readonly isLost: boolean;
  /** The jobs whose claimed tasks went back to the store because the host is held. */
  readonly heldJobs: readonly JobId[];
  /** Works until nothing is due, time is over while others wait, or it is told to stop. Releases the host. */
  run(): Promise<void>;
  /** There may be new tasks. */
  wake(): void;
  /** These jobs were cancelled or stopped: their claimed tasks that have not begun go back to the store. */
  drop(jobs: ReadonlySet<string>): void;
  /** Starts nothing more; tasks under way go on, until `abort`. */
  stop(): void;
  /** Aborts the tasks under way and gives them back. */
  abort(): void;
  /** The store says that the lease is lost: starts nothing more and aborts the tasks under way. */
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
const FIRST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 60_000;

/** How long a host is left alone after `earlier` slices in a row that ended by unexpected errors. */
const faultHoldMs = (earlier: number) =>
  Math.min(LONGEST_HOLD_MS, FIRST_HOLD_MS * 2 ** Math.min(earlier, 16));

/** The failed part is unavailable at the moment, which says nothing about this host. */
const isAway = (error: unknown) => isScrapifieError(error) && error.spec.retry === 'later';

export function createSlice(lease: HostLease, parts: SliceOptions): Slice {
  const { store, ledger, reader, jobs, slots, quarantine, now, logger } = parts;
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
  let heldJobs: readonly JobId[] = [];
  /** Jobs that were cancelled or stopped, while tasks of theirs may be in hand. */
  const dropped = new Set<string>();

  const mailbox = createMailbox({
    store,
    jobs,
    lease,
    quarantine,
    logger,
    now,
    onChange: signal,
    onFailure: fail,
  });
  const spans = createSliceSpans(key);
  const access = createHostAccess(lease, { ...parts, signal: aborter.signal });
  const robotsLoader = createRobotsLoader({
    ...parts,
    hostKey: key,
    access,
    signal: aborter.signal,
    stopped: stopper.signal,
    onChange: signal,
    onFailure: fail,
  });
  const refusalOf = createTaskRefusals({ ...parts, hostKey: key, access, robotsLoader });
  const attempts = createAttempts({
    ...parts,
    hostKey: key,
    lease,
    access,
    signal: aborter.signal,
  });

  const loneTasks = createLoneTasks({
    ...parts,
    access,
    mailbox,
    stopped: stopper.signal,
    fetch: fetchOne,
    follow,
  });
  const ends = createTaskEnds({
    ...parts,
    lease,
    mailbox,
    access,
    aborted: aborter.signal,
    onChange: signal,
    onLost: lose,
    onFailure: fail,
    onManyFaults() {
      holdHost();
      stop();
    },
  });
  const storedAnswers = createStoredAnswers({
    ...parts,
    hostKey: key,
    attempts,
    mailbox,
    ends,
    spans,
    follow,
  });
  const isStopping = () => stopper.signal.aborted;

  const stateToStore = (): HostState => {
    const { turns } = mailbox;
    return turns === undefined ? access.stateToStore() : { ...access.stateToStore(), turns };
  };

  function signal(): void {
    wakeUp?.();
    wakeUp = null;
  }

  function stop(): void {
    stopper.abort();
    signal();
  }

  /** A part that the slice as a whole needs has failed. A fault of the program would recur at once, so the host waits. */
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
      const isBusy = unfinished > 0 || robotsLoader.isLoading || mailbox.isRefilling;
      if (!isBusy && (isStopping() || access.heldUntil > now())) break;
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
    spans.end();
    await release();
  }

  /**
   * Changes nothing where the lease is lost; where only a task was, by an opt-out, the host is free again. A store that
   * is away is asked again: otherwise the next owner of the host would wait for the end of the lease.
   */
  async function release(): Promise<void> {
    for (;;) {
      try {
        const until = Math.max(access.heldUntil, faultHoldUntil);
        const notBefore = until > now() ? Math.ceil(until) : 0;
        const how = { hold: access.hold, faultHoldUntil, hasWorked: ends.hasWorked };
        await store.releaseHost(lease, stateAtRelease(stateToStore(), how), notBefore);
        heldJobs = notBefore > 0 ? mailbox.jobs() : [];
        return;
      } catch (error) {
        if (!isAway(error) || aborter.signal.aborted || !parts.isOurs()) throw error;
        await new Promise((resolve) => setTimeout(resolve, RELEASE_AGAIN_MS));
      }
    }
  }

  /** Gives back the tasks of cancelled and stopped jobs. A claim under way may bring more of them, so its answer is awaited. */
  function giveBackDropped(): void {
    for (const claimed of mailbox.takeOut(dropped)) void ends.refused(claimed, { end: { state: 'ready' } });
    if (!mailbox.isRefilling) dropped.clear();
  }

  function lookForWork(): number {
    try {
      if (dropped.size > 0) giveBackDropped();
      mailbox.refill(wantedInHand());
      return startTasks();
    } catch (error) {
      logger[levelOfError(error)]({ host: key, err: error }, 'slice failed unexpectedly');
      fail(error);
      return WHEN_SIGNALLED;
    }
  }

  function wantedInHand(): number {
    const perSecond = (finishedCount * 1_000) / Math.max(500, now() - startedAt);
    return mostInHand(perSecond, access.policy(), access.operatorPlaces, access.state.breaker);
  }

  /** Starts the tasks that may start; returns how long to wait before trying again. */
  function startTasks(): number {
    access.heldUntil = 0;
    mailbox.releaseHeldBack();
    const next = () => mailbox.next(loneTasks.isFree, access.state.breaker);
    for (let claimed = next(); claimed !== null; claimed = next()) {
      if (isStopping()) break;
      if (reader.isHolding) return HOLDING_MS;
      if (reader.backlog >= MOST_UNREAD || ledger.backlog >= MOST_UNWRITTEN) return PRESSURE_MS;
      try {
        const waitMs = endOrStart(claimed);
        if (waitMs !== null && !hasOwnProxy(claimed.running)) return waitMs;
        // What a caller's proxy does, or fails to do, must not keep the tasks of other jobs waiting.
        if (waitMs !== null) mailbox.holdBack(claimed.running, now() + waitMs);
      } catch (error) {
        mailbox.remove(claimed);
        void ends.faulted(claimed, error);
      }
    }
    return mailbox.heldBackUntil - now();
  }

  /** Ends a task that must not be fetched, or starts it; else returns the time until it may start. */
  function endOrStart(claimed: ClaimedTask): number | null {
    if (hasDiedTooOften(claimed.task)) {
      mailbox.remove(claimed);
      void ends.died(claimed);
      return null;
    }
    if (storedAnswers.begin(claimed)) return null;
    const refusal = refusalOf(claimed);
    if (refusal === null) {
      const end = attempts.waitForRenderer(claimed.task, claimed.running);
      if (end !== null) {
        mailbox.remove(claimed);
        void ends.refused(claimed, { end });
        return null;
      }
      return mustRunAlone(claimed.task) ? loneTasks.start(claimed) : startOne(claimed);
    }
    if (refusal === 'loading') return access.heldUntil > now() ? access.heldUntil - now() : WHEN_SIGNALLED;
    mailbox.remove(claimed);
    void ends.refused(claimed, refusal);
    return null;
  }

  /** Takes a slot and the gate's admission and starts the task; else returns the time until it may start. */
  function startOne(claimed: ClaimedTask): number | null {
    if (!slots.take(signal)) {
      wantsSlot = true;
      slots.whenFree(signal, claimed.running.job.accountId);
      return WHEN_SIGNALLED;
    }
    let isStarted = false;
    try {
      const decision = access.admit(claimed.running, new URL(claimed.task.atUrl));
      if (decision.kind !== 'go') return decision.until - now();
      isStarted = true;
    } finally {
      if (!isStarted) slots.give();
    }
    mailbox.served(claimed);
    mailbox.remove(claimed);
    start(claimed);
    return null;
  }

  function start(claimed: ClaimedTask): void {
    quarantine.enter();
    follow(fetchOne(claimed).finally(quarantine.leave));
  }

  /** The slice has something under way until this ends. */
  function follow(underWay: Promise<void>): void {
    unfinished += 1;
    underWay.catch(fail).finally(() => {
      unfinished -= 1;
      signal();
    });
  }

  /** The task has a slot and the gate's admission. */
  async function fetchOne(claimed: ClaimedTask): Promise<void> {
    const { running } = claimed;
    running.inFlight += 1;
    try {
      await workInSpan(claimed).catch((error: unknown) => ends.faulted(claimed, error));
    } finally {
      running.inFlight -= 1;
      tellWaiting(running);
      finishedCount += 1;
      slots.give();
    }
  }

  function workInSpan(claimed: ClaimedTask): Promise<void> {
    const job = claimed.running.spans;
    return job === null ? work(claimed) : spans.attempt(job, claimed.task, () => work(claimed));
  }

  async function work(claimed: ClaimedTask): Promise<void> {
    const stored = ends.attempted(claimed, await makeAttempt(claimed));
    // A death before the commit would count against the task, whichever other task caused it.
    if (claimed.task.interruptions > 0) await stored;
  }

  async function makeAttempt({ task, running }: ClaimedTask): Promise<Finished | Postponed | Faulted> {
    const fetched = await attempts.fetch(task, running);
    if (!('fetched' in fetched)) return fetched;
    // The host has answered: the next request may be sent, although this page is not read yet.
    signal();
    return attempts.finish(fetched);
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
      return stateToStore();
    },
    get isLost() {
      return isLost;
    },
    get heldJobs() {
      return heldJobs;
    },
    run,
    wake: mailbox.onNewTasks,
    drop(cancelled) {
      for (const id of cancelled) dropped.add(id);
      signal();
    },
    stop,
    abort: () => aborter.abort(),
    lose,
  };
}
