import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listen } from '../../core/errors/guarded.ts';
import { shopPages } from '../../http/samples/bookshop.ts';

/** A small shop on this machine, for the demo: it needs no network, and changes when it is told to. */
export interface DemoSite {
  /** Origin of the site, without a slash at its end. */
  readonly origin: string;
  /** From now on a price is lower, a book is new, and one is sold out and gone. */
  change(): void;
  close(): Promise<void>;
}

const ROBOTS = 'User-agent: *\nDisallow: /staff/\n';

export async function startDemoSite(): Promise<DemoSite> {
  let pages = shopPages();
  const server = createServer();
  listen(server, 'request', (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response, pages),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    change() {
      pages = shopPages({ hasChanged: true });
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: ReadonlyMap<string, string>,
): void {
  const path = URL.parse(request.url ?? '/', 'http://shop')?.pathname ?? '/';
  if (path === '/shipping') {
    response.writeHead(301, { location: '/about' }).end();
    return;
  }
  const body = path === '/robots.txt' ? ROBOTS : pages.get(path);
  const isText = path.endsWith('.txt');
  const etag = `"${createHash('sha1')
    .update(body ?? '')
    .digest('hex')}"`;
  const headers = { 'content-type': isText ? 'text/plain' : 'text/html; charset=utf-8', etag };
  if (body === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
  else if (request.headers['if-none-match'] === etag) response.writeHead(304, headers).end();
  else response.writeHead(200, headers).end(body);
}
