import type { HostId, HostKey, Incarnation, JobSeq, TaskId } from '../model/ids.ts';
import type { JobStatus } from '../model/job.ts';
import type { Reason } from '../model/reasons.ts';
import type { Task } from '../model/task.ts';
import type { Turns } from '../model/turns.ts';
import type { OptOutStore } from './site-owner-store.ts';
import type { ListPage } from './store.ts';

export interface HostStore extends OptOutStore, WorkloadStore {
  /** Hosts that have work due and no living owner, best rank first. */
  offerHosts(limit: number): Promise<readonly HostOffer[]>;
  /**
   * Makes `owner` the owner for `leaseMs` from a moment between the call and its answer, with a new epoch. Tasks that an
   * earlier owner had claimed become ready again. Null when another owner has it or nothing is due.
   *
   * A lease that ran out, or that `releaseAllHosts` ended, means that its owner died, and the tasks that may have killed
   * it are counted in the same transaction: `interruptions` of each task that it had claimed becomes 1 where it was 0,
   * and grows by one where it was not and `startTask` had recorded the task under that claim; `loneInterruptions` grows
   * by one where it had recorded that the task was alone. Nothing is counted when
   * `owner` takes up its own former lease, or when the lease was of another incarnation of a shared store: such an owner
   * may be alive.
   *
   * A new incarnation of a shared store does not know the owners of hosts when the former one ended, so it is null for
   * `leaseMs` from its beginning: until then, owners of the former incarnation may be talking to their hosts. `former`
   * is for such an owner: a lease of an earlier incarnation on this host that has not run out by the owner's clock. It
   * proves that no one else talks to the host, and the host is given at once unless another owner has acquired it in
   * this incarnation. Null when `former` is of this incarnation, in which a lost lease is lost for good.
   */
  acquireHost(key: HostKey, owner: string, leaseMs: number, former?: LeaseRef): Promise<HostLease | null>;
  /** Extends the leases as `acquireHost` would begin them; returns the ids of hosts that are no longer ours. */
  renewHosts(leases: readonly LeaseRef[], leaseMs: number): Promise<readonly HostId[]>;
  /**
   * Ends ownership and keeps the host's state. Tasks still claimed become ready again, uninterrupted. The host is offered again
   * at `notBefore`, or when its next task is due, whichever is later. A lost lease changes nothing.
   */
  releaseHost(lease: LeaseRef, state: HostState, notBefore: number): Promise<void>;
  /** Keeps the states of owned hosts meanwhile. A lost lease changes nothing; hosts that a transaction locks may be left out. */
  saveHosts(hosts: readonly { readonly lease: LeaseRef; readonly state: HostState }[]): Promise<void>;
  /**
   * Ends every lease of owners that are known to be dead, because this process alone may use the store. A host that
   * has ready tasks and is not held is due then, also when the clock was set back since they came.
   * Only for stores that one process owns; shared ones reject.
   */
  releaseAllHosts(): Promise<number>;
  /**
   * Claims up to `limit` due tasks of the host: those that are served next after `turns` (`core/model/turns.ts`), of a job best
   * rank first; the answer orders tasks of one job only. Jobs that are over, at their page budget or in
   * `exceptJobs` are passed over, and what accounts cannot pay for (`CreditStore`) or have no place for (`AccountRecordStore`).
   * A job with nothing claimed that cannot pay is stopped with CREDITS_EXHAUSTED. Empty when nothing is due or the lease is lost.
   */
  claimTasks(
    lease: LeaseRef,
    limit: number,
    exceptJobs: readonly JobSeq[],
    turns?: Turns,
  ): Promise<readonly Task[]>;
  /**
   * Records that the work on a claimed task begins, and whether it is alone: no other task is under way in the process of
   * the owner. Owners call it for tasks with interruptions, before anything of the task is fetched; for the others the
   * claim is record enough. False when the lease does not hold the claim: then the work must not begin.
   */
  startTask(lease: LeaseRef, task: TaskId, isAlone: boolean): Promise<boolean>;
  getHost(key: HostKey): Promise<HostView | null>;
  listHosts(query: {
    readonly cursor?: string | undefined;
    readonly limit: number;
  }): Promise<ListPage<HostView>>;
  getRobots(origin: string): Promise<RobotsEntry | null>;
  putRobots(entry: RobotsEntry): Promise<void>;
}

export interface HostOffer {
  readonly key: HostKey;
  readonly rank: number;
}

export interface LeaseRef {
  readonly hostId: HostId;
  readonly epoch: number;
  /** The incarnation of the store that gave the lease. */
  readonly incarnation: Incarnation;
}

export interface HostLease extends LeaseRef {
  readonly key: HostKey;
  readonly state: HostState;
  /** When the last request was sent is unknown: the last owner did not release, or the store may have forgotten it. */
  readonly isTakenOver: boolean;
}

