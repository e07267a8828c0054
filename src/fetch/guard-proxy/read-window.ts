import type { Duplex } from 'node:stream';
import { listen, listenOnce } from '../../core/errors/guarded.ts';

/**
 * How far a host may be ahead of what is read from it, through a client that holds bytes where we cannot count them:
 * a native library keeps every frame until it is read, and needs many times its size for it.
 * Bytes on the wire run up a debt, bytes that are read pay it off, several times over because frames, records and
 * headers travel besides the content. While the debt is larger than the window, the host's connections are not read.
 *
 * An honest host is ahead by what its client has not handed out yet, and goes on when that is read. One that keeps the
 * window full while a read waits for content sends frames without any: those who wait are then told.
 */
export interface ReadWindow {
  /** Passes what comes from the host on to the client, as fast as the client takes it and the window allows. */
  forward(host: Duplex, client: Duplex): void;
  /** Bytes of content that came out of the client. */
  consumed(bytes: number): void;
  /** A response began: what came before it is paid off. */
  reset(): void;
  /** Waits for the client's answer to a request. `onFlood` is called when the window stays full meanwhile. */
  awaiting<T>(answer: Promise<T>, onFlood: () => void): Promise<T>;
  readonly isFull: boolean;
  /** No connection is forwarded and no read waits. */
  readonly isIdle: boolean;
}

export interface ReadWindowOptions {
  readonly windowBytes: number;
  /** How long the window is full, while a read waits, before that is called a flood. */
  readonly floodMs: number;
}

/** Bytes of debt that one byte of content pays off: small frames over TLS cost that much. */
const PAID_OFF = 8;

export function createReadWindow({ windowBytes, floodMs }: ReadWindowOptions): ReadWindow {
  /** Bounded by the connections of the guard. */
  const connections = new Set<() => void>();
  /** Bounded by the requests under way. */
  const waiting = new Set<() => void>();
  let debtBytes = 0;
  /** For how long reads have waited at a full window, and since when one does. */
  let waitedMs = 0;
  let waitingSince = 0;
  let timer: NodeJS.Timeout | null = null;

  const isFull = (): boolean => debtBytes > windowBytes;

  function pay(bytes: number): void {
    if (bytes === 0) return;
    const wasFull = isFull();
    debtBytes = Math.max(0, debtBytes - bytes);
    if (!wasFull) return;
    stopClock();
    waitedMs = 0;
    if (isFull()) startClock();
    else for (const goOn of connections) goOn();
  }

  /** Only time during which a read waits says something about the host. */
  function startClock(): void {
    if (timer !== null || !isFull() || waiting.size === 0) return;
    waitingSince = performance.now();
    timer = setTimeout(
      () => {
        for (const onFlood of [...waiting]) onFlood();
      },
      Math.max(1, floodMs - waitedMs),
    );
  }

  function stopClock(): void {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    waitedMs += performance.now() - waitingSince;
  }

  return {
    forward(host, client) {
      const goOn = (): void => {
        if (!isFull() && !client.writableNeedDrain) host.resume();
      };
      connections.add(goOn);
      listen(host, 'data', (chunk: Uint8Array) => {
        debtBytes += chunk.byteLength;
        client.write(chunk);
        if (isFull()) startClock();
        if (isFull() || client.writableNeedDrain) host.pause();
      });
      listen(client, 'drain', goOn);
      listenOnce(host, 'end', () => client.end());
      listenOnce(host, 'close', () => connections.delete(goOn));
    },
    consumed: (bytes) => pay(bytes * PAID_OFF),
    reset: () => pay(debtBytes),
    async awaiting(answer, onFlood) {
      waiting.add(onFlood);
      startClock();
      try {
        return await answer;
      } finally {
        waiting.delete(onFlood);
        if (waiting.size === 0) stopClock();
      }
    },
    get isFull() {
      return isFull();
    },
    get isIdle() {
      return connections.size === 0 && waiting.size === 0;
    },
  };
}
