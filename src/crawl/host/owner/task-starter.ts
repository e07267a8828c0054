import type { HostKey } from '../../../core/model/ids.ts';
import { hasDiedTooOften, mustRunAlone } from '../../../core/model/task.ts';
import { type HostAccess, hasOwnProxy } from '../access/host-access.ts';
import type { RobotsLoader } from '../admission/robots-loader.ts';
import { createTaskRefusals, rendererWait, type TaskRefusals } from '../admission/task-admission.ts';
import type { Finished } from '../attempt/finish-task.ts';
import type { Attempts, Faulted } from '../attempt/make-attempt.ts';
import type { Postponed } from '../attempt/prepare-attempt.ts';
import type { SliceSpans } from '../process/attempt-spans.ts';
import { type ClaimedTask, notifyWaiting } from '../process/running-job.ts';
import type { Mailbox } from './mailbox.ts';
import type { SliceOptions } from './slice.ts';
import { createStoredAnswers, type StoredAnswers } from './stored-answers.ts';
import type { TaskEnds } from './task-ends.ts';

interface TaskStarterOptions extends SliceOptions {
  readonly hostKey: HostKey;
  readonly access: HostAccess;
  readonly mailbox: Mailbox;
  readonly robotsLoader: RobotsLoader;
  readonly attempts: Attempts;
  readonly ends: TaskEnds;
  readonly spans: SliceSpans;
  /** Nothing is to begin any more. */
  readonly stopped: AbortSignal;
  /** Has the slice look for work again. */
  readonly onChange: () => void;
  /** A part that the slice as a whole needs has failed. */
  readonly onFailure: (error: unknown) => void;
}

/** Nothing but a signal says when the task may start. */
export const WHEN_SIGNALLED = Number.POSITIVE_INFINITY;
/** Pages read or written at the same time, over all hosts, before no more are fetched. */
const MOST_UNREAD = 64;
const MOST_UNWRITTEN = 4_096;
const PRESSURE_MS = 10;
/** Between two looks whether fetched pages can be stored again. */
const HOLDING_MS = 250;

/**
 * Decides for each task in hand, in this order: it has cost too many processes their lives; a stored page answers it; it must
 * not be fetched; no browser is there to show it; it runs alone; it waits for a slot or for the gate; it starts. A task that
 * has started is followed until its end is with the ledger.
 */
export class TaskStarter {
  readonly #options: TaskStarterOptions;
  readonly #loneTasks: LoneTasks;
  readonly #storedAnswers: StoredAnswers;
  readonly #refusalOf: TaskRefusals;
  #unfinished = 0;
  #finishedCount = 0;
  #wantsSlot = false;

  constructor(options: TaskStarterOptions) {
    this.#options = options;
    const follow = (underWay: Promise<void>) => this.#follow(underWay);
    this.#loneTasks = createLoneTasks({ ...options, fetch: (claimed) => this.#fetch(claimed), follow });
    this.#storedAnswers = createStoredAnswers({ ...options, follow });
    this.#refusalOf = createTaskRefusals(options);
  }

  /** Tasks started and not yet handed to the ledger. */
  get unfinished(): number {
    return this.#unfinished;
  }

  get finishedCount(): number {
    return this.#finishedCount;
  }

  /** By the last call of `startTasks`, all slots of the process are taken, and one that becomes free is wanted here. */
  get wantsSlot(): boolean {
    return this.#wantsSlot;
  }

  /** A slice that stops starts nothing, and wants no slot. */
  wantNoSlot(): void {
    this.#wantsSlot = false;
  }

