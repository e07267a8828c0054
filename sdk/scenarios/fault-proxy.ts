import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What the proxy does with one request:
 * `pass` hands it on; `status:503` or `status:429:2` answers by itself, with Retry-After; `status:503:date:3600` with
 * Retry-After as a date a second from now, by a clock that is an hour ahead; `reset` breaks the connection
 * before the server gets the request; `lost` after the server has answered, so that the answer is lost; `cut` in the
 * middle of the answer's body; `slow` hands the answer on in small pieces; `page` answers as proxies do, with HTML;
 * `answer:TYPE:TEXT` answers 200 with this content type and body; `endless:418` answers with a body that never ends.
 */
export type Fault = string;

/** Hears of every answer that comes from the server, before a fault befalls it. */
export type AnswerListener = (request: string, answer: IncomingMessage) => void;

export interface FaultProxy {
  readonly url: string;
  close(): Promise<void>;
}

const PIECE_BYTES = 7;
const SLOW_BYTES = 700;
/** An endless body stops at this size and stays open: more than a client may read, without filling its memory. */
const ENDLESS_BYTES = 8 * 1024 ** 2;

/** A proxy before the server. `PUT /__faults` with a JSON list says what becomes of the next requests, one each. */
export async function startFaultProxy(
  target: string,
  onAnswer: AnswerListener = () => undefined,
): Promise<FaultProxy> {
  const to = new URL(target);
  let faults: Fault[] = [];
  const server = createServer(async (incoming, answer) => {
    const body = await bodyOf(incoming);
    if (incoming.url === '/__faults') {
      faults = JSON.parse(body.toString()) as Fault[];
      answer.end('{}');
      return;
    }
    const [kind = 'pass', ...details] = (faults.shift() ?? 'pass').split(':');
    if (kind === 'reset') return void incoming.socket.resetAndDestroy();
    if (kind === 'status') return answerBy(answer, Number(details[0]), details.slice(1));
    if (kind === 'page') {
      answer.writeHead(502, { 'content-type': 'text/html' });
      return void answer.end('<html><body>Bad gateway</body></html>');
    }
    if (kind === 'answer') {
      const [type, ...text] = details;
      answer.writeHead(200, { 'content-type': type });
      return void answer.end(text.join(':'));
    }
    if (kind === 'endless') {
      answer.writeHead(Number(details[0]), { 'content-type': 'application/json' });
      return void answer.write(`{"data":{"text":"${'x'.repeat(ENDLESS_BYTES)}`);
    }
    forward(to, incoming, body, (response) => {
      onAnswer(`${incoming.method} ${incoming.url}`, response);
      if (kind === 'lost') {
        response.resume();
        return void response.once('end', () => incoming.socket.resetAndDestroy());
      }
      answer.writeHead(response.statusCode ?? 502, response.headers);
      if (kind === 'cut') return void cut(response, answer);
      if (kind === 'slow') return void drip(response, answer);
      response.pipe(answer);
    }).once('error', () => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  /** Sends a part of the body and breaks the connection. */
  async function cut(response: IncomingMessage, answer: ServerResponse): Promise<void> {
    for await (const chunk of response) {
      await new Promise((resolve) => answer.write((chunk as Buffer).subarray(0, PIECE_BYTES), resolve));
      break;
    }
    answer.socket?.destroy();
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function answerBy(answer: ServerResponse, status: number, retryAfter: readonly string[]): void {
  answer.writeHead(status, { 'content-type': 'application/json', ...pauseOf(retryAfter) });
  const error = {
    code: status === 429 ? 'RATE_LIMITED' : 'OVERLOADED',
    message: 'Not now.',
    retryable: true,
  };
  answer.end(JSON.stringify({ success: false, error }));
}

/** The headers that ask for a pause: seconds, or a date by a clock that is wrong by so many seconds. */
function pauseOf([value, skew = '0']: readonly string[]): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (value !== 'date') return { 'retry-after': value };
  const now = Date.now() + Number(skew) * 1_000;
  return { date: new Date(now).toUTCString(), 'retry-after': new Date(now + 1_000).toUTCString() };
}

function forward(
  to: URL,
  incoming: IncomingMessage,
  body: Buffer,
  onAnswer: (response: IncomingMessage) => void,
) {
  const { method, headers, url: path } = incoming;
  const { hostname: host, port } = to;
  const sent = request({ host, port, path, method, headers: { ...headers, host: to.host } }, onAnswer);
  sent.end(body);
  return sent;
}

/** The first bytes one small piece at a time, so that lines and characters are torn apart. */
async function drip(response: IncomingMessage, answer: ServerResponse): Promise<void> {
  let dripped = 0;
  for await (const chunk of response) {
    const bytes = chunk as Buffer;
    let at = 0;
    for (; at < bytes.length && dripped < SLOW_BYTES; at += PIECE_BYTES, dripped += PIECE_BYTES) {
      answer.write(bytes.subarray(at, at + PIECE_BYTES));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (at < bytes.length) answer.write(bytes.subarray(at));
  }
  answer.end();
}
