import { SpanKind } from '@opentelemetry/api';
import type { Job } from '../../core/model/job.ts';
import { endWith, isTracing, startSpan, traceJobEnd, traceparentOf } from '../../core/tracing/tracing.ts';
import type { Given } from './given.ts';
import type { JobDraft } from './job-draft.ts';

/**
 * Makes a job in a span of its own, which ends when the job is stored: all that is done for the job later, in whichever
 * process, is below it. So the tree is whole from the beginning, and no process has to live until the job has ended.
 */
export function inJobSpan<T extends Job>(
  { kind, tasks }: Pick<JobDraft, 'kind' | 'tasks'>,
  given: Given,
  create: (given: Given) => Promise<T>,
): Promise<T> {
  const attributes = { 'scrapifie.job.kind': kind, 'scrapifie.job.urls': tasks.length };
  const span = isTracing() ? startSpan(`create ${kind}`, { kind: SpanKind.PRODUCER, attributes }) : null;
  if (span === null) return create(given);
  return endWith(span, async () => {
    const job = await create(span.isRecording() ? { ...given, traceParent: traceparentOf(span) } : given);
    span.setAttribute('scrapifie.job.id', job.id);
    traceJobEnd(job);
    return job;
  });
}
