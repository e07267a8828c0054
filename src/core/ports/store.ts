import type { ErrorCode } from '../errors/registry.ts';
import type { Attempt } from '../model/attempt.ts';
import type { HostMemory, SentRequests } from '../model/host-memory.ts';
import type {
  AccountId,
  HostId,
  HostKey,
  Incarnation,
  JobId,
  JobSeq,
  ScheduleId,
  TaskId,
  UrlKey,
} from '../model/ids.ts';
import type { Budgets, Job, JobStatus, NewJob, Pace } from '../model/job.ts';
import type { JobKind } from '../model/job-kinds.ts';
import type { NewPage, Page } from '../model/page.ts';
import type { LedgerReason, StopReason } from '../model/reasons.ts';
import type { LedgerEntry, NewTask, Task, TaskState } from '../model/task.ts';
import type { Turns } from '../model/turns.ts';
import type { AccountDeletionStore } from './account-deletion-store.ts';
import type { AccountRecordStore } from './account-store.ts';
import type { AnswerStore } from './answer-store.ts';
import type { KeyStore } from './api-key.ts';
import type { AuditStore } from './audit-store.ts';
import type { CreditStore } from './credit-store.ts';
import type { DerivedStore } from './derived-store.ts';
import type { EventStore } from './event-store.ts';
import type { HostView } from './host-view.ts';
import type { OptOutStore } from './opt-out-store.ts';
import type { OwnerRequestStore } from './owner-request-store.ts';
import type { ReferenceStore } from './reference-store.ts';
import type { RetentionStore } from './retention-store.ts';
import type { RobotsEntry } from './robots-entry.ts';
import type { ScheduleStore } from './schedule-store.ts';
import type { SecretStore } from './secret-store.ts';
import type { SessionStore } from './session-store.ts';
import type { SignInStore } from './sign-in-store.ts';
import type { SiteStore } from './site-store.ts';
import type { StoredPageStore } from './stored-page.ts';
import type { HostHold, TaskWait } from './task-wait.ts';
import type { WebhookStore } from './webhook-store.ts';
import type { WorkloadStore } from './workload-store.ts';

/**
 * The only truth. Every method is one transaction: it happened whole and survives a crash when the promise
 * resolves, or it did not happen.
 *
 * Times are epoch milliseconds by the store's clock. That clock decides what is due, over or owned, within the
 * transaction; no method takes the present time from its caller, whose clock may be wrong or be set while it runs. A
 * store that processes share has the clock of its server; a store in the process has the clock that it was opened
 * with. Points in time that callers hand in (`readyAt`, `notBefore`, `expiresAt`) are by `clock()`.
 *
 * A host has at most one owner at a time. Owning is a lease with an epoch; the epoch grows with every new owner,
 * and whatever an older owner sends later is recognised by it and changes nothing.
 *
 * A store may go back in time: a backup is restored, or a replica that had not received everything takes over. What was
 * committed last is then gone, and numbers of rows (hosts, tasks, jobs) are given out again. Such a store is another
 * incarnation, and so is one that was merely restarted, because the two cannot be told apart. Every lease is of one
 * incarnation and is lost in every other, so each call that carries a lease is refused by the same check, within the
 * same transaction, that refuses an older owner.
 *
 * What callers remember of the store (which URLs a job has, which rows a number names) they remember of one incarnation.
 * A completion may leave out URLs that the store is known to have only where that was learned in the incarnation of its
 * lease: then the store is either that incarnation still, or refuses the completion, and the page is fetched again.
 */
