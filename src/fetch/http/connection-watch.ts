import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import { type HeadReader, readHeadsOf } from './response-head.ts';

/**
 * Sees the sockets of a connector fail, just before and just after undici does. That tells two things undici
 * does not: whether an error hit a connection that had served before, and whether a response "ended" only because
 * its connection was reset. Heads of responses reach undici's parser in strict form, as far as browsers accept them.
 */
export class ConnectionWatch {
  /** True while undici handles the failure of a socket: a body that ends now was cut off. */
  isBreaking = false;
  /** Connections that are open now, those included that wait for another request. */
  open = 0;
  readonly #staleErrors = new WeakSet<Error>();

  /** The connection had carried bytes before this error: the server may have closed it while it was idle. */
  isStale(error: unknown): boolean {
    return error instanceof Error && this.#staleErrors.has(error);
  }

  wrap(connect: buildConnector.connector): buildConnector.connector {
    return (target, callback) => {
      connect(target, (...result) => {
        const [error, socket] = result;
        if (error !== null || socket === null) {
          callback(...result);
          return;
        }
        this.open += 1;
        listenOnce(socket, 'close', () => {
          this.open -= 1;
        });
        const bytesBefore = socket.bytesRead;
        const heads = isHttp2(socket) ? null : readHeads(socket);
        listen(socket, 'error', (failure) => {
          this.isBreaking = true;
          const isAnswering = heads?.isPartial ?? false;
          if (socket.bytesRead > bytesBefore && !isAnswering) this.#staleErrors.add(failure);
        });
        // undici listens from inside the callback, so these two enclose it.
        callback(...result);
        listen(socket, 'error', () => {
          this.isBreaking = false;
        });
      });
    };
  }
}

const isHttp2 = (socket: object): boolean => 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';

/** undici writes each request within one turn of the event loop, and the next one when the response has ended. */
function readHeads(socket: Socket): HeadReader {
  const heads = readHeadsOf(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.write = (...given: unknown[]) => {
    heads.expect();
    return write(...given);
  };
  return heads;
}
