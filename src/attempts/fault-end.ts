import { isRedirect } from '../fetch/http/redirect.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Task } from '../model/task.ts';
import { retryDelayMs } from '../politeness/backoff.ts';
import type { LeaseRef, TaskEnd } from '../ports/store.ts';
import { type AttemptMethod, type Finished, failedPage } from './finish-task.ts';
import type { RunningJob } from './running-job.ts';

/** What a client reads; the log has the error itself, which may name paths and addresses. */
const REASON = 'Scrapifie failed on this URL because of an error of its own; the log has the details.';

/** Unexpected errors of a host in a row, without one task that ended as planned, before the host is left alone. */
export const MOST_FAULTS_IN_A_ROW = 8;
const FIRST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 60_000;

/** For how long a host is left alone after `earlier` slices in a row that ended by unexpected errors. */
export function faultHoldMs(earlier: number): number {
  return Math.min(LONGEST_HOLD_MS, FIRST_HOLD_MS * 2 ** Math.min(earlier, 16));
}

/** How an attempt is recorded whose error came before the ladder had chosen a way. */
export function unplannedMethod(task: Task, { job }: RunningJob): AttemptMethod {
  const { engine: wished, identity } = job.options.page;
  const last = task.trace.at(-1);
  return {
    engine: last?.engine ?? (wished === 'auto' ? 'http' : wished),
    proxyTier: last?.proxyTier ?? null,
    identity: last?.identity ?? identity ?? 'bot',
    hasSolver: false,
    reason: 'plan.none',
  };
}

/**
 * What an unexpected error makes of a task: it counts as an attempt, so that the count holds for every later owner
 * too, and after the last attempt the task fails with INTERNAL. Otherwise one URL would be asked for without end.
 */
export function endAfterFault(
  task: Task,
  { job }: RunningJob,
  lease: LeaseRef,
  way: AttemptMethod,
  now: number,
  random: () => number,
): Finished {
  const { engine, proxyTier, identity, hasSolver, reason } = way;
  const attempt: Attempt = {
    engine,
    proxyTier,
    ...(identity === 'browser' ? { identity } : {}),
    ...(hasSolver ? { hasSolver } : {}),
    reason,
    outcome: 'error',
    evidence: REASON,
    errorCode: 'INTERNAL',
    statusCode: null,
    ms: 0,
    bytes: 0,
    at: new Date(now).toISOString(),
  };
  const trace = [...task.trace, attempt];
  const made = trace.filter(({ statusCode }) => statusCode === null || !isRedirect(statusCode)).length;
  const isLast = made >= job.options.page.maxAttempts;
  const end: TaskEnd = isLast
    ? { state: 'failed', rule: 'attempt.error', errorCode: 'INTERNAL' }
    : { state: 'waiting', readyAt: now + retryDelayMs(made, random), rule: 'retry:INTERNAL' };
  const page =
    isLast && task.kind === 'page' ? failedPage(task, { code: 'INTERNAL', message: REASON }, now) : null;
  const completion = {
    lease,
    taskId: task.id,
    jobSeq: task.jobSeq,
    end,
    trace,
    bytes: 0,
    page,
    discovered: [],
  };
  return { completion, attempt, reading: null, fault: null };
}
