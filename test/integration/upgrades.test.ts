import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endCommands, originOf, type RunningCommand, startCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
let server: RunningCommand;
let origin = '';
beforeAll(async () => {
  server = startCommand(['serve', '--port', '0', '--data-dir', folder.path('data')]);
  origin = await originOf(server);
});
afterAll(async () => {
  await endCommands();
  folder.remove();
});

/** What the server writes on the connection, up to its end. */
async function upgrade(path: string, headers: readonly string[] = []): Promise<string> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  await once(socket, 'connect');
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return text(socket);
}

it.concurrent.each([
  '/v2/crawl/%zz',
  '/v1/crawl/%zz',
  '/v2/batch/scrape/%c3%28',
  '/firecrawl/v2/crawl/%',
  '/v2/crawl/..',
  '/v2/crawl/%2e%2e',
  '/v2/crawl/%00',
  '/v2/crawl/\\',
])('a WebSocket to a path that cannot be decoded ends alone: %s', async (path) => {
  expect(await upgrade(path)).toContain('"type":"error"');
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  expect(server.child.exitCode).toBeNull();
});
