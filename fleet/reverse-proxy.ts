import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, type Dispatcher } from 'undici';

export interface ReverseProxyOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Origins that may be asked, now; the caller knows which are healthy. Asked for every request. */
  readonly targets: () => readonly string[];
}

/**
 * One address before several that can do the same. Requests go round; bodies pass through as they come. When an
 * origin does not answer, the request goes to the next one if that cannot do anything twice: it only reads, or it
 * carries an idempotency key, or no connection came about. Otherwise the client hears 502. When no origin is left to
 * ask: 503 with Retry-After.
 */
export interface ReverseProxy {
  readonly origin: string;
  /** Takes no more requests and waits for those under way, but not longer than this. */
  close(limitMs: number): Promise<void>;
}

/** A body up to this size is kept until there is an answer, so that it can be sent again. */
const KEPT_BODY_BYTES = 1_048_576;
const CONNECT_MS = 2_000;
/** Beyond the longest time an API may take to answer. */
const HEADERS_MS = 600_000;
/** What concerns one connection only (RFC 9110, section 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Failures before anything of the request was sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT']);

export async function startReverseProxy({ port, targets }: ReverseProxyOptions): Promise<ReverseProxy> {
  const agent = new Agent({
    connect: { timeout: CONNECT_MS },
    headersTimeout: HEADERS_MS,
    // Events are streamed for as long as the client wants them.
    bodyTimeout: 0,
    // What was idle for longer may have been closed by the other side just now.
    keepAliveTimeout: 1_000,
  });
  let turn = 0;
  let isClosing = false;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const body = await keptBody(request);
    const origins = targets();
    if (origins.length === 0) return refuse(response, 503, 'No API process answers at the moment.');
    turn += 1;
    for (let attempt = 0; attempt < origins.length; attempt += 1) {
      const origin = origins[(turn + attempt) % origins.length] ?? '';
      let answer: Dispatcher.ResponseData;
      try {
        answer = await agent.request({
          origin,
          path: request.url ?? '/',
          method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
          headers: forwardedHeaders(request),
          body,
          signal: gone.signal,
        });
      } catch (error) {
        if (gone.signal.aborted) return;
        if (!canRepeat(request, body, error)) {
          return refuse(
            response,
            502,
            'The API process ended before it answered; it may have done its work.',
          );
        }
        continue;
      }
      if (isClosing) response.setHeader('connection', 'close');
      response.writeHead(answer.statusCode, withoutHops(answer.headers));
      await pipeline(answer.body, response);
      return;
    }
    refuse(response, 503, 'No API process answers at the moment.');
  }

  const server = createServer((request, response) => {
    // What breaks here is the connection on one side or the other; the answer ends with it.
    pass(request, response).catch(() => response.destroy());
  });
  // Clients of a crawl API wait long; how long is between them and the API.
  server.requestTimeout = 0;
  // A client that was told to come back in some seconds may do so on the same connection.
  server.keepAliveTimeout = 75_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(limitMs) {
      if (isClosing) return;
      isClosing = true;
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const limit = setTimeout(() => server.closeAllConnections(), limitMs);
      await closed;
      clearTimeout(limit);
      await agent.destroy();
    },
  };
}

async function keptBody(request: IncomingMessage): Promise<Buffer | Readable | null> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return null;
  if (length === undefined || Number(length) > KEPT_BODY_BYTES) return request;
  return Buffer.concat(await request.toArray());
}

function canRepeat({ method, headers }: IncomingMessage, body: unknown, error: unknown): boolean {
  if (body !== null && !Buffer.isBuffer(body)) return false;
  if (method === 'GET' || method === 'HEAD' || headers['idempotency-key'] !== undefined) return true;
  return NOT_CONNECTED.has((error as NodeJS.ErrnoException).code ?? '');
}

function forwardedHeaders(request: IncomingMessage): IncomingHttpHeaders {
  const { headers, socket } = request;
  const { 'x-forwarded-for': before } = headers;
  const client = socket.remoteAddress ?? 'unknown';
  return {
    ...withoutHops(headers),
    'x-forwarded-for': before === undefined ? client : `${String(before)}, ${client}`,
    'x-forwarded-proto': 'http',
    ...(headers.host === undefined ? {} : { 'x-forwarded-host': headers.host }),
  };
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  return Object.fromEntries(
    Object.entries(headers).filter(
      // `expect` was answered by this server when it read the body.
      ([name]) => !HOP_BY_HOP.has(name) && !named.includes(name) && name !== 'expect',
    ),
  );
}

function refuse(response: ServerResponse, status: 502 | 503, message: string): void {
  if (response.headersSent || response.destroyed) return;
  const error = { code: 'NO_API', message, retryable: status === 503 };
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    ...(status === 503 ? { 'retry-after': '1' } : {}),
  });
  response.end(JSON.stringify({ success: false, error }));
}
