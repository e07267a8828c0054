import { once } from 'node:events';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from './app.ts';
import { type DrainLimits, drainRequests } from './unread-request.ts';

const apps: App[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

async function listen(limits?: DrainLimits): Promise<number> {
  const app = Fastify({ bodyLimit: 1_000, forceCloseConnections: true }) as unknown as App;
  apps.push(app);
  drainRequests(app, limits);
  app.get('/', () => ({ answer: 'x'.repeat(100_000) }));
  app.post('/', () => ({ answer: 'posted' }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Sends the head and then the body in pieces, each after the one before has left, and reads to the end. */
async function send(port: number, head: string, pieces: readonly Buffer[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.write(head);
  for (const piece of pieces) {
    if (socket.destroyed) break;
    await new Promise((resolve) => socket.write(piece, resolve));
  }
  await closed;
  return Buffer.concat(chunks).toString('latin1');
}

const MEGABYTE = Buffer.alloc(1_000_000, 'a');
const EIGHT = Array.from({ length: 8 }, () => MEGABYTE);
const head = (method: string) =>
  `${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${EIGHT.length * MEGABYTE.length}\r\n\r\n`;

describe('a request that no handler reads to its end', () => {
  it('gets its whole answer: a GET with a large body', async () => {
    const port = await listen();
    const answer = await send(port, head('GET'), EIGHT);
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(answer.endsWith('x"}')).toBe(true);
  });

  it('gets its whole answer: a body above the limit', async () => {
    const port = await listen();
    const answer = await send(port, head('POST'), EIGHT);
    expect(answer).toContain('HTTP/1.1 413');
    expect(answer).toContain('FST_ERR_CTP_BODY_TOO_LARGE');
  });

  it('is answered although its client never sends the rest', async () => {
    const port = await listen({ bytes: 1_000, ms: 20 });
    const answer = await send(port, head('GET'), []);
    expect(answer).toContain('HTTP/1.1 200 OK');
  });

  it('is answered although its client sends more than is drained', async () => {
    const port = await listen({ bytes: 1_000, ms: 60_000 });
    const answer = await send(port, head('GET'), [MEGABYTE.subarray(0, 2_000)]);
    expect(answer).toContain('HTTP/1.1 200 OK');
  });
});
