import type { Attempt } from '../model/attempt.ts';
import type { Task } from '../model/task.ts';
import type { LeaseRef } from '../ports/store.ts';
import { unplannedMethod } from './fault-end.ts';
import { type Finished, failedPage } from './finish-task.ts';
import type { RunningJob } from './running-job.ts';

const REASON =
  'Processes died while they worked on this URL, twice with nothing else under way, so it is not tried again. ' +
  'The log of the process, or of the system, says how it ended. Retry the job when the cause is removed.';

/** The end of a task during which processes died too often. */
export function endAfterDeaths(task: Task, running: RunningJob, lease: LeaseRef, now: number): Finished {
  const { engine, proxyTier, identity, reason } = unplannedMethod(task, running);
  const attempt: Attempt = {
    engine,
    proxyTier,
    ...(identity === 'browser' ? { identity } : {}),
    reason,
    outcome: 'error',
    evidence: REASON,
    errorCode: 'WORKER_DIED',
    statusCode: null,
    ms: 0,
    bytes: 0,
    at: new Date(now).toISOString(),
  };
  const completion: Finished['completion'] = {
    lease,
    taskId: task.id,
    jobSeq: task.jobSeq,
    end: { state: 'failed', rule: `interruptions:${task.interruptions}`, errorCode: 'WORKER_DIED' },
    trace: [...task.trace, attempt],
    bytes: 0,
    page: task.kind === 'page' ? failedPage(task, { code: 'WORKER_DIED', message: REASON }, now) : null,
    discovered: [],
  };
  return { completion, attempt, reading: null, fault: null };
}
