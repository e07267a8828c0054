import type { Task } from '../model/task.ts';
import type { Logger } from '../observe/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
import { logCompleted, logFailed } from '../observe/task-log.ts';
import type { Finished } from './finish-task.ts';

/** Counts an attempt and writes its line. */
export function reportAttempt(task: Task, finished: Finished, logger: Logger, metrics: Metrics): void {
  const { completion, attempt, reading } = finished;
  metrics.fetched(attempt.engine, attempt.outcome, attempt.ms, attempt.bytes);
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
    logFailed(logger, { ...facts, errorCode: end.errorCode, reason, proxyTier: attempt.proxyTier });
  } else if (end.state === 'done' && reading !== null) {
    const { statusCode, bytes } = attempt;
    const fields = [reading.page.title, reading.page.textHash, reading.page.contentHash];
    const fieldsExtracted = fields.filter((field) => field !== null).length;
    const completeness = fieldsExtracted / fields.length;
    logCompleted(logger, { ...facts, statusCode, bytes, fieldsExtracted, completeness });
  }
}
