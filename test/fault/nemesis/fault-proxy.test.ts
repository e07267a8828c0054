import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type FaultProxy, isCommitted, openFaultProxy } from './fault-proxy.ts';
import { openS3FaultLayer, type S3FaultLayer } from './s3-fault-layer.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Answers every piece with the same in capitals, and remembers it. */
async function startServer(): Promise<{ port: number; heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      heard.push(bytes.toString());
      socket.write(bytes.toString().toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, heard };
}

function dial(proxy: FaultProxy): Socket {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.on('error', () => {});
  closers.push(() => socket.destroy());
  return socket;
}

async function open(proxy: FaultProxy): Promise<Socket> {
  const socket = dial(proxy);
  await once(socket, 'connect');
  return socket;
}

/** Also by a reset, which `once` would take for a failure. */
const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString();
}

async function startBoth() {
  const server = await startServer();
  const proxy = await openFaultProxy({ targetPort: server.port, delayMs: 5 });
  closers.push(() => proxy.close());
  return { ...server, proxy };
}

describe('a fault proxy', () => {
  test('passes bytes on, late when it is told to', async () => {
    const { proxy } = await startBoth();
    const socket = await open(proxy);
    expect(await ask(socket, 'a')).toBe('A');
    proxy.set('delay');
    expect(await ask(socket, 'b')).toBe('B');
  });

  test('refuses: what is open is reset, and what comes new', async () => {
    const { proxy } = await startBoth();
    const socket = await open(proxy);
    expect(await ask(socket, 'a')).toBe('A');
    proxy.set('refuse');
    await closed(socket);
    await closed(dial(proxy));
    proxy.set('pass');
    expect(await ask(await open(proxy), 'b')).toBe('B');
  });

  test('swallows: the line stays open and silent for good, and another one works', async () => {
    const { proxy, heard } = await startBoth();
    const socket = await open(proxy);
    expect(await ask(socket, 'a')).toBe('A');
    proxy.set('swallow');
    socket.write('lost');
    const duringIt = await open(proxy);
    duringIt.write('lost too');
    proxy.set('pass');
    expect(await ask(await open(proxy), 'b')).toBe('B');
    socket.write('still lost');
    expect(await ask(await open(proxy), 'c')).toBe('C');
    expect(heard).toEqual(['a', 'b', 'c']);
    expect([socket.destroyed, duringIt.destroyed]).toEqual([false, false]);
  });

  test('cuts replies: the server has done what the client never hears of', async () => {
    const { proxy, heard } = await startBoth();
    const socket = await open(proxy);
    expect(await ask(socket, 'a')).toBe('A');
    proxy.set('cut-replies');
    socket.write('b');
    await closed(socket);
    expect(heard).toEqual(['a', 'b']);
  });

  test('knows the end of a reply of PostgreSQL outside a transaction', () => {
    expect(isCommitted(Buffer.from('CSELECT 1\0Z\0\0\0\x05I'))).toBe(true);
    expect(isCommitted(Buffer.from('CUPDATE 1\0Z\0\0\0\x05T'))).toBe(false);
    expect(isCommitted(Buffer.from('Z'))).toBe(false);
  });
});

describe('a layer before an object store', () => {
  async function startLayer(): Promise<{ layer: S3FaultLayer; url: string; heard: string[] }> {
    const heard: string[] = [];
    const server = createHttpServer((message, response) => {
      heard.push(`${message.method} ${message.headers.host}`);
      message.resume();
      message.once('end', () => response.end('0123456789'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const layer = await openS3FaultLayer((server.address() as AddressInfo).port);
    closers.push(() => layer.close());
    return { layer, url: `http://127.0.0.1:${layer.port}/bucket/key`, heard };
  }
  const put = { method: 'PUT', body: 'body' };

  test('passes requests on with the host they were signed for', async () => {
    const { url, heard } = await startLayer();
    expect(await (await fetch(url)).text()).toBe('0123456789');
    expect(heard).toEqual([`GET ${new URL(url).host}`]);
  });

  test.each([
    ['error', 500, 500],
    ['slow-down', 503, 503],
    ['full', 200, 507],
  ] as const)('in the mode %s answers GET with %i and PUT with %i', async (mode, get, write) => {
    const { layer, url } = await startLayer();
    layer.set(mode);
    expect((await fetch(url)).status).toBe(get);
    expect((await fetch(url, put)).status).toBe(write);
    layer.set('pass');
    expect((await fetch(url, put)).status).toBe(200);
  });

  test('breaks bodies off, and carries out what it does not acknowledge', async () => {
    const { layer, url, heard } = await startLayer();
    layer.set('partial');
    await expect(fetch(url, put).then((response) => response.text())).rejects.toThrow();
    expect(heard).toHaveLength(1);
  });

  test('refuses', async () => {
    const { layer, url, heard } = await startLayer();
    layer.set('refuse');
    await expect(fetch(url)).rejects.toThrow();
    layer.set('pass');
    expect((await fetch(url)).status).toBe(200);
    expect(heard).toHaveLength(1);
  });
});
