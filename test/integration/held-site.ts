import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A site whose pages below `/held` wait until they are released; all others are answered at once. */
export interface HeldSite {
  readonly origin: string;
  /** Requests for held pages that wait now. */
  waiting(): number;
  release(): void;
  close(): Promise<void>;
}

export async function startHeldSite(): Promise<HeldSite> {
  const held = new Set<ServerResponse>();
  const answer = (response: ServerResponse) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title><p>Text.');
  const server = createServer((incoming, response) => {
    if (incoming.url === '/robots.txt') response.writeHead(404).end();
    else if (incoming.url?.startsWith('/held') === true) {
      held.add(response);
      response.once('close', () => held.delete(response));
    } else answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const release = () => {
    for (const response of held) answer(response);
  };
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting: () => held.size,
    release,
    async close() {
      release();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

export interface ClientAnswer {
  readonly status: number;
  readonly connection: string | undefined;
  readonly body: {
    readonly success?: boolean;
    readonly data?: { readonly id?: string };
    readonly error?: { readonly code: string };
  };
}

/** A client that keeps one connection open from request to request. */
export interface KeepAliveClient {
  ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<ClientAnswer>;
  /** Resolves when the server, or close(), has ended the connection of the last request. */
  readonly disconnected: Promise<void>;
  close(): void;
}

export function openKeepAliveClient(origin: string, apiKey: string): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { promise: disconnected, resolve } = Promise.withResolvers<void>();
  const watched = new WeakSet<Socket>();
  return {
    disconnected,
    async ask(method, path, body) {
      const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
      const asking = request(new URL(path, origin), { method, agent, headers });
      asking.once('socket', (socket: Socket) => {
        if (watched.has(socket)) return;
        watched.add(socket);
        socket.once('close', () => resolve());
      });
      asking.end(body === undefined ? undefined : JSON.stringify(body));
      const [response] = (await once(asking, 'response')) as [IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      return {
        status: response.statusCode ?? 0,
        connection: response.headers.connection,
        body: JSON.parse(Buffer.concat(parts).toString('utf8')) as ClientAnswer['body'],
      };
    },
    close: () => agent.destroy(),
  };
}

/** Whether anything accepts connections there. */
export async function isListening(origin: string): Promise<boolean> {
  const asking = request(new URL('/healthz', origin), { agent: false });
  asking.end();
  try {
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    response.resume();
    return true;
  } catch {
    return false;
  } finally {
    asking.on('error', () => {});
    asking.destroy();
  }
}
