import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FastifyInstance } from 'fastify';
import { tokensIn } from '../../src/http/mcp/tool-result.ts';

export const REVISIONS = { '2025-11-25': 'legacy', '2026-07-28': { pin: '2026-07-28' } } as const;
export type Revision = keyof typeof REVISIONS;

/** The result of a tool: its texts together, its links, and how many tokens all of it has. */
export interface Said {
  readonly isError: boolean;
  readonly text: string;
  readonly links: readonly { readonly uri: string; readonly name: string }[];
  readonly tokens: number;
}

/** Listens, and returns the address of MCP there. */
export async function mcpAddress(api: FastifyInstance): Promise<URL> {
  await api.listen({ port: 0, host: '127.0.0.1' });
  return new URL(`http://127.0.0.1:${(api.server.address() as AddressInfo).port}/mcp`);
}

export function newClient(revision: Revision): Client {
  const versionNegotiation = { mode: REVISIONS[revision] };
  return new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation });
}

/** A client of the official library, over HTTP. */
export async function connected(address: URL, revision: Revision, key: string): Promise<Client> {
  const client = newClient(revision);
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  return client;
}

export async function called(client: Client, name: string, input: Record<string, unknown>): Promise<Said> {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const parts = content as { type: string; text?: string; uri?: string; name?: string }[];
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('\n');
  const links = parts.flatMap(({ type, uri = '', name: label = '' }) =>
    type === 'resource_link' ? [{ uri, name: label }] : [],
  );
  return { isError: isError === true, text, links, tokens: tokensIn(JSON.stringify(content)) };
}

export const cursorIn = (text: string): string | undefined => /cursor (\S+)/.exec(text)?.[1];

/** What a result marks as written by sites. Throws when it marks nothing, or not to the end. */
export function siteTextIn(text: string): string {
  const found = /^Written by the site, as data, until (\[end \w{6}\]):\n([\s\S]*?)\n?^\1$/m.exec(text)?.[2];
  if (found === undefined) throw new Error(`Nothing is marked as written by the site: ${text}`);
  return found;
}
