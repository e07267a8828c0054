import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { failureOf } from '../../../test/proxies/fetch-through.ts';
import { startProxy } from '../../../test/proxies/forwarding-proxy.ts';
import { listening } from '../../../test/proxies/listening.ts';
import { createTunnelOpener } from './open-tunnel.ts';

const openTunnel = createTunnelOpener({
  allowPrivate: (address) => address === '127.0.0.1',
  timeoutMs: 5_000,
});
const names = { 'shop.example': '127.0.0.1' };

test.each(['http', 'socks5'] as const)(
  'a tunnel through %s carries bytes both ways, those of a target that speaks first too',
  async (protocol) => {
    const port = await listening(
      createServer((socket) => {
        socket.write('hello ');
        socket.pipe(socket);
      }),
    );
    const proxy = await startProxy({ protocol, names });
    const tunnel = await openTunnel(proxy.endpoint(), 'SHOP.example.', port);
    tunnel.write('and back');
    let text = '';
    tunnel.on('data', (chunk) => {
      text += String(chunk);
    });
    await expect.poll(() => text).toBe('hello and back');
    tunnel.destroy();
    expect(proxy.asked[0]?.host).toBe('shop.example');
  },
);

test.each(['http', 'socks5'] as const)(
  'a tunnel through %s that is no longer wanted is given up',
  async (protocol) => {
    const proxy = await startProxy({ protocol, behaviour: 'silent' });
    const giveUp = new AbortController();
    const opening = openTunnel(proxy.endpoint(), 'shop.example', 80, giveUp.signal);
    await expect.poll(() => proxy.asked.length).toBe(1);
    giveUp.abort();
    expect((await failureOf(opening)).code).toBe('CANCELLED');
    expect((await failureOf(openTunnel(proxy.endpoint(), 'shop.example', 80, giveUp.signal))).code).toBe(
      'CANCELLED',
    );
    expect(proxy.asked).toHaveLength(1);
  },
);

test.each([
  'a b.example',
  'a.example\r\nX: y',
  'a.example:80',
  'ä.example',
  '',
  `${'a'.repeat(60)}.`.repeat(5),
  'u@a.example',
])('the host %j never reaches a proxy', async (host) => {
  const proxy = await startProxy();
  expect((await failureOf(openTunnel(proxy.endpoint(), host, 80))).code).toMatch(
    /INVALID_URL|ADDRESS_REFUSED/,
  );
  expect(proxy.asked).toEqual([]);
});

test('an answer without end is not waited for', async () => {
  const server = createServer((socket) => {
    const chunk = 'x'.repeat(8_192);
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
  });
  const port = await listening(server);
  const proxy = await startProxy();
  const connected = once(server, 'connection');
  const failure = await failureOf(openTunnel(proxy.endpoint({ port }), 'shop.example', 80));
  expect(failure.message).toContain('does not answer like an HTTP proxy');
  const [socket] = await connected;
  await expect.poll(() => socket.destroyed).toBe(true);
});
