import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { readTraceRequest } from './otlp-message.ts';

/** A span as a receiver of OTLP sees it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** When the span began, in epoch nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** Attributes of the process that made the span. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A receiver of spans by OTLP over HTTP, in the binary encoding. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that was received, as text, to look for what must not be in it. */
  text(): string;
  /** Headers of the last request. */
  headers(): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  const server: Server = createServer(async (request, response) => {
    const body = await buffer(request);
    const isSpans = request.method === 'POST' && request.url === '/v1/traces';
    if (!isSpans || request.headers['content-type'] !== 'application/x-protobuf') {
      response.writeHead(404).end();
      return;
    }
    headers = request.headers;
    bodies.push(body);
    spans.push(...readTraceRequest(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => Buffer.concat(bodies).toString('latin1'),
    headers: () => headers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * What is wrong with the spans as one tree: spans of other traces, several roots, parents that were never received.
 * `caller`: the span of the client, which the root is below; empty when it sent none.
 */
export function treeProblems(spans: readonly ReceivedSpan[], caller = ''): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const traces = new Set(spans.map(({ traceId }) => traceId));
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === caller);
  const orphans = spans.filter(({ parentSpanId }) => parentSpanId !== caller && !known.has(parentSpanId));
  return [
    ...(known.size === spans.length ? [] : ['a span was received twice']),
    ...(traces.size === 1 ? [] : [`${traces.size} traces`]),
    ...(roots.length === 1 ? [] : [`${roots.length} roots: ${roots.map(({ name }) => name).join(', ')}`]),
    ...orphans.map(({ name, parentSpanId }) => `${name} is below ${parentSpanId}, which is missing`),
    ...spans.filter(({ start, end }) => end < start).map(({ name }) => `${name} ends before it begins`),
  ];
}

/** The names from the first span of the trace down to this one. */
export function pathOf(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent === undefined ? span.name : `${pathOf(parent, spans)} > ${span.name}`;
}
