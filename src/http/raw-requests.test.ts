import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.api.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => platform.close());

async function send(request: string): Promise<{ status: number; code: unknown }> {
  const { port } = platform.api.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(request);
  const answer = await text(socket);
  const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')) || 'null');
  return { status: Number(answer.split(' ', 2)[1]), code: body?.error?.code };
}

it.each([
  ['GET /v1/account HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['GET /v1/account HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: a-miracle\r\n\r\n', 417],
  [`GET /v1/account HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
  ['nonsense\r\n\r\n', 400],
])('what HTTP refuses is answered in the envelope as well: %j', async (request, status) => {
  expect(await send(request)).toEqual({ status, code: 'BAD_REQUEST' });
});

it.each([
  'POST /v1/scrape HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n',
])('an encoding that programs on the way could read differently is refused: %j', async (request) => {
  expect(await send(request)).toEqual({ status: 400, code: 'BAD_REQUEST' });
});

it('a QUERY without a Content-Type is no fault of the server', async () => {
  const asked = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  expect((await send(`QUERY /v1/jobs ${asked}`)).status).toBeLessThan(500);
  expect((await send(`QUERY /nothing ${asked}`)).status).toBeLessThan(500);
  expect(platform.lines.join('')).not.toContain('"fault"');
});

it('a body in thousands of tiny chunks without a key ends its connection alone', async () => {
  const { port } = platform.api.server.address() as AddressInfo;
  const chunks = (count: number) => '1\r\na\r\n'.repeat(count);
  const head = 'POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const refused = connect(port, '127.0.0.1');
  refused.on('error', () => undefined);
  refused.resume();
  refused.write(head + chunks(5_000));
  await once(refused, 'close');
  // The parser of that connection is used again, with all that belongs to it.
  expect(await send(`${head}${chunks(200)}0\r\n\r\nGET / HTTP/1.1\r\n\r\n`)).toMatchObject({ status: 404 });
});

it('a request of HTTP/1.0 needs no Host', async () => {
  expect(await send('GET /v1/account HTTP/1.0\r\n\r\n')).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
});

it('a client that leaves in the middle of its body is no fault of the server', async () => {
  const { port } = platform.api.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const key = `X-API-Key: ${platform.secret}`;
  const head = `POST /v1/scrape HTTP/1.1\r\nHost: x\r\n${key}\r\nContent-Type: application/json`;
  const told = () => platform.lines.filter((line) => line.includes('left-early'));
  socket.end(`${head}\r\nContent-Length: 100\r\nX-Request-ID: left-early\r\n\r\n{`);
  socket.resume();
  await once(socket, 'close');
  await expect.poll(() => told().length).toBeGreaterThan(0);
  expect(told().join('')).not.toContain('"fault"');
});

it.each([']]{', '}}[', `${']'.repeat(10)}{`])(
  'a body that closes more than it opens is refused: %s',
  async (body) => {
    const answer = await platform.call({
      method: 'POST',
      url: '/v1/scrape',
      headers: { 'content-type': 'application/json' },
      payload: body,
    });
    expect([answer.statusCode, answer.at('error.code')]).toEqual([400, 'MALFORMED_JSON']);
  },
);
