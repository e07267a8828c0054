import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { listen, listenOnce } from '../../core/errors/guarded.ts';

/** The connections of a server that is about to close. */
export interface ClosingConnections {
  /**
   * Ends every connection that has no request under way, now and again as answers are sent, because closing a server
   * waits for all of them, the ones that clients keep open for their next request included. After `limitMs` it ends
   * the others too.
   */
  begin(limitMs: number): void;
  /** The server has closed. */
  stop(): void;
}

const LOOK_MS = 50;

export function watchConnections(server: Server): ClosingConnections {
  /** Connections that have not asked anything yet; Node does not count them among the idle ones. */
  const silent = new Set<Socket>();
  let look: NodeJS.Timeout | undefined;
  let limit: NodeJS.Timeout | undefined;
  listen(server, 'connection', (socket: Socket) => {
    silent.add(socket);
    listenOnce(socket, 'close', () => silent.delete(socket));
  });
  listen(server, 'request', ({ socket }: IncomingMessage) => silent.delete(socket));

  function endIdle(): void {
    for (const socket of silent) socket.destroy();
    server.closeIdleConnections();
  }

  return {
    begin(limitMs) {
      endIdle();
      look = setInterval(endIdle, LOOK_MS);
      limit = setTimeout(() => server.closeAllConnections(), limitMs);
    },
    stop() {
      clearInterval(look);
      clearTimeout(limit);
    },
  };
}
