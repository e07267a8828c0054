import type { Socket } from 'node:net';

/** The bare connection, for answers that break the protocol on purpose. Timers end with the connection. */
export interface Wire {
  /** Strings are sent as Latin-1, so every byte can be written. */
  write(bytes: string | Uint8Array): void;
  /** Says everything is sent and closes in order. */
  end(): void;
  /** Closes with a TCP reset. */
  reset(): void;
  after(delayMs: number, action: () => void): void;
  every(intervalMs: number, action: () => void): void;
  /** Sends what `next` gives as fast as the reader takes it, until it gives null; then closes in order. */
  pour(next: () => Uint8Array | null): void;
}

export function wireOf(socket: Socket): Wire {
  const timers = new Set<NodeJS.Timeout>();
  socket.once('close', () => {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  });
  // The reader giving up is how most of these answers end.
  socket.on('error', () => socket.destroy());

  const wire: Wire = {
    write(bytes) {
      if (!socket.writable) return;
      if (typeof bytes === 'string') socket.write(bytes, 'latin1');
      else socket.write(bytes);
    },
    end() {
      socket.end();
    },
    reset() {
      // What was written before the reset must leave first, or the reader never sees the half it should.
      if (socket.writableLength === 0) socket.resetAndDestroy();
      else socket.once('drain', () => socket.resetAndDestroy());
    },
    after(delayMs, action) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        action();
      }, delayMs);
      timers.add(timer);
    },
    every(intervalMs, action) {
      timers.add(setInterval(action, intervalMs));
    },
    pour(next) {
      const more = (): void => {
        while (!socket.destroyed) {
          const bytes = next();
          if (bytes === null) {
            socket.end();
            return;
          }
          if (!socket.write(bytes)) {
            socket.once('drain', more);
            return;
          }
        }
      };
      more();
    },
  };
  return wire;
}

/** The head of a response as bytes to be. */
export function headOf(statusLine: string, headers: readonly string[] = []): string {
  return `${[statusLine, ...headers].join('\r\n')}\r\n\r\n`;
}
