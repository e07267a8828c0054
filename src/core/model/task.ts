import type { ErrorCode } from '../errors/registry.ts';
import type { Attempt } from './attempt.ts';
import type { HostKey, JobId, JobSeq, TaskId, UrlKey } from './ids.ts';
import type { TaskReason } from './task-reasons.ts';

/**
 * A task is one URL of one job. It is *open* while `ready`, `waiting` or `claimed`, and ends exactly once.
 *
 * ready     may be claimed now
 * waiting   may be claimed from `readyAt` on (a retry)
 * claimed   the owner of its host works on it; `epoch` says which owner
 * done      fetched; its page is stored
 * failed    tried and given up; `errorCode` says why
 * skipped   never fetched, or not kept, by a rule of the job (scope, budget, duplicate, noindex …)
 * denied    never fetched, by a rule of politeness or policy (robots, opt-out, deny list …)
 * cancelled dropped by a cancel; becomes ready again on resume
 */
export const TASK_STATES = [
  'ready',
  'waiting',
  'claimed',
  'done',
  'failed',
  'skipped',
  'denied',
  'cancelled',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** page: fetch and extract. sitemap: fetch and read URLs from it. site: find a site's sitemaps from its robots.txt. */
export const TASK_KINDS = ['page', 'sitemap', 'site'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

export const FOUND_BY = ['seed', 'link', 'sitemap', 'redirect', 'canonical', 'robots'] as const;
export type FoundBy = (typeof FOUND_BY)[number];

/** A URL on its way into the frontier. `ready` ones will be fetched, the others are only remembered with their rule. */
export interface NewTask {
  readonly kind: TaskKind;
  readonly url: string;
  readonly urlKey: UrlKey;
  readonly hostKey: HostKey;
  readonly depth: number;
  readonly foundBy: FoundBy;
  readonly foundOn: TaskId | null;
  readonly state: 'ready' | 'skipped' | 'denied';
  /** The rule that decided, e.g. `scope.exclude:/admin/`. Null for ready tasks. */
  readonly rule: TaskReason | null;
}

/** A claimed task as its host's owner sees it. */
export interface Task {
  readonly id: TaskId;
  readonly jobSeq: JobSeq;
  readonly jobId: JobId;
  readonly kind: TaskKind;
  readonly url: string;
  /** Where it is now: differs from `url` after a redirect to another host. */
  readonly atUrl: string;
  /** Redirects followed so far, across hosts. */
  readonly hops: number;
  readonly urlKey: UrlKey;
  readonly depth: number;
  /** When this process claimed it; missing before it is in the mailbox. */
  readonly claimedAt?: number;
  /** Its account may fetch so many pages at a time, and others may wait for the place that its end makes free. */
  readonly isBounded?: boolean;
  /** Attempts that ended before this claim. */
  readonly attempts: number;
  /** Their trace, so that a later owner can go on where the last one stopped. */
  readonly trace: readonly Attempt[];
  /**
   * How often the owner of the host died while it had the task. The first time counts for every task that the owner had
   * claimed, later times only for those that it had recorded as started.
   */
  readonly interruptions: number;
  /** How many of `interruptions` came while the owner had recorded that nothing else was under way in its process. */
  readonly loneInterruptions: number;
}

/** One line of the ledger: everything known about a URL of a job. */
export interface LedgerEntry {
  readonly url: string;
  readonly kind: TaskKind;
  readonly state: TaskState;
  /** What became of it in one word of the requirements. */
  readonly decision: 'pending' | 'fetched' | 'skipped' | 'denied' | 'failed' | 'cancelled';
  readonly rule: string | null;
  readonly errorCode: ErrorCode | null;
  readonly depth: number;
  readonly foundBy: FoundBy;
  readonly foundOn: string | null;
  readonly attempts: readonly Attempt[];
  readonly discoveredAt: string;
  readonly finishedAt: string | null;
}

/**
 * What to do with tasks that were under way when a process died. Any of them may have killed it, or none: the store
 * counts the deaths (`Task.interruptions`), and the owners of hosts find out which task it was with few more deaths.
 *
 * After one death the task runs beside all others, but its start is recorded. After two it runs alone in its process
 * (`Quarantine`), which is recorded too. After two deaths while it was alone the task ends: nothing else was under way,
 * and a process that is killed for another reason hardly ever dies during the same lone task twice.
 */

/** From this many interruptions on a task runs alone. */
const ALONE_FROM = 2;
/** Interruptions while it was alone, after which a task ends. */
export const MOST_LONE_INTERRUPTIONS = 2;

export const mustRunAlone = ({ interruptions }: Pick<Task, 'interruptions'>): boolean =>
  interruptions >= ALONE_FROM;

export const hasDiedTooOften = ({ loneInterruptions }: Pick<Task, 'loneInterruptions'>): boolean =>
  loneInterruptions >= MOST_LONE_INTERRUPTIONS;
