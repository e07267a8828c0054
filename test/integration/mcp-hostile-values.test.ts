import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { called, connected, mcpAddress } from './mcp-client.ts';

/** Texts that a model may send as an id, an address, a cursor or a name. */
const HOSTILE: Readonly<Record<string, string>> = {
  'half of a surrogate pair': 'a\ud800b',
  'the other half': '\udc00',
  'U+0000': 'a\0b',
  'a percent sign that encodes nothing': '%zz',
  'steps up': '../../v1/keys',
  'a line break': 'a\r\nb',
  'an enormous value': 'x'.repeat(300_000),
};
const FAULT = /INTERNAL|Something went wrong inside/;

let world: ApiWorld;
let client: Client;
beforeAll(async () => {
  world = await openApiWorld();
  const address = await mcpAddress(world.api);
  client = await connected(new URL('?tools=all', address), '2026-07-28', world.secret);
}, 60_000);
afterAll(async () => {
  await client.close();
  await world.close();
});

describe('a tool that is given hostile text', { timeout: 240_000 }, () => {
  it.each(Object.entries(HOSTILE))(
    'answers %s with what is wrong, or with a result, in every field',
    async (_name, text) => {
      const { tools } = await client.listTools();
      expect(tools.length).toBeGreaterThan(20);
      const faults: string[] = [];
      let asked = 0;
      for (const { name, inputSchema } of tools) {
        const { properties = {}, required = [] } = inputSchema as {
          properties?: Record<string, { type?: string }>;
          required?: string[];
        };
        const strings = Object.entries(properties).filter(([, { type }]) => type === 'string');
        const others = Object.fromEntries(
          required.map((field) => [field, properties[field]?.type === 'array' ? [text] : 'none']),
        );
        for (const [field] of strings) {
          asked += 1;
          const said = await called(client, name, { ...others, [field]: text }).catch((error: unknown) => ({
            text: String(error),
          }));
          if (FAULT.test(said.text)) faults.push(`${name} ${field}: ${said.text.slice(0, 200)}`);
        }
      }
      expect(faults).toEqual([]);
      expect(asked).toBeGreaterThan(20);
    },
  );

  it.each(Object.entries(HOSTILE))(
    'reads a resource with %s in its address as one that does not exist',
    async (_name, text) => {
      for (const uri of [`scrapifie://jobs/${text}`, `scrapifie://jobs/none/pages/${text}`]) {
        const told = await client.readResource({ uri }).then(
          () => 'read',
          (error: unknown) => String(error),
        );
        expect(told).not.toMatch(FAULT);
      }
    },
  );
});
