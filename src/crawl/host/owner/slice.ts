import { isScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../../core/model/ids.ts';
import type { StopReason } from '../../../core/model/task-reasons.ts';
import { type Logger, levelOfError } from '../../../core/observe/logger.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import type { HostLease, HostState } from '../../../core/ports/host-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Policies } from '../../policy/policies.ts';
import { stateAtRelease } from '../../politeness/host-state.ts';
import type { PageReader } from '../../read/page-reading.ts';
import type { RobotsCache } from '../../robots/robots-cache.ts';
import { createHostAccess } from '../access/gated-host-access.ts';
import type { HostAccess } from '../access/host-access.ts';
import { createRobotsLoader, type RobotsLoader } from '../admission/robots-loader.ts';
import { type AttemptParts, createAttempts } from '../attempt/make-attempt.ts';
import { createSliceSpans, type SliceSpans } from '../process/attempt-spans.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { Quarantine } from '../process/quarantine.ts';
import type { RunningJobs } from '../process/running-job.ts';
import type { Slots } from '../process/slots.ts';
import { createMailbox, type Mailbox, mostInHand } from './mailbox.ts';
import { createTaskEnds, type TaskEnds } from './task-ends.ts';
import { TaskStarter, WHEN_SIGNALLED } from './task-starter.ts';

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
const RELEASE_AGAIN_MS = 500;
const FIRST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 60_000;

/** How long a host is left alone after `earlier` slices in a row that ended by unexpected errors. */
const faultHoldMs = (earlier: number) =>
  Math.min(LONGEST_HOLD_MS, FIRST_HOLD_MS * 2 ** Math.min(earlier, 16));

/** The failed part is unavailable at the moment, which says nothing about this host. */
const isAway = (error: unknown) => isScrapifieError(error) && error.spec.retry === 'later';

export const createSlice = (lease: HostLease, parts: SliceOptions): Slice => new HostSlice(lease, parts);

