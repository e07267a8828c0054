import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * What the proxy does with the bytes of a connection.
 *
 * `pass`              passes them on
 * `hold`              keeps them, in order, until the connection passes again: a peer that hangs
 * `swallow`           takes them in both directions and passes nothing on: a connection that is half-open
 * `swallow-requests`  takes what the client sends; the server's bytes still arrive
 * `swallow-replies`   takes what the server sends; the client's bytes still arrive
 * `refuse`            breaks the connection, and every new one at once
 * `delayMs`           passes them on later
 * `cutAfterBytes`     passes so many bytes of the server on and then breaks the connection
 */
export type ProxyMode =
  | 'pass'
  | 'hold'
  | 'swallow'
  | 'swallow-requests'
  | 'swallow-replies'
  | 'refuse'
  | { readonly delayMs: number }
  | { readonly cutAfterBytes: number };

/** `open`: the connections that exist now. `new`: those that clients make from now on. */
export type ProxyScope = 'all' | 'open' | 'new';

/**
 * A TCP proxy before one server. A connection that has swallowed bytes stays deaf in that direction until it ends,
 * whatever mode is set later: TCP never leaves out bytes of a connection that goes on. Neither side of a deaf
 * connection hears that the other side has ended.
 */
export interface TcpProxy {
  readonly port: number;
  /** The URL of the server, by way of the proxy. */
  urlOf(serverUrl: string): string;
  set(mode: ProxyMode, scope?: ProxyScope): void;
  /** Connections of clients that are open now; `deaf` ones have swallowed bytes. */
  counts(): { readonly open: number; readonly deaf: number; readonly made: number };
  /**
   * Lets the next request that contains the text (such as `COMMIT`) reach the server, drops the server's reply and
   * breaks the connection. Resolves when that has happened.
   */
  cutReplyTo(text: string): Promise<void>;
  /** Breaks the connections that are open now. */
  cut(): void;
  close(): Promise<void>;
}

interface Direction {
  readonly from: Socket;
  readonly to: Socket;
  isDeaf: boolean;
  /** Bytes on their way, in order. */
  tail: Promise<void>;
}

interface Connection {
  mode: ProxyMode;
  passedBytes: number;
  isReplyCut: boolean;
  readonly requests: Direction;
  readonly replies: Direction;
}

export async function openTcpProxy(server: { host: string; port: number }): Promise<TcpProxy> {
  const connections = new Set<Connection>();
  /** Sockets that outlive their connection because a deaf side never heard of its end. */
  const sockets = new Set<Socket>();
  let modeOfNew: ProxyMode = 'pass';
  let made = 0;
  let awaitedReply: { readonly text: string; readonly resolve: () => void } | null = null;

  const listener = createServer((near) => {
    made += 1;
    if (modeOfNew === 'refuse') {
      near.on('error', () => {});
      near.resetAndDestroy();
      return;
    }
    const far = connect(server);
    const connection: Connection = {
      mode: modeOfNew,
      passedBytes: 0,
      isReplyCut: false,
      requests: { from: near, to: far, isDeaf: false, tail: Promise.resolve() },
      replies: { from: far, to: near, isDeaf: false, tail: Promise.resolve() },
    };
    connections.add(connection);
    for (const direction of [connection.requests, connection.replies]) attend(connection, direction);
  });

  function attend(connection: Connection, direction: Direction): void {
    const { from, to } = direction;
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (bytes: Buffer) => take(connection, direction, bytes));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      if (from === connection.requests.from) connections.delete(connection);
      if (!isDeaf(connection, direction)) void direction.tail.then(() => to.destroySoon());
    });
    apply(connection);
  }

  function take(connection: Connection, direction: Direction, bytes: Buffer): void {
    const { mode, requests, replies } = connection;
    const isReply = direction === replies;
    if (isDeaf(connection, direction)) {
      direction.isDeaf = true;
      return;
    }
    if (!isReply && awaitedReply !== null && bytes.includes(awaitedReply.text)) connection.isReplyCut = true;
    if (isReply && connection.isReplyCut) {
      awaitedReply?.resolve();
      awaitedReply = null;
      breakOff(connection);
      return;
    }
    if (isReply && typeof mode === 'object' && 'cutAfterBytes' in mode) {
      const left = mode.cutAfterBytes - connection.passedBytes;
      connection.passedBytes += bytes.length;
      if (bytes.length >= left) {
        requests.from.write(bytes.subarray(0, left), () => breakOff(connection));
        return;
      }
    }
    const delayMs = typeof mode === 'object' && 'delayMs' in mode ? mode.delayMs : 0;
    if (delayMs === 0) {
      // What is delayed already stays before it.
      void direction.tail.then(() => direction.to.write(bytes));
      return;
    }
    const dueAt = performance.now() + delayMs;
    direction.tail = direction.tail
      .then(() => pause(Math.max(0, dueAt - performance.now())))
      .then(() => void direction.to.write(bytes));
  }

  function isDeaf({ mode, requests }: Connection, direction: Direction): boolean {
    if (direction.isDeaf || mode === 'swallow') return true;
    return mode === (direction === requests ? 'swallow-requests' : 'swallow-replies');
  }

  function apply(connection: Connection): void {
    const { mode, requests, replies } = connection;
    if (mode === 'refuse') {
      breakOff(connection);
      return;
    }
    for (const { from } of [requests, replies]) {
      if (mode === 'hold') from.pause();
      else from.resume();
    }
  }

  function breakOff({ requests, replies }: Connection): void {
    requests.from.destroy();
    replies.from.destroy();
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    port,
    urlOf(serverUrl) {
      const url = new URL(serverUrl);
      url.hostname = '127.0.0.1';
      url.port = String(port);
      return url.href;
    },
    set(mode, scope = 'all') {
      if (scope !== 'open') modeOfNew = mode;
      if (scope === 'new') return;
      for (const connection of connections) {
        connection.mode = mode;
        apply(connection);
      }
    },
    counts() {
      const deaf = [...connections].filter(({ requests, replies }) => requests.isDeaf || replies.isDeaf);
      return { open: connections.size, deaf: deaf.length, made };
    },
    cutReplyTo: (text) =>
      new Promise((resolve) => {
        awaitedReply = { text, resolve };
      }),
    cut() {
      for (const connection of connections) breakOff(connection);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
