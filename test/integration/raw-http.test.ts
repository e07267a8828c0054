import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endCommands, originOf, type RunningCommand, startCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
const ports = { api: 0, firecrawl: 0 };
let server: RunningCommand;
beforeAll(async () => {
  server = startCommand(['serve', '--port', '0', '--data-dir', folder.path('data')], {
    env: { SCRAPIFIE_FIRECRAWL_PORT: '0' },
  });
  ports.api = Number(new URL(await originOf(server)).port);
  const [, firecrawl] = /Firecrawl-compatible API at http:\/\/127\.0\.0\.1:(\d+)/.exec(server.stdout()) ?? [];
  ports.firecrawl = Number(firecrawl);
});
afterAll(async () => {
  await endCommands();
  folder.remove();
});

/** The statuses of all answers that the server gives to these bytes before it closes the connection. */
async function statusesOf(port: number, lines: readonly string[], body = ''): Promise<number[]> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  const answer = await text(socket);
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
}

const CLOSE = 'Connection: close';
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const WATCH = 'GET /v2/crawl/01890000-0000-7000-8000-000000000000 HTTP/1.1';
const POST = ['POST /v1/scrape HTTP/1.1', 'Host: x', CLOSE, 'Content-Type: application/json'];
/** A request that a reverse proxy may have taken for the body of the one before it. */
const HIDDEN = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** RFC 9112: 3.2 (Host), 5.1 (names of fields), 5.2 (folded lines), 6.1 and 6.3 (length of the body), 7.1 (chunks). */
const AMBIGUOUS: readonly (readonly [string, readonly string[], string])[] = [
  ['two hosts', ['GET /v2/x HTTP/1.1', 'Host: a', 'Host: b', CLOSE], ''],
  ['the same host twice', ['GET /v2/x HTTP/1.1', 'Host: a', 'host: a', CLOSE], ''],
  ['two hosts in HTTP/1.0', ['GET /v2/x HTTP/1.0', 'Host: a', 'Host: b'], ''],
  ['two hosts and a path that cannot be decoded', ['GET /v2/%zz HTTP/1.1', 'Host: a', 'Host: b', CLOSE], ''],
  ['two hosts of a WebSocket', [WATCH, 'Host: a', 'Host: b', ...UPGRADE], ''],
  ['a WebSocket without a host', [WATCH, ...UPGRADE], ''],
  ['no host', ['GET /v2/x HTTP/1.1', CLOSE], ''],
  ['a host with a path', ['GET /v2/x HTTP/1.1', 'Host: a/b', CLOSE], ''],
  ['a host with a user', ['GET /v2/x HTTP/1.1', 'Host: u@a', CLOSE], ''],
  ['a host with a space', ['GET /v2/x HTTP/1.1', 'Host: a b', CLOSE], ''],
  ['a host whose port is no number', ['GET /v2/x HTTP/1.1', 'Host: a:b', CLOSE], ''],
  ['two lengths that differ', [...POST, 'Content-Length: 2', 'Content-Length: 4'], '{}'],
  ['the same length twice', [...POST, 'Content-Length: 2', 'Content-Length: 2'], '{}'],
  ['a list of lengths', [...POST, 'Content-Length: 2, 2'], '{}'],
  ['a length with a sign', [...POST, 'Content-Length: +2'], '{}'],
  ['a length in hexadecimal', [...POST, 'Content-Length: 0x2'], '{}'],
  ['a length and chunks', [...POST, 'Content-Length: 4', 'Transfer-Encoding: chunked'], `0\r\n\r\n${HIDDEN}`],
  ['chunks that are not last', [...POST, 'Transfer-Encoding: chunked, identity'], `0\r\n\r\n${HIDDEN}`],
  ['an unknown coding', [...POST, 'Transfer-Encoding: xchunked'], `0\r\n\r\n${HIDDEN}`],
  ['chunks in HTTP/1.0', ['POST /v1/scrape HTTP/1.0', 'Transfer-Encoding: chunked, x'], `0\r\n\r\n${HIDDEN}`],
  ['a chunk of a length that is no number', [...POST, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
  ['a space before the colon', [...POST, 'Content-Length : 2'], '{}'],
  ['a folded line', ['GET /v2/x HTTP/1.1', 'Host: x', 'X-A: 1', ' Content-Length: 4', CLOSE], ''],
  ['a bare carriage return', ['GET /v2/x HTTP/1.1', 'Host: x', 'X-A: 1\rContent-Length: 4', CLOSE], ''],
  ['a zero byte in a value', ['GET /v2/x HTTP/1.1', 'Host: x', 'X-A: 1\0', CLOSE], ''],
  ['a name with a space', ['GET /v2/x HTTP/1.1', 'Host: x', 'X A: 1', CLOSE], ''],
  ['another version', ['GET /v2/x HTTP/3.7', 'Host: x', CLOSE], ''],
];

describe.each(['api', 'firecrawl'] as const)('the listener of %s', (name) => {
  it.concurrent.each(AMBIGUOUS)(
    'answers 400, once, to a request that two programs may read differently: %s',
    async (_what, lines, body) => {
      expect(await statusesOf(ports[name], lines, body)).toEqual([400]);
    },
  );

  it.concurrent.each([
    'x',
    'a.example:8080',
    '127.0.0.1:3000',
    '[::1]:3000',
    'a_b.example',
    'xn--bcher-kva.example',
    '',
  ])('takes the host "%s"', async (host) => {
    expect(await statusesOf(ports[name], ['GET /v2/x HTTP/1.1', `Host: ${host}`, CLOSE])).toEqual([404]);
  });
});
