import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS, type ErrorCode, EXIT } from '../../core/errors/registry.ts';
import { asScrapifieError, isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { defined } from '../../lib/defined.ts';
import type { App } from './app.ts';
import { failure, requestIdOf } from './envelope.ts';
import type { StaleAnswers } from './stale-answers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the answer is no success, as the log may know it; null while none went wrong. */
    failure: ScrapifieError | null;
  }
}

/** What the server's own errors mean to a client. */
const SERVER_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['MALFORMED_JSON', 'The request body is not valid JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['MALFORMED_JSON', 'The request body is empty.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['MALFORMED_JSON', 'The body is not as long as Content-Length says.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['BODY_TOO_LARGE', 'The request body is larger than this server accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.'],
  FST_ERR_BAD_URL: ['NOT_FOUND', 'The path is not a valid URL path.'],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'A part of the path is too long.'],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ['BAD_REQUEST', 'The method QUERY needs a Content-Type.'],
  FST_ERR_ROUTE_MISSING_CONTENT: ['BAD_REQUEST', 'The method QUERY needs a body.'],
};

/** A backend server that refuses this process is a matter for the operator; the client can only retry later. */
const SEEN_FROM_OUTSIDE: Partial<Record<ErrorCode, ErrorCode>> = {
  STORE_REFUSED: 'STORE_UNAVAILABLE',
  QUEUE_REFUSED: 'QUEUE_UNAVAILABLE',
  BLOBS_REFUSED: 'BLOBS_UNAVAILABLE',
};
/** Retry-After where the error names no time: backend servers usually return soon, sites do not. */
const RETRY_AFTER_MS = { ours: 5_000, sites: 60_000 };

/** Gives every error the one shape it may leave in. */
export function toScrapifieError(error: unknown): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const known = SERVER_ERRORS[(error as { code?: string }).code ?? ''];
  if (known !== undefined) return new ScrapifieError(known[0], known[1], { cause: error });
  if (isRefusalOfServer(error)) {
    return new ScrapifieError('BAD_REQUEST', 'The server cannot read this request.', { cause: error });
  }
  if (isAborted(error)) {
    return new ScrapifieError('BAD_REQUEST', 'The request body did not arrive whole.', { cause: error });
  }
  return asScrapifieError(error);
}

/** The HTTP library refuses the request for a reason that has no words of its own here: no fault of this server. */
function isRefusalOfServer(error: unknown): boolean {
  const { code, statusCode = 500 } = error as { code?: unknown; statusCode?: number };
  return typeof code === 'string' && code.startsWith('FST_ERR_') && statusCode >= 400 && statusCode < 500;
}

/** The client left while its body was read: no fault of this server. */
function isAborted(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' && message === 'aborted';
}

/** The error as the client sees it: faults of this installation are described without addresses, users and paths. */
export function shownToClients(error: ScrapifieError): ScrapifieError {
  if (!isOurs(error) || error.code === 'SHUTTING_DOWN') return error;
  const code = SEEN_FROM_OUTSIDE[error.code] ?? error.code;
  const { details, retryAfterMs } = error;
  return new ScrapifieError(code, ERRORS[code].meaning, {
    details,
    ...defined({ retryAfterMs }),
  });
}

export const isOurs = (error: ScrapifieError): boolean => error.spec.exitCode === EXIT.environment;

/** A response that asks the client to retry says when; only a proxy that is not set up has no time to name. */
function pauseFor(error: ScrapifieError): number | undefined {
  const { httpStatus, retry } = error.spec;
  if (error.retryAfterMs !== undefined || retry !== 'later') return error.retryAfterMs;
  if (error.code === 'NO_HEALTHY_PROXY') return undefined;
  if (httpStatus === 429) return RETRY_AFTER_MS.ours;
  if (httpStatus !== 503) return undefined;
  return isOurs(error) ? RETRY_AFTER_MS.ours : RETRY_AFTER_MS.sites;
}

/** Answers a request for a path that belongs to no route; false when it has no answer. */
type Unrouted = (path: string, request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

/** One envelope for whatever goes wrong, wherever it does; faults go to the log, never to the client. */
export function answerFailures(app: App, stale: StaleAnswers, unrouted: Unrouted | null): void {
  const paths = watchPaths(app);
  app.decorateRequest('failure', null);
  app.setErrorHandler(
    (thrown, request, reply) => stale.answer(thrown, request, reply) ?? sendFailure(thrown, request, reply),
  );
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = paths.methodsOf(path);
    if (allowed.length === 0) {
      if (!paths.isBelowRoute(path) && (await unrouted?.(path, request, reply))) return reply;
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
  const known = toScrapifieError(thrown);
  request.failure = known;
  if (known.code === 'INTERNAL') request.log.error({ err: known.cause ?? known }, 'fault');
  if (known.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer');
  const error = shownToClients(known);
  const pauseMs = pauseFor(error);
  if (pauseMs !== undefined) {
    reply.header('retry-after', String(Math.max(1, Math.ceil(pauseMs / 1_000))));
  }
  return reply
    .code(error.spec.httpStatus)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(failure(error));
}

interface WatchedPaths {
  methodsOf(path: string): string[];
  /** Whether the path begins with the same name as a route: then it belongs to the API, whether or not it exists. */
  isBelowRoute(path: string): boolean;
}

/** Names at the beginning of paths that are kept for the API. */
const OF_API = ['v1', 'v2', '.well-known'];

interface WatchedRoute {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Remembers which methods each path takes; a path that exists with another method is a 405. */
function watchPaths(app: App): WatchedPaths {
  const names = new Set(OF_API);
  const routes = new Map<string, WatchedRoute>();
  // A flood of requests for paths that do not exist looks at few of the hundreds of routes.
  const byBeginning = new Map<string, WatchedRoute[]>();
  app.addHook('onRoute', ({ url, method }) => {
    // The answer to every browser's preflight is no path of its own.
    if (url === '*') return;
    if (url !== '/') names.add(firstNameOf(url));
    let route = routes.get(url);
    if (route === undefined) {
      const source = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+');
      route = { pattern: new RegExp(`^${source.replaceAll('*', '.*')}$`), methods: new Set() };
      routes.set(url, route);
      const beginning = /[:*]/.test(beginningOf(url)) ? ANY_BEGINNING : beginningOf(url);
      byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), route]);
    }
    for (const each of [method].flat()) route.methods.add(each);
  });
  return {
    methodsOf(path) {
      const methods = new Set<string>();
      for (const beginning of [beginningOf(path), ANY_BEGINNING]) {
        for (const route of byBeginning.get(beginning) ?? []) {
          if (route.pattern.test(path)) for (const method of route.methods) methods.add(method);
        }
      }
      return [...methods];
    },
    isBelowRoute: (path) => names.has(firstNameOf(path)),
  };
}

/** Stands for the routes whose first two names are not all fixed; no path has it. */
const ANY_BEGINNING = '*';
/** The first two names of a path. */
const beginningOf = (path: string): string => path.split('/', 3).join('/');
const firstNameOf = (path: string): string => path.split('/', 2)[1] ?? '';

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

/** Node.js would answer an expectation it does not know by itself, without an envelope. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(
    failure(new ScrapifieError('BAD_REQUEST', 'Of all expectations only 100-continue can be met.')),
  );
  response
    .writeHead(417, {
      'x-request-id': requestIdOf(request),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body);
}
