import { z } from 'zod';
import type { App, RouteDeps } from '../app.ts';
import { answers, success } from '../envelope.ts';

const checkSchema = z.object({
  name: z.string(),
  ok: z.boolean(),
  ms: z.number(),
  error: z.string().optional(),
});

export function addHealthRoutes(app: App, { readiness, version, metrics }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/healthz',
    config: { access: 'open' },
    schema: {
      tags: ['operations'],
      summary: 'Whether the process is alive',
      security: [],
      response: answers({ 200: z.object({ status: z.literal('ok'), version: z.string() }) }),
    },
    handler: async () => success({ status: 'ok' as const, version }),
  });

  app.route({
    method: 'GET',
    url: '/readyz',
    config: { access: 'open' },
    schema: {
      tags: ['operations'],
      summary: 'Whether store, queue and blobs work, tried just now',
      description: '503 names the parts that do not.',
      security: [],
      response: answers({ 200: z.object({ status: z.literal('ready'), checks: z.array(checkSchema) }) }),
    },
    async handler(request, reply) {
      const checks = await readiness();
      const broken = checks.filter((check) => !check.ok);
      if (broken.length === 0) return success({ status: 'ready' as const, checks });
      // What exactly is wrong is for the log; the open page says which part.
      request.log.warn({ requestId: request.id, checks: broken }, 'not ready');
      reply.code(503);
      return {
        success: false,
        error: {
          code: 'STORE_UNAVAILABLE',
          message: `Not ready: ${broken.map((check) => check.name).join(', ')}.`,
          retryable: true,
          details: checks.map(({ name, ok, ms }) => ({ name, ok, ms })),
        },
      };
    },
  });

  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access: 'local' },
    schema: {
      tags: ['operations'],
      summary: 'Prometheus metrics',
      description:
        'Open to this machine; from elsewhere, or through a proxy, a key with the scope `read` is needed.',
      response: { 200: { description: 'Text', content: { 'text/plain': { schema: z.string() } } } },
    },
    handler: async (_request, reply) => reply.type(metrics.contentType).send(await metrics.render()),
  });
}
