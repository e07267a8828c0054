import type { Socket } from 'node:net';
import { listen } from '../../core/errors/guarded.ts';

/** The other side closed the connection in the middle of a message. */
export class SocketEnded extends Error {
  override readonly name = 'SocketEnded';
}

/**
 * Reads messages of known size or end from a socket, one at a time, and gives back what it read too much. Fails with
 * the error that the socket is destroyed with.
 */
export class SocketReader {
  readonly #socket: Socket;
  #buffered = Buffer.alloc(0);
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    listen(socket, 'readable', this.#onReadable);
    listen(socket, 'error', this.#onError);
    listen(socket, 'end', this.#onEnd);
    listen(socket, 'close', this.#onEnd);
  }

  async exactly(bytes: number): Promise<Buffer> {
    await this.#waitUntil(() => this.#buffered.length >= bytes);
    return this.#take(bytes);
  }

  /** Up to the marker, which is included; null when it does not come within `maxBytes`. */
  async upTo(marker: string, maxBytes: number): Promise<Buffer | null> {
    const endOf = () => this.#buffered.subarray(0, maxBytes).indexOf(marker);
    await this.#waitUntil(() => endOf() !== -1 || this.#buffered.length >= maxBytes);
    const end = endOf();
    return end === -1 ? null : this.#take(end + marker.length);
  }

  /** Removes all listeners and gives unread bytes back to the socket, for its new owner. */
  release(): void {
    const socket = this.#socket;
    socket.off('readable', this.#onReadable);
    socket.off('error', this.#onError);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
    if (this.#buffered.length > 0) socket.unshift(this.#buffered);
  }

  #take(bytes: number): Buffer {
    const taken = this.#buffered.subarray(0, bytes);
    this.#buffered = this.#buffered.subarray(bytes);
    return taken;
  }

  async #waitUntil(isThere: () => boolean): Promise<void> {
    this.#onReadable();
    while (!isThere()) {
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  readonly #onReadable = (): void => {
    for (let chunk = this.#socket.read(); chunk !== null; chunk = this.#socket.read()) {
      this.#buffered = Buffer.concat([this.#buffered, chunk]);
    }
    this.#wake?.();
  };

  readonly #onError = (error: Error): void => {
    this.#failure ??= error;
    this.#wake?.();
  };

  readonly #onEnd = (): void => {
    this.#failure ??= new SocketEnded('The connection was closed');
    this.#wake?.();
  };
}
