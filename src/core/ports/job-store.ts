import type { ErrorCode } from '../errors/registry.ts';
import type { EngineName } from '../model/attempt.ts';
import type { AccountId, HostKey, JobId, ScheduleId, TaskId, UrlKey } from '../model/ids.ts';
import type { Budgets, Job, JobStatus, NewJob, Pace, PageOptions } from '../model/job.ts';
import type { JobKind } from '../model/job-kinds.ts';
import type { Page } from '../model/page.ts';
import type { StopReason } from '../model/reasons.ts';
import type { LedgerEntry, NewTask, TaskState } from '../model/task.ts';
import type { HostHold } from './host-store.ts';
import type { ListPage } from './store.ts';

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

/** Open tasks of one job on one host that are in the same state, and of waiting ones those with the same rule. */
export interface TaskWait {
  readonly hostKey: HostKey;
  readonly state: Extract<TaskState, 'ready' | 'waiting' | 'claimed'>;
  readonly tasks: number;
  /** Why they wait; null for tasks that are not waiting. */
  readonly rule: string | null;
  /** When the first of them may be claimed; null for tasks that are not waiting. */
  readonly readyAt: number | null;
  /** Until when the host is not offered to an owner; null while it has one, and while it is not held. */
  readonly heldUntil: number | null;
  /** Why the host is held, where its last owner has said so; null when it is not held. */
  readonly hold: HostHold | null;
}

/** The part of a store in which later jobs find the pages of earlier ones. */
export interface StoredPageStore {
  /** The pages without an error that the job has for these URLs, in no order; none for a job that is gone. */
  pagesOf(jobId: JobId, urlKeys: readonly UrlKey[]): Promise<readonly StoredPage[]>;
  /** Pages without an error that scrapes and batches of the account have stored for a URL, newest first. */
  recentPages(query: RecentPageQuery): Promise<readonly StoredPage[]>;
}

export interface RecentPageQuery {
  readonly accountId: AccountId;
  readonly urlKey: UrlKey;
  /** Fetched at this time or later. */
  readonly since: number;
  readonly limit: number;
}

/** A page as later jobs may use it: what was sent and received, without what was read out of it. */
export interface StoredPage
  extends Pick<
    Page,
    | 'url'
    | 'finalUrl'
    | 'statusCode'
    | 'contentType'
    | 'contentHash'
    | 'bytes'
    | 'etag'
    | 'lastModified'
    | 'fetchedAt'
  > {
  readonly urlKey: UrlKey;
  /** The engine of the last attempt. */
  readonly engine: EngineName;
  /** The options of its job, secrets hidden. */
  readonly options: PageOptions;
}
