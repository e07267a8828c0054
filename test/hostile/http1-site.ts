import { createServer, type Socket } from 'node:net';
import { createGzip } from 'node:zlib';

const CHUNKED = 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n';
const GZIPPED =
  'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';
const BLOCK_BYTES = 65_536;
const TEXT = '<p>some text of a page that never ends</p>\n';

/** Sends the same bytes as fast as they are taken, `times` times and then `end`. */
function repeat(socket: Socket, again: string, times = Number.POSITIVE_INFINITY, end = ''): void {
  const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / again.length));
  const block = Buffer.from(again.repeat(perBlock));
  const blocks = Math.ceil(times / perBlock);
  let sent = 0;
  const more = (): void => {
    while (!socket.destroyed && sent < blocks) {
      sent += 1;
      if (sent === blocks) socket.end(Buffer.concat([block, Buffer.from(end)]));
      else if (!socket.write(block)) return;
    }
  };
  socket.on('drain', more);
  more();
}

function pourCompressed(socket: Socket, start: string): void {
  const coder = createGzip();
  const block = Buffer.from(TEXT.repeat(1_000));
  socket.on('close', () => coder.destroy());
  coder.on('error', () => {});
  coder.pipe(socket);
  coder.write(start);
  const more = (): void => {
    while (!coder.destroyed && coder.write(block));
  };
  coder.on('drain', more);
  more();
}

const page = (body: string): string => {
  const html = `<!doctype html><title>Hostile</title>${body}`;
  return `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: ${html.length}\r\n\r\n${html}`;
};

/**
 * Responses that cost their reader more than they weigh. What one of them may come to: an end in a code of the
 * registry, or a page, and memory that returns.
 */
export const HOSTILE_PATHS: Readonly<Record<string, (socket: Socket) => void>> = {
  '/tiny-chunks': (socket) => {
    socket.write(CHUNKED);
    repeat(socket, '1\r\na\r\n', 9_800_000, LAST_CHUNK);
  },
  '/endless-chunks': (socket) => {
    socket.write(CHUNKED);
    repeat(socket, `10000\r\n${'a'.repeat(BLOCK_BYTES)}\r\n`);
  },
  '/chunk-extensions': (socket) => {
    socket.write(CHUNKED);
    repeat(socket, `1;${'x'.repeat(8_000)}\r\na\r\n`);
  },
  '/trailers': (socket) => {
    socket.write(`${CHUNKED}0\r\n`);
    repeat(socket, 'x-trailer: a\r\n');
  },
  '/headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    repeat(socket, 'x-header: a\r\n');
  },
  '/interim': (socket) => repeat(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  '/empty-lines': (socket) => repeat(socket, '\r\n'),
  '/bomb': (socket) => {
    socket.write(GZIPPED);
    pourCompressed(socket, '<!doctype html><title>Bomb</title>');
  },
  '/page-loads-bomb': (socket) =>
    socket.end(page('<script>fetch("/bomb").then((answer) => answer.arrayBuffer())</script>')),
  '/page-loads-chunks': (socket) =>
    socket.end(page('<img src="/endless-chunks"><link rel=stylesheet href="/endless-chunks?css">')),
};

export interface HostileSite {
  readonly origin: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Serves HOSTILE_PATHS; robots.txt is missing, and `/` links to all of them. */
export async function startHostileSite(port = 0, host = '127.0.0.1'): Promise<HostileSite> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.once('data', (head) => {
      const path = /^[A-Z]+ ([^ ?]*)/.exec(head.toString('latin1'))?.[1] ?? '/';
      const answer = HOSTILE_PATHS[path];
      if (answer !== undefined) answer(socket);
      else if (path === '/') {
        const links = Object.keys(HOSTILE_PATHS).map((each) => `<a href="${each}">${each}</a>`);
        socket.end(page(links.join('\n')));
      } else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    origin: `http://${host}:${bound}`,
    port: bound,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
