import type { ErrorCode } from '../../../core/errors/registry.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../../core/model/attempt.ts';
import { DEFAULT_ATTEMPT_MS, type PageOptions } from '../../../core/model/job.ts';
import { type NewPage, WITHOUT_CONTENT } from '../../../core/model/page.ts';
import type { Task } from '../../../core/model/task.ts';
import type { LeaseRef } from '../../../core/ports/host-store.ts';
import type { Completion, TaskEnd } from '../../../core/ports/ledger-store.ts';
import type { LadderStep } from '../../plan/ladder/ladder.ts';
import { type AttemptEnd, chargedAttempts, errorCodeOf } from '../../plan/outcome.ts';
import { retryDelayMs } from '../../politeness/retry-after.ts';
import type { RunningJob } from './running-job.ts';

/** The outcome of an attempt, as far as the host and the task are concerned. */
export interface AttemptResult extends AttemptEnd {
  readonly errorCode: ErrorCode | null;
  readonly retryAfterMs: number | null;
}

/**
 * How the task goes on after an attempt: it ends, or waits for the next attempt, if the ladder has one. `made` counts the
 * attempts so far, this one included.
 */
export function endAfter(
  result: AttemptResult,
  next: LadderStep,
  made: number,
  now: number,
  random: () => number,
): TaskEnd {
  const errorCode = errorCodeOf(result);
  if (next.kind === 'attempt') {
    // Another method need not wait: the host has refused the last method, not the next one.
    if (!next.isRetry) return { state: 'waiting', readyAt: now, rule: next.reason };
    const delayMs = retryDelayMs(made, random, result.retryAfterMs ?? undefined);
    return { state: 'waiting', readyAt: now + delayMs, rule: `retry:${errorCode ?? result.outcome}` };
  }
  if (errorCode === null) {
    return { state: 'done', rule: result.outcome === 'ok' ? null : `outcome.${result.outcome}` };
  }
  const rule = next.missingConsents === undefined ? (`attempt.${result.outcome}` as const) : next.reason;
  return { state: 'failed', rule, errorCode };
}

/** The task waits until this installation can go on with it; no attempt is recorded. */
export const ownFaultEnd = (code: ErrorCode, readyAt: number): TaskEnd => ({
  state: 'waiting',
  readyAt,
  rule: `own-fault:${code}`,
});

/** The ledger's entry for a task; fields that are not given are those of a task that was not fetched. */
export function completionOf(
  lease: LeaseRef,
  task: Task,
  end: TaskEnd,
  more: Partial<
    Pick<Completion, 'trace' | 'bytes' | 'spent' | 'used' | 'isUnsent' | 'page' | 'discovered'>
  > = {},
): Completion {
  return {
    lease,
    taskId: task.id,
    jobSeq: task.jobSeq,
    end,
    trace: task.trace,
    bytes: 0,
    page: null,
    discovered: [],
    ...more,
  };
}

/** The method of an attempt, as its trace records it. */
export type AttemptMethod = Pick<Attempt, 'engine' | 'proxyTier' | 'proxyId' | 'reason'> & {
  readonly identity: NonNullable<Attempt['identity']>;
  readonly hasSolver: boolean;
};

/** The method that is recorded for an attempt whose error came before the ladder had chosen one. */
export function unplannedMethod(task: Task, { job }: RunningJob): AttemptMethod {
  const { engine: requested, identity } = job.options.page;
  const last = task.trace.at(-1);
  return {
    engine: last?.engine ?? (requested === 'auto' ? 'http' : requested),
    proxyTier: last?.proxyTier ?? null,
    identity: last?.identity ?? identity ?? 'bot',
    hasSolver: false,
    reason: 'plan.none',
  };
}

/** A task that ended without a response: its attempt, and the ledger's entry. */
interface EndWithoutResponse {
  readonly completion: Completion;
  readonly attempt: Attempt;
}

/** The message for clients. The log has the error itself, which may name paths and addresses. */
const FAULT_MESSAGE = 'Scrapifie failed on this URL because of an error of its own; the log has the details.';
const DEATHS_MESSAGE =
  'Processes died while they worked on this URL, twice with nothing else under way, so it is not tried again. ' +
  'The log of the process, or of the system, says how it ended. Retry the job when the cause is removed.';

/**
 * The end of a task after an unexpected error of the program. The error counts as an attempt, so that the count holds for
 * every later owner too, and after the last attempt the task fails with INTERNAL. Otherwise one URL would be requested
 * without end.
 */
export function endAfterFault(
  task: Task,
  { job }: RunningJob,
  lease: LeaseRef,
  method: AttemptMethod,
  now: number,
  random: () => number,
): EndWithoutResponse {
  const attempt = failedAttempt(method, 'INTERNAL', FAULT_MESSAGE, now);
  const made = chargedAttempts([...task.trace, attempt]);
  const end: TaskEnd =
    made >= job.options.page.maxAttempts
      ? { state: 'failed', rule: 'attempt.error', errorCode: 'INTERNAL' }
      : { state: 'waiting', readyAt: now + retryDelayMs(made, random), rule: 'retry:INTERNAL' };
  return withoutResponse(task, lease, end, attempt, now);
}

