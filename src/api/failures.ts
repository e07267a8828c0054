import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../errors/registry.ts';
import { asScrapifieError, isScrapifieError, ScrapifieError } from '../errors/scrapifie-error.ts';
import type { App } from './app.ts';
import { failure, requestIdOf } from './envelope.ts';

/** What the server's own errors mean to a client. */
const SERVER_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['MALFORMED_JSON', 'The request body is not valid JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['MALFORMED_JSON', 'The request body is empty.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['MALFORMED_JSON', 'The body is not as long as Content-Length says.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['BODY_TOO_LARGE', 'The request body is larger than this server accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.'],
  FST_ERR_BAD_URL: ['NOT_FOUND', 'The path is not a valid URL path.'],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'A part of the path is too long.'],
};

/** Gives every error the one shape it may leave in. */
export function toScrapifieError(error: unknown): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const known = SERVER_ERRORS[(error as { code?: string }).code ?? ''];
  if (known !== undefined) return new ScrapifieError(known[0], known[1], { cause: error });
  return asScrapifieError(error);
}

/** One envelope for whatever goes wrong, wherever it does; faults go to the log, never to the client. */
export function answerFailures(app: App): void {
  const paths = watchPaths(app);
  app.setErrorHandler((thrown, request, reply) => sendFailure(thrown, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = paths.methodsOf(path);
    if (allowed.length === 0) {
      throw new ScrapifieError('NOT_FOUND', `There is nothing at ${path.slice(0, 200)}.`);
    }
    reply.header('allow', allowed.join(', '));
    throw new ScrapifieError(
      'METHOD_NOT_ALLOWED',
      `${request.method} is not possible here; ${allowed.join(', ')} is.`,
    );
  });
}

export function sendFailure(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toScrapifieError(thrown);
  const { httpStatus } = error.spec;
  if (error.code === 'INTERNAL')
    request.log.error({ requestId: request.id, err: error.cause ?? error }, 'fault');
  if (error.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer');
  if (error.retryAfterMs !== undefined) {
    reply.header('retry-after', String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))));
  }
  return reply
    .code(httpStatus)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(failure(error));
}

/** Remembers which methods each path takes; a path that exists with another method is a 405. */
function watchPaths(app: App): { methodsOf(path: string): string[] } {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    // The answer to every browser's preflight is no path of its own.
    if (url === '*') return;
    let route = routes.get(url);
    if (route === undefined) {
      const source = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+');
      route = { pattern: new RegExp(`^${source.replaceAll('*', '.*')}$`), methods: new Set() };
      routes.set(url, route);
    }
    for (const each of [method].flat()) route.methods.add(each);
  });
  return {
    methodsOf: (path) => [
      ...new Set(
        [...routes.values()].flatMap(({ pattern, methods }) => (pattern.test(path) ? [...methods] : [])),
      ),
    ],
  };
}

/** Requests that are no HTTP at all never reach a route; they still get an envelope. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'The request headers are too large.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request did not arrive in time.']
        : [400, 'This is not a valid HTTP request.'];
  const body = JSON.stringify(failure(new ScrapifieError('BAD_REQUEST', message)));
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `X-Request-ID: ${requestIdOf({ headers: {} })}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
