import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApiWorld } from './api-world.ts';
import { openBrowserWorld } from './browser-world.ts';

const PROGRAM = fileURLToPath(new URL('../../scrapifie', import.meta.url));

let world: ApiWorld;
let client: Client;
beforeAll(async () => {
  world = await openBrowserWorld();
  await world.api.listen({ port: 0, host: '127.0.0.1' });
  const { port } = world.api.server.address() as AddressInfo;
  client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(
    new StdioClientTransport({
      command: PROGRAM,
      args: ['mcp', '--api', `http://127.0.0.1:${port}`],
      env: { PATH: process.env.PATH ?? '', SCRAPIFIE_API_KEY: world.secret },
    }),
  );
});
afterAll(async () => {
  await client.close();
  await world.close();
});

it('the command serves the tools on standard input and output', async () => {
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(8);
  const { content } = await client.callTool({
    name: 'scrape',
    arguments: { url: `${world.site.url}/big/1` },
  });
  expect(JSON.stringify(content)).toContain('/big/1');
});

it('a screenshot is a picture', async () => {
  const { content } = await client.callTool({
    name: 'screenshot',
    arguments: { url: `${world.site.url}/big/1` },
  });
  const [part] = content as { type: string; mimeType: string; data: string }[];
  expect(part).toMatchObject({ type: 'image', mimeType: 'image/png' });
  expect(
    Buffer.from(part?.data ?? '', 'base64')
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});
