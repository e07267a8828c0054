import { sampledContext, startSpan } from './tracing.ts';

/** What the span tells of a job. */
export interface EndedJob {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly counters: { readonly pages: number; readonly failed: number; readonly bytes: number };
  readonly options: { readonly traceParent?: string | undefined };
}

/** Makes the span from the creation of the job to its end. Does nothing for a job that goes on or is not traced. */
export function traceJobEnd({ id, kind, status, createdAt, finishedAt, counters, options }: EndedJob): void {
  const parent = finishedAt === null ? null : sampledContext(options.traceParent);
  if (finishedAt === null || parent === null) return;
  const attributes = {
    'scrapifie.job.id': id,
    'scrapifie.job.kind': kind,
    'scrapifie.job.status': status,
    'scrapifie.job.pages': counters.pages,
    'scrapifie.job.failed': counters.failed,
    'scrapifie.job.bytes': counters.bytes,
  };
  startSpan(kind, { attributes, startTime: new Date(createdAt) }, parent)?.end(new Date(finishedAt));
}
