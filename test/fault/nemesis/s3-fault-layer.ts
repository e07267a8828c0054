import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * How the object store answers.
 *
 * - `error`: 500 InternalError to every request. `slow-down`: 503 SlowDown to every request. `full`: 507 to every PUT
 *   and POST, which is not stored; the rest works.
 * - `slow`: every answer is late by seconds. `partial`: bodies break off in the middle, requests that write are carried
 *   out and their answers are cut.
 * - `swallow`: requests are taken and never answered, also those that are under way. `refuse`: connections are reset.
 */
export const S3_MODES = [
  'pass',
  'error',
  'slow-down',
  'full',
  'slow',
  'partial',
  'swallow',
  'refuse',
] as const;
export type S3Mode = (typeof S3_MODES)[number];

/** An HTTP proxy before an S3 server. Signatures hold: the Host header passes as it was sent. */
export interface S3FaultLayer {
  readonly port: number;
  set(mode: S3Mode): void;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const SLOW_MS = 4_000;
const REFUSALS = {
  error: [500, 'InternalError'],
  'slow-down': [503, 'SlowDown'],
  full: [507, 'InsufficientStorage'],
} as const;

export async function openS3FaultLayer(targetPort: number): Promise<S3FaultLayer> {
  let mode: S3Mode = 'pass';
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  function refuse(response: ServerResponse, [status, code]: readonly [number, string]): void {
    const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`;
    response.writeHead(status, {
      'content-type': 'application/xml',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  }

  const isWrite = ({ method }: IncomingMessage) => method === 'PUT' || method === 'POST';

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const now = mode;
    if (now === 'refuse') {
      message.socket.resetAndDestroy();
      return;
    }
    if (now === 'error' || now === 'slow-down' || (now === 'full' && isWrite(message))) {
      message.resume();
      await once(message, 'end');
      refuse(response, REFUSALS[now]);
      return;
    }
    if (now === 'swallow') {
      message.resume();
      return;
    }
    if (now === 'slow') await delay(SLOW_MS);
    passOn(message, response, now === 'partial');
  }

  function passOn(message: IncomingMessage, response: ServerResponse, isPartial: boolean): void {
    const { method, url: path, headers } = message;
    const { socket } = message;
    const onward = httpRequest({ host: HOST, port: targetPort, agent, method, path, headers });
    onward.once('error', () => socket.resetAndDestroy());
    onward.once('response', (answered) => {
      if (mode === 'swallow') {
        answered.resume();
        return;
      }
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      if (!isPartial) {
        pipeline(answered, response, () => {});
        return;
      }
      const length = Number(answered.headers['content-length'] ?? 0);
      answered.once('data', (piece: Buffer) => response.write(piece.subarray(0, Math.floor(length / 2))));
      answered.once('end', () => setImmediate(() => socket.resetAndDestroy()));
      answered.on('error', () => {});
      answered.resume();
    });
    response.once('close', () => onward.destroy());
    pipeline(message, onward, () => {});
  }

  const server = createServer((message, response) => {
    message.on('error', () => {});
    response.on('error', () => {});
    void answer(message, response).catch(() => message.socket.destroy());
  });
  // The object store's clients keep connections for long; who is not heard from is not cut off here.
  server.keepAliveTimeout = 60_000;
  server.listen(0, HOST);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      // Requests that were swallowed stay so; their connections end as a dead line ends, by a reset, only now.
      if (mode === 'swallow' || next === 'refuse') server.closeAllConnections();
      mode = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
}
