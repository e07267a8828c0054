import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from '../server/app.ts';
import { callWithin } from '../server/call-within.ts';
import { clientGone } from '../server/connections.ts';
import type { RouteDeps } from './route-deps.ts';

/** Headers with the API key of the client; the calls that a tool makes within the process carry the same ones. */
const IDENTITY = ['authorization', 'x-api-key', 'x-service-key'] as const;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

const querystring = z.strictObject({
  tools: z.string().max(1_000).optional().describe('Names of tools and groups, separated by commas.'),
});

/**
 * Model Context Protocol over streamable HTTP, for both revisions of the protocol and without sessions. Tools call the API
 * of this process with the key of the request, so that scopes, limits and credits apply to them as to every client.
 */
export function addMcpRoutes(app: App, { logger, settings, extendMcp }: RouteDeps): void {
  const origins = settings.corsOrigins.split(',').map((origin) => origin.trim());
  // The library is loaded with the first request: most servers never get one.
  let loaded: Promise<McpParts> | undefined;
  const load = async (): Promise<McpParts> => {
    const [{ createMcpHandler }, { createMcpServer }, { toolsNamed }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('../mcp/mcp-server.ts'),
      import('../mcp/tools/tool-choice.ts'),
    ]);
    const chosen = (names: string | null) => toolsNamed((names ?? '').split(','), 'VALIDATION_FAILED');
    const handler = createMcpHandler(
      ({ requestInfo }) => {
        const { headers = new Headers(), url = 'http://localhost' } = requestInfo ?? {};
        const tools = chosen(new URL(url).searchParams.get('tools'));
        const server = createMcpServer(callWithin(app, identityOf(headers)), { tools });
        extendMcp?.(server);
        return server;
      },
      { onerror: (error) => logger.debug({ err: error }, 'an MCP request was refused') },
    );
    return { handler, requireTools: (names) => void chosen(names) };
  };
  app.addHook('onClose', async () => {
    await (await loaded)?.handler.close();
  });

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { access: 'key' },
    schema: { hide: true, querystring },
    // Before the key is looked at: a page of a foreign site is refused whatever it sends.
    onRequest: async ({ headers }) => requireOrigin(headers.origin, origins),
    async handler(request, reply) {
      loaded ??= load();
      const { handler, requireTools } = await loaded;
      requireTools(request.query.tools ?? null);
      const response = await handler.fetch(webRequestOf(request, reply), { parsedBody: request.body });
      reply.code(response.status);
      for (const [name, value] of response.headers) reply.header(name, value);
      return reply.send(response.body ?? '');
    },
  });
}

interface McpParts {
  readonly handler: McpHttpHandler;
  /** Throws VALIDATION_FAILED for a list with a name that is no tool. */
  requireTools(names: string | null): void;
}

/**
 * The protocol wants this of every server, against pages of foreign sites that reach a server on the machine of their
 * visitor. Programs send no Origin. Throws FORBIDDEN.
 */
function requireOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return;
  const host = URL.canParse(origin) ? new URL(origin).hostname : null;
  if (host !== null && LOOPBACK.has(host)) return;
  throw new ScrapifieError(
    'FORBIDDEN',
    'Pages of this origin may not use MCP here; SCRAPIFIE_CORS_ORIGINS names those that may.',
  );
}

function identityOf(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries(
    IDENTITY.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** The request as the library wants it. A client that closes its connection cancels its call. */
function webRequestOf(request: FastifyRequest, reply: FastifyReply): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const body = request.method === 'POST' ? { body: JSON.stringify(request.body) } : {};
  const signal = clientGone(reply);
  return new Request(`http://localhost${request.url}`, { method: request.method, headers, signal, ...body });
}
