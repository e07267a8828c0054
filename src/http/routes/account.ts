import { z } from 'zod';
import { noSuchAccount } from '../../capabilities/accounts/accounts.ts';
import {
  creditsSchema,
  creditsView,
  keySchema,
  keyView,
  usedBy,
  usedSchema,
} from '../../capabilities/views/account-view.ts';
import { limitFields } from '../../core/config/plans-and-prices.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

export function addAccountRoutes(app: App, { store, settings, version }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/account',
    config: { access: 'key' },
    schema: {
      tags: ['account'],
      summary: 'The account of the API key, its limits and what it uses of them',
      response: answers({
        200: z
          .object({
            id: z.string(),
            name: z.string(),
            plan: z.string(),
            key: keySchema,
            limits: z.object({
              requestsPerMinute: z
                .number()
                .int()
                .describe('Of the key, or of all keys of the account where that is less.'),
              concurrentPages: limitFields.concurrentPages,
              openUrls: limitFields.openUrls,
              storedBytes: limitFields.storedBytes,
              bodyBytes: z.number().int(),
              queuedUrls: z.number().int().describe('URLs of all accounts that may wait together.'),
            }),
            used: usedSchema,
            credits: creditsSchema.nullable().describe('What is left to spend; null: it is not limited.'),
            version: z.string(),
          })
          .meta({ id: 'OwnAccount' }),
      }),
    },
    async handler(request) {
      const key = apiKeyOf(request);
      const [account, used, credits] = await Promise.all([
        store.getAccount(key.accountId),
        usedBy(store, key.accountId),
        store.getCredits(key.accountId),
      ]);
      if (account === null) throw noSuchAccount(key.accountId);
      const { requestsPerMinute, ...limits } = account.limits;
      const ofKey = key.ratePerMinute ?? settings.rateLimitPerMinute;
      return success({
        id: account.id,
        name: account.name,
        plan: account.plan,
        key: keyView(key),
        limits: {
          ...limits,
          requestsPerMinute: Math.min(ofKey, requestsPerMinute ?? ofKey),
          bodyBytes: settings.bodyLimitBytes,
          queuedUrls: settings.maxQueuedUrls,
        },
        used,
        credits: credits === null ? null : creditsView(credits),
        version,
      });
    },
  });
}
