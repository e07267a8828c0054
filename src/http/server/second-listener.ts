import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type ConnectionOptions, limitConnections, watchConnections } from './connections.ts';
import { answerClientError, answerExpectation } from './failures.ts';
import { leaveContinueToRoutes } from './request-bodies.ts';

interface SecondListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly backlog: number;
  /** What is put before each path: the part of the API that is served at the root here. */
  readonly prefix: string;
  /** Limits and counts of connections, which the first listener has as well. */
  readonly connections: Omit<ConnectionOptions, 'now'>;
  readonly upgrades: (url: string) => boolean;
}

export interface SecondListener {
  readonly port: number;
  /** Ends idle connections at once, and those with a request under way when it is answered, or after `limitMs`. */
  close(limitMs: number): Promise<void>;
}

/** Serves a part of an API, which is ready, at the root of a port of its own. */
export async function listenAlso(
  api: FastifyInstance,
  options: SecondListenerOptions,
): Promise<SecondListener> {
  const { host, port, backlog, prefix, upgrades } = options;
  const { headersTimeout, keepAliveTimeout, requestTimeout, timeout } = api.server;
  const server = createServer({
    headersTimeout,
    keepAliveTimeout,
    requestTimeout,
    requireHostHeader: false,
    shouldUpgradeCallback: ({ url = '', headers }) =>
      upgrades(url) && headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.timeout = timeout;
  listen(server, 'request', (request: IncomingMessage, response: ServerResponse) => {
    withPrefix(request, prefix);
    api.routing(request, response);
  });
  listen(server, 'upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    withPrefix(request, prefix);
    api.server.emit('upgrade', request, socket, head);
  });
  listen(server, 'clientError', answerClientError);
  listen(server, 'checkExpectation', answerExpectation);
  leaveContinueToRoutes(server);
  const closing = watchConnections(server);
  const limits = limitConnections(server, { ...options.connections, now: () => performance.now() });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close(limitMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.begin(limitMs);
      await closed;
      closing.stop();
      limits.close();
    },
  };
}

/** Routes see the whole path; answers with addresses in them show the one that the client has sent. */
function withPrefix(request: IncomingMessage & { originalUrl?: string }, prefix: string): void {
  const { url = '/' } = request;
  request.originalUrl = url;
  request.url = `${prefix}${url}`;
}

/** Why a port cannot be listened on. `other`: where another one is named. */
export function cannotListen(
  error: unknown,
  { host, port, other }: { readonly host: string; readonly port: number; readonly other: string },
): ScrapifieError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new ScrapifieError(
      'PORT_IN_USE',
      `Port ${port} on ${host} is taken by another program. Stop that one, or take another port: ${other}.`,
      { cause: error },
    );
  }
  const why =
    code === 'EACCES'
      ? 'this user may not use that port; take one above 1023'
      : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
        ? 'this machine does not have that address'
        : message;
  return new ScrapifieError('LISTEN_FAILED', `Cannot listen on ${host}, port ${port}: ${why}.`, {
    cause: error,
  });
}
