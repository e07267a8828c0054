import type { ErrorCode } from '../errors/registry.ts';
import type { Attempt } from '../model/attempt.ts';
import type { HostKey, JobId, JobSeq, TaskId } from '../model/ids.ts';
import type { NewPage } from '../model/page.ts';
import type { LedgerReason } from '../model/reasons.ts';
import type { NewTask } from '../model/task.ts';
import type { HostOffer, LeaseRef } from './host-store.ts';

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
  /** `used` was refused before a request was sent, so it costs nothing. Missing: one was sent. */
  readonly isUnsent?: true;
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
