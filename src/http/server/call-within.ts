import { randomUUID } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { defined } from '../../lib/defined.ts';
import { type ApiCall, pathWithQuery } from '../mcp/api-call.ts';
import { withCaller } from './connections.ts';

/** The part of a server that takes requests without a connection. */
export interface Injectable {
  inject(options: object): Promise<LightMyRequestResponse>;
}

/** Calls of MCP tools as requests to the routes of this process, with headers that name the API key of the client. */
export function callWithin(app: Injectable, identity: Readonly<Record<string, string>>): ApiCall {
  return async ({ method, path, query, body, signal }) => {
    const requestId = randomUUID();
    const request = {
      method,
      url: pathWithQuery({ path, ...defined({ query }) }),
      headers: { host: 'localhost', 'x-request-id': requestId, ...identity },
      ...defined({ payload: body }),
    };
    const answer = await withCaller(requestId, signal, () => app.inject(request));
    return { status: answer.statusCode, body: answer.json() };
  };
}