/** The end of a task during which processes died too often. */
export function endAfterDeaths(
  task: Task,
  running: RunningJob,
  lease: LeaseRef,
  now: number,
): EndWithoutResponse {
  const attempt = failedAttempt(unplannedMethod(task, running), 'WORKER_DIED', DEATHS_MESSAGE, now);
  const rule = `interruptions:${task.interruptions}` as const;
  return withoutResponse(task, lease, { state: 'failed', rule, errorCode: 'WORKER_DIED' }, attempt, now);
}

function failedAttempt(
  { engine, proxyTier, identity, hasSolver, reason }: AttemptMethod,
  errorCode: ErrorCode,
  evidence: string,
  now: number,
): Attempt {
  return {
    engine,
    proxyTier,
    ...(identity === 'browser' ? { identity } : {}),
    ...(hasSolver ? { hasSolver } : {}),
    reason,
    outcome: 'error',
    evidence,
    errorCode,
    statusCode: null,
    ms: 0,
    bytes: 0,
    at: new Date(now).toISOString(),
  };
}

function withoutResponse(
  task: Task,
  lease: LeaseRef,
  end: TaskEnd,
  attempt: Attempt,
  now: number,
): EndWithoutResponse {
  const { errorCode: code = 'INTERNAL', evidence: message = '' } = attempt;
  const hasPage = end.state === 'failed' && task.kind === 'page';
  const page = hasPage ? failedPage(task, { code, message }, now) : null;
  const trace = [...task.trace, attempt];
  return { completion: completionOf(lease, task, end, { trace, used: attempt, page }), attempt };
}

/** The page of a task for which no response arrived: it has the error in place of content. */
export function failedPage(
  task: Task,
  error: Pick<ScrapifieError, 'code' | 'message'>,
  now: number,
): NewPage {
  const { url, atUrl: finalUrl, depth } = task;
  const failure = { errorCode: error.code, errorMessage: error.message };
  return { ...WITHOUT_CONTENT, url, finalUrl, statusCode: null, fetchedAt: now, depth, ...failure };
}

/**
 * The time limit of a task: over all its attempts, and the pauses that its failures cost. Not counted is the time in
 * which a task waits for its turn on the host, before the first attempt as before later ones, and a pause that the host
 * asked for: in a crawl these follow from the other URLs of the host, and every one of them would fail by its limit.
 */
export function taskLimitMs(
  { taskTimeoutMs, timeoutMs }: Pick<PageOptions, 'taskTimeoutMs' | 'timeoutMs'>,
  defaultMs: number,
): number {
  // A caller who gives one attempt more than the default time means the task to have it.
  return taskTimeoutMs ?? Math.max(defaultMs, timeoutMs);
}

/** The part of the limit that a task has used. */
export function spentMs(trace: readonly Pick<Attempt, 'ms' | 'pauseMs'>[]): number {
  return trace.reduce((sum, { ms, pauseMs = 0 }) => sum + ms + pauseMs, 0);
}

/** The least time that an attempt gets, however little of the limit is left: less would fail every host. */
const LEAST_ATTEMPT_MS = 1_000;

/** The time limit of the next attempt. */
export function attemptMs(
  page: Pick<PageOptions, 'taskTimeoutMs' | 'timeoutMs'>,
  trace: readonly Attempt[],
  defaultMs: number,
): number {
  const leftMs = taskLimitMs(page, defaultMs) - spentMs(trace);
  return Math.min(page.timeoutMs, Math.max(LEAST_ATTEMPT_MS, leftMs));
}

/** Whether the request allows the next attempt less time than a request without time limits would. */
export function isShortened(
  page: Pick<PageOptions, 'taskTimeoutMs' | 'timeoutMs'>,
  trace: readonly Attempt[],
  defaultMs: number,
): boolean {
  return attemptMs(page, trace, defaultMs) < attemptMs({ timeoutMs: DEFAULT_ATTEMPT_MS }, trace, defaultMs);
}

/** The error of a task that would need longer than its limit. `trace` has at least one attempt. */
export function taskTookTooLong(trace: readonly Attempt[], limitMs: number): ScrapifieError {
  const last = trace.at(-1);
  const reason = [last?.errorCode ?? last?.statusCode ?? last?.outcome, last?.evidence]
    .filter((part) => part !== undefined && part !== null)
    .join(': ');
  const attempts = trace.length === 1 ? 'One attempt' : `${trace.length} attempts`;
  return new ScrapifieError(
    'TASK_TIMEOUT',
    `${attempts} and the next pause take longer than the ${limitMs} ms of the task. The last reason: ${reason}`,
  );
}
