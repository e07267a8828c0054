import { unplannedMethod } from '../attempts/fault-end.ts';
import { type Finished, failedPage } from '../attempts/finish-task.ts';
import type { RunningJob } from '../attempts/running-job.ts';
import type { Attempt } from '../model/attempt.ts';
import type { Task } from '../model/task.ts';
import type { LeaseRef } from '../ports/store.ts';

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
/** With this many interruptions while it was alone a task ends. */
export const MOST_LONE_INTERRUPTIONS = 2;

const REASON =
  'Processes died while they worked on this URL, twice with nothing else under way, so it is not tried again. ' +
  'The log of the process, or of the system, says how it ended. Retry the job when the cause is removed.';

export const mustRunAlone = ({ interruptions }: Pick<Task, 'interruptions'>): boolean =>
  interruptions >= ALONE_FROM;

export const hasDiedTooOften = ({ loneInterruptions }: Pick<Task, 'loneInterruptions'>): boolean =>
  loneInterruptions >= MOST_LONE_INTERRUPTIONS;

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
