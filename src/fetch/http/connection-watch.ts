import type { buildConnector } from 'undici';

/**
 * Sees the sockets of a connector fail, just before and just after undici does. That tells two things undici
 * does not: whether an error hit a connection that had served before, and whether a response "ended" only because
 * its connection was reset.
 */
export class ConnectionWatch {
  /** True while undici handles the failure of a socket: a body that ends now was cut off. */
  isBreaking = false;
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
        const bytesBefore = socket.bytesRead;
        socket.on('error', (failure) => {
          this.isBreaking = true;
          if (socket.bytesRead > bytesBefore) this.#staleErrors.add(failure);
        });
        // undici listens from inside the callback, so these two enclose it.
        callback(...result);
        socket.on('error', () => {
          this.isBreaking = false;
        });
      });
    };
  }
}
