import { ERRORS, type ErrorCode, EXIT } from '../errors/registry.ts';
import type { OutcomeKind } from '../model/attempt.ts';
import type { TaskEnd } from '../ports/store.ts';
import { retryDelayMs } from './backoff.ts';

/** What an attempt came to. */
export interface AttemptResult {
  /** Null when no response arrived. */
  readonly statusCode: number | null;
  readonly outcome: OutcomeKind;
  /** Why no response arrived. */
  readonly errorCode: ErrorCode | null;
  readonly retryAfterMs: number | null;
}

export interface AttemptsSoFar {
  /** This one included. */
  readonly made: number;
  readonly most: number;
}

/** How the task goes on after an attempt: it ends, or waits for the next one. */
export function endAfter(
  result: AttemptResult,
  attempts: AttemptsSoFar,
  now: number,
  random: () => number,
): TaskEnd {
  const errorCode = result.errorCode ?? codeOf(result);
  if (errorCode === null) {
    return { state: 'done', rule: result.outcome === 'ok' ? null : `outcome.${result.outcome}` };
  }
  const canRetry = ERRORS[errorCode].retry === 'later' || isServerFault(result.statusCode);
  if (canRetry && attempts.made < attempts.most) {
    const delayMs = retryDelayMs(attempts.made, random, result.retryAfterMs ?? undefined);
    return { state: 'waiting', readyAt: now + delayMs, rule: `retry:${errorCode}` };
  }
  return { state: 'failed', rule: `attempt.${result.outcome}`, errorCode };
}

/** The error that a response stands for; null when it is what was asked for. */
function codeOf({ outcome, statusCode }: AttemptResult): ErrorCode | null {
  if (outcome === 'rate-limited') return 'HOST_RATE_LIMITED';
  if (outcome === 'blocked') return 'BLOCKED';
  if (outcome === 'captcha') return 'CAPTCHA';
  return statusCode !== null && statusCode >= 400 ? 'HTTP_ERROR' : null;
}

/** Whether the host, rather than the URL, is what failed: the breaker counts these. */
export function isHostFault(result: AttemptResult): boolean {
  if (result.errorCode !== null) {
    const { retry, exitCode } = ERRORS[result.errorCode];
    // A full disk or a store that is away says nothing about the host.
    return retry === 'later' && exitCode !== EXIT.environment;
  }
  return isServerFault(result.statusCode);
}

function isServerFault(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 500 && statusCode !== 501 && statusCode !== 505;
}