export interface Store
  extends JobStore,
    SiteStore,
    HostStore,
    LedgerStore,
    AccountStore,
    SignInStore,
    SessionStore,
    SecretStore,
    ReferenceStore,
    EventStore,
    DerivedStore,
    AnswerStore,
    AccountDeletionStore,
    RetentionStore,
    OwnerRequestStore,
    WebhookStore,
    CreditStore,
    ScheduleStore {
  /** Brings the schema up to date; safe to call by many at once. Throws SCHEMA_TOO_NEW, DATABASE_CORRUPT. */
  migrate(): Promise<{ from: number; to: number }>;
  /** The store's own time: all processes that share it use this clock, because the clocks of their machines may differ. */
  clock(): Promise<number>;
  /** Writes and reads a probe row. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface JobStore extends StoredPageStore {
  /**
   * Stores the job with its first tasks and returns it. Tasks whose urlKey repeats are kept once, the first one.
   * A job without a ready task is finished at once.
   *
   * `isUnsynced`: it survives the end of this process when the promise resolves, and a power failure only with the
   * next call that is not; for callers that make such a call next anyway.
   *
   * Throws CREDITS_EXHAUSTED when the account has limits and cannot pay for one task; nothing is stored then.
   *
   * A job of a schedule's run is only made when the run is open and no other job of the schedule goes on: CONFLICT
   * otherwise. The run is started with it.
   *
   * Of a job whose kind is awaited the answer also tells until when its host is held: no owner will take the job up before.
   */
  createJob(
    job: NewJob,
    tasks: readonly NewTask[],
    how?: { readonly isUnsynced: boolean },
  ): Promise<CreatedJob>;
  getJob(id: JobId): Promise<Job | null>;
  /** Lists the jobs of an account, the newest first. */
  listJobs(query: JobQuery): Promise<ListPage<Job>>;
  /**
   * Drops ready and waiting tasks; claimed ones go on and are kept when they end. Status `cancelled` at once; `finishedAt`
   * when nothing is claimed any more. Null when there is no such job; a job that has ended is returned as it is.
   * `stopReason` is kept with the job, for jobs that the program cancels by itself.
   */
  cancelJob(id: JobId, stopReason?: StopReason): Promise<Job | null>;
  /**
   * Skips ready and waiting tasks by the reason, and keeps it as `stopReason`, as a spent budget does; claimed tasks go on.
   * Null when there is no such job; one that has ended, was cancelled or was stopped before is returned as it is.
   */
  stopJob(id: JobId, reason: StopReason): Promise<Job | null>;
  /**
   * Makes cancelled tasks, and tasks skipped by a spent budget, by log-in walls or by the reason the job was stopped for,
   * ready again, without interruptions; with new budgets and pace where given. A `retryJob` in between changes nothing in that.
   * A job without such tasks that was not cancelled is returned as it is, and so is one that has ended and has spent one of
   * the budgets already: nothing of it changes, and no event is written.
   * Throws EXPIRED when its URLs were deleted by `expireLedger`, and CREDITS_EXHAUSTED when the job has ended and its
   * account cannot pay for one task; nothing has changed then.
   */
  resumeJob(id: JobId, budgets?: Budgets, pace?: Pace): Promise<Job | null>;
  /**
   * Makes failed tasks ready again with fresh attempts and no interruptions; their old pages are replaced when they end.
   * `only`: those that failed with this code. Throws EXPIRED and CREDITS_EXHAUSTED as `resumeJob` does.
   */
  retryJob(id: JobId, only?: ErrorCode): Promise<Job | null>;
  /**
   * Removes the job and all that belongs to it but blobs, which the sweep removes once nothing refers to them. No other
   * call finds it or anything of it afterwards; of a large job, `purge` deletes the rows later. False when there is none.
   * Only ended jobs: CONFLICT.
   */
  deleteJob(id: JobId): Promise<boolean>;
  /** Ends jobs whose duration budget is spent, as a spent budget does in commit. Returns their ids. */
  expireJobs(): Promise<readonly JobId[]>;
  /** Open tasks over all jobs: what the queue depth limit looks at. */
  countOpenTasks(): Promise<number>;
  /** Pages of a job in the order they were stored. */
  listPages(query: PageQuery): Promise<ListPage<Page>>;
  getPage(jobId: JobId, taskId: TaskId): Promise<Page | null>;
  /** The ledger of a job in the order URLs were discovered. */
  listTasks(query: TaskQuery): Promise<ListPage<LedgerEntry>>;
  /**
   * Where the open tasks of a job stand, most tasks first. Of a large job the first and the last thousand URLs are
   * looked at, and there are a hundred entries at most. Empty when nothing is open or there is no such job.
   */
  listWaits(id: JobId): Promise<readonly TaskWait[]>;
  /** The line of the ledger for one URL; null when the job does not know it. */
  findTask(jobId: JobId, urlKey: UrlKey): Promise<FoundTask | null>;
  /** `sources` as the job was created with; empty when it had none, or when there is no such job. */
  getSources(jobId: JobId): Promise<Readonly<Record<string, string>>>;
}

