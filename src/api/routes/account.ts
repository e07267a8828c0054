import { z } from 'zod';
import { apiKeyOf } from '../access/access.ts';
import type { App } from '../http/app.ts';
import { answers, success } from '../http/envelope.ts';
import { keySchema, keyView } from './keys.ts';
import type { RouteDeps } from './route-deps.ts';

export function addAccountRoutes(app: App, { settings, version }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/account',
    config: { access: 'key' },
    schema: {
      tags: ['account'],
      summary: 'The account and the scopes of the API key',
      response: answers({
        200: z.object({
          id: z.string(),
          key: keySchema,
          limits: z.object({
            requestsPerMinute: z.number().int(),
            bodyBytes: z.number().int(),
            queuedUrls: z.number().int(),
          }),
          version: z.string(),
        }),
      }),
    },
    async handler(request) {
      const key = apiKeyOf(request);
      return success({
        id: key.accountId,
        key: keyView(key),
        limits: {
          requestsPerMinute: key.ratePerMinute ?? settings.rateLimitPerMinute,
          bodyBytes: settings.bodyLimitBytes,
          queuedUrls: settings.maxQueuedUrls,
        },
        version,
      });
    },
  });
}
