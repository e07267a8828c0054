import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PartReport, Readiness } from '../health/readiness.ts';
import type { App } from '../server/app.ts';
import { answers, failureSchema, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const partSchema = z.object({
  status: z
    .enum(['ok', 'degraded', 'failing'])
    .describe('degraded: this process goes on without it, or with less of it.'),
  ms: z.number().describe('How long the try took.'),
  code: z.string().optional(),
  message: z.string().optional(),
});
const readySchema = z.object({
  status: z.enum(['ready', 'degraded']),
  parts: z.record(z.string(), partSchema),
});
const RETRY_AFTER_SECONDS = 5;

export function addHealthRoutes(app: App, deps: RouteDeps): void {
  const { readiness, version, metrics, logger, isStopping = () => false } = deps;
  /** As it was last logged, by part. */
  const logged = new Map<string, PartReport['status']>();
  function logChanges({ parts }: Readiness): void {
    for (const [part, { status, code, reason }] of Object.entries(parts)) {
      if ((logged.get(part) ?? 'ok') === status) continue;
      logged.set(part, status);
      if (status === 'ok') logger.info({ part, status }, 'a part works again');
      else logger.warn({ part, status, code, reason }, 'a part does not work');
    }
  }

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
      summary: 'Whether what this process depends on works, tried just now',
      description:
        '503 when it cannot do its work; then `details.parts` has what `data.parts` has otherwise. 503 `SHUTTING_DOWN` when ' +
        'it was told to stop: it still answers for a moment, and balancers send requests elsewhere.',
      security: [],
      response: answers({ 200: readySchema }),
    },
    async handler(_request, reply) {
      if (isStopping()) {
        throw new ScrapifieError('SHUTTING_DOWN', 'The server is stopping.', {
          retryAfterMs: RETRY_AFTER_SECONDS * 1_000,
        });
      }
      const found = await readiness();
      logChanges(found);
      const shown = Object.entries(found.parts).map(
        ([name, { reason, ...report }]) => [name, report] as const,
      );
      const parts = Object.fromEntries(shown);
      if (found.isReady) {
        const isWhole = shown.every(([, { status }]) => status === 'ok');
        return success({ status: isWhole ? ('ready' as const) : ('degraded' as const), parts });
      }
      const failing = shown.filter(([, { status }]) => status === 'failing');
      reply.code(503).header('retry-after', String(RETRY_AFTER_SECONDS));
      return {
        success: false,
        error: {
          code: codeOf(failing.map(([, { code }]) => code)),
          message: `Not ready: ${failing.map(([name]) => name).join(', ')}.`,
          retryable: true,
          details: { parts },
        },
      };
    },
  });

  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access: 'metrics' },
    schema: {
      tags: ['operations'],
      summary: 'Prometheus metrics',
      description:
        'Needs no key from the addresses in `SCRAPIFIE_METRICS_FROM`. In the format OpenMetrics, with exemplars, where the ' +
        'header Accept asks for `application/openmetrics-text`.',
      response: {
        200: {
          description: 'Text',
          content: {
            'text/plain': { schema: z.string() },
            'application/openmetrics-text': { schema: z.string() },
          },
        },
        '4xx': {
          description: 'The key is missing or lacks the scope.',
          content: { 'application/json': { schema: failureSchema } },
        },
      },
    },
    async handler(request, reply) {
      const { contentType, text } = await metrics.scrape(request.headers.accept);
      return reply.type(contentType).send(text);
    },
  });
}

/** The code of the first part that has one with which a 503 may be tried again. */
function codeOf(codes: readonly (ErrorCode | undefined)[]): ErrorCode {
  const fits = (code: ErrorCode) => ERRORS[code].httpStatus === 503 && ERRORS[code].retry === 'later';
  const fitting = codes.find((code) => code !== undefined && fits(code));
  const lacksBrowser = codes.some((code) => code === 'NO_BROWSER' || code === 'BROWSER_UNCONFINED');
  return fitting ?? (lacksBrowser ? 'BROWSER_UNAVAILABLE' : 'STORE_UNAVAILABLE');
}
