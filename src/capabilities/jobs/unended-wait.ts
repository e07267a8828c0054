import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Attempt } from '../../core/model/attempt.ts';
import type { JobId } from '../../core/model/ids.ts';

/** Why a wait ended before its job did. */
export function stoppedWaiting(outcome: 'closed' | 'aborted', jobId: JobId): ScrapifieError {
  const details = { jobId };
  return outcome === 'closed'
    ? new ScrapifieError('SHUTTING_DOWN', 'The server is stopping; the job goes on when it is back.', {
        details,
      })
    : new ScrapifieError('CANCELLED', 'The client no longer waits for the answer.', { details });
}

/** With the reason why the last attempt failed, where one was made; one that took all its time is the reason itself. */
export function notReady(jobId: JobId, limitMs: number, attempts: readonly Attempt[] = []): ScrapifieError {
  const last = attempts.at(-1);
  const reason = last?.errorCode ?? last?.outcome;
  const why =
    reason === undefined ? '' : ` The last attempt ended with ${reason}: ${last?.evidence ?? 'no page'}`;
  const code = reason === 'TASK_TIMEOUT' ? reason : 'REQUEST_TIMEOUT';
  return new ScrapifieError(code, `Not ready within ${limitMs} ms; the job goes on.${why}`, {
    details: attempts.length === 0 ? { jobId } : { jobId, attempts },
  });
}
