import { isScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey, JobId } from '../../../core/model/ids.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { Task } from '../../../core/model/task.ts';
import type { StopReason } from '../../../core/model/task-reasons.ts';
import type { Logger } from '../../../core/observe/logger.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import { logCompleted, logFailed } from '../../../core/observe/task-log.ts';
import type { HostLease } from '../../../core/ports/host-store.ts';
import type { Completion, TaskEnd } from '../../../core/ports/ledger-store.ts';
import { inSpan, isRecorded } from '../../../core/tracing/tracing.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { HostAccess } from '../access/host-access.ts';
import type { TaskRefusal } from '../admission/task-admission.ts';
import type { Finished } from '../attempt/finish-task.ts';
import type { Faulted } from '../attempt/make-attempt.ts';
import type { Postponed } from '../attempt/prepare-attempt.ts';
import { noteAttempt } from '../process/attempt-spans.ts';
import { LOGIN_WALLS } from '../process/login-walls.ts';
import type { ClaimedTask } from '../process/running-job.ts';
import {
  type AttemptMethod,
  completionOf,
  endAfterDeaths,
  endAfterFault,
  failedPage,
  unplannedMethod,
} from '../process/task-end.ts';
import type { Mailbox } from './mailbox.ts';

/**
 * Hands the ends of a slice's tasks to the ledger. The promises resolve when the end is stored, or when it is known that
 * it will not be; they never reject.
 */
export interface TaskEnds {
  /** An attempt was made, was postponed, or broke off. */
  attempted(claimed: ClaimedTask, made: Finished | Postponed | Faulted): Promise<void>;
  /** The task must not be fetched. */
  refused(claimed: ClaimedTask, refusal: TaskRefusal): Promise<void>;
  /** Processes died too often while they had the task. */
  died(claimed: ClaimedTask): Promise<void>;
  /**
   * Counts an unexpected error as an attempt of the task and goes on with the others. When nothing but such errors
   * comes, they are hardly the tasks' fault: the host is left alone for a while, or all its tasks would end by them.
   */
  faulted(claimed: ClaimedTask, error: unknown, method?: AttemptMethod): Promise<void>;
  /** Ends on their way to the store. */
  readonly unwritten: number;
  /** Resolves when all ends so far are stored, and what followed from them. */
  allWritten(): Promise<void>;
  /** An attempt ended without an unexpected error. */
  readonly hasWorked: boolean;
}

export interface TaskEndsParts {
  readonly lease: HostLease;
  readonly ledger: Ledger;
  readonly mailbox: Mailbox;
  readonly access: Pick<HostAccess, 'inFlight'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Attempts under way were asked to end. */
  readonly aborted: AbortSignal;
  readonly onChange: () => void;
  /** The store says that the lease is lost. */
  readonly onLost: () => void;
  /** A part that the slice as a whole needs has failed. */
  readonly onFailure: (error: unknown) => void;
  /** Nothing but unexpected errors comes. */
  readonly onManyFaults: () => void;
  /** Ends the tasks of the job that have not begun, with the reason. */
  readonly stopJob: (id: JobId, reason: StopReason) => Promise<void>;
}

/** Unexpected errors of a host in a row, without one task that ended as planned, before the host is left alone. */
const MOST_FAULTS_IN_A_ROW = 8;

/** Ends of an attempt after which the task is in a mailbox again. */
const GOES_ON: ReadonlySet<string> = new Set<TaskEnd['state']>(['waiting', 'ready', 'moved']);

