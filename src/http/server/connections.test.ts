import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import { type ClosedFor, type ConnectionOptions, limitConnections } from './connections.ts';

/** Until a condition holds. */
const SOON = { timeout: 20_000 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A client that sends one request and never reads what comes back. */
async function deafClient(
  port: number,
  path: string,
  localAddress = '127.0.0.1',
  headers = '',
): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  socket.pause();
  closers.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  return socket;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

describe('answers that clients do not read', () => {
  let platform: Platform;
  async function open(given: Parameters<typeof openPlatform>[0] = {}): Promise<Set<Socket>> {
    platform = await openPlatform(given);
    closers.push(() => platform.close());
    await platform.api.listen({ port: 0, host: '127.0.0.1' });
    const sockets = new Set<Socket>();
    platform.api.server.on('connection', (socket: Socket) => {
      sockets.add(socket);
    });
    return sockets;
  }
  const unreadOf = (sockets: Iterable<Socket>) => [...sockets].map(({ writableLength }) => writableLength);

  it('hold a few chunks of a file for each connection, not the file', async () => {
    const sockets = await open();
    const whole = (await platform.api.inject({ url: '/docs/js/scalar.js' })).rawPayload.length;
    expect(whole).toBeGreaterThan(4_000_000);
    const clients = 60;
    for (let n = 0; n < clients; n++) await deafClient(portOf(platform.api.server), '/docs/js/scalar.js');
    await expect.poll(() => unreadOf(sockets).filter((bytes) => bytes > 0).length).toBe(clients);
    expect(unreadOf(sockets).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(clients * 262_144);
    // A client that does read gets all of it.
    const response = await fetch(`http://127.0.0.1:${portOf(platform.api.server)}/docs/js/scalar.js`);
    expect(response.headers.get('content-length')).toBe(String(whole));
    expect((await response.arrayBuffer()).byteLength).toBe(whole);
  });

  it('are refused beyond the limit, and taken again when clients have gone', async () => {
    const sockets = await open({ maxUnreadBytes: 1_048_576 });
    const html = `<p>${'word '.repeat(800_000)}</p>`;
    const payload = { html, url: 'https://example.com/', formats: ['html'] };
    const port = portOf(platform.api.server);
    const body = JSON.stringify(payload);
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/v1/extract`, {
        method: 'POST',
        headers: { 'x-api-key': platform.secret, 'content-type': 'application/json' },
        body,
      });
    // Corked, the first connection takes nothing, as from a client that does not read. A real one that does not read
    // would not do: the system's buffers may grow until they hold the whole answer.
    platform.api.server.once('connection', (socket: Socket) => {
      socket.cork();
    });
    const first = ask();
    await expect.poll(() => unreadOf(sockets).some((bytes) => bytes > 0), SOON).toBe(true);
    const second = await ask();
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await second.json()).toMatchObject({ error: { code: 'OVERLOADED', retryable: true } });
    for (const socket of sockets) while (socket.writableCorked > 0) socket.uncork();
    expect((await first).status).toBe(200);
    expect((await (await first).text()).length).toBeGreaterThan(html.length);
    await expect
      .poll(async () => {
        const again = await ask();
        await again.body?.cancel();
        return again.status;
      }, SOON)
      .toBe(200);
  });
});

describe('requests that are sent without waiting for answers', () => {
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n';

  it('are answered in order while they are few; more close the connection, and the server goes on', async () => {
    const platform = await openPlatform();
    closers.push(() => platform.close());
    await platform.api.listen({ port: 0, host: '127.0.0.1' });
    const port = portOf(platform.api.server);
    let parsed = 0;
    platform.api.server.on('request', () => {
      parsed += 1;
    });
    const few = connect({ port, host: '127.0.0.1' });
    closers.push(() => few.destroy());
    let text = '';
    few.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    few.write(request.repeat(4));
    await expect.poll(() => text.split('HTTP/1.1 200 OK').length - 1, SOON).toBe(4);
    parsed = 0;
    const many = connect({ port, host: '127.0.0.1' });
    many.on('error', () => undefined);
    closers.push(() => many.destroy());
    many.pause();
    many.write(request.repeat(5_000));
    await new Promise((resolve) => many.resume().once('close', resolve));
    // Each read brings a thousand of them.
    expect(parsed).toBe(5);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });
});

describe('connections', () => {
  async function open(options: Partial<ConnectionOptions>) {
    const closed: ClosedFor[] = [];
    const accepted: Socket[] = [];
    const server = createServer((_request, response) => {
      response.end(Buffer.alloc(16_000_000));
    });
    const connections = limitConnections(server, {
      max: 100,
      maxPerAddress: 100,
      isProxy: () => false,
      now: () => 0,
      onClosed: (why) => closed.push(why),
      ...options,
    });
    server.on('connection', (socket: Socket) => accepted.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      connections.close();
      server.closeAllConnections();
      server.close();
    });
    return { server, connections, closed, accepted };
  }

  it('beyond the total are closed', async () => {
    const { server, closed } = await open({ max: 3 });
    for (let n = 0; n < 3; n++) await deafClient(portOf(server), '/');
    const fourth = await deafClient(portOf(server), '/');
    await once(fourth.resume(), 'close');
    expect(closed).toEqual(['total']);
  });

  it('beyond the limit of an address are closed, and those of other addresses are not', async () => {
    const { server, closed, accepted } = await open({ maxPerAddress: 2 });
    const own = await deafClient(portOf(server), '/', '127.0.0.2');
    await deafClient(portOf(server), '/', '127.0.0.2');
    const third = await deafClient(portOf(server), '/', '127.0.0.2');
    await once(third.resume(), 'close');
    expect(closed).toEqual(['address']);
    await deafClient(portOf(server), '/', '127.0.0.3');
    await expect.poll(() => accepted.filter((socket) => !socket.destroyed).length).toBe(3);
    own.destroy();
    await expect.poll(() => accepted.filter((socket) => !socket.destroyed).length).toBe(2);
    await deafClient(portOf(server), '/', '127.0.0.2');
    await expect.poll(() => accepted.filter((socket) => !socket.destroyed).length).toBe(3);
    expect(closed).toEqual(['address']);
  });

  it('of a reverse proxy have no limit of their address', async () => {
    const { server, closed, accepted } = await open({
      maxPerAddress: 1,
      isProxy: (address) => address === '127.0.0.2',
    });
    for (let n = 0; n < 5; n++) await deafClient(portOf(server), '/', '127.0.0.2');
    await expect.poll(() => accepted.filter((socket) => !socket.destroyed).length).toBe(5);
    expect(closed).toEqual([]);
  });

  it('that take nothing of their answer for a minute are closed, and not sooner', async () => {
    const clock = { now: 0 };
    const { server, connections, closed, accepted } = await open({ now: () => clock.now });
    const client = await deafClient(portOf(server), '/');
    await expect.poll(() => connections.unreadBytes()).toBeGreaterThan(0);
    connections.sweep();
    clock.now = 59_999;
    connections.sweep();
    expect(closed).toEqual([]);
    expect(accepted[0]?.destroyed).toBe(false);
    clock.now = 60_000;
    connections.sweep();
    expect(closed).toEqual(['unread']);
    await once(client.resume(), 'close');
    expect(connections.unreadBytes()).toBe(0);
  });
});