export type CreatedJob = Job & { readonly heldUntil?: number };

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

export interface LedgerStore {
  /**
   * The one write of the crawl: ends, delays or moves claimed tasks, stores their pages, adds what they found,
   * counts, and ends the jobs whose last task this was. A completion whose lease is lost is left out and reported;
   * the others are kept.
   *
   * After STORE_UNAVAILABLE it is unknown whether the commit happened: sending the same list again returns the first answer when
   * it did, and commits otherwise.
   *
   * Any text that a page brings can be kept, if need be with replacement characters. Throws UNSTORABLE when something
   * else in the list cannot: nothing of it has happened then, and a list without it can be committed.
   */
  commit(completions: readonly Completion[]): Promise<Receipt>;
  /**
   * Reserves a redirect's target for the task that was led there, so that a job stores one page for both. False
   * when the job knows that URL otherwise; repeating it for the same task is true again.
   */
  reserveUrl(lease: LeaseRef, task: TaskId, target: NewTask): Promise<boolean>;
}

export interface AccountStore extends AuditStore, AccountRecordStore, KeyStore {
  /** The account that owns everything on an installation with one user; made by the first migration. */
  defaultAccount(): Promise<AccountId>;
}

/** One screenful and where the next begins; null at the end. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export interface JobQuery {
  readonly accountId: AccountId;
  readonly status?: JobStatus | undefined;
  readonly kind?: JobKind | undefined;
  /** Only jobs of this schedule. */
  readonly scheduleId?: ScheduleId | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface PageQuery {
  readonly jobId: JobId;
  /** done: fetched well. failed: with an error. Left out: both. */
  readonly state?: 'done' | 'failed' | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface TaskQuery {
  readonly jobId: JobId;
  readonly state?: TaskState | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface FoundTask {
  readonly taskId: TaskId;
  readonly entry: LedgerEntry;
  /** When a waiting task may be claimed; else null. */
  readonly readyAt: number | null;
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

/** How one claimed task ended, or goes on. */
export interface Completion {
  readonly lease: LeaseRef;
  readonly taskId: TaskId;
  readonly jobSeq: JobSeq;
  readonly end: TaskEnd;
  /** The whole trace of the task so far. */
  readonly trace: readonly Attempt[];
  /** Counted towards the job's bytes, whatever the end. */
  readonly bytes: number;
  /** Counted the same way, with budgets of their own. Missing: nothing of it. */
  readonly spent?: { readonly browserMs: number; readonly proxyBytes: number };
  /** The attempt that was made since the task was claimed; missing: none was. It is counted as usage. */
  readonly used?: Attempt;
  /** What the task costs more than before; negative: a refund. Charged to the account and counted as usage. Missing: 0. */
  readonly microcredits?: number;
  /** A page without an error whose body an earlier page of the job has gets that page's URL as `duplicateOf`. */
  readonly page: NewPage | null;
  readonly discovered: readonly NewTask[];
}

export type TaskEnd =
  | { readonly state: 'done' | 'skipped' | 'denied'; readonly rule: LedgerReason | null }
  | { readonly state: 'failed'; readonly rule: LedgerReason | null; readonly errorCode: ErrorCode }
  /** A retry of the same URL from `readyAt` on. */
  | { readonly state: 'waiting'; readonly readyAt: number; readonly rule: LedgerReason | null }
  /** The task is given back without an attempt. */
  | { readonly state: 'ready' }
  /** Goes on at another host, where a redirect led. */
  | { readonly state: 'moved'; readonly atUrl: string; readonly hostKey: HostKey; readonly hops: number };

export interface Receipt {
  /** Completions whose lease was lost: their work is void. */
  readonly rejected: readonly TaskId[];
  /** Hosts that got ready tasks in this transaction. */
  readonly readyHosts: readonly HostOffer[];
  readonly changedJobs: readonly JobId[];
  readonly finishedJobs: readonly JobId[];
  /** Jobs that a spent budget stopped. */
  readonly stoppedJobs: readonly JobId[];
  /** Pages that got a `duplicateOf` because an earlier page of their job has the same body. */
  readonly duplicates: readonly { readonly taskId: TaskId; readonly url: string }[];
}
