import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { listen, listenOnce } from '../../../core/errors/guarded.ts';

/** RFC 6455, 1.3: what a server adds to the key of the client before hashing it. */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const OPCODE = { text: 1, close: 8, ping: 9, pong: 10 } as const;
const FINAL = 0x80;
/** Clients only send control frames here, which have no more bytes than this. */
const MOST_CONTROL_BYTES = 125;
const MOST_UNREAD_BYTES = 67_108_864;
/** Answers to pings that a client has not taken; more would let it fill memory with them. */
const MOST_UNREAD_PONG_BYTES = 16_384;
const PING_MS = 20_000;
/** How long a client has to close its side once this one has. */
const CLOSE_MS = 2_000;

/** The server's side of a WebSocket on which only the server has something to say. */
export interface WatchSocket {
  /** Resolves when the client has taken enough for more to be sent; at once when it is gone. */
  send(message: unknown): Promise<void>;
  /** `reason` may have 123 bytes. */
  close(code: number, reason: unknown): void;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
}

/** Answers the handshake. Null: the request was none, and has been refused. */
export function openWebSocket(
  { headers }: Pick<IncomingMessage, 'headers'>,
  socket: Duplex,
  protocol: string | null,
): WatchSocket | null {
  const key = headers['sec-websocket-key'];
  if (key === undefined || headers['sec-websocket-version'] !== '13') {
    refuseUpgrade(socket, '400 Bad Request');
    return null;
  }
  const accept = createHash('sha1')
    .update(key + MAGIC)
    .digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === null ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return converse(socket);
}

export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  // What the client still sends is dropped: a connection that is not read does not notice its end.
  socket.resume();
  destroyLater(socket);
}

/** A client that does not close its side is not waited for: half a connection counts as one, and costs as much. */
function destroyLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  listenOnce(socket, 'close', () => clearTimeout(timer));
}

function converse(socket: Duplex): WatchSocket {
  const gone = new AbortController();
  let isClosing = false;
  let received: Buffer = Buffer.alloc(0);
  const pings = setInterval(() => write(OPCODE.ping, Buffer.alloc(0)), PING_MS).unref();
  const end = () => {
    clearInterval(pings);
    gone.abort();
  };
  listen(socket, 'close', end);
  listen(socket, 'error', () => socket.destroy());
  listen(socket, 'data', (piece: Buffer) => {
    received = received.length === 0 ? piece : Buffer.concat([received, piece]);
    for (;;) {
      const frame = controlFrame(received);
      if (frame === 'more') {
        // A copy: the rest of a piece would keep all of it in memory.
        received = Buffer.from(received);
        return;
      }
      // Clients send only short control frames here.
      if (frame === 'wrong') return void socket.destroy();
      received = received.subarray(frame.bytes);
      if (frame.opcode === OPCODE.ping && !isClosing) {
        if (socket.writableLength > MOST_UNREAD_PONG_BYTES) return void socket.destroy();
        write(OPCODE.pong, frame.payload);
      }
      if (frame.opcode !== OPCODE.close) continue;
      if (!isClosing) write(OPCODE.close, frame.payload);
      socket.end();
      destroyLater(socket);
      return;
    }
  });

  function write(opcode: number, payload: Buffer): boolean {
    if (socket.destroyed || !socket.writable) return true;
    socket.write(headOf(opcode, payload.length));
    return socket.write(payload);
  }

  return {
    gone: gone.signal,
    async send(message) {
      if (isClosing || gone.signal.aborted) return;
      if (socket.writableLength > MOST_UNREAD_BYTES) return void socket.destroy();
      const hasRoom = write(OPCODE.text, Buffer.from(JSON.stringify(message)));
      if (hasRoom) return;
      await new Promise<void>((resolve) => {
        socket.once('drain', resolve);
        listenOnce(socket, 'close', () => resolve());
      });
    },
    close(code, reason) {
      if (isClosing) return;
      isClosing = true;
      const status = Buffer.alloc(2);
      status.writeUInt16BE(code);
      write(OPCODE.close, Buffer.concat([status, Buffer.from(JSON.stringify(reason)).subarray(0, 123)]));
      // The client answers with a close of its own.
      destroyLater(socket);
    },
  };
}

/** A server's frame is not masked. */
function headOf(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.from([FINAL | opcode, length]);
  if (length < 65_536) {
    const head = Buffer.from([FINAL | opcode, 126, 0, 0]);
    head.writeUInt16BE(length, 2);
    return head;
  }
  const head = Buffer.alloc(10);
  head[0] = FINAL | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly bytes: number;
}

/** The first frame of what was received; `more` when it is not whole yet. A client's frame is masked. */
function controlFrame(received: Buffer): Frame | 'more' | 'wrong' {
  if (received.length < 2) return 'more';
  const [first = 0, second = 0] = received;
  const length = second & 0x7f;
  if ((second & 0x80) === 0 || length > MOST_CONTROL_BYTES) return 'wrong';
  const bytes = 6 + length;
  if (received.length < bytes) return 'more';
  const mask = received.subarray(2, 6);
  const payload = Buffer.from(received.subarray(6, bytes).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  return { opcode: first & 0x0f, payload, bytes };
}
