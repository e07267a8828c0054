import {
  type Attributes,
  type Context,
  context,
  isValidSpanId,
  isValidTraceId,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  type TimeInput,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { isScrapifieError } from '../errors/scrapifie-error.ts';

/**
 * Spans of this process. While tracing is off, which it is without a receiver of spans, every function here costs one
 * comparison and makes nothing. Attributes never hold paths, queries or bodies of URLs, headers, or messages of errors:
 * any of them may be a secret. See docs/tracing.md.
 */

interface ProcessTracing {
  readonly tracer: Tracer;
  /** Attempts of one job that get spans in this process. */
  readonly attemptsPerJob: number;
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly startTime?: TimeInput;
}

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the span is sent to the receiver. */
  readonly isSampled: boolean;
}

let current: ProcessTracing | null = null;

/** Turns spans on, or off with null. For the wiring, which knows the receiver. */
export function setTracing(tracing: ProcessTracing | null): void {
  current = tracing;
}

export const isTracing = (): boolean => current !== null;

/** See ProcessTracing; 0 while tracing is off. */
export const attemptsPerJob = (): number => current?.attemptsPerJob ?? 0;

/** The ids of the span in which the caller runs, for log lines and exemplars. Returns null outside of spans. */
export function activeSpanIds(): SpanIds | null {
  if (current === null) return null;
  const active = trace.getActiveSpan()?.spanContext();
  if (active === undefined) return null;
  const { traceId, spanId, traceFlags } = active;
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

/** The ids of the active span when it is sent to the receiver; null for all others, which no one could look up. */
export function sampledSpanIds(): SpanIds | null {
  const ids = activeSpanIds();
  return ids?.isSampled === true ? ids : null;
}

/** Whether the caller runs in a span that is recorded: only then is there a reason to start another below it. */
export function isRecorded(): boolean {
  return current !== null && trace.getActiveSpan()?.isRecording() === true;
}

/** The context of the caller, to start spans below it later. Returns null where no span is recorded. */
export function recordedContext(): Context | null {
  return isRecorded() ? context.active() : null;
}

/** The `traceparent` of the span in which the caller runs; undefined unless that is recorded. */
export function activeTraceparent(): string | undefined {
  return isRecorded() ? traceparentOf(trace.getActiveSpan() as Span) : undefined;
}

export const traceparentOf = (span: Span): string => formatTraceparent(span.spanContext());

/** A context below the span that the text names. Returns null while tracing is off, and when it names no sampled span. */
export function sampledContext(traceparent: string | undefined): Context | null {
  if (current === null || traceparent === undefined) return null;
  const parent = parseTraceparent(traceparent);
  if (parent === null || (parent.traceFlags & TraceFlags.SAMPLED) === 0) return null;
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

/**
 * Starts a span below `parent`, or below the span in which the caller runs. Without either it begins a trace, and the ratio
 * of the settings decides whether it is recorded. Returns null while tracing is off.
 */
export function startSpan(name: string, options: SpanOptions = {}, parent?: Context): Span | null {
  return current === null ? null : current.tracer.startSpan(name, options, parent ?? context.active());
}

/** Starts the first span of this process for a request that may come with a `traceparent`. */
export function startRequestSpan(
  name: string,
  options: SpanOptions,
  traceparent: string | undefined,
): Span | null {
  const parent = current === null ? null : parseTraceparent(traceparent);
  return startSpan(
    name,
    options,
    parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
  );
}

/** Runs the action in the span, so that spans it starts are below it. The span does not end with it. */
export function runIn<T>(span: Span, action: () => T): T {
  return context.with(trace.setSpan(context.active(), span), action);
}

/** Runs the action in the span and ends the span with it. An error is noted by its code, and thrown. */
export async function endWith<T>(span: Span, action: () => Promise<T>): Promise<T> {
  try {
    return await runIn(span, action);
  } catch (error) {
    noteError(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Runs the action in a new span below the one in which the caller runs; just runs it where that is not recorded. */
export function inSpan<T>(name: string, options: SpanOptions, action: () => Promise<T>): Promise<T> {
  const span = isRecorded() ? startSpan(name, options) : null;
  return span === null ? action() : endWith(span, action);
}

/** Runs the action below the span that the text names, so that its log lines have that trace; see sampledContext. */
export function inTraceOf<T>(traceparent: string | undefined, action: () => T): T {
  const parent = sampledContext(traceparent);
  return parent === null ? action() : context.with(parent, action);
}

/** Runs what serves many at once, such as a batch, outside of the span that happened to begin it. */
export function outsideSpans<T>(action: () => T): T {
  return current === null ? action() : context.with(ROOT_CONTEXT, action);
}

/** Adds facts to the span in which the caller runs. */
export function noteAttributes(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** Marks the span as failed. The span gets only the code of the error: messages may quote what they are about. */
function noteError(span: Span, error: unknown): void {
  const type = isScrapifieError(error) ? error.code : error instanceof Error ? error.name : 'unknown';
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

/** What a span may tell of a URL: which server it leads to. Paths and queries hold tokens as often as not. */
export function serverAttributes(text: string): Attributes {
  const url = URL.parse(text);
  if (url === null) return {};
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { 'server.address': url.hostname, 'server.port': port, 'url.scheme': url.protocol.slice(0, -1) };
}

/** Version, trace id, id of the parent span, flags; later versions may add fields. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads a `traceparent` of the W3C Trace Context. Returns null when the text is none: the trace then begins anew. */
export function parseTraceparent(text: string | undefined): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text ?? '') ?? [];
  if (!isValidTraceId(traceId) || !isValidSpanId(spanId)) return null;
  if (version === '00' && more !== undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}

/** What the span tells of a job. */
interface EndedJob {
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