/** What the actor remembers between slices. Small: it is rewritten at every release. */
export interface HostState {
  /** When the last request started; null when it never did. */
  readonly lastRequestAt: number | null;
  /** Token bucket: tokens at `tokensAt`. */
  readonly tokens: number;
  readonly tokensAt: number;
  /** Rate factor after 429/503 and until when it holds. */
  readonly rateFactor: number;
  readonly rateFactorUntil: number;
  /** Nothing is sent before this (Retry-After). */
  readonly blockedUntil: number;
  readonly breaker: BreakerState;
  readonly requests: number;
  readonly failures: number;
  /** Which ways of fetching have worked here; missing while nothing was learned. */
  readonly memory?: HostMemory;
  /** Slices in a row that ended by unexpected errors of the program; missing when the last one did not. */
  readonly faults?: number;
  /** Why the host was released until a later time; missing when it was not. */
  readonly hold?: HostHold;
  /** Requests sent within the last hour; missing when there were none. */
  readonly sent?: SentRequests;
  /** Which accounts and jobs were served last; missing while tasks of one job alone were. */
  readonly turns?: Turns;
}

export interface BreakerState {
  readonly phase: 'closed' | 'open' | 'half-open';
  /** The last outcome of each of the last URLs, true = failure, oldest first, at most the window. */
  readonly window: readonly boolean[];
  /** The URLs of the window as short hashes; missing in a state that an earlier version has written. */
  readonly urls?: readonly string[];
  /** Failures since the last success, whichever URLs they were of. */
  readonly failuresInARow?: number;
  /** When the host last answered as a working host does. */
  readonly answeredAt?: number;
  readonly openedAt: number;
  readonly isProbing: boolean;
}

/** Why no request may be sent to a host for a while. */
export interface HostHold {
  readonly rule: Reason;
  /** When requests may be sent again, as far as is known now. The host may be offered earlier, to look again. */
  readonly until: number;
}

/** A host as the API shows it. */
export interface HostView {
  readonly key: HostKey;
  readonly state: HostState;
  readonly ready: number;
  readonly owner: string | null;
  readonly nextAt: number | null;
}

/** What is stored of the robots.txt of an origin. */
export interface RobotsEntry {
  readonly origin: string;
  /** ok: `body` has the rules. absent: everything is allowed (4xx). unreachable: nothing is (5xx, network). */
  readonly status: 'ok' | 'absent' | 'unreachable';
  readonly body: string;
  readonly fetchedAt: number;
  readonly expiresAt: number;
  readonly reason: string;
  /**
   * How often a process recorded that it asks for the file and died before it had stored the answer. Only processes whose
   * tasks were interrupted on the host record it.
   */
  readonly interruptions: number;
  /** Requests for the file in a row that got no usable answer: the pause until the next one grows with each. */
  readonly failures: number;
}

/** A part of the store: what the whole installation has to do, for metrics, autoscaling and the operator. */
export interface WorkloadStore {
  /**
   * Looks at what is open now, without a lock. Its cost grows with what waits: callers keep the answer for a few
   * seconds. Hosts beyond MOST_DUE_HOSTS are not counted.
   */
  workload(): Promise<Workload>;
}

export const MOST_DUE_HOSTS = 100_000;

export interface Workload {
  /** Ready, waiting and claimed tasks over all jobs. */
  readonly openTasks: number;
  /** Jobs that have not ended; a cancelled job with tasks under way is one of them. */
  readonly openJobs: Readonly<Partial<Record<JobStatus, number>>>;
  /** Hosts that have work due and no living owner: what `offerHosts` offers. */
  readonly dueHosts: number;
  /** How long the host that is due for longest has been so; 0 when none is due. */
  readonly oldestDueMs: number;
  /** How long the schedule that is due for longest has been so; 0 when none is due. */
  readonly scheduleOverdueMs: number;
}

/**
 * What a host has taught: which ways it lets in, and which of its pages can be read without scripts. It is plain
 * JSON and stays below a kilobyte, because it is written with the host's row. Older results count less, with a half-life of half a day.
 */
export interface HostMemory {
  /** By way: let in, or kept out. */
  readonly ways: Readonly<Record<string, OutcomeTally>>;
  /** By shape of URL: whole without scripts, or an empty shell. */
  readonly shapes: Readonly<Record<string, OutcomeTally>>;
  /** When a cheaper way was last tried again although it is not expected to work. */
  readonly probedAt: number;
}

/** Numbers of requests to a host by buckets of time, in few bytes: crawl/politeness/sent-requests.ts writes and reads them. */
export interface SentRequests {
  /** The number of the first bucket, counted from 1970. */
  readonly first: number;
  /** One number to base 36 for each bucket, separated by commas; empty where nothing was sent. */
  readonly counts: string;
}

/** Good and bad experiences that fade, and when they were last written down, in minutes since 1970. */
export type OutcomeTally = readonly [good: number, bad: number, atMinute: number];
