import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** RFC 6455, 1.3: what every server adds to the key before hashing it. */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT_FRAME = 0x81;
const CLOSE_FRAME = 0x88;

/** Opens a websocket, says one short thing and answers a close with a close. What else comes is not looked at. */
export function greetSocket(message: IncomingMessage, socket: Duplex, greeting: string): void {
  const key = message.headers['sec-websocket-key'];
  if (key === undefined) {
    socket.destroy();
    return;
  }
  const accept = createHash('sha1')
    .update(key + MAGIC)
    .digest('base64');
  socket.on('error', () => socket.destroy());
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  const words = Buffer.from(greeting);
  socket.write(Buffer.concat([Buffer.from([TEXT_FRAME, words.length]), words]));
  socket.on('data', (piece: Buffer) => {
    if (piece[0] === CLOSE_FRAME) socket.end(Buffer.from([CLOSE_FRAME, 0]));
  });
}
