import type { Context } from '@opentelemetry/api';
import { startSpan } from '../../core/tracing/tracing.ts';
import type { ReadAnswer } from './thread-messages.ts';

/** Makes the spans of what a thread did for a page, by the times in its answer: threads have no sender of their own. */
export function traceThread(answer: ReadAnswer, parent: Context): void {
  if (!('times' in answer) || answer.times === undefined) return;
  const { begunAt, readAt, storedAt } = answer.times;
  startSpan('extract', { startTime: begunAt }, parent)?.end(readAt);
  startSpan('store body', { startTime: readAt }, parent)?.end(storedAt);
}
