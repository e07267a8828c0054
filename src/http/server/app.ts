import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { parsedRequest } from '../../capabilities/jobs/request/invalid-request.ts';

/** The server that routes are added to; what they parse is typed by their zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Requests are parsed by their schema, answers written as they are: they come from typed values. */
export function parseWithZod(app: App): void {
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (input) => {
    const { data, refusal } = parsedRequest(schema, input);
    return refusal === null ? { value: data } : { error: refusal };
  });
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
}
