import { type Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { listen } from '../../core/errors/guarded.ts';
import { type HeadReader, readHeadsOf } from '../http/response-head.ts';
import { codeOf, mapError } from '../network-errors.ts';

/** Hop-by-hop headers, which concern one connection and are not forwarded. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
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

export interface ForwardListener {
  /** Why the host could not be reached. */
  onFailure(url: URL, error: Error): void;
  /** Bytes of an answer have arrived. */
  onBytes(bytes: number): void;
}

/**
 * Passes a plain http request on and its answer back, headers in their order and spelling. What goes wrong is told to the
 * listener; the browser only sees its connection end, as if the host were not there.
 */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  agent: Agent,
  listener: ForwardListener,
  isAgain = false,
): void {
  const url = URL.parse(request.url ?? '');
  if (url === null || url.protocol !== 'http:') {
    response.writeHead(400, { 'content-length': 0 }).end();
    return;
  }
  const hasBody =
    request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  const forwarded = httpRequest({
    agent,
    method: request.method ?? 'GET',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || 80,
    path: `${url.pathname}${url.search}`,
    headers: headersFor(request),
    setHost: false,
    // The browser reads what is passed on, and accepts as much.
    insecureHTTPParser: true,
  });
  listen(forwarded, 'socket', (socket: Socket) => headsOf(socket).expect());

  listen(forwarded, 'response', (answer: IncomingMessage) => {
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', passedOn(answer.rawHeaders));
    pipeline(answer, response, () => {});
    listen(answer, 'data', (chunk: Uint8Array) => listener.onBytes(chunk.byteLength));
  });
  listen(forwarded, 'upgrade', (_answer: IncomingMessage, socket: Duplex) => {
    socket.destroy();
    response.destroy();
  });
  listen(forwarded, 'error', (error: Error) => {
    // The server closed a connection that we had kept; nothing was answered on it.
    const isStale = forwarded.reusedSocket && codeOf(error) === 'ECONNRESET' && !response.headersSent;
    if (isStale && !isAgain && !hasBody && !response.destroyed) {
      forwardRequest(request, response, agent, listener, true);
      return;
    }
    if (!response.destroyed) {
      listener.onFailure(
        url,
        mapError(error, url, forwarded.socket?.connecting === false ? 'sent' : 'connect'),
      );
    }
    response.destroy();
  });
  listen(response, 'close', () => {
    if (!response.writableFinished) forwarded.destroy();
  });

  if (hasBody) pipeline(request, forwarded, () => {});
  else forwarded.end();
}

const readers = new WeakMap<Duplex, HeadReader>();

/** One reader for each connection, which serves many requests. */
function headsOf(socket: Duplex): HeadReader {
  const reader = readers.get(socket) ?? readHeadsOf(socket);
  readers.set(socket, reader);
  return reader;
}

/** In pairs flattened, as Node takes them when order and spelling are to stay. */
function headersFor(request: IncomingMessage): string[] {
  const headers = passedOn(request.rawHeaders);
  headers.push('Connection', 'keep-alive');
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined) headers.push('Transfer-Encoding', encoding);
  return headers;
}

function passedOn(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
}