/** Looks for work whenever something changes, until there is none; what a task goes through is in `task-starter.ts`. */
class HostSlice implements Slice {
  readonly lease: HostLease;
  readonly #parts: SliceOptions;
  readonly #startedAt: number;
  readonly #aborter = new AbortController();
  readonly #stopper = new AbortController();
  readonly #mailbox: Mailbox;
  readonly #spans: SliceSpans;
  readonly #access: HostAccess;
  readonly #robotsLoader: RobotsLoader;
  readonly #ends: TaskEnds;
  readonly #starter: TaskStarter;
  /** Something has changed: the slice looks for work again. Slots know their listeners by this function. */
  readonly #signal = (): void => {
    this.#wakeUp?.();
    this.#wakeUp = null;
  };
  #wakeUp: (() => void) | null = null;
  #isLost = false;
  /** The host is left alone until then, because unexpected errors ended this slice; 0: none did. */
  #faultHoldUntil = 0;
  #heldJobs: readonly JobId[] = [];
  /** Jobs that were cancelled or stopped, while tasks of theirs may be in hand. */
  readonly #dropped = new Set<string>();

  constructor(lease: HostLease, parts: SliceOptions) {
    this.lease = lease;
    this.#parts = parts;
    this.#startedAt = parts.now();
    const hostKey = lease.key;
    const { signal } = this.#aborter;
    const stopped = this.#stopper.signal;
    const onChange = this.#signal;
    const onFailure = (error: unknown) => this.#fail(error);
    const spans = createSliceSpans(hostKey);
    const mailbox = createMailbox({ ...parts, lease, onChange, onFailure });
    const access = createHostAccess(lease, { ...parts, signal });
    const robotsLoader = createRobotsLoader({
      ...parts,
      ...{ hostKey, access, signal, stopped, onChange, onFailure },
    });
    const attempts = createAttempts({ ...parts, hostKey, lease, access, signal });
    const ends = createTaskEnds({
      ...parts,
      ...{ lease, mailbox, access, onChange, onFailure },
      aborted: signal,
      onLost: () => this.lose(),
      onManyFaults: () => {
        this.#holdHost();
        this.stop();
      },
    });
    const steps = { hostKey, access, mailbox, robotsLoader, attempts, ends, spans };
    this.#starter = new TaskStarter({ ...parts, ...steps, stopped, onChange, onFailure });
    this.#mailbox = mailbox;
    this.#spans = spans;
    this.#access = access;
    this.#robotsLoader = robotsLoader;
    this.#ends = ends;
  }

  get state(): HostState {
    const { turns } = this.#mailbox;
    const state = this.#access.stateToStore();
    return turns === undefined ? state : { ...state, turns };
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get heldJobs(): readonly JobId[] {
    return this.#heldJobs;
  }

  async run(): Promise<void> {
    const { slots, now, isContended } = this.#parts;
    const [access, mailbox, starter] = [this.#access, this.#mailbox, this.#starter];
    let idleSince = Number.POSITIVE_INFINITY;
    for (;;) {
      starter.wantNoSlot();
      const waitMs = this.#isStopping ? WHEN_SIGNALLED : this.#lookForWork();
      if (!starter.wantsSlot) slots.decline(this.#signal);
      const isBusy = starter.unfinished > 0 || this.#robotsLoader.isLoading || mailbox.isRefilling;
      if (!isBusy && (this.#isStopping || access.heldUntil > now())) break;
      if (now() - this.#startedAt > SLICE_MS && isContended()) this.stop();
      const isIdle = !isBusy && mailbox.size === 0 && this.#ends.unwritten === 0 && mailbox.isDry;
      idleSince = isIdle ? Math.min(idleSince, now()) : Number.POSITIVE_INFINITY;
      const lingerMs = (isContended() ? 0 : LINGER_MS) - (now() - idleSince);
      if (isIdle && lingerMs <= 0) break;
      const canRefill = mailbox.size === 0 && !mailbox.isDry && !mailbox.isRefilling;
      if (!this.#isStopping && canRefill) continue;
      await this.#pause(isIdle ? lingerMs : waitMs);
    }
    slots.decline(this.#signal);
    await this.#ends.allWritten();
    this.#spans.end();
    await this.#release();
  }

  wake(): void {
    this.#mailbox.onNewTasks();
  }

  drop(cancelled: ReadonlySet<string>): void {
    for (const id of cancelled) this.#dropped.add(id);
    this.#signal();
  }

  stop(): void {
    this.#stopper.abort();
    this.#signal();
  }

  abort(): void {
    this.#aborter.abort();
  }

  lose(): void {
    const isNews = !this.#isLost;
    this.#isLost = true;
    this.#aborter.abort();
    this.stop();
    if (isNews) this.#parts.onLeaseLost();
  }

  get #isStopping(): boolean {
    return this.#stopper.signal.aborted;
  }

  #lookForWork(): number {
    try {
      if (this.#dropped.size > 0) this.#giveBackDropped();
      this.#mailbox.refill(this.#wantedInHand());
      return this.#starter.startTasks();
    } catch (error) {
      const { logger } = this.#parts;
      logger[levelOfError(error)]({ host: this.lease.key, err: error }, 'slice failed unexpectedly');
      this.#fail(error);
      return WHEN_SIGNALLED;
    }
  }

  #wantedInHand(): number {
    const access = this.#access;
    const perSecond =
      (this.#starter.finishedCount * 1_000) / Math.max(500, this.#parts.now() - this.#startedAt);
    return mostInHand(perSecond, access.policy(), access.operatorPlaces, access.state.breaker);
  }

  /** Gives back the tasks of cancelled and stopped jobs. A claim under way may bring more of them, so its answer is awaited. */
  #giveBackDropped(): void {
    for (const claimed of this.#mailbox.takeOut(this.#dropped)) {
      void this.#ends.refused(claimed, { end: { state: 'ready' } });
    }
    if (!this.#mailbox.isRefilling) this.#dropped.clear();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === WHEN_SIGNALLED ? null : setTimeout(this.#signal, Math.max(1, Math.ceil(ms)));
      this.#wakeUp = () => {
        if (timer !== null) clearTimeout(timer);
        resolve();
      };
    });
  }

  /** A part that the slice as a whole needs has failed. A fault of the program would recur at once, so the host waits. */
  #fail(error: unknown): void {
    if (!isAway(error) && !this.#aborter.signal.aborted) this.#holdHost();
    this.stop();
  }

  #holdHost(): void {
    this.#faultHoldUntil = this.#parts.now() + faultHoldMs(this.lease.state.faults ?? 0);
  }

  /**
   * Changes nothing where the lease is lost; where only a task was, by an opt-out, the host is free again. A store that
   * is away is asked again: otherwise the next owner of the host would wait for the end of the lease.
   */
  async #release(): Promise<void> {
    const { store, now, isOurs } = this.#parts;
    for (;;) {
      try {
        const until = Math.max(this.#access.heldUntil, this.#faultHoldUntil);
        const notBefore = until > now() ? Math.ceil(until) : 0;
        const how = {
          hold: this.#access.hold,
          faultHoldUntil: this.#faultHoldUntil,
          hasWorked: this.#ends.hasWorked,
        };
        await store.releaseHost(this.lease, stateAtRelease(this.state, how), notBefore);
        this.#heldJobs = notBefore > 0 ? this.#mailbox.jobs() : [];
        return;
      } catch (error) {
        if (!isAway(error) || this.#aborter.signal.aborted || !isOurs()) throw error;
        await new Promise((resolve) => setTimeout(resolve, RELEASE_AGAIN_MS));
      }
    }
  }
}

/** What all slices of a process work with. */
export interface SliceParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly resources: FetchResources;
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
  /** The time limit of tasks whose request sets none. */
  readonly taskTimeoutMs: number;
  /** Has the same meaning as `AttemptParts.observer`. */
  readonly observer?: AttemptParts['observer'];
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface SliceOptions extends SliceParts {
  /** Whether the lease has certainly not run out. False is not the end: a renewal may still be answered. */
  readonly isOurs: () => boolean;
  /** The store has said that the lease is lost. */
  readonly onLeaseLost: () => void;
  /** Ends the tasks of a job that have not begun, and publishes the change. */
  readonly stopJob: (id: JobId, reason: StopReason) => Promise<void>;
}