export function createTaskEnds(parts: TaskEndsParts): TaskEnds {
  const { lease, ledger, mailbox, access, now, random, logger, metrics, onChange, onFailure } = parts;
  const writes = new Set<Promise<void>>();
  /** Unexpected errors since the last task that went as planned. */
  let faultsInARow = 0;
  let hasWorked = false;

  const faulted = (claimed: ClaimedTask, error: unknown, method?: AttemptMethod): Promise<void> =>
    countFault(claimed, error, method ?? unplannedMethod(claimed.task, claimed.running)).catch(onFailure);

  async function countFault(claimed: ClaimedTask, error: unknown, method: AttemptMethod): Promise<void> {
    const { task, running } = claimed;
    const facts = { host: lease.key, jobId: task.jobId, taskId: task.id, url: task.url };
    logger.error({ ...facts, attempts: task.trace.length + 1, err: error }, 'task failed unexpectedly');
    // An attempt that was told to stop may break off anywhere.
    if (parts.aborted.aborted) return;
    const finished = endAfterFault(task, running, lease, method, now(), random);
    const written = write(finished.completion, claimed, true);
    // URLs that were found before the error are not kept.
    running.generation += 1;
    faultsInARow += 1;
    if (faultsInARow >= MOST_FAULTS_IN_A_ROW) parts.onManyFaults();
    reportAttempt(task, finished, lease.key, logger, metrics);
    await written;
  }

  /** `isFaultEnd`: it stands for an unexpected error, so that one more is none of the task's. */
  function write(completion: Completion, claimed: ClaimedTask, isFaultEnd = false): Promise<void> {
    const { running, task } = claimed;
    // A client waits for a scrape; and a host that has nothing else to do waits for the URLs that the page led to.
    const isStarving = mailbox.size === 0 && access.inFlight === 0 && completion.discovered.length > 0;
    const isAwaited = traitsOfKind(running.job.kind).isUrgent || isStarving || task.interruptions > 0;
    const written = writeInSpan(completion, isAwaited)
      .then((isKept) => {
        if (!isKept) {
          running.generation += 1;
          parts.onLost();
        }
        // The store may have new tasks for this host now: URLs of the page, the task itself again, or one for its place.
        else if (
          completion.discovered.length > 0 ||
          GOES_ON.has(completion.end.state) ||
          task.isBounded === true
        )
          mailbox.onNewTasks();
      })
      .catch((error: unknown) => {
        running.generation += 1;
        if (!isScrapifieError(error) && !isFaultEnd) return faulted(claimed, error);
        const facts = { host: lease.key, jobId: running.job.id, taskId: completion.taskId, err: error };
        logger.error(facts, 'the ledger refused a task');
        // A task that is UNSTORABLE has ended, and the host has nothing to do with it.
        if (!isScrapifieError(error) || error.code !== 'UNSTORABLE') onFailure(error);
        return undefined;
      })
      .catch(onFailure);
    return untilStored(written);
  }

  function writeInSpan(completion: Completion, isAwaited: boolean): Promise<boolean> {
    if (!isRecorded()) return ledger.write(completion, isAwaited);
    const attributes = { 'scrapifie.task.end': completion.end.state };
    return inSpan('ledger commit', { attributes }, () => ledger.write(completion, isAwaited));
  }

  /** The slice keeps the host until this is over: a host that is released ends its claimed tasks in another way. */
  function untilStored(work: Promise<void>): Promise<void> {
    const stored = work.finally(() => {
      writes.delete(stored);
      onChange();
    });
    writes.add(stored);
    return stored;
  }

  function finished(claimed: ClaimedTask, end: ReportedEnd): Promise<void> {
    reportAttempt(claimed.task, end, lease.key, logger, metrics);
    return write(end.completion, claimed);
  }

  /** Before the last of them is stored: the job must not end for want of tasks without the reason. */
  async function stopAtWalls(claimed: ClaimedTask, end: ReportedEnd): Promise<void> {
    const { id } = claimed.running.job;
    logger.info({ jobId: id, host: lease.key }, 'crawl stopped: its pages ask to log in');
    await parts.stopJob(id, LOGIN_WALLS);
    await finished(claimed, end);
  }

  return {
    attempted(claimed, made) {
      if ('error' in made) return faulted(claimed, made.error, made.method);
      faultsInARow = 0;
      hasWorked = true;
      if ('postponed' in made) return write(completionOf(lease, claimed.task, made.postponed), claimed);
      const { task, running } = claimed;
      const isWalled = running.loginWalls.count(lease.key, task, made.completion.end, made.attempt);
      return isWalled ? untilStored(stopAtWalls(claimed, made).catch(onFailure)) : finished(claimed, made);
    },
    refused(claimed, { end, discovered = [], failure }) {
      const { task } = claimed;
      const page = failure === undefined || task.kind !== 'page' ? null : failedPage(task, failure, now());
      return write(completionOf(lease, task, end, { discovered, page }), claimed);
    },
    died: (claimed) => finished(claimed, endAfterDeaths(claimed.task, claimed.running, lease, now())),
    faulted,
    get unwritten() {
      return writes.size;
    },
    async allWritten() {
      // The end of one write may be another: that of an unexpected error.
      while (writes.size > 0) await Promise.all(writes);
    },
    get hasWorked() {
      return hasWorked;
    },
  };
}

type ReportedEnd = Pick<Finished, 'completion' | 'attempt'> & Partial<Pick<Finished, 'reading'>>;

/** Counts an attempt in the metrics and logs how it ended. */
function reportAttempt(
  task: Task,
  ended: ReportedEnd,
  host: HostKey,
  logger: Logger,
  metrics: Metrics,
): void {
  const { completion, attempt, reading = null } = ended;
  noteAttempt(attempt);
  metrics.fetched(attempt, host);
  if (reading !== null) metrics.extracted(reading.ms);
  const { end } = completion;
  if (end.state === 'waiting') metrics.retried();
  const facts = {
    jobId: task.jobId,
    taskId: task.id,
    url: task.url,
    engine: attempt.engine,
    durationMs: attempt.ms,
    attempts: completion.trace.length,
  };
  if (end.state === 'failed') {
    const reason = attempt.evidence ?? attempt.outcome;
    const { proxyTier, statusCode } = attempt;
    logFailed(logger, { ...facts, statusCode, errorCode: end.errorCode, reason, proxyTier });
  } else if (end.state === 'done' && reading !== null) {
    const { statusCode, bytes } = attempt;
    logCompleted(logger, { ...facts, statusCode, bytes, ...reading.yield });
  }
}
