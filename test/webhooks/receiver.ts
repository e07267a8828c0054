import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly at: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly message: { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };
  /** The status that was answered; null when there was no whole answer. */
  readonly status: number | null;
}

/** A status; or what a receiver does instead of answering. */
export type Behaviour =
  | number
  | 'silence'
  | 'reset'
  | 'drip'
  | 'flood'
  | { readonly location: string }
  | { readonly delayMs: number };

/** A web server that notes every message and treats each as it is told. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  behave(how: (message: Received['message'], earlier: number, path: string) => Behaviour): void;
  close(): Promise<void>;
}

const DRIP_MS = 20;
const DRIPS = 10_000;

export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let behaviour: (message: Received['message'], earlier: number, path: string) => Behaviour = () => 200;
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now();
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const message = JSON.parse(body) as Received['message'];
    const path = request.url ?? '';
    const earlier = received.filter((each) => each.message.id === message.id && each.path === path).length;
    const how = behaviour(message, earlier, path);
    const isLate = typeof how === 'object' && 'delayMs' in how;
    const status = typeof how === 'number' ? how : how === 'flood' || isLate ? 200 : null;
    const headers = request.headers as Record<string, string>;
    received.push({ at, path, headers, body, message, status });
    if (how === 'silence') return;
    if (how === 'reset') return void request.socket.resetAndDestroy();
    if (how === 'drip') return drip(response);
    if (how === 'flood') return void response.end('x'.repeat(5_000_000));
    if (typeof how === 'number')
      return void response.writeHead(how, { 'x-answer': 'yes' }).end(`answer ${how}`);
    if ('delayMs' in how) return void setTimeout(() => response.end('late'), how.delayMs);
    response.writeHead(301, how).end();
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    behave(how) {
      behaviour = how;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One byte of a body at a time, never the last. */
function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': String(DRIPS) });
  const timer = setInterval(() => response.write('.'), DRIP_MS);
  response.on('close', () => clearInterval(timer));
}