  /** Starts the tasks that may start; returns how long to wait before trying again. */
  startTasks(): number {
    const { access, mailbox, reader, ledger, ends, stopped, now } = this.#options;
    access.heldUntil = 0;
    mailbox.releaseHeldBack();
    const next = () => mailbox.next(this.#loneTasks.isFree, access.state.breaker);
    for (let claimed = next(); claimed !== null; claimed = next()) {
      if (stopped.aborted) break;
      if (reader.isHolding) return HOLDING_MS;
      if (reader.backlog >= MOST_UNREAD || ledger.backlog >= MOST_UNWRITTEN) return PRESSURE_MS;
      try {
        const waitMs = this.#endOrStart(claimed);
        const isOwnWait = hasOwnProxy(claimed.running) || access.ownPauseUntil(claimed.running) > now();
        if (waitMs !== null && !isOwnWait) return waitMs;
        // What counts for one job alone (answers of its caller's proxy, its own time limit) must not keep others waiting.
        if (waitMs !== null) mailbox.holdBack(claimed.running, now() + waitMs);
      } catch (error) {
        mailbox.remove(claimed);
        void ends.faulted(claimed, error);
      }
    }
    return mailbox.heldBackUntil - now();
  }

  /** Ends a task that must not be fetched, or starts it; else returns the time until it may start. */
  #endOrStart(claimed: ClaimedTask): number | null {
    const { access, mailbox, ends, now } = this.#options;
    if (hasDiedTooOften(claimed.task)) {
      mailbox.remove(claimed);
      void ends.died(claimed);
      return null;
    }
    if (this.#storedAnswers.begin(claimed)) return null;
    const refusal = this.#refusalOf(claimed);
    if (refusal === null) {
      const end = rendererWait(claimed.task, claimed.running, this.#options);
      if (end !== null) {
        mailbox.remove(claimed);
        void ends.refused(claimed, { end });
        return null;
      }
      return mustRunAlone(claimed.task) ? this.#loneTasks.start(claimed) : this.#startOne(claimed);
    }
    if (refusal === 'loading') return access.heldUntil > now() ? access.heldUntil - now() : WHEN_SIGNALLED;
    mailbox.remove(claimed);
    void ends.refused(claimed, refusal);
    return null;
  }

  /** Takes a slot and the gate's admission and starts the task; else returns the time until it may start. */
  #startOne(claimed: ClaimedTask): number | null {
    const { access, mailbox, slots, onChange, now } = this.#options;
    if (!slots.take(onChange)) {
      this.#wantsSlot = true;
      slots.whenFree(onChange, claimed.running.job.accountId);
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
    this.#start(claimed);
    return null;
  }

  #start(claimed: ClaimedTask): void {
    const { quarantine } = this.#options;
    quarantine.enter();
    this.#follow(this.#fetch(claimed).finally(quarantine.leave));
  }

  /** The slice has something under way until this ends. */
  #follow(underWay: Promise<void>): void {
    this.#unfinished += 1;
    underWay.catch(this.#options.onFailure).finally(() => {
      this.#unfinished -= 1;
      this.#options.onChange();
    });
  }

  /** The task has a slot and the gate's admission. */
  async #fetch(claimed: ClaimedTask): Promise<void> {
    const { running } = claimed;
    running.inFlight += 1;
    try {
      await this.#workInSpan(claimed).catch((error: unknown) => this.#options.ends.faulted(claimed, error));
    } finally {
      running.inFlight -= 1;
      notifyWaiting(running);
      this.#finishedCount += 1;
      this.#options.slots.give();
    }
  }

  #workInSpan(claimed: ClaimedTask): Promise<void> {
    const job = claimed.running.spans;
    if (job === null) return this.#work(claimed);
    return this.#options.spans.attempt(job, claimed.task, () => this.#work(claimed));
  }

  async #work(claimed: ClaimedTask): Promise<void> {
    const stored = this.#options.ends.attempted(claimed, await this.#makeAttempt(claimed));
    // A death before the commit would count against the task, whichever other task caused it.
    if (claimed.task.interruptions > 0) await stored;
  }

  async #makeAttempt({ task, running }: ClaimedTask): Promise<Finished | Postponed | Faulted> {
    const { attempts, onChange } = this.#options;
    const fetched = await attempts.fetch(task, running);
    if (!('fetched' in fetched)) return fetched;
    // The host has answered: the next request may be sent, although this page is not read yet.
    onChange();
    return attempts.finish(fetched);
  }
}

/** Starts tasks of a slice that must run alone in the process, one after the other. */
interface LoneTasks {
  /** No task of the slice waits for its turn or has it. */
  readonly isFree: boolean;
  /** Takes the task out of the mailbox and has it wait for its turn; else returns the time until the gate may admit it. */
  start(claimed: ClaimedTask): number | null;
}

/** `stopped`: a task that waits for its turn is given back with the host. */
interface LoneTaskParts
  extends Pick<
    TaskStarterOptions,
    'quarantine' | 'access' | 'slots' | 'mailbox' | 'stopped' | 'now' | 'logger'
  > {
  /** Fetches the task and stores its end. The task has a slot and the gate's admission. */
  readonly fetch: (claimed: ClaimedTask) => Promise<void>;
  /** The slice has something under way until this ends. */
  readonly follow: (work: Promise<void>) => void;
}

/** A turn waits for the gate no longer than this, since the whole process waits with it. */
const LONGEST_GATE_MS = 2_000;

function createLoneTasks(parts: LoneTaskParts): LoneTasks {
  const { quarantine, access, slots, mailbox, stopped, now, logger } = parts;
  let isFree = true;

  /** False when the task could not start in its turn. */
  async function takeTurn({ task, running }: ClaimedTask): Promise<boolean> {
    const turn = await quarantine.turn(task.loneInterruptions, stopped);
    if (turn === null) return false;
    try {
      if (!slots.take()) return false;
      const isAdmitted = await access
        .admitSoon(running, new URL(task.atUrl), LONGEST_GATE_MS)
        .catch(() => false);
      if (!isAdmitted) {
        slots.give();
        return false;
      }
      const { id: taskId, jobId, url, interruptions, loneInterruptions } = task;
      logger.warn({ taskId, jobId, url, interruptions, loneInterruptions }, 'an interrupted task runs alone');
      await parts.fetch({ task, running });
      return true;
    } finally {
      turn.end();
    }
  }

  return {
    get isFree() {
      return isFree;
    },
    start(claimed) {
      const decision = access.check(claimed.running, new URL(claimed.task.atUrl));
      // Requests under way, which `Infinity` waits for, have ended when the turn begins.
      const isSoon = decision.kind === 'wait' && decision.until <= now() + LONGEST_GATE_MS;
      const isCrowded = decision.kind === 'wait' && decision.until === Number.POSITIVE_INFINITY;
      if (decision.kind !== 'go' && !isSoon && !isCrowded) return decision.until - now();
      mailbox.served(claimed);
      mailbox.remove(claimed);
      isFree = false;
      const turn = takeTurn(claimed).then((hasRun) => {
        isFree = true;
        if (!hasRun) mailbox.putBack(claimed);
      });
      parts.follow(turn);
      return null;
    },
  };
}
