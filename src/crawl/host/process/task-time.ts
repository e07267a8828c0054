import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../../core/model/attempt.ts';
import type { PageOptions } from '../../../core/model/job.ts';

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
