import { createServer, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { listen, serve } from '../http/loopback.fixture.ts';
import { failureOf, lastingBrowser, render, textOf } from './browser.fixture.ts';

const { engine } = lastingBrowser({ maxBrowsers: 1, allowPrivate: (address) => address === '127.0.0.1' });
afterAll(() => engine.close());

const join = (a: Duplex, b: Duplex): void => {
  a.on('error', () => b.destroy());
  b.on('error', () => a.destroy());
  a.pipe(b).pipe(a);
};

/** Takes every name for 127.0.0.1, so that only a browser that goes through it can reach one. */
async function httpProxy(login: string | null) {
  const asked: string[] = [];
  const server = createServer();
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    asked.push(request.url ?? '');
    const expected = login === null ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
    if (request.headers['proxy-authorization'] !== expected) {
      client.end('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const target = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\nX-Head: yes\r\n\r\n');
      join(client, target);
    });
  });
  return { ...(await listen(server)), asked };
}

async function socksProxy(username: string, password: string) {
  const asked: string[] = [];
  const server = createTcpServer((client: Socket) => {
    let step = 0;
    client.on('data', function onData(data: Buffer) {
      step += 1;
      if (step === 1) client.write(Buffer.from([5, 2]));
      else if (step === 2) {
        const user = data.subarray(2, 2 + (data[1] ?? 0)).toString();
        const isRight = user === username && data.subarray(3 + user.length).toString() === password;
        client.write(Buffer.from([1, isRight ? 0 : 1]));
      } else {
        client.off('data', onData);
        const length = data[4] ?? 0;
        asked.push(data.subarray(5, 5 + length).toString());
        const target = connect(data.readUInt16BE(5 + length), '127.0.0.1', () => {
          client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          join(client, target);
        });
      }
    });
  });
  return { ...(await listen(server)), asked };
}

const site = () =>
  serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><body>by way of a proxy'),
  );

test('pages come by way of an HTTP proxy, which resolves the names', async () => {
  const [{ port }, proxy] = [await site(), await httpProxy('me:pass word')];
  const response = await render(engine, `http://far.invalid:${port}/`, {
    proxy: { server: proxy.origin, username: 'me', password: 'pass word' },
  });
  expect(textOf(response)).toContain('by way of a proxy');
  expect(new Set(proxy.asked)).toEqual(new Set([`far.invalid:${port}`]));
});

test('and by way of SOCKS5', async () => {
  const [{ port }, proxy] = [await site(), await socksProxy('me', 'secret')];
  const server = `socks5://127.0.0.1:${proxy.port}`;
  const more = { proxy: { server, username: 'me', password: 'secret' } };
  expect(textOf(await render(engine, `http://far.invalid:${port}/`, more))).toContain('by way of a proxy');
  expect(new Set(proxy.asked)).toEqual(new Set(['far.invalid']));
});

test('a proxy that refuses or is not there is an error that tells no secrets', async () => {
  const proxy = await httpProxy('me:right');
  for (const server of [proxy.origin, 'http://127.0.0.1:2']) {
    const more = { proxy: { server, username: 'me', password: 'wrong' } };
    const failure = await failureOf(render(engine, 'http://far.invalid/', more));
    expect(failure.code).toBe('CONNECT_FAILED');
    expect(failure.message).not.toMatch(/wrong|127\.0\.0\.1/);
  }
});

test('an address on the inside is refused by way of a proxy too, and the proxy is not asked', async () => {
  const proxy = await httpProxy(null);
  const failure = await failureOf(
    render(engine, 'http://127.0.0.2:8080/', { proxy: { server: proxy.origin } }),
  );
  expect(failure.code).toBe('ADDRESS_REFUSED');
  expect(proxy.asked).toEqual([]);
});
