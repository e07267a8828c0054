import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { readReason, reasonSpec } from '../../core/model/reasons.ts';
import type { TaskState } from '../../core/model/task.ts';

/** What a caller can do about URLs that ended this way; null when there is nothing to do. */
export function adviceFor(state: TaskState, cause: string | null, code: ErrorCode | null): string | null {
  if (state === 'cancelled') return 'Resume the job to go on with them.';
  if (state === 'failed') return code === null ? null : RETRY_ADVICE[ERRORS[code].retry];
  if (state !== 'skipped' && state !== 'denied') return null;
  const read = cause === null ? null : readReason(cause);
  return read === null ? null : (reasonSpec(read.name).advice ?? null);
}

const RETRY_ADVICE = {
  later: 'Try the failed URLs again: the same request may work after a pause.',
  otherWay: 'Allow another engine, proxy tier or identity for the host, then start the URLs again.',
  never: 'Trying again as it is fails again: change the URLs or the options.',
} as const;
