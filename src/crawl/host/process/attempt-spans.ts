import { type Context, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { Attempt } from '../../../core/model/attempt.ts';
import { runsScripts } from '../../../core/model/engine-traits.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import type { Task } from '../../../core/model/task.ts';
import {
  attemptsPerJob,
  endWith,
  inSpan,
  isRecorded,
  noteAttributes,
  sampledContext,
  serverAttributes,
  startSpan,
} from '../../../core/tracing/tracing.ts';
import type { Engine, FetchRequest, FetchResponse } from '../../../fetch/engine.ts';
import { defined } from '../../../lib/defined.ts';
import type { PageReader, PageReading, ReadRequest } from '../../read/page-reading.ts';

/** What this process adds to the trace of a job. */
export interface JobSpans {
  /** Context of the span that made the job. */
  readonly parent: Context;
  /** Attempts that may still have spans here: the trace of a long crawl must end somewhere. */
  attemptsLeft: number;
}

/** Null while tracing is off, and for jobs that are not sampled. */
export function openJobSpans(traceParent: string | undefined): JobSpans | null {
  const parent = traceParent === undefined ? null : sampledContext(traceParent);
  return parent === null ? null : { parent, attemptsLeft: attemptsPerJob() };
}

/** The spans of one slice: one for each traced job that it works on, and below these the attempts. */
export interface SliceSpans {
  /** Runs the work on a task in the span of its attempt. */
  attempt(job: JobSpans, task: Task, work: () => Promise<void>): Promise<void>;
  end(): void;
}

export function createSliceSpans(host: HostKey): SliceSpans {
  const slices = new Map<JobSpans, Span>();

  function sliceOf(job: JobSpans, { jobId }: Task): Span | null {
    const known = slices.get(job);
    if (known !== undefined) return known;
    const attributes = { 'scrapifie.host': host, 'scrapifie.job.id': jobId };
    const slice = startSpan('slice', { kind: SpanKind.CONSUMER, attributes }, job.parent);
    if (slice !== null) slices.set(job, slice);
    return slice;
  }

  return {
    attempt(job, task, work) {
      const slice = job.attemptsLeft > 0 ? sliceOf(job, task) : null;
      if (slice === null) return work();
      job.attemptsLeft -= 1;
      const attributes = {
        'scrapifie.job.id': task.jobId,
        'scrapifie.task.id': task.id,
        'scrapifie.task.depth': task.depth,
        'scrapifie.attempt': task.trace.length + 1,
      };
      const span = startSpan('attempt', { attributes }, trace.setSpan(job.parent, slice));
      return span === null ? work() : endWith(span, work);
    },
    end() {
      for (const slice of slices.values()) slice.end();
      slices.clear();
    },
  };
}

/** Tells in the span of the attempt how it ended. */
export function noteAttempt({ engine, proxyTier, outcome, statusCode, errorCode, bytes }: Attempt): void {
  if (!isRecorded()) return;
  noteAttributes({
    'scrapifie.engine': engine,
    'scrapifie.outcome': outcome,
    'scrapifie.bytes': bytes,
    ...(proxyTier === null ? {} : { 'scrapifie.proxy.tier': proxyTier }),
    ...(statusCode === null ? {} : { 'http.response.status_code': statusCode }),
    ...defined({ 'error.type': errorCode }),
  });
}

/** Sends the request, in a span where the attempt has one. The site gets nothing of it: no header is added. */
export function fetchInSpan(engine: Engine, request: FetchRequest): Promise<FetchResponse> {
  if (!isRecorded()) return engine.fetch(request);
  const { method, url } = request;
  const name = runsScripts(engine.name) ? 'render' : method;
  const attributes = {
    'http.request.method': method,
    'scrapifie.engine': engine.name,
    ...serverAttributes(url),
  };
  return inSpan(name, { kind: SpanKind.CLIENT, attributes }, async () => {
    const response = await engine.fetch(request);
    noteAttributes({
      'http.response.status_code': response.statusCode,
      'http.response.body.size': response.body.byteLength,
      'network.protocol.version': response.httpVersion,
      'scrapifie.redirects': response.redirects.length,
    });
    return response;
  });
}

/** Has the page read, in a span where the attempt has one; the time in the thread is told apart from the wait for it. */
export function readInSpan(reader: PageReader, request: ReadRequest): Promise<PageReading> {
  if (!isRecorded()) return reader.read(request);
  return inSpan('read', {}, async () => {
    const reading = await reader.read(request);
    noteAttributes({ 'scrapifie.links': reading.discovered.length, 'scrapifie.outcome': reading.outcome });
    return reading;
  });
}
