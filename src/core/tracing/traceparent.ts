import { isValidSpanId, isValidTraceId, type SpanContext } from '@opentelemetry/api';

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
