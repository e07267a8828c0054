import { ERRORS, type ErrorCode, EXIT } from '../errors/registry.ts';
import type { OutcomeKind } from '../model/attempt.ts';
import type { Task } from '../model/task.ts';
import type { LadderStep } from '../plan/ladder/ladder.ts';
import { retryDelayMs } from '../politeness/backoff.ts';
import type { Completion, HostLease, TaskEnd } from '../ports/store.ts';

/** What an attempt came to. */
export interface AttemptResult {
  /** Null when no response arrived. */
  readonly statusCode: number | null;
  readonly outcome: OutcomeKind;
  /** Why no response arrived. */
  readonly errorCode: ErrorCode | null;
  readonly retryAfterMs: number | null;
}

/**
 * How the task goes on after an attempt: it ends, or waits for the next one, if the ladder has one. `made` are the
 * attempts so far, this one included.
 */
export function endAfter(
  result: AttemptResult,
  next: LadderStep,
  made: number,
  now: number,
  random: () => number,
): TaskEnd {
  const errorCode = result.errorCode ?? codeOf(result);
  if (next.kind === 'attempt') {
    // Another way need not wait: the host has said no to the last one, not to us.
    if (!next.isRetry) return { state: 'waiting', readyAt: now, rule: next.reason };
    const delayMs = retryDelayMs(made, random, result.retryAfterMs ?? undefined);
    return { state: 'waiting', readyAt: now + delayMs, rule: `retry:${errorCode ?? result.outcome}` };
  }
  if (errorCode === null) {
    return { state: 'done', rule: result.outcome === 'ok' ? null : `outcome.${result.outcome}` };
  }
  const rule = next.reason.includes('consent-required') ? next.reason : `attempt.${result.outcome}`;
  return { state: 'failed', rule, errorCode };
}

/** The error that a response stands for; null when it is what was asked for. */
function codeOf({ outcome, statusCode }: AttemptResult): ErrorCode | null {
  if (outcome === 'rate-limited') return 'HOST_RATE_LIMITED';
  if (outcome === 'blocked') return 'BLOCKED';
  if (outcome === 'captcha') return 'CAPTCHA';
  return statusCode !== null && statusCode >= 400 ? 'HTTP_ERROR' : null;
}

/** What went wrong on our side of the host. */
const OURS: ReadonlySet<ErrorCode> = new Set([
  'NO_WORKER',
  'BROWSER_UNAVAILABLE',
  'BROWSER_CRASHED',
  'BROWSER_LOST',
  'NO_HEALTHY_PROXY',
  'PROXY_FAILED',
  'CAPTCHA_UNSOLVED',
]);

export const isOurFault = (code: ErrorCode): boolean => OURS.has(code);

/** Whether the host, rather than the URL, is what failed: the breaker counts these. */
export function isHostFault(result: AttemptResult): boolean {
  if (result.errorCode !== null) {
    const { retry, exitCode } = ERRORS[result.errorCode];
    // A full disk, a store that is away or a proxy that failed says nothing about the host.
    return retry === 'later' && exitCode !== EXIT.environment && !isOurFault(result.errorCode);
  }
  return isServerFault(result.statusCode);
}

function isServerFault(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 500 && statusCode !== 501 && statusCode !== 505;
}

/** The end of a task for which the host was not asked. */
export const unfetched = (lease: HostLease, task: Task, end: TaskEnd): Completion => ({
  lease,
  taskId: task.id,
  jobSeq: task.jobSeq,
  end,
  trace: task.trace,
  bytes: 0,
  page: null,
  discovered: [],
});
