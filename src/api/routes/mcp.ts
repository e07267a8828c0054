import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import type { ApiCall } from '../../mcp/api-call.ts';
import { pathWithQuery } from '../../mcp/api-call.ts';
import type { App } from '../http/app.ts';
import type { RouteDeps } from './route-deps.ts';

/** Headers with the API key of the client; the calls that a tool makes within the process carry the same ones. */
const IDENTITY = ['authorization', 'x-api-key', 'x-service-key'] as const;

/**
 * Model Context Protocol over streamable HTTP, for both revisions of the protocol and without sessions. Tools call the API
 * of this process with the key of the request, so that scopes, limits and credits apply to them as to every client.
 */
export function addMcpRoutes(app: App, { logger }: RouteDeps): void {
  // The library is loaded with the first request: most servers never get one.
  let loaded: Promise<McpHttpHandler> | undefined;
  const load = async () => {
    const [{ createMcpHandler }, { createMcpServer }, { DEFAULT_TOOLS }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('../../mcp/mcp-server.ts'),
      import('../../mcp/tools.ts'),
    ]);
    return createMcpHandler(
      ({ requestInfo }) =>
        createMcpServer(callWithin(app, requestInfo?.headers ?? new Headers()), DEFAULT_TOOLS),
      { onerror: (error) => logger.debug({ err: error }, 'an MCP request was refused') },
    );
  };
  app.addHook('onClose', async () => {
    await (await loaded)?.close();
  });

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { access: 'key' },
    schema: { hide: true },
    async handler(request, reply) {
      loaded ??= load();
      const { fetch } = await loaded;
      const response = await fetch(webRequestOf(request), { parsedBody: request.body });
      reply.code(response.status);
      for (const [name, value] of response.headers) reply.header(name, value);
      return reply.send(response.body ?? '');
    },
  });
}

/** Calls of tools: requests to the routes of this process, with the key of the client. */
function callWithin(app: App, headers: Headers): ApiCall {
  const identity = Object.fromEntries(
    IDENTITY.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  return async ({ method, path, query, body, signal }) => {
    const answer = await app.inject({
      method,
      url: pathWithQuery({ path, ...(query === undefined ? {} : { query }) }),
      headers: { host: 'localhost', ...identity },
      ...(body === undefined ? {} : { payload: body }),
      // A call that its client has cancelled ends the request, and with it the waiting for the page.
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };
}

function webRequestOf(request: FastifyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const body = request.method === 'POST' ? { body: JSON.stringify(request.body) } : {};
  return new Request(`http://localhost${request.url}`, { method: request.method, headers, ...body });
}
