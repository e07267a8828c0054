import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { type ReverseProxy, startReverseProxy } from '../../fleet/reverse-proxy.ts';
import { freePort } from '../../fleet/servers/free-port.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function startOrigin(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    async close() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startBefore(...origins: string[]): Promise<ReverseProxy> {
  const proxy = await startReverseProxy({ port: 0, targets: () => origins });
  open.push({ close: () => proxy.close(0) });
  return proxy;
}

const deadOrigin = async () => `http://127.0.0.1:${await freePort()}`;
/** Takes the request and hangs up, as a process does that is killed. */
const hangUp: RequestListener = (incoming) => void incoming.socket.destroy();

/** Answers with its name and counts how often it was asked. */
async function startNamed(name: string) {
  const asked: string[] = [];
  const origin = await startOrigin(async (incoming, response) => {
    asked.push(await text(incoming));
    response.end(name);
  });
  return { origin, asked };
}

const get = (proxy: ReverseProxy, path = '/') => fetch(`${proxy.origin}${path}`);
const post = (proxy: ReverseProxy, body: string, headers: Record<string, string> = {}) =>
  fetch(`${proxy.origin}/`, { method: 'POST', body, headers });

describe('the reverse proxy', () => {
  it('goes round the origins', async () => {
    const [a, b] = [await startNamed('a'), await startNamed('b')];
    const proxy = await startBefore(a.origin, b.origin);
    const names = [];
    for (let turn = 0; turn < 4; turn += 1) names.push(await (await get(proxy)).text());
    expect(names.toSorted()).toEqual(['a', 'a', 'b', 'b']);
    expect(names[0]).not.toBe(names[1]);
  });

  it('passes method, path, headers, status and body on, and says for whom it asks', async () => {
    let seen: IncomingMessage | undefined;
    const origin = await startOrigin(async (incoming, response) => {
      seen = incoming;
      response.writeHead(418, { 'x-kind': 'teapot', 'set-cookie': ['a=1', 'b=2'] });
      response.end(`got ${await text(incoming)}`);
    });
    const proxy = await startBefore(origin);
    const response = await fetch(`${proxy.origin}/a%20b?c=d&c=e`, {
      method: 'PUT',
      body: 'cargo',
      headers: { authorization: 'Bearer key' },
    });
    expect([response.status, response.headers.get('x-kind'), await response.text()]).toEqual([
      418,
      'teapot',
      'got cargo',
    ]);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect([seen?.method, seen?.url]).toEqual(['PUT', '/a%20b?c=d&c=e']);
    expect(seen?.headers).toMatchObject({
      authorization: 'Bearer key',
      host: new URL(proxy.origin).host,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': new URL(proxy.origin).host,
    });
  });

  it('asks the next origin when one is dead, for reads and writes alike', async () => {
    const alive = await startNamed('alive');
    const proxy = await startBefore(await deadOrigin(), alive.origin);
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await (await get(proxy)).text()).toBe('alive');
      expect(await (await post(proxy, `order ${turn}`)).text()).toBe('alive');
    }
    expect(alive.asked).toEqual(['', 'order 0', '', 'order 1']);
  });

  it('repeats a read, or a write with an idempotency key, when an origin hangs up', async () => {
    const alive = await startNamed('alive');
    const proxy = await startBefore(await startOrigin(hangUp), alive.origin);
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await (await get(proxy)).text()).toBe('alive');
      const answer = await post(proxy, 'order', { 'idempotency-key': 'once' });
      expect(await answer.text()).toBe('alive');
    }
  });

  it('does not repeat another write that may have been done', async () => {
    const alive = await startNamed('alive');
    const proxy = await startBefore(await startOrigin(hangUp), alive.origin);
    const statuses = [(await post(proxy, 'order')).status, (await post(proxy, 'order')).status];
    expect(statuses.toSorted()).toEqual([200, 502]);
    expect(alive.asked).toHaveLength(1);
  });

  it('answers 503 with Retry-After when there is nobody to ask', async () => {
    for (const proxy of [await startBefore(), await startBefore(await deadOrigin())]) {
      const response = await get(proxy);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await response.json()).toMatchObject({ success: false, error: { retryable: true } });
    }
  });

  it('passes on what has come before the rest is there, both ways', async () => {
    const echo = await startOrigin((incoming, response) => void incoming.pipe(response));
    const proxy = await startBefore(echo);
    const sending = request(proxy.origin, { method: 'POST' });
    sending.write('first');
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    const [piece] = await once(response, 'data');
    expect(String(piece)).toBe('first');
    sending.end('last');
    expect(await text(response)).toBe('last');
  });

  it('hangs up on the origin when the client hangs up', async () => {
    const ended = Promise.withResolvers<void>();
    const origin = await startOrigin((_, response) => {
      response.write('begin');
      response.once('close', ended.resolve);
    });
    const proxy = await startBefore(origin);
    const sending = request(proxy.origin);
    sending.end();
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    sending.destroy();
    await ended.promise;
  });

  it('does not pretend that half an answer is a whole one', async () => {
    const origin = await startOrigin((_, response) => {
      response.write('half', () => response.destroy());
    });
    const proxy = await startBefore(origin);
    await expect(get(proxy).then((response) => response.text())).rejects.toThrow();
  });

  it('finishes what is under way when it closes', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const origin = await startOrigin(async (_, response) => {
      asked.resolve();
      await answer.promise;
      response.end('done');
    });
    const proxy = await startReverseProxy({ port: 0, targets: () => [origin] });
    const response = get(proxy);
    await asked.promise;
    const closed = proxy.close(30_000);
    answer.resolve();
    expect(await (await response).text()).toBe('done');
    await closed;
    await expect(get(proxy)).rejects.toThrow();
  });
});
