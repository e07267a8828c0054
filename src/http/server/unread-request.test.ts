import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from './app.ts';
import { toScrapifieError } from './failures.ts';
import { readJsonBodies } from './json-body.ts';
import { holdRequestBodies, leaveContinueToRoutes } from './request-bodies.ts';
import { closeUnread, type DrainLimits } from './unread-request.ts';

const MB = 1_000_000;
const apps: App[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** What the server did with the connections it was given, beside what it answered. */
interface Server {
  readonly port: number;
  readonly served: string[];
  /** Bytes that it took off all connections. */
  takenBytes(): number;
}

async function listen(limits: DrainLimits = { bytes: 64 * MB, ms: 20_000 }): Promise<Server> {
  const app = Fastify({ bodyLimit: 1_000, forceCloseConnections: true }) as unknown as App;
  apps.push(app);
  const sockets: Socket[] = [];
  app.server.on('connection', (socket: Socket) => sockets.push(socket));
  leaveContinueToRoutes(app.server);
  app.decorateRequest('key', null);
  const bodies = holdRequestBodies({
    maxHeldBytes: MB,
    minBytesPerSecond: 1,
    now: () => 0,
    onSlow: () => undefined,
  });
  readJsonBodies(app, bodies);
  app.addHook('onClose', async () => bodies.close());
  closeUnread(app, limits, limits);
  const served: string[] = [];
  app.addHook('preHandler', async ({ method, url }) => {
    served.push(`${method} ${url}`);
  });
  app.setErrorHandler((thrown, _request, reply) => {
    const error = toScrapifieError(thrown);
    return reply.code(error.spec.httpStatus).send({ code: error.code });
  });
  app.get('/', () => ({ answer: 'x'.repeat(100_000) }));
  app.post('/', ({ body }) => ({ body }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, served, takenBytes: () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0) };
}

/** Sends the pieces, each after the one before has left, and reads to the end of the connection. */
async function send(port: number, pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const piece of pieces) {
    if (socket.destroyed || !socket.writable) break;
    await Promise.race([closed, new Promise((resolve) => socket.write(piece, resolve))]);
  }
  await closed;
  return Buffer.concat(chunks).toString('latin1');
}

const MEGABYTE = Buffer.alloc(MB, ' ');
const head = (method: string, bytes: number, path = '/', more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n${more}\r\n`;
const answersIn = (text: string) => text.match(/HTTP\/1\.1 \d+/g);

describe('a request whose body is not read', () => {
  it.each([
    ['GET', '/', '200'],
    ['POST', '/', '413'],
    ['POST', '/nothing', '404'],
  ])('is answered whole, to a client that sends all before it reads: %s %s', async (method, path, status) => {
    const { port } = await listen();
    const answer = await send(port, [head(method, 8 * MB, path), ...Array(8).fill(MEGABYTE)]);
    expect(answersIn(answer)).toEqual([`HTTP/1.1 ${status}`]);
    expect(answer).toMatch(/connection: close/i);
    expect(answer.endsWith('}')).toBe(true);
  });

  it('is answered before the body has come, and its connection ends in time although the body never comes', async () => {
    const { port } = await listen({ bytes: 1_000, ms: 20 });
    expect(answersIn(await send(port, [head('POST', 8 * MB, '/nothing')]))).toEqual(['HTTP/1.1 404']);
  });

  it('is read no further than the limit, however much is sent', async () => {
    const server = await listen({ bytes: 100_000, ms: 20_000 });
    await send(server.port, [head('POST', 64 * MB, '/nothing'), ...Array(64).fill(MEGABYTE)]);
    expect(server.takenBytes()).toBeLessThan(MB);
  });

  it('leaves the connection to the next request when the rest is little', async () => {
    const server = await listen();
    const body = '{"a":1}';
    const answer = await send(server.port, [
      head('POST', body.length, '/nothing'),
      body,
      head('POST', body.length, '/', 'Connection: close\r\n') + body,
    ]);
    expect(answersIn(answer)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it('is the last one that is served on a connection that closes, whatever was sent behind it', async () => {
    const server = await listen();
    const body = ' '.repeat(100_000);
    const answer = await send(server.port, [
      head('POST', body.length, '/nothing'),
      body + head('GET', 0, '/', '') + head('GET', 0, '/', ''),
    ]);
    expect(answersIn(answer)).toEqual(['HTTP/1.1 404']);
    expect(server.served.filter((request) => request.startsWith('GET'))).toEqual([]);
  });

  it('serves pipelined requests whose bodies are read, in their order', async () => {
    const { port } = await listen();
    const posts = ['{"n":1}', '{"n":2}', '{"n":3}'];
    const text = posts.map(
      (body, n) => head('POST', body.length, '/', n === 2 ? 'Connection: close\r\n' : '') + body,
    );
    const answer = await send(port, [text.join('')]);
    expect(answer.match(/"n":\d/g)).toEqual(['"n":1', '"n":2', '"n":3']);
  });
});

describe('Expect: 100-continue', () => {
  const EXPECT = 'Expect: 100-continue\r\n';

  it('is met where the body is wanted', async () => {
    const { port } = await listen();
    const answer = await send(port, [head('POST', 7, '/', `${EXPECT}Connection: close\r\n`), '{"a":1}']);
    expect(answersIn(answer)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
  });

  it.each([
    ['a path that does not exist', '/nothing', 7, '404'],
    ['a body that is too large', '/', 2_000, '413'],
  ])('is not met for %s, and the connection closes', async (_, path, bytes, status) => {
    const { port } = await listen({ bytes: 1_000, ms: 20 });
    const answer = await send(port, [head('POST', bytes, path, EXPECT)]);
    expect(answersIn(answer)).toEqual([`HTTP/1.1 ${status}`]);
    expect(answer).toMatch(/connection: close/i);
  });
});
