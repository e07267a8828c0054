import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Connections that have not asked anything yet. Closing a server waits for them as if they were about to: whoever
 * closes it ends them.
 */
export function watchSilentSockets(server: Server): { end(): void } {
  const silent = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
  return {
    end() {
      for (const socket of silent) socket.destroy();
    },
  };
}
