import { type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { listenOnce } from '../../core/errors/guarded.ts';
import { isTracing, runIn, startRequestSpan, traceparentOf } from '../../core/tracing/tracing.ts';
import type { App } from './app.ts';
import { isOfApi } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request; null for requests that are not to the API, and while tracing is off. */
    span: Span | null;
  }
}

/**
 * Runs what is done for a request in its span. Comes before the hooks that log and measure requests. Adds nothing to the
 * server while tracing is off, as startRequestSpans does.
 */
export function followRequestSpans(app: App): void {
  if (!isTracing()) return;
  app.decorateRequest('span', null);
  // Bodies arrive, and responses end, in events of the connection, which know nothing of the span.
  for (const hook of ['preHandler', 'onResponse'] as const) {
    app.addHook(hook, (request: FastifyRequest, _reply: FastifyReply, next: () => void) => {
      if (request.span === null) next();
      else runIn(request.span, next);
    });
  }
}

/**
 * A span for each request to the API: below that of the caller's `traceparent` where it sends one, and named to the caller
 * by the same header of the answer. Comes after the key check: else strangers could have every request of theirs traced,
 * and so fill the queue of spans and the receiver.
 */
export function startRequestSpans(app: App): void {
  if (!isTracing()) return;
  app.addHook('onRequest', (request, reply, next) => {
    const route = request.is404 ? undefined : request.routeOptions.url;
    if (route === undefined || !isOfApi(route)) return next();
    const span = startRequestSpan(
      `${request.method} ${route}`,
      {
        kind: SpanKind.SERVER,
        startTime: Date.now() - reply.elapsedTime,
        attributes: {
          'http.request.method': request.method,
          'http.route': route,
          'url.scheme': request.protocol,
        },
      },
      parentOf(request),
    );
    if (span === null) return next();
    request.span = span;
    reply.header('traceparent', traceparentOf(span));
    // The client may leave before there is a response.
    listenOnce(reply.raw, 'close', () => end(request, reply));
    runIn(span, next);
  });
}

/** Only a caller with a key decides whether a request is traced; for routes that need none, the ratio does. */
function parentOf({ key, headers: { traceparent } }: FastifyRequest): string | undefined {
  return key !== null && typeof traceparent === 'string' ? traceparent : undefined;
}

function end({ span, failure }: FastifyRequest, { statusCode, raw }: FastifyReply): void {
  if (span === null) return;
  if (raw.writableEnded) span.setAttribute('http.response.status_code', statusCode);
  if (failure !== null && failure !== undefined) span.setAttribute('error.type', failure.code);
  if (statusCode >= 500 || !raw.writableEnded) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
