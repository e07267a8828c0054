import { createServer, type RequestListener } from 'node:http';
import { createServer as createNetServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import { createHttpEngine, type HttpEngineOptions } from './http-engine.ts';

/** A server on loopback that ends with its test. */
export interface Loopback {
  readonly origin: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: () => number;
}

export async function listen(server: Server, scheme = 'http'): Promise<Loopback> {
  let accepted = 0;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    // Clients that cut us off are what the tests are about.
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, origin: `${scheme}://127.0.0.1:${port}`, accepted: () => accepted };
}

export function serve(listener: RequestListener): Promise<Loopback> {
  return listen(createServer(listener));
}

/** Answers with raw bytes: `answer` is called once per request head that arrives. */
export function serveRaw(answer: (socket: Socket, head: string, count: number) => void): Promise<Loopback> {
  let count = 0;
  return listen(
    createNetServer((socket) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
          const head = text.slice(0, end);
          text = text.slice(end + 4);
          count += 1;
          answer(socket, head, count);
        }
      });
    }),
  );
}

export function testEngine(options: Partial<HttpEngineOptions> = {}): Engine {
  const engine = createHttpEngine({ userAgent: 'TestBot/1', allowPrivate: true, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

export function get(engine: Engine, url: string, more: Partial<FetchRequest> = {}): Promise<FetchResponse> {
  return engine.fetch({
    url,
    method: 'GET',
    headers: {},
    cookies: {},
    body: null,
    timeoutMs: 20_000,
    maxBodyBytes: 1_000_000,
    maxRedirects: 5,
    conditional: null,
    onRedirect: async () => 'follow',
    ...more,
  });
}

export const textOf = (response: FetchResponse): string => Buffer.from(response.body).toString('utf8');

/** The code an attempt failed with, or `none` with its status. */
export async function codeOfFailure(attempt: Promise<FetchResponse>): Promise<string> {
  try {
    return `none ${(await attempt).statusCode}`;
  } catch (error) {
    if (isScrapifieError(error)) return error.code;
    throw error;
  }
}
