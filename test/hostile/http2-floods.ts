import { createServer, type TLSSocket } from 'node:tls';
import { type Certificate, selfSigned } from '../../src/fetch/http/self-signed.fixture.ts';

/** What a hostile HTTP/2 server sends without end, once it was asked for something. */
export const HTTP2_FLOODS = [
  'empty-data',
  'padded-data',
  'tiny-data',
  'data',
  'empty-continuation',
  'continuation',
  'interim',
  'settings',
  'ping',
  'window-update',
  'priority',
  'reset',
  'goaway',
  'unknown-frames',
] as const;
export type Http2Flood = (typeof HTTP2_FLOODS)[number];

export interface FloodServer {
  readonly origin: string;
  readonly port: number;
  /** Bytes of the flood that left this server, before TLS. */
  readonly sentBytes: () => number;
  close(): Promise<void>;
}

const DATA = 0;
const HEADERS = 1;
const PRIORITY = 2;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;
const UNKNOWN = 0xfa;

const ACK = 0x1;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
/** Frames are sent in blocks of about this size. */
const BLOCK_BYTES = 65_536;
/** HPACK: `:status: 200`, then `content-type: text/html`. */
const OK_HEAD = Buffer.from([0x88, 0x0f, 0x10, 9, ...Buffer.from('text/html')]);
/** HPACK: `:status: 103` as a literal. */
const INTERIM_HEAD = Buffer.from([0x08, 3, ...Buffer.from('103')]);
/** HPACK: `x-filler: aaa…` as a literal that is not kept in the table. */
const FILLER_HEADER = Buffer.from([0, 8, ...Buffer.from('x-filler'), 100, ...Buffer.alloc(100, 'a')]);

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.byteLength, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
};

/** What comes before the flood, and the frame that is repeated. */
const SCRIPTS: Readonly<Record<Http2Flood, (stream: number) => readonly [opening: Buffer, again: Buffer]>> = {
  'empty-data': (stream) => [frame(HEADERS, END_HEADERS, stream, OK_HEAD), frame(DATA, 0, stream)],
  'padded-data': (stream) => [
    frame(HEADERS, END_HEADERS, stream, OK_HEAD),
    frame(DATA, PADDED, stream, Buffer.from([0])),
  ],
  'tiny-data': (stream) => [
    frame(HEADERS, END_HEADERS, stream, OK_HEAD),
    frame(DATA, 0, stream, Buffer.from('a')),
  ],
  data: (stream) => [
    frame(HEADERS, END_HEADERS, stream, OK_HEAD),
    frame(DATA, 0, stream, Buffer.alloc(16_384, 'a')),
  ],
  'empty-continuation': (stream) => [frame(HEADERS, 0, stream, OK_HEAD), frame(CONTINUATION, 0, stream)],
  continuation: (stream) => [
    frame(HEADERS, 0, stream, OK_HEAD),
    frame(CONTINUATION, 0, stream, Buffer.concat(Array.from({ length: 100 }, () => FILLER_HEADER))),
  ],
  interim: (stream) => [Buffer.alloc(0), frame(HEADERS, END_HEADERS, stream, INTERIM_HEAD)],
  settings: () => [Buffer.alloc(0), frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 3]), u32(100)]))],
  ping: () => [Buffer.alloc(0), frame(PING, 0, 0, Buffer.alloc(8))],
  'window-update': () => [Buffer.alloc(0), frame(WINDOW_UPDATE, 0, 0, u32(1))],
  priority: (stream) => [
    Buffer.alloc(0),
    frame(PRIORITY, 0, stream, Buffer.concat([u32(0), Buffer.from([1])])),
  ],
  reset: (stream) => [frame(HEADERS, END_HEADERS, stream, OK_HEAD), frame(RST_STREAM, 0, stream, u32(2))],
  goaway: () => [Buffer.alloc(0), frame(GOAWAY, 0, 0, u32(0x7fff_ffff, 0))],
  'unknown-frames': () => [Buffer.alloc(0), frame(UNKNOWN, 0, 0, Buffer.alloc(64))],
};

/** An HTTPS server that answers every connection's first request with a flood of raw frames. */
export async function startHttp2Flood(
  kind: Http2Flood,
  port = 0,
  certificate: Certificate = selfSigned(),
): Promise<FloodServer> {
  const sockets = new Set<TLSSocket>();
  let sentBytes = 0;

  function flood(socket: TLSSocket, stream: number): void {
    const [opening, again] = SCRIPTS[kind](stream);
    const block = Buffer.concat(Array.from({ length: Math.ceil(BLOCK_BYTES / again.length) }, () => again));
    socket.write(opening);
    const more = (): void => {
      while (!socket.destroyed) {
        sentBytes += block.length;
        if (!socket.write(block)) return;
      }
    };
    socket.on('drain', more);
    more();
  }

  const server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.write(frame(SETTINGS, 0, 0));
    let unread = Buffer.alloc(0);
    let skipBytes = PREFACE_BYTES;
    let isFlooding = false;
    socket.on('data', (chunk: Buffer) => {
      if (isFlooding) return;
      unread = Buffer.concat([unread, chunk]);
      if (unread.length < skipBytes) return;
      unread = unread.subarray(skipBytes);
      skipBytes = 0;
      while (unread.length >= FRAME_HEAD_BYTES) {
        const length = unread.readUIntBE(0, 3);
        if (unread.length < FRAME_HEAD_BYTES + length) return;
        const [type, flags] = [unread.readUInt8(3), unread.readUInt8(4)];
        if (type === SETTINGS && (flags & ACK) === 0) socket.write(frame(SETTINGS, ACK, 0));
        if (type === HEADERS) {
          isFlooding = true;
          flood(socket, unread.readUInt32BE(5) & 0x7fff_ffff);
          return;
        }
        unread = unread.subarray(FRAME_HEAD_BYTES + length);
      }
    });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    origin: `https://127.0.0.1:${bound}`,
    port: bound,
    sentBytes: () => sentBytes,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
